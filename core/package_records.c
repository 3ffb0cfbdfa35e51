/* The records of a package: texts, fields, kernels, images. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "package_check.h"
#include "package_reader.h"
#include "status.h"
#include "utf8.h"

enum { IMAGE_ALIGNMENT = 16 };

/* Beyond what anyone writes. A hostile file could let many records use long texts and the same
 * fields, and reading it must end soon too. */
enum { FIELDS_MAX = 1024, FIELD_USES_MAX = 65536, TEXT_MAX = 1023 };

/* ---- Texts --------------------------------------------------------------------------------- */

/* Printable ASCII and UTF-8, and not long, so that it can be shown. */
static bool presentable(const char *text)
{
    size_t length = 0;

    while (length <= TEXT_MAX && (unsigned char)text[length] >= ' ' && text[length] != 0x7f)
        length++;
    return length <= TEXT_MAX && text[length] == '\0' && utf8_valid(text);
}

enum gantry_status read_text(const struct reader *reader, uint32_t at, const char *where,
                             const char **text)
{
    const struct gpk_table *strings = &reader->header.strings;

    if (at >= strings->count)
        return fail(GANTRY_E_PACKAGE, "%s: a text at %u is outside the string area of %u bytes",
                    where, at, strings->count);
    *text = (const char *)reader->data + strings->offset + at;
    if (!presentable(*text))
        return fail(GANTRY_E_PACKAGE,
                    "%s: the text at %u of the string area is no clean UTF-8, or longer than %d",
                    where, at, TEXT_MAX);
    return GANTRY_OK;
}

/* ---- Fields and kernels -------------------------------------------------------------------- */

/* The offset of record i of a checked table. */
static uint64_t record_offset(const struct gpk_table *table, uint32_t i, size_t record)
{
    return table->offset + (uint64_t)i * record;
}

size_t field_record_size(const struct gpk_header *header)
{
    return header->version == 1 ? GPK_FIELD_SIZE_1 : sizeof(struct gpk_field);
}

/* The record as its version has it, with what an older one does not tell filled in. */
static struct gpk_field fetch_field(const struct reader *reader, uint64_t at)
{
    struct gpk_field record = {0};

    memcpy(&record, reader->data + at, field_record_size(&reader->header));
    if (reader->header.version == 1 && record.type == GANTRY_SCALAR_POINTER)
        record.flags = GPK_FIELD_WRITTEN;
    return record;
}

static void decode_reach(const struct gpk_field *record, struct gantry_field_info *field)
{
    field->reach_count = record->reach_count;
    for (int i = 0; i < GPK_FACTORS; i++) {
        field->reach[i].field =
            record->reach_field[i] == GPK_NUMBER ? -1 : (int32_t)record->reach_field[i];
        field->reach[i].number = record->reach_number[i];
    }
}

static enum gantry_status read_field(const struct reader *reader, uint32_t i)
{
    uint64_t at = record_offset(&reader->header.fields, i, field_record_size(&reader->header));
    struct gantry_field_info *field = &reader->package->fields[i];
    struct gpk_field record = fetch_field(reader, at);
    char where[WHERE_SIZE];
    enum gantry_status status;

    snprintf(where, sizeof(where), "field %u at offset %" PRIu64, i, at);
    *field = (struct gantry_field_info){
        .type = (enum gantry_scalar)record.type,
        .offset = record.offset,
        .size = record.size,
        .count = record.count,
        .pointee_size = record.pointee_size,
        .may_be_null = record.flags & GPK_FIELD_MAY_BE_NULL,
        .written = record.flags & GPK_FIELD_WRITTEN,
    };
    decode_reach(&record, field);
    if (record.flags & ~(uint32_t)(GPK_FIELD_MAY_BE_NULL | GPK_FIELD_WRITTEN))
        return fail(GANTRY_E_PACKAGE, "%s: flags 0x%x are not all known to gantry %s", where,
                    record.flags, gantry_version());
    status = read_text(reader, record.name, where, &field->name);
    if (status == GANTRY_OK)
        status = read_text(reader, record.pointee, where, &field->pointee);
    return status;
}

