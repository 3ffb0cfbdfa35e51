/* One entry of a kernel, as the plugin makes it from the package's images. */
#include "entry.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"

enum { DEFAULT_THREADS = 256 };

void add_features(struct text *text, uint32_t features)
{
    const char *comma = "";

#define X(name, bit, words)                   \
    if (features & GANTRY_FEATURE_##name) {   \
        text_add(text, "%s%s", comma, words); \
        comma = ", ";                         \
    }
    GANTRY_FEATURE_MAP(X)
#undef X
}

/* ---- Images -------------------------------------------------------------------------------- */

/* What the plugin is asked with. */
struct attempt {
    const struct gantry_kernel *kernel;
    struct gantry_backend_kernel_params params;
    struct gantry_backend_image *images;
    char *symbol;
    struct text refused; /* images that the device lacks a feature for */
};

bool image_holds(const struct package_image *image, uint32_t kernel, enum gantry_entry entry)
{
    return (image->kernel == UINT32_MAX || image->kernel == kernel) &&
           (image->image.entry == GANTRY_ENTRY_ALL || image->image.entry == entry);
}

/* Sources belong together: the first includes the others. */
static bool holds(const struct attempt *attempt, const struct package_image *image)
{
    const struct package_image *only = attempt->kernel->only;
    bool allowed =
        !only || image == only ||
        (only->image.kind == GANTRY_IMAGE_SOURCE && image->image.kind == only->image.kind);

    return allowed && image_holds(image, attempt->kernel->index, attempt->params.entry);
}

static void refuse(struct attempt *attempt, const struct gantry_backend_image *image,
                   uint32_t missing)
{
    text_add(&attempt->refused, "%s%s, which needs ", attempt->refused.length ? "; " : "",
             gantry_image_kind_name(image->kind));
    add_features(&attempt->refused, missing);
}

/* Images that use optional features are better than those that do without, so they come first. */
static void pick_images(struct attempt *attempt, bool with_features)
{
    const struct gantry_package *package = attempt->kernel->module->package;
    uint32_t has = attempt->kernel->object.device->info.features;

    for (uint32_t i = 0; i < package->image_count; i++) {
        const struct package_image *image = &package->images[i];
        uint32_t needs = image->image.features;

        if (!holds(attempt, image) || (needs != 0) != with_features)
            continue;
        if (needs & ~has)
            refuse(attempt, &image->image, needs & ~has);
        else
            attempt->images[attempt->params.image_count++] = image->image;
    }
}

static enum gantry_status begin(struct attempt *attempt, const struct gantry_kernel *kernel,
                                enum gantry_entry entry)
{
    static const struct {
        const char *name, *suffix;
    } entries[] = {
        [GANTRY_ENTRY_DIRECT] = {"direct", ""},
        [GANTRY_ENTRY_FOLDED] = {"folded", GANTRY_FOLDED_SUFFIX},
        [GANTRY_ENTRY_CHAINED] = {"chained", GANTRY_CHAINED_SUFFIX},
    };
    const char *name = entries[entry].name;
    uint32_t count = kernel->module->package->image_count;

    memset(attempt, 0, sizeof(*attempt));
    attempt->kernel = kernel;
    attempt->params.source = kernel->source;
    attempt->params.entry = entry;
    attempt->params.block = kernel->block;
    attempt->images = calloc((size_t)count + 1, sizeof(*attempt->images));
    attempt->symbol = text_make("%s%s", kernel->source->name, entries[entry].suffix);
    if (!attempt->images || !attempt->symbol)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "kernel %s: out of host memory",
                    kernel->source->name);
    attempt->params.symbol = attempt->symbol;
    attempt->params.images = attempt->images;
    pick_images(attempt, true);
    pick_images(attempt, false);
    if (attempt->params.image_count == 0)
        return fail(GANTRY_E_NO_IMAGE, "kernel %s: module \"%s\" holds no image of its %s entry",
                    kernel->source->name, kernel->module->label, name);
    return GANTRY_OK;
}

static enum gantry_status end(struct attempt *attempt, enum gantry_status status)
{
    if (status == GANTRY_E_NO_IMAGE && attempt->refused.length)
        fail(status, "%s; not tried on this device: %s", gantry_last_error(),
             text_get(&attempt->refused));
    text_free(&attempt->refused);
    free(attempt->images);
    free(attempt->symbol);
    return status;
}

enum gantry_entry entry_first(const struct gantry_kernel *kernel)
{
    const struct gantry_limits *limits = &kernel->object.device->info.limits;

    return kernel->source->args_size > limits->inline_args_bytes ? GANTRY_ENTRY_FOLDED
                                                                 : GANTRY_ENTRY_DIRECT;
}

/* ---- Asking the plugin --------------------------------------------------------------------- */

enum gantry_status entry_make(const struct gantry_kernel *kernel, enum gantry_entry entry,
                              struct gantry_drv_kernel **made,
                              struct gantry_backend_kernel_info *info)
{
    struct gantry_device *device = kernel->object.device;
    struct attempt attempt;
    enum gantry_status status = begin(&attempt, kernel, entry);

    *made = NULL;
    memset(info, 0, sizeof(*info));
    if (status == GANTRY_OK) {
        status = device->ops->kernel_create(device->drv, &attempt.params, made, info);
        if (status != GANTRY_OK)
            fail_context("kernel %s", kernel->source->name);
    }
    return device_check(device, end(&attempt, status), "making kernel", kernel->source->name);
}

enum gantry_status entry_propose(const struct gantry_kernel *kernel, uint32_t *threads)
{
    struct gantry_device *device = kernel->object.device;
    struct attempt attempt;
    enum gantry_status status;

    *threads = DEFAULT_THREADS;
    if (!device->ops->kernel_block)
        return GANTRY_OK;
    status = begin(&attempt, kernel, entry_first(kernel));
    attempt.params.block = (struct gantry_size){1, 1, 1};
    if (status == GANTRY_OK) {
        status = device->ops->kernel_block(device->drv, &attempt.params, threads);
        if (status != GANTRY_OK)
            fail_context("kernel %s", kernel->source->name);
    }
    return device_check(device, end(&attempt, status), "making kernel", kernel->source->name);
}
