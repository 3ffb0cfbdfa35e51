#include "package.h"

#include <string.h>

#include "../../core/package_hash.h"
#include "reflect.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packages are little-endian, and this writer copies numbers as they are"
#endif

struct writer {
    const struct compilation *c;
    struct text strings;
    struct text kernels, fields, images; /* records */
    struct text data;                    /* from data_offset on */
};

/* The offset of a text in the string area; equal texts share one. */
static uint32_t add_string(struct writer *writer, const char *string)
{
    size_t size = strlen(string) + 1;
    for (size_t at = 0; at < writer->strings.size; at += strlen(writer->strings.data + at) + 1)
        if (!strcmp(writer->strings.data + at, string))
            return (uint32_t)at;
    text_add(&writer->strings, string, size);
    return (uint32_t)(writer->strings.size - size);
}

static void add_pointer(struct gpk_field *record, const struct pointer *pointer)
{
    record->flags = (pointer->may_be_null ? GPK_FIELD_MAY_BE_NULL : 0) |
                    (pointer->written ? GPK_FIELD_WRITTEN : 0);
    record->reach_count = pointer->reach_count;
    for (uint32_t i = 0; i < pointer->reach_count; i++) {
        const struct factor *factor = &pointer->reach[i];
        record->reach_field[i] = factor->field < 0 ? GPK_NUMBER : (uint32_t)factor->field;
        record->reach_number[i] = factor->number;
    }
}

static void add_field(struct writer *writer, const struct field *field,
                      const struct pointer *pointer)
{
    struct gpk_field record = {
        .name = add_string(writer, field->name),
        .type = field->scalar,
        .offset = field->offset,
        .size = field->size,
        .count = field->count,
        .pointee = add_string(writer, field->pointee),
        .pointee_size = pointee_size(writer->c->unit, field->pointee),
    };
    if (field->scalar == GANTRY_SCALAR_POINTER)
        add_pointer(&record, pointer);
    text_add(&writer->fields, &record, sizeof(record));
}

static uint32_t kernel_flags(const struct kernel *kernel)
{
    return (kernel->block_pow2 ? GPK_KERNEL_BLOCK_POW2 : 0) |
           (kernel->grid_stride ? GPK_KERNEL_GRID_STRIDE : 0) |
           (kernel->early_return ? GPK_KERNEL_EARLY_RETURN : 0);
}

static void add_kernel(struct writer *writer, const struct kernel *kernel)
{
    struct gpk_kernel record = {
        .name = add_string(writer, kernel->name),
        .args_name = add_string(writer, kernel->args->name),
        .args_size = kernel->args->size,
        .first_field = (uint32_t)(writer->fields.size / sizeof(struct gpk_field)),
        .field_count = (uint32_t)kernel->args->field_count,
        .dimensions = kernel->dimensions,
        .block = {kernel->block[0], kernel->block[1], kernel->block[2]},
        .block_multiple = kernel->block_multiple,
        .block_max = kernel->block_max,
        .flags = kernel_flags(kernel),
        .shared_bytes = kernel->shared_bytes,
        .shared_per_thread = kernel->shared_per_thread,
        .features = kernel->features,
        .tolerance = kernel->tolerance,
        .layout_hash = kernel->layout_hash,
    };
    text_add(&writer->kernels, &record, sizeof(record));
    for (size_t i = 0; i < kernel->args->field_count; i++)
        add_field(writer, &kernel->args->fields[i], &kernel->pointers[i]);
}

static uint32_t kernel_index(const struct unit *unit, const struct kernel *kernel)
{
    for (uint32_t i = 0; i < unit->kernel_count; i++)
        if (unit->kernels[i] == kernel)
            return i;
    return GPK_ALL_KERNELS;
}

static void pad(struct text *text, size_t alignment)
{
    static const char zeros[16];
    text_add(text, zeros, (alignment - text->size % alignment) % alignment);
}

/* The record's offset counts from the start of the data; place_images() corrects it. */
static void add_image(struct writer *writer, const struct image *image)
{
    pad(&writer->data, 16);
    struct gpk_image record = {
        .kernel = kernel_index(writer->c->unit, image->kernel),
        .kind = image->kind,
        .entry = image->entry,
        .arch = image->arch,
        .isa_version = image->isa_version,
        .features = image->features,
        .name = add_string(writer, image->name),
        .offset = writer->data.size,
        .size = image->data.size,
    };
    text_add(&writer->images, &record, sizeof(record));
    text_add(&writer->data, image->data.data, image->data.size);
}

static void place_images(struct writer *writer, uint64_t data_offset)
{
    for (size_t at = 0; at < writer->images.size; at += sizeof(struct gpk_image)) {
        struct gpk_image record;
        memcpy(&record, writer->images.data + at, sizeof(record));
        record.offset += data_offset;
        memcpy(writer->images.data + at, &record, sizeof(record));
    }
}

/* Adds a table's bytes to the file and returns where they are. */
static struct gpk_table add_table(struct text *file, const struct text *records, size_t record)
{
    pad(file, 8);
    struct gpk_table table = {.offset = file->size, .count = (uint32_t)(records->size / record)};
    text_add(file, records->data, records->size);
    return table;
}

static struct text assemble(struct writer *writer, struct gpk_header *header)
{
    struct text file = text_new(writer->c->pool);
    text_add(&file, header, sizeof(*header));
    header->kernels = add_table(&file, &writer->kernels, sizeof(struct gpk_kernel));
    header->fields = add_table(&file, &writer->fields, sizeof(struct gpk_field));
    /* The image table holds offsets of what follows the strings, so those come first. */
    header->strings = add_table(&file, &writer->strings, 1);
    pad(&file, 8);
    size_t data_offset = (file.size + writer->images.size + 15) / 16 * 16;
    place_images(writer, data_offset);
    header->images = add_table(&file, &writer->images, sizeof(struct gpk_image));
    pad(&file, 16);
    text_add(&file, writer->data.data, writer->data.size);
    header->file_size = file.size;
    memcpy(file.data, header, sizeof(*header));
    header->hash = gpk_hash(file.data, file.size);
    memcpy(file.data, header, sizeof(*header));
    return file;
}

struct text package_bytes(const struct compilation *c, const char *toolchain)
{
    struct writer writer = {
        .c = c,
        .strings = text_new(c->pool),
        .kernels = text_new(c->pool),
        .fields = text_new(c->pool),
        .images = text_new(c->pool),
        .data = text_new(c->pool),
    };
    text_add(&writer.strings, "", 1);
    struct gpk_header header = {
        .magic = {'G', 'A', 'N', 'T', 'R', 'Y', 'P', 'K'},
        .version = GPK_VERSION,
        .header_size = sizeof(header),
        .name = add_string(&writer, c->unit->name),
        .toolchain = add_string(&writer, toolchain),
    };
    for (size_t i = 0; i < c->unit->kernel_count; i++)
        add_kernel(&writer, c->unit->kernels[i]);
    for (size_t i = 0; i < c->image_count; i++)
        add_image(&writer, &c->images[i]);
    return assemble(&writer, &header);
}