static struct gantry_kernel_source decode(const struct gpk_kernel *record)
{
    return (struct gantry_kernel_source){
        .args_size = record->args_size,
        .field_count = record->field_count,
        .dimensions = record->dimensions,
        .block = {record->block[0], record->block[1], record->block[2]},
        .block_multiple = record->block_multiple,
        .block_max = record->block_max,
        .block_pow2 = record->flags & GPK_KERNEL_BLOCK_POW2,
        .grid_stride = record->flags & GPK_KERNEL_GRID_STRIDE,
        .early_return = record->flags & GPK_KERNEL_EARLY_RETURN,
        .shared_bytes = record->shared_bytes,
        .shared_per_thread = record->shared_per_thread,
        .features = record->features,
        .tolerance = record->tolerance,
        .layout_hash = record->layout_hash,
    };
}

static enum gantry_status check_record(struct reader *reader, const struct gpk_kernel *record,
                                       const char *where)
{
    const uint32_t flags = GPK_KERNEL_BLOCK_POW2 | GPK_KERNEL_GRID_STRIDE | GPK_KERNEL_EARLY_RETURN;
    uint32_t fields = reader->header.fields.count;

    if (record->reserved != 0 || (record->flags & ~flags))
        return fail(GANTRY_E_PACKAGE, "%s: flags 0x%x are not all known to gantry %s", where,
                    record->flags, gantry_version());
    if (record->first_field > fields || record->field_count > fields - record->first_field)
        return fail(GANTRY_E_PACKAGE, "%s: its %u fields from %u on leave the table of %u", where,
                    record->field_count, record->first_field, fields);
    if (record->field_count > FIELDS_MAX)
        return fail(GANTRY_E_PACKAGE, "%s: its %u fields are more than %d", where,
                    record->field_count, FIELDS_MAX);
    reader->field_uses += record->field_count;
    if (reader->field_uses > FIELD_USES_MAX)
        return fail(GANTRY_E_PACKAGE, "%s: the fields of all kernels are more than %d", where,
                    FIELD_USES_MAX);
    return GANTRY_OK;
}

static enum gantry_status check_unique(const struct gantry_package *package, uint32_t i,
                                       const char *where)
{
    for (uint32_t other = 0; other < i; other++) {
        if (strcmp(package->kernels[other].name, package->kernels[i].name) == 0)
            return fail(GANTRY_E_PACKAGE, "%s: kernel %u is called \"%s\" too", where, other,
                        package->kernels[i].name);
    }
    return GANTRY_OK;
}

static enum gantry_status check_layout(const struct gantry_kernel_source *kernel, const char *where)
{
    uint64_t hash = package_layout_hash(kernel);

    if (hash != kernel->layout_hash)
        return fail(GANTRY_E_PACKAGE,
                    "%s: its arguments hash to %016" PRIx64 ", the record states %016" PRIx64,
                    where, hash, kernel->layout_hash);
    return GANTRY_OK;
}

static enum gantry_status read_kernel(struct reader *reader, uint32_t i)
{
    uint64_t at = record_offset(&reader->header.kernels, i, sizeof(struct gpk_kernel));
    struct gantry_kernel_source *kernel = &reader->package->kernels[i];
    char where[WHERE_SIZE];
    struct gpk_kernel record;
    enum gantry_status status;

    memcpy(&record, reader->data + at, sizeof(record));
    snprintf(where, sizeof(where), "kernel %u at offset %" PRIu64, i, at);
    *kernel = decode(&record);
    status = check_record(reader, &record, where);
    if (status == GANTRY_OK)
        status = read_text(reader, record.name, where, &kernel->name);
    if (status == GANTRY_OK)
        status = read_text(reader, record.args_name, where, &kernel->args_name);
    if (status != GANTRY_OK)
        return status;
    kernel->fields = reader->package->fields + record.first_field;
    status = check_kernel(kernel, GANTRY_E_PACKAGE, where);
    if (status == GANTRY_OK)
        status = check_unique(reader->package, i, where);
    return status == GANTRY_OK ? check_layout(kernel, where) : status;
}

/* ---- Images -------------------------------------------------------------------------------- */

