/* Reading a package's bytes, none of which is trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "package.h"
#include "package_check.h"
#include "package_format.h"
#include "status.h"

enum { WHERE_SIZE = 64, TABLE_ALIGNMENT = 8, IMAGE_ALIGNMENT = 16 };

/* Beyond what anyone writes; names are compared with each other, which must end soon for a hostile
 * file too. */
enum { KERNELS_MAX = 4096, FIELDS_MAX = 1024, FIELD_USES_MAX = 65536 };

struct reader {
    const uint8_t *data; /* the package's own copy */
    size_t size;
    struct gpk_header header;
    uint32_t field_uses; /* of all kernels that were read */
    struct gantry_package *package;
};

/* ---- Header and tables --------------------------------------------------------------------- */

static enum gantry_status read_header(struct reader *reader)
{
    struct gpk_header *header = &reader->header;
    uint64_t hash;

    if (reader->size < sizeof(*header))
        return fail(GANTRY_E_PACKAGE, "%zu bytes are less than a package's header of %zu",
                    reader->size, sizeof(*header));
    memcpy(header, reader->data, sizeof(*header));
    if (memcmp(header->magic, GPK_MAGIC, sizeof(header->magic)) != 0)
        return fail(GANTRY_E_PACKAGE,
                    "does not begin with \"" GPK_MAGIC "\": it is no kernel package");
    if (header->version != GPK_VERSION)
        return fail(GANTRY_E_PACKAGE, "has package version %u, gantry %s reads %d; compile it anew",
                    header->version, gantry_version(), GPK_VERSION);
    if (header->header_size != sizeof(*header))
        return fail(GANTRY_E_PACKAGE, "states a header of %u bytes at offset 12, which is %zu",
                    header->header_size, sizeof(*header));
    if (header->file_size != reader->size)
        return fail(GANTRY_E_PACKAGE,
                    "has %zu bytes but states %" PRIu64 " at offset 16: it was cut or grew",
                    reader->size, header->file_size);
    hash = XXH64(reader->data + sizeof(*header), reader->size - sizeof(*header), 0);
    if (header->hash != hash)
        return fail(GANTRY_E_PACKAGE,
                    "is damaged: its bytes hash to %016" PRIx64 ", offset 24 states %016" PRIx64,
                    hash, header->hash);
    return GANTRY_OK;
}

static enum gantry_status check_table(const struct reader *reader, const struct gpk_table *table,
                                      size_t record, const char *name)
{
    if (table->reserved != 0)
        return fail(GANTRY_E_PACKAGE, "the table of %s has %u where a zero belongs", name,
                    table->reserved);
    if (table->offset % TABLE_ALIGNMENT != 0)
        return fail(GANTRY_E_PACKAGE, "the table of %s at offset %" PRIu64 " is not aligned to %d",
                    name, table->offset, TABLE_ALIGNMENT);
    if (table->offset < sizeof(struct gpk_header) || table->offset > reader->size ||
        table->count > (reader->size - table->offset) / record)
        return fail(GANTRY_E_PACKAGE,
                    "the table of %s, %u records of %zu bytes from offset %" PRIu64
                    ", leaves the file of %zu bytes",
                    name, table->count, record, table->offset, reader->size);
    return GANTRY_OK;
}

static enum gantry_status check_strings(const struct reader *reader)
{
    const struct gpk_table *strings = &reader->header.strings;
    const uint8_t *area = reader->data + strings->offset;

    if (strings->count == 0 || area[0] != 0 || area[strings->count - 1] != 0)
        return fail(GANTRY_E_PACKAGE,
                    "the string area at offset %" PRIu64 " does not begin and end with a zero",
                    strings->offset);
    return GANTRY_OK;
}

static enum gantry_status check_tables(const struct reader *reader)
{
    const struct gpk_header *header = &reader->header;
    enum gantry_status status = check_table(reader, &header->strings, 1, "strings");

    if (status == GANTRY_OK)
        status = check_strings(reader);
    if (status == GANTRY_OK)
        status = check_table(reader, &header->kernels, sizeof(struct gpk_kernel), "kernels");
    if (status == GANTRY_OK)
        status = check_table(reader, &header->fields, sizeof(struct gpk_field), "fields");
    if (status == GANTRY_OK)
        status = check_table(reader, &header->images, sizeof(struct gpk_image), "images");
    if (status == GANTRY_OK && (header->kernels.count == 0 || header->kernels.count > KERNELS_MAX))
        status = fail(GANTRY_E_PACKAGE, "holds %u kernels; a package has 1 to %d",
                      header->kernels.count, KERNELS_MAX);
    return status;
}

