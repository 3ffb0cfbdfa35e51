/* Packages as objects: read from files or bytes, looked into, freed. */
#include "package.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_STATIC_LINKING_ONLY /* the state, so that hashing needs no memory */
#include <xxhash.h>

#include "status.h"

void package_free(struct gantry_package *package)
{
    if (!package)
        return;
    free(package->name);
    free(package->toolchain);
    free(package->kernels);
    free(package->images);
    free(package->memory);
    free(package->fields);
    free(package->texts);
    free(package);
}

/* ---- The layout hash ----------------------------------------------------------------------- */

static void hash_text(XXH64_state_t *state, const char *text)
{
    XXH64_update(state, text, strlen(text));
}

static void hash_number(XXH64_state_t *state, uint32_t number)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", number);
    hash_text(state, text);
}

uint64_t package_layout_hash(const struct gantry_kernel_source *kernel)
{
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    hash_text(&state, kernel->args_name);
    hash_text(&state, "\n");
    for (uint32_t i = 0; i < kernel->field_count; i++) {
        const struct gantry_field_info *field = &kernel->fields[i];

        hash_text(&state, field->name);
        hash_text(&state, " ");
        hash_text(&state, gantry_scalar_name(field->type));
        hash_text(&state, " ");
        hash_number(&state, field->offset);
        hash_text(&state, " ");
        hash_number(&state, field->count);
        hash_text(&state, " ");
        hash_text(&state, field->pointee);
        hash_text(&state, "\n");
    }
    hash_number(&state, kernel->args_size);
    hash_text(&state, "\n");
    return XXH64_digest(&state);
}

/* ---- Files --------------------------------------------------------------------------------- */

/* Reads an open file whole; the caller frees *data. */
static enum gantry_status read_open(FILE *file, const char *path, void **data, size_t *size)
{
    struct stat info;
    uint8_t *bytes;

    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return fail(GANTRY_E_IO, "%s: is not a file", path);
    bytes = malloc((size_t)info.st_size + 1);
    if (!bytes)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "%s: no host memory for its %lld bytes", path,
                    (long long)info.st_size);
    *size = fread(bytes, 1, (size_t)info.st_size + 1, file);
    if (ferror(file) || *size != (size_t)info.st_size) {
        free(bytes);
        return fail(GANTRY_E_IO, "%s: could not be read whole: %s", path,
                    ferror(file) ? strerror(errno) : "it changed meanwhile");
    }
    *data = bytes;
    return GANTRY_OK;
}

static enum gantry_status parse_file(const char *path, struct gantry_package **package)
{
    FILE *file = fopen(path, "rbe");
    enum gantry_status status;
    void *data = NULL;
    size_t size = 0;

    if (!file)
        return fail(errno == ENOMEM ? GANTRY_E_OUT_OF_HOST_MEMORY : GANTRY_E_IO, "%s: %s", path,
                    strerror(errno));
    status = read_open(file, path, &data, &size);
    fclose(file);
    if (status != GANTRY_OK)
        return status;
    status = package_parse(data, size, path, package);
    free(data);
    return status;
}

enum gantry_status package_load(const char *file, const void *data, size_t size,
                                struct gantry_package **package)
{
    *package = NULL;
    if (file && data)
        return fail(GANTRY_E_INVALID_ARGUMENT, "both a file and bytes are given; give one of them");
    if (!file && !data)
        return fail(GANTRY_E_INVALID_ARGUMENT, "neither a file nor bytes are given");
    return file ? parse_file(file, package) : package_parse(data, size, "package", package);
}

/* ---- The public calls ---------------------------------------------------------------------- */

enum gantry_status gantry_package_open(const struct gantry_package_params *params,
                                       struct gantry_package **package)
{
    static const struct gantry_package_params none;
    enum gantry_status status;

    if (!package)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_package_open: the handle's address is NULL");
    params = params ? params : &none;
    status = package_load(params->file, params->data, params->size, package);
    if (status != GANTRY_OK)
        fail_context("gantry_package_open");
    return status;
}

void gantry_package_close(struct gantry_package **package)
{
    if (!package)
        return;
    package_free(*package);
    *package = NULL;
}

const char *gantry_package_name(const struct gantry_package *package)
{
    return package ? package->name : "";
}

uint32_t gantry_package_kernel_count(const struct gantry_package *package)
{
    return package ? package->kernel_count : 0;
}

enum gantry_status gantry_package_kernel(const struct gantry_package *package, uint32_t i,
                                         struct gantry_kernel_source *info)
{
    if (!package || !info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_package_kernel: %s is NULL",
                    package ? "info" : "the package");
    if (i >= package->kernel_count)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_package_kernel: kernel %u is not below the count of %u", i,
                    package->kernel_count);
    *info = package->kernels[i];
    return GANTRY_OK;
}

uint32_t gantry_package_image_count(const struct gantry_package *package)
{
    return package ? package->image_count : 0;
}

void package_describe_image(const struct gantry_package *package, const struct package_image *image,
                            struct gantry_image_info *info)
{
    *info = (struct gantry_image_info){
        .kind = image->image.kind,
        .entry = image->image.entry,
        .kernel = image->kernel == UINT32_MAX ? NULL : package->kernels[image->kernel].name,
        .name = image->image.name,
        .arch = image->image.arch,
        .isa_version = image->image.isa_version,
        .features = image->image.features,
        .size = image->image.size,
    };
}

enum gantry_status gantry_package_image(const struct gantry_package *package, uint32_t i,
                                        struct gantry_image_info *info, const void **data)
{
    const struct package_image *image;

    if (!package || !info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_package_image: %s is NULL",
                    package ? "info" : "the package");
    if (i >= package->image_count)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_package_image: image %u is not below the count of %u", i,
                    package->image_count);
    image = &package->images[i];
    package_describe_image(package, image, info);
    if (data)
        *data = image->image.data;
    return GANTRY_OK;
}
