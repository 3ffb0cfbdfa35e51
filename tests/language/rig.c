#include "rig.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_IMAGES = 32 };

struct rig rig;
static char error[1024];

/* ---- What core would lend ------------------------------------------------------------------- */

static void service_log(void *context, enum gantry_log_level level, const char *format, ...)
{
    va_list list;
    (void)context;
    if (level > GANTRY_LOG_ERROR)
        return;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
}

static enum gantry_status service_fail(void *context, enum gantry_status status, const char *format,
                                       ...)
{
    va_list list;
    (void)context;
    va_start(list, format);
    vsnprintf(error, sizeof(error), format, list);
    va_end(list);
    return status;
}

static void *service_allocate(void *context, size_t size)
{
    (void)context;
    return calloc(1, size);
}

static void service_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static const struct gantry_backend_services services = {
    .size = sizeof(services),
    .log = service_log,
    .fail = service_fail,
    .allocate = service_allocate,
    .release = service_release,
};

void rig_check(enum gantry_status status)
{
    if (status != GANTRY_OK)
        fail_msg("%s", error);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static struct gantry_kernel_source find_source(const char *name)
{
    struct gantry_kernel_source source;
    for (uint32_t i = 0; gantry_package_kernel(rig.package, i, &source) == GANTRY_OK; i++)
        if (!strcmp(source.name, name))
            return source;
    fail_msg("the package has no kernel %s", name);
    return source;
}

static uint32_t find_images(const char *name, enum gantry_entry entry,
                            struct gantry_backend_image images[MAX_IMAGES])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < gantry_package_image_count(rig.package); i++) {
        struct gantry_image_info image;
        const void *data;
        assert_int_equal(gantry_package_image(rig.package, i, &image, &data), GANTRY_OK);
        if ((image.entry != entry && image.entry != GANTRY_ENTRY_ALL) ||
            (image.kernel && strcmp(image.kernel, name)) || (image.features & ~rig.info.features))
            continue;
        assert_true(count < MAX_IMAGES);
        images[count++] = (struct gantry_backend_image){
            image.kind, image.entry, image.arch, image.isa_version, image.features, image.name,
            data,       image.size,  true};
    }
    return count;
}

struct gantry_drv_kernel *rig_kernel(const char *name, enum gantry_entry entry,
                                     struct gantry_size block)
{
    static const char *const suffixes[] = {
        [GANTRY_ENTRY_DIRECT] = "",
        [GANTRY_ENTRY_FOLDED] = GANTRY_FOLDED_SUFFIX,
        [GANTRY_ENTRY_CHAINED] = GANTRY_CHAINED_SUFFIX,
    };
    struct gantry_backend_image images[MAX_IMAGES];
    struct gantry_kernel_source source = find_source(name);
    char symbol[64];
    snprintf(symbol, sizeof(symbol), "%s%s", name, suffixes[entry]);
    struct gantry_backend_kernel_params params = {
        .source = &source,
        .entry = entry,
        .symbol = symbol,
        .block = block,
        .images = images,
        .image_count = find_images(name, entry, images),
    };
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;
    rig_check(rig.ops->kernel_create(rig.device, &params, &kernel, &info));
    return kernel;
}

/* ---- Work ----------------------------------------------------------------------------------- */

void rig_run(const struct gantry_plan *plan)
{
    struct gantry_queue_stats stats = {0};
    struct gantry_backend_queue_params params = {.stats = &stats};
    struct gantry_backend_submission submission = {.value = 1};
    struct gantry_drv_queue *queue;
    rig_check(rig.ops->queue_create(rig.device, &params, &queue));
    rig_check(rig.ops->submit_once(queue, plan, &submission));
    rig_check(rig.ops->queue_wait(queue, 1, GANTRY_FOREVER));
    rig.ops->queue_destroy(queue);
}

/* ---- The device ----------------------------------------------------------------------------- */

static bool open_device(void)
{
    struct gantry_backend_device_params params = {sizeof(params), GANTRY_FAMILY_AUTO,
                                                  GANTRY_FAMILY_AUTO, GANTRY_SUBMIT_AUTO};
    for (uint32_t i = 0; i < rig.ops->device_count(rig.instance); i++) {
        rig.info = (struct gantry_backend_device_info){0};
        if (!rig.ops->device_describe(rig.instance, i, &rig.info) && !rig.info.skipped[0] &&
            !rig.ops->device_open(rig.instance, i, &params, &rig.device))
            return true;
    }
    return false;
}

static int open_plugin(const char *plugin)
{
    void *library = dlopen(plugin, RTLD_NOW);
    const struct gantry_backend *backend = library ? dlsym(library, GANTRY_BACKEND_SYMBOL) : NULL;
    if (!backend) {
        printf("skipped: %s was not built\n", plugin);
        return RIG_SKIPPED;
    }
    rig.ops = backend->ops;
    if (rig.ops->instance_open(&services, "rig", &rig.instance)) {
        printf("skipped: %s\n", error);
        return RIG_SKIPPED;
    }
    if (open_device())
        return 0;
    printf("skipped: %s has no device that can be used\n", backend->name);
    rig.ops->instance_close(rig.instance);
    return RIG_SKIPPED;
}

int rig_open(const char *plugin, const char *package)
{
    struct gantry_package_params params = {.file = package};
    if (gantry_package_open(&params, &rig.package)) {
        printf("%s\n", gantry_last_error());
        return 1;
    }
    int status = open_plugin(plugin);
    if (status)
        gantry_package_close(&rig.package);
    return status;
}

void rig_close(void)
{
    rig.ops->device_close(rig.device);
    rig.ops->instance_close(rig.instance);
    gantry_package_close(&rig.package);
}
