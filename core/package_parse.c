/* Reading a package's bytes, none of which is trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "package_hash.h"
#include "package_reader.h"
#include "status.h"

enum { TABLE_ALIGNMENT = 8, KERNELS_MAX = 4096 };

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
    if (header->version < 1 || header->version > GPK_VERSION)
        return fail(GANTRY_E_PACKAGE,
                    "has package version %u, gantry %s reads 1 to %d; compile it anew",
                    header->version, gantry_version(), GPK_VERSION);
    if (header->header_size != sizeof(*header))
        return fail(GANTRY_E_PACKAGE, "states a header of %u bytes at offset 12, which is %zu",
                    header->header_size, sizeof(*header));
    if (header->file_size != reader->size)
        return fail(GANTRY_E_PACKAGE,
                    "has %zu bytes but states %" PRIu64 " at offset 16: it was cut or grew",
                    reader->size, header->file_size);
    hash = gpk_hash(reader->data, reader->size);
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
        status = check_table(reader, &header->fields, field_record_size(header), "fields");
    if (status == GANTRY_OK)
        status = check_table(reader, &header->images, sizeof(struct gpk_image), "images");
    if (status == GANTRY_OK && (header->kernels.count == 0 || header->kernels.count > KERNELS_MAX))
        status = fail(GANTRY_E_PACKAGE, "holds %u kernels; a package has 1 to %d",
                      header->kernels.count, KERNELS_MAX);
    return status;
}

/* ---- Names --------------------------------------------------------------------------------- */

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
        *status = fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for the texts of a package");
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
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for the tables of a package");
    return GANTRY_OK;
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