/* The offset of record i of a checked table. */
static uint64_t record_offset(const struct gpk_table *table, uint32_t i, size_t record)
{
    return table->offset + (uint64_t)i * record;
}

/* ---- Texts --------------------------------------------------------------------------------- */

/* Printable ASCII and UTF-8, so that it can be shown. */
static bool printable(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

/* `where` says whose text it is. Texts point into the package's copy. */
static enum gantry_status read_text(const struct reader *reader, uint32_t at, const char *where,
                                    const char **text)
{
    const struct gpk_table *strings = &reader->header.strings;

    if (at >= strings->count)
        return fail(GANTRY_E_PACKAGE, "%s: a text at %u is outside the string area of %u bytes",
                    where, at, strings->count);
    *text = (const char *)reader->data + strings->offset + at;
    if (!printable(*text))
        return fail(GANTRY_E_PACKAGE, "%s: the text at %u of the string area is not printable",
                    where, at);
    return GANTRY_OK;
}

static char *copy_text(const struct reader *reader, uint32_t at, const char *which,
                       enum gantry_status *status)
{
    char where[WHERE_SIZE];
    const char *text;
    char *copy;

    snprintf(where, sizeof(where), "the package's %s", which);
    if (*status != GANTRY_OK)
        return NULL;
    *status = read_text(reader, at, where, &text);
    if (*status != GANTRY_OK)
        return NULL;
    copy = strdup(text);
    if (!copy)
        *status = fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory");
    return copy;
}

static enum gantry_status read_names(const struct reader *reader)
{
    struct gantry_package *package = reader->package;
    enum gantry_status status = GANTRY_OK;

    package->name = copy_text(reader, reader->header.name, "name", &status);
    package->toolchain = copy_text(reader, reader->header.toolchain, "toolchain", &status);
    if (status == GANTRY_OK && (!package->name[0] || strchr(package->name, '/')))
        status = fail(GANTRY_E_PACKAGE, "the package's name \"%s\" is empty or holds a '/'",
                      package->name);
    return status;
}

/* ---- Records ------------------------------------------------------------------------------- */

static enum gantry_status read_field(const struct reader *reader, uint32_t i)
{
    uint64_t at = record_offset(&reader->header.fields, i, sizeof(struct gpk_field));
    struct gantry_field_info *field = &reader->package->fields[i];
    char where[WHERE_SIZE];
    struct gpk_field record;
    enum gantry_status status;

    memcpy(&record, reader->data + at, sizeof(record));
    snprintf(where, sizeof(where), "field %u at offset %" PRIu64, i, at);
    *field = (struct gantry_field_info){
        .type = (enum gantry_scalar)record.type,
        .offset = record.offset,
        .size = record.size,
        .count = record.count,
    };
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
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory");
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

/* ---- The whole ----------------------------------------------------------------------------- */

static enum gantry_status allocate(struct reader *reader)
{
    const struct gpk_header *header = &reader->header;
    struct gantry_package *package = reader->package;

    package->kernel_count = header->kernels.count;
    package->image_count = header->images.count;
    package->kernels = calloc(header->kernels.count, sizeof(*package->kernels));
    package->fields = calloc((size_t)header->fields.count + 1, sizeof(*package->fields));
    package->images = calloc((size_t)header->images.count + 1, sizeof(*package->images));
    if (!package->kernels || !package->fields || !package->images)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory");
    return GANTRY_OK;
}

static enum gantry_status read_records(struct reader *reader)
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

static enum gantry_status read_all(struct reader *reader)
{
    enum gantry_status status = read_header(reader);

    if (status == GANTRY_OK)
        status = check_tables(reader);
    if (status == GANTRY_OK)
        status = allocate(reader);
    if (status == GANTRY_OK)
        status = read_names(reader);
    return status == GANTRY_OK ? read_records(reader) : status;
}

enum gantry_status package_parse(const void *data, size_t size, const char *what,
                                 struct gantry_package **out)
{
    struct gantry_package *package = calloc(1, sizeof(*package));
    struct reader reader = {.size = size, .package = package};
    enum gantry_status status;

    *out = NULL;
    if (package)
        package->memory = malloc(size ? size : 1);
    if (!package || !package->memory) {
        package_free(package);
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "%s: no host memory for %zu bytes", what, size);
    }
    if (size)
        memcpy(package->memory, data, size);
    reader.data = package->memory;
    status = read_all(&reader);
    if (status != GANTRY_OK) {
        fail_context("%s", what);
        package_free(package);
        return status;
    }
    *out = package;
    return GANTRY_OK;
}
