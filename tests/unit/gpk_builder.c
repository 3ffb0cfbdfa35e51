/* Kernel packages made in memory, as core/package_format.h says and without its reader's help. */
#include "gpk_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/package_hash.h"

enum { SIZE_LIMIT = 1 << 24, TEXT_LIMIT = 1 << 16 };

struct builder {
    uint8_t *data;
    size_t size;
    char texts[TEXT_LIMIT]; /* the string area */
    uint32_t text_size;
};

static uint64_t put(struct builder *builder, const void *data, size_t size, size_t alignment)
{
    size_t at = (builder->size + alignment - 1) / alignment * alignment;

    if (at + size > SIZE_LIMIT)
        abort();
    memcpy(builder->data + at, data, size);
    builder->size = at + size;
    return at;
}

static uint32_t put_text(struct builder *builder, const char *text)
{
    uint32_t at = builder->text_size;
    size_t size = strlen(text ? text : "") + 1;

    if (!text || !text[0])
        return 0;
    if (at + size > TEXT_LIMIT)
        abort();
    memcpy(builder->texts + at, text, size);
    builder->text_size += (uint32_t)size;
    return at;
}

static uint64_t layout_hash(const struct gantry_kernel_source *kernel)
{
    char text[4096];
    int at = snprintf(text, sizeof(text), "%s\n", kernel->args_name);

    for (uint32_t i = 0; i < kernel->field_count; i++) {
        const struct gantry_field_info *field = &kernel->fields[i];

        at +=
            snprintf(text + at, sizeof(text) - (size_t)at, "%s %s %u %u %s\n", field->name,
                     gantry_scalar_name(field->type), field->offset, field->count, field->pointee);
    }
    at += snprintf(text + at, sizeof(text) - (size_t)at, "%u\n", kernel->args_size);
    return XXH64(text, (size_t)at, 0);
}

static struct gpk_kernel encode_kernel(struct builder *builder,
                                       const struct gantry_kernel_source *kernel, uint32_t first)
{
    return (struct gpk_kernel){
        .name = put_text(builder, kernel->name),
        .args_name = put_text(builder, kernel->args_name),
        .args_size = kernel->args_size,
        .first_field = first,
        .field_count = kernel->field_count,
        .dimensions = kernel->dimensions,
        .block = {kernel->block.x, kernel->block.y, kernel->block.z},
        .block_multiple = kernel->block_multiple,
        .block_max = kernel->block_max,
        .flags = (kernel->block_pow2 ? GPK_KERNEL_BLOCK_POW2 : 0u) |
                 (kernel->grid_stride ? GPK_KERNEL_GRID_STRIDE : 0u) |
                 (kernel->early_return ? GPK_KERNEL_EARLY_RETURN : 0u),
        .shared_bytes = kernel->shared_bytes,
        .shared_per_thread = kernel->shared_per_thread,
        .features = kernel->features,
        .tolerance = kernel->tolerance,
        .layout_hash = kernel->layout_hash ? kernel->layout_hash : layout_hash(kernel),
    };
}

/* Appends one record and counts it. */
static void put_record(struct builder *builder, struct gpk_table *table, const void *record,
                       size_t size)
{
    uint64_t at = put(builder, record, size, 8);

    if (table->count++ == 0)
        table->offset = at;
}

static struct gpk_field encode_field(struct builder *builder, const struct gantry_field_info *field)
{
    struct gpk_field record = {
        .name = put_text(builder, field->name),
        .type = field->type,
        .offset = field->offset,
        .size = field->size,
        .count = field->count,
        .pointee = put_text(builder, field->pointee),
        .pointee_size = field->pointee_size,
        .flags = (field->may_be_null ? GPK_FIELD_MAY_BE_NULL : 0u) |
                 (field->written ? GPK_FIELD_WRITTEN : 0u),
        .reach_count = field->reach_count,
    };

    for (uint32_t i = 0; i < field->reach_count && i < GPK_FACTORS; i++) {
        record.reach_field[i] = (uint32_t)field->reach[i].field;
        record.reach_number[i] = field->reach[i].number;
    }
    return record;
}

static void put_kernels(struct builder *builder, struct gpk_header *header,
                        const struct gpk_build *build)
{
    uint32_t first = 0;

    header->kernels.offset = header->fields.offset = builder->size;
    for (uint32_t i = 0; i < build->kernel_count; i++) {
        struct gpk_kernel record = encode_kernel(builder, &build->kernels[i], first);

        put_record(builder, &header->kernels, &record, sizeof(record));
        first += build->kernels[i].field_count;
    }
    for (uint32_t i = 0; i < build->kernel_count; i++) {
        for (uint32_t f = 0; f < build->kernels[i].field_count; f++) {
            struct gpk_field record = encode_field(builder, &build->kernels[i].fields[f]);

            put_record(builder, &header->fields, &record, sizeof(record));
        }
    }
}

static void put_images(struct builder *builder, struct gpk_header *header,
                       const struct gpk_build *build)
{
    struct gpk_image *records = calloc(build->image_count + 1, sizeof(*records));

    if (!records)
        abort();
    for (uint32_t i = 0; i < build->image_count; i++) {
        const struct gpk_build_image *image = &build->images[i];

        records[i] = (struct gpk_image){
            .kernel = image->kernel,
            .kind = image->kind,
            .entry = image->entry,
            .arch = image->arch,
            .isa_version = image->isa_version,
            .features = image->features,
            .name = put_text(builder, image->name),
            .offset = put(builder, image->data, image->size, 16),
            .size = image->size,
        };
    }
    header->images.count = build->image_count;
    header->images.offset = put(builder, records, build->image_count * sizeof(*records), 8);
    free(records);
}

void gpk_seal(uint8_t *data, size_t size)
{
    uint64_t hash = gpk_hash(data, size);

    memcpy(data + offsetof(struct gpk_header, hash), &hash, sizeof(hash));
}

uint8_t *gpk_build(const struct gpk_build *build, size_t *size)
{
    struct gpk_header header = {.version = GPK_VERSION, .header_size = sizeof(header)};
    struct builder *builder = calloc(1, sizeof(*builder));
    uint8_t *data;

    if (!builder || !(builder->data = calloc(1, SIZE_LIMIT)))
        abort();
    memcpy(header.magic, GPK_MAGIC, sizeof(header.magic));
    builder->text_size = 1;
    put(builder, &header, sizeof(header), 8);
    put_kernels(builder, &header, build);
    put_images(builder, &header, build);
    header.name = put_text(builder, build->name);
    header.toolchain = put_text(builder, build->toolchain);
    header.strings.count = builder->text_size;
    header.strings.offset = put(builder, builder->texts, builder->text_size, 8);
    header.file_size = *size = builder->size;
    memcpy(builder->data, &header, sizeof(header));
    gpk_seal(builder->data, builder->size);
    data = malloc(builder->size);
    if (data)
        memcpy(data, builder->data, builder->size);
    free(builder->data);
    free(builder);
    return data;
}