static enum gantry_status check_place(const struct reader *reader, const struct gpk_image *record,
                                      const char *where)
{
    if (record->kernel != GPK_ALL_KERNELS && record->kernel >= reader->header.kernels.count)
        return fail(GANTRY_E_PACKAGE, "%s: it is of kernel %u, but there are %u", where,
                    record->kernel, reader->header.kernels.count);
    if (record->reserved != 0)
        return fail(GANTRY_E_PACKAGE, "%s: it has %u where a zero belongs", where,
                    record->reserved);
    if (record->offset % IMAGE_ALIGNMENT != 0)
        return fail(GANTRY_E_PACKAGE, "%s: its bytes at %" PRIu64 " are not aligned to %d", where,
                    record->offset, IMAGE_ALIGNMENT);
    if (record->offset < sizeof(struct gpk_header) || record->offset > reader->size ||
        record->size > reader->size - record->offset)
        return fail(GANTRY_E_PACKAGE,
                    "%s: its %" PRIu64 " bytes at %" PRIu64 " leave the file of %zu bytes", where,
                    record->size, record->offset, reader->size);
    if (record->kind == GANTRY_IMAGE_SPIRV && record->kernel == GPK_ALL_KERNELS)
        return fail(GANTRY_E_PACKAGE, "%s: SPIR-V holds one kernel, not all", where);
    return GANTRY_OK;
}

static enum gantry_status read_image(const struct reader *reader, uint32_t i)
{
    uint64_t at = record_offset(&reader->header.images, i, sizeof(struct gpk_image));
    struct package_image *image = &reader->package->images[i];
    char where[WHERE_SIZE];
    struct gpk_image record;
    enum gantry_status status;

    memcpy(&record, reader->data + at, sizeof(record));
    snprintf(where, sizeof(where), "image %u at offset %" PRIu64, i, at);
    status = check_place(reader, &record, where);
    if (status != GANTRY_OK)
        return status;
    image->kernel = record.kernel;
    image->image = (struct gantry_backend_image){
        .kind = (enum gantry_image_kind)record.kind,
        .entry = (enum gantry_entry)record.entry,
        .arch = record.arch,
        .isa_version = record.isa_version,
        .features = record.features,
        .data = reader->data + record.offset,
        .size = record.size,
        .packaged = true,
    };
    status = read_text(reader, record.name, where, &image->image.name);
    return status == GANTRY_OK ? check_image(&image->image, GANTRY_E_PACKAGE, where) : status;
}

static bool is_text(const struct package_image *image)
{
    return image->image.kind == GANTRY_IMAGE_PTX || image->image.kind == GANTRY_IMAGE_SOURCE;
}

/* Compilers and drivers read these up to a zero, which the file need not hold. */
static enum gantry_status end_texts(const struct reader *reader)
{
    struct gantry_package *package = reader->package;
    size_t size = 0;
    char *at;

    for (uint32_t i = 0; i < package->image_count; i++)
        size += is_text(&package->images[i]) ? package->images[i].image.size + 1 : 0;
    /* Ranges of a file may overlap, so that many images of a small one could ask for a lot. */
    if (size > 2 * reader->size + package->image_count)
        return fail(GANTRY_E_PACKAGE, "its images overlap");
    at = package->texts = malloc(size + 1);
    if (!at)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for the images of a package");
    for (uint32_t i = 0; i < package->image_count; i++) {
        struct gantry_backend_image *image = &package->images[i].image;

        if (!is_text(&package->images[i]))
            continue;
        memcpy(at, image->data, image->size);
        at[image->size] = '\0';
        image->data = at;
        at += image->size + 1;
    }
    return GANTRY_OK;
}

enum gantry_status read_records(struct reader *reader)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; status == GANTRY_OK && i < reader->header.fields.count; i++)
        status = read_field(reader, i);
    for (uint32_t i = 0; status == GANTRY_OK && i < reader->header.kernels.count; i++)
        status = read_kernel(reader, i);
    for (uint32_t i = 0; status == GANTRY_OK && i < reader->header.images.count; i++)
        status = read_image(reader, i);
    return status == GANTRY_OK ? end_texts(reader) : status;
}
