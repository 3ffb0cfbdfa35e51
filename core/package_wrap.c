/* Images that a program brought without a package, as a package of one kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "package.h"
#include "package_check.h"
#include "status.h"

enum { IMAGES_MAX = 64, FIELDS_MAX = 1024 };

static enum gantry_status no_memory(void)
{
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory for the user's images");
}

static enum gantry_status check_image_params(const struct gantry_user_image *image, uint32_t i)
{
    if (image->kind < GANTRY_IMAGE_SPIRV || image->kind > GANTRY_IMAGE_PTX)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "image %u: kind %d is not SPIR-V, cubin, fatbin or PTX", i, (int)image->kind);
    if (!image->data || image->size == 0)
        return fail(GANTRY_E_INVALID_ARGUMENT, "image %u: it has no bytes", i);
    return GANTRY_OK;
}

static enum gantry_status check_params(const struct gantry_module_params *params)
{
    const struct gantry_kernel_source *source = params->source;

    if (!params->images || params->image_count == 0 || params->image_count > IMAGES_MAX)
        return fail(GANTRY_E_INVALID_ARGUMENT, "image_count %u: a kernel comes with 1 to %d images",
                    params->images ? params->image_count : 0, IMAGES_MAX);
    if (source->field_count > FIELDS_MAX || (source->field_count && !source->fields))
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "field_count %u: a kernel has %d fields at most, and an array of them",
                    source->field_count, FIELDS_MAX);
    if (!source->name || !is_identifier(source->name))
        return fail(GANTRY_E_INVALID_ARGUMENT, "the kernel's name \"%s\" is no identifier",
                    source->name ? source->name : "");
    for (uint32_t i = 0; i < params->image_count; i++) {
        enum gantry_status status = check_image_params(&params->images[i], i);

        if (status != GANTRY_OK)
            return status;
    }
    return GANTRY_OK;
}

/* ---- Copies -------------------------------------------------------------------------------- */

/* Appends to the package's one piece of memory, which was made large enough. NULL text: "". */
static const char *put_text(char **at, const char *text)
{
    char *copy = *at;
    size_t size = strlen(text ? text : "") + 1;

    memcpy(copy, text ? text : "", size);
    *at += size;
    return copy;
}

static size_t text_size(const char *text)
{
    return strlen(text ? text : "") + 1;
}

static size_t all_texts(const struct gantry_kernel_source *source)
{
    size_t size = text_size(source->name) + text_size(source->args_name);

    for (uint32_t i = 0; i < source->field_count; i++)
        size += text_size(source->fields[i].name) + text_size(source->fields[i].pointee);
    return size;
}

static enum gantry_status copy_source(const struct gantry_kernel_source *source,
                                      struct gantry_package *package)
{
    struct gantry_kernel_source *kernel;
    char *at;

    package->kernels = kernel = calloc(1, sizeof(*kernel));
    package->fields = calloc(source->field_count + 1, sizeof(*package->fields));
    package->texts = at = malloc(all_texts(source));
    if (!kernel || !package->fields || !at)
        return no_memory();
    package->kernel_count = 1;
    *kernel = *source;
    kernel->name = put_text(&at, source->name);
    kernel->args_name = put_text(&at, source->args_name);
    kernel->fields = package->fields;
    for (uint32_t i = 0; i < source->field_count; i++) {
        package->fields[i] = source->fields[i];
        package->fields[i].name = put_text(&at, source->fields[i].name);
        package->fields[i].pointee = put_text(&at, source->fields[i].pointee);
    }
    return GANTRY_OK;
}

/* A partly set block counts as 1 along its other axes, as everywhere. */
static void fill_defaults(struct gantry_kernel_source *kernel)
{
    struct gantry_size *block = &kernel->block;

    if (block->x || block->y || block->z) {
        block->x = block->x ? block->x : 1;
        block->y = block->y ? block->y : 1;
        block->z = block->z ? block->z : 1;
    }
    kernel->dimensions = kernel->dimensions ? kernel->dimensions : 1;
    kernel->layout_hash = package_layout_hash(kernel);
}

/* Every image begins on 16 bytes and has a zero behind it, for those that are text. */
static size_t place_size(size_t size)
{
    return (size + 16) & ~(size_t)15;
}

static enum gantry_status copy_images(const struct gantry_module_params *params,
                                      struct gantry_package *package)
{
    size_t size = 0, at = 0;

    for (uint32_t i = 0; i < params->image_count; i++) {
        if (params->images[i].size > SIZE_MAX / 2 - size)
            return fail(GANTRY_E_OVERFLOW, "image %u: %zu bytes are too many", i,
                        params->images[i].size);
        size += place_size(params->images[i].size);
    }
    package->images = calloc(params->image_count, sizeof(*package->images));
    package->memory = calloc(1, size);
    if (!package->images || !package->memory)
        return no_memory();
    package->image_count = params->image_count;
    for (uint32_t i = 0; i < params->image_count; i++) {
        const struct gantry_user_image *image = &params->images[i];
        char *data = (char *)package->memory + at;

        memcpy(data, image->data, image->size);
        package->images[i].image = (struct gantry_backend_image){
            .kind = image->kind,
            .entry = GANTRY_ENTRY_DIRECT,
            .arch = image->arch,
            .name = "",
            .data = data,
            .size = image->size,
        };
        at += place_size(image->size);
    }
    return GANTRY_OK;
}

static enum gantry_status check_copies(const struct gantry_package *package)
{
    enum gantry_status status =
        check_kernel(&package->kernels[0], GANTRY_E_INVALID_ARGUMENT, "source");

    for (uint32_t i = 0; status == GANTRY_OK && i < package->image_count; i++) {
        char where[32];

        snprintf(where, sizeof(where), "image %u", i);
        status = check_image(&package->images[i].image, GANTRY_E_INVALID_ARGUMENT, where);
    }
    return status;
}

enum gantry_status package_wrap(const struct gantry_module_params *params,
                                struct gantry_package **out)
{
    enum gantry_status status = check_params(params);
    struct gantry_package *package;

    *out = NULL;
    if (status != GANTRY_OK)
        return status;
    package = calloc(1, sizeof(*package));
    if (!package)
        return no_memory();
    package->name = strdup(params->label ? params->label : params->source->name);
    package->toolchain = strdup("");
    if (!package->name || !package->toolchain)
        status = no_memory();
    if (status == GANTRY_OK)
        status = copy_source(params->source, package);
    if (status == GANTRY_OK) {
        fill_defaults(&package->kernels[0]);
        status = copy_images(params, package);
    }
    if (status == GANTRY_OK)
        status = check_copies(package);
    if (status != GANTRY_OK) {
        package_free(package);
        return status;
    }
    *out = package;
    return GANTRY_OK;
}
