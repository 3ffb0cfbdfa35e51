/* Trying every image of a kernel by itself, for those who ask why one can't be used. */
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "package.h"
#include "services.h"
#include "status.h"

enum { REFUSAL_SIZE = 1024 };

/* One image, tried. */
struct tried {
    const struct package_image *image;
    char *text;  /* why it can't be used; NULL: it can */
    char *taken; /* what a kernel of this image alone says that it was made of; NULL: it can't be */
    bool used;
};

struct examination {
    struct gantry_module *module;
    const char *name;
    uint32_t kernel; /* index in the package */
    struct tried *tried;
    uint32_t count;
};

/* Such a failure is not the image's. */
static bool is_general(enum gantry_status status)
{
    return status == GANTRY_E_OUT_OF_HOST_MEMORY || status == GANTRY_E_OUT_OF_MEMORY ||
           status == GANTRY_E_DEVICE_LOST || status == GANTRY_E_FORKED;
}

static enum gantry_status no_memory(const struct examination *examination)
{
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "kernel %s: out of host memory", examination->name);
}

/* Makes the kernel, tells what of, and lets it go. */
static enum gantry_status make(const struct examination *examination,
                               const struct package_image *only, char **taken)
{
    static const struct gantry_kernel_params defaults;
    struct gantry_kernel *kernel = NULL;
    enum gantry_status status =
        kernel_make(examination->module, examination->name, &defaults, only, &kernel);

    *taken = NULL;
    if (status != GANTRY_OK)
        return status;
    *taken = strdup(kernel->info.image);
    gantry_kernel_destroy(&kernel);
    return *taken ? GANTRY_OK : no_memory(examination);
}

/* Core does not show the plugin an image that needs what the device lacks. */
static char *lacking(const struct examination *examination, const struct tried *tried)
{
    uint32_t has = examination->module->object.device->info.features;
    struct text text = {0};

    text_add(&text, "needs ");
    add_features(&text, tried->image->image.features & ~has);
    text_add(&text, ", which the device lacks");
    return text_take(&text);
}

static enum gantry_status try_image(const struct examination *examination, struct tried *tried)
{
    uint32_t has = examination->module->object.device->info.features;
    char refusal[REFUSAL_SIZE];
    enum gantry_status status;

    services_listen(refusal, sizeof(refusal));
    status = make(examination, tried->image, &tried->taken);
    services_listen(NULL, 0);
    if (status == GANTRY_OK || is_general(status))
        return status;
    if (status == GANTRY_E_NO_IMAGE && tried->image->image.features & ~has)
        tried->text = lacking(examination, tried);
    else if (status == GANTRY_E_NO_IMAGE && refusal[0])
        tried->text = strdup(refusal);
    else
        tried->text = strdup(gantry_last_error());
    return tried->text ? GANTRY_OK : no_memory(examination);
}

/* ---- The candidates ------------------------------------------------------------------------- */

static enum gantry_status find_kernel(struct examination *examination)
{
    const struct gantry_package *package = examination->module->package;
    char *none;

    for (uint32_t i = 0; i < package->kernel_count; i++) {
        examination->kernel = i;
        if (strcmp(package->kernels[i].name, examination->name) == 0)
            return GANTRY_OK;
    }
    return make(examination, NULL, &none); /* fails, and says which kernels there are */
}

/* Those that may hold the entry, those that use optional features first; sources are one. */
static void find_candidates(struct examination *examination, enum gantry_entry entry,
                            bool with_features)
{
    const struct gantry_package *package = examination->module->package;

    for (uint32_t i = 0; i < package->image_count; i++) {
        const struct package_image *image = &package->images[i];
        bool included = false;

        for (uint32_t j = 0; j < examination->count; j++)
            included |= image->image.kind == GANTRY_IMAGE_SOURCE &&
                        examination->tried[j].image->image.kind == GANTRY_IMAGE_SOURCE;
        if (!included && (image->image.features != 0) == with_features &&
            image_holds(image, examination->kernel, entry))
            examination->tried[examination->count++].image = image;
    }
}

static enum gantry_status begin(struct examination *examination)
{
    const struct gantry_package *package = examination->module->package;
    enum gantry_status status = find_kernel(examination);
    struct gantry_kernel kernel = {.object = {.device = examination->module->object.device}};
    enum gantry_entry entry;

    if (status != GANTRY_OK)
        return status;
    kernel.source = &package->kernels[examination->kernel];
    entry = entry_first(&kernel);
    examination->tried = calloc((size_t)package->image_count + 1, sizeof(*examination->tried));
    if (!examination->tried)
        return no_memory(examination);
    find_candidates(examination, entry, true);
    find_candidates(examination, entry, false);
    return GANTRY_OK;
}

/* ---- The verdicts --------------------------------------------------------------------------- */

/* The plugin alone knows its order of preference: the image that it takes when it has all of them
 * is the one that it names the same way when it has no other. */
static void mark_used(struct examination *examination, const char *taken)
{
    for (uint32_t i = 0; i < examination->count; i++) {
        struct tried *tried = &examination->tried[i];

        if (tried->taken && strcmp(tried->taken, taken) == 0) {
            tried->used = true;
            return;
        }
    }
}

/* Of what became of all images; a general failure ends it. */
static enum gantry_status try_all(struct examination *examination)
{
    enum gantry_status status;
    char *taken;

    for (uint32_t i = 0; i < examination->count; i++) {
        status = try_image(examination, &examination->tried[i]);
        if (status != GANTRY_OK)
            return status;
    }
    status = make(examination, NULL, &taken);
    if (status == GANTRY_OK)
        mark_used(examination, taken);
    free(taken);
    return status;
}

static void tell(const struct examination *examination, bool used,
                 void (*verdict)(void *user, const struct gantry_image_verdict *verdict),
                 void *user)
{
    for (uint32_t i = 0; i < examination->count; i++) {
        const struct tried *tried = &examination->tried[i];
        struct gantry_image_verdict told = {.used = tried->used, .text = tried->text};

        if (tried->used != used)
            continue;
        package_describe_image(examination->module->package, tried->image, &told.image);
        verdict(user, &told);
    }
}

static void end(struct examination *examination)
{
    for (uint32_t i = 0; i < examination->count; i++) {
        free(examination->tried[i].text);
        free(examination->tried[i].taken);
    }
    free(examination->tried);
}

enum gantry_status
gantry_module_examine(struct gantry_module *module, const char *kernel,
                      void (*verdict)(void *user, const struct gantry_image_verdict *verdict),
                      void *user)
{
    static const char call[] = "gantry_module_examine";
    struct examination examination = {.module = module, .name = kernel};
    enum gantry_status status;
    char *earlier;

    if (!module || !kernel || !verdict)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: %s is NULL", call,
                    !module   ? "the module"
                    : !kernel ? "the kernel's name"
                              : "the callback");
    status = device_usable(module->object.device, call);
    if (status != GANTRY_OK)
        return status;
    /* Images that can't be used have set the thread's sentence, but that is no failure. */
    earlier = strdup(gantry_last_error());
    status = begin(&examination);
    if (status == GANTRY_OK)
        status = try_all(&examination);
    if (status != GANTRY_OK)
        fail_context("%s", call);
    else if (earlier)
        fail(GANTRY_OK, "%s", earlier);
    free(earlier);
    if (!is_general(status)) {
        tell(&examination, true, verdict, user);
        tell(&examination, false, verdict, user);
    }
    end(&examination);
    return status;
}
