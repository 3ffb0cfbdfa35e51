#include "selftest.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const struct gantry_backend_ops *ops;
long *plugin_faults;
static void *library, *image;
static size_t image_size;

/* ---- Services -------------------------------------------------------------------------------- */

long live_allocations, allocations_left = -1;
static char last_error[512];

static void log_message(void *context, enum gantry_log_level level, const char *format, ...)
{
    (void)context;
    (void)level;
    va_list list;
    va_start(list, format);
    vsnprintf(last_error, sizeof(last_error), format, list);
    va_end(list);
}

static enum gantry_status report(void *context, enum gantry_status status, const char *format, ...)
{
    (void)context;
    va_list list;
    va_start(list, format);
    vsnprintf(last_error, sizeof(last_error), format, list);
    va_end(list);
    return status;
}

static void *allocate(void *context, size_t size)
{
    (void)context;
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    live_allocations++;
    return calloc(1, size);
}

static void release(void *context, void *memory)
{
    (void)context;
    live_allocations -= memory != NULL;
    free(memory);
}

const struct gantry_backend_services services = {
    .size = sizeof(services),
    .log = log_message,
    .fail = report,
    .allocate = allocate,
    .release = release,
};

/* ---- The plugin ------------------------------------------------------------------------------ */

static bool read_image(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    image_size = (size_t)ftell(file);
    rewind(file);
    image = malloc(image_size);
    bool good = image && fread(image, 1, image_size, file) == image_size;
    fclose(file);
    return good;
}

bool selftest_open(const char *plugin, const char *path)
{
    library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    const struct gantry_backend *backend = library ? dlsym(library, GANTRY_BACKEND_SYMBOL) : NULL;
    if (!backend || !read_image(path)) {
        fprintf(stderr, "selftest: %s\n", library ? "no image" : dlerror());
        return false;
    }
    ops = backend->ops;
    plugin_faults = dlsym(library, "gantry_host_faults");
    return true;
}

void selftest_close(void)
{
    free(image);
    dlclose(library);
}

/* ---- A device with memory and kernels -------------------------------------------------------- */

void set(const char *devices, const char *failures, const char *order, const char *seed)
{
    setenv("GANTRY_HOST_DEVICES", devices, 1);
    setenv("GANTRY_HOST_FAIL", failures, 1);
    setenv("GANTRY_HOST_ORDER", order, 1);
    setenv("GANTRY_HOST_SEED", seed, 1);
}

enum gantry_status rig_open(struct rig *rig)
{
    const struct gantry_backend_device_params device_params = {.size = sizeof(device_params)};
    const struct gantry_backend_queue_params queue_params = {.stats = &rig->stats};
    enum gantry_status status = ops->instance_open(&services, "selftest", &rig->instance);
    if (status == GANTRY_OK)
        status = ops->device_open(rig->instance, 0, &device_params, &rig->device);
    if (status == GANTRY_OK)
        status = ops->queue_create(rig->device, &queue_params, &rig->queue);
    if (status == GANTRY_OK)
        status = ops->memory_allocate(rig->device, GANTRY_MEMORY_READBACK, WORDS * sizeof(uint32_t),
                                      &rig->memory);
    return status;
}

long rig_close(struct rig *rig)
{
    if (rig->memory.address)
        ops->memory_free(rig->device, &rig->memory);
    if (rig->queue)
        ops->queue_destroy(rig->queue);
    if (rig->device)
        ops->device_close(rig->device);
    if (!rig->instance)
        return 0;
    ops->instance_close(rig->instance);
    return *plugin_faults;
}

enum gantry_status make_kernel(struct rig *rig, const char *symbol, enum gantry_entry entry,
                               struct gantry_drv_kernel **kernel)
{
    const struct gantry_kernel_source source = {.name = symbol};
    const struct gantry_backend_image host = {
        .kind = GANTRY_IMAGE_HOST,
        .entry = GANTRY_ENTRY_ALL,
        .data = image,
        .size = image_size,
    };
    const struct gantry_backend_kernel_params params = {
        .source = &source,
        .entry = entry,
        .symbol = symbol,
        .block = {64, 1, 1},
        .images = &host,
        .image_count = 1,
    };
    struct gantry_backend_kernel_info info;
    return ops->kernel_create(rig->device, &params, kernel, &info);
}

struct gantry_op launch(struct gantry_drv_kernel *kernel, uint32_t stage, const void *args,
                        uint32_t size)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_LAUNCH,
        .stage = stage,
        .launch = {.kernel = kernel,
                   .blocks = {1, 1, 1},
                   .block = {64, 1, 1},
                   .args = args,
                   .args_size = size,
                   .shared_bytes = 64 * sizeof(uint32_t)},
    };
}

struct gantry_op fill(struct rig *rig, uint32_t stage, uint32_t pattern)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_FILL,
        .stage = stage,
        .fill = {.memory = &rig->memory, .size = rig->memory.size, .pattern = pattern},
    };
}

enum gantry_status run_once(struct rig *rig, const struct gantry_plan *plan)
{
    const struct gantry_backend_submission submission = {.value = rig->submitted + 1};
    enum gantry_status status = ops->submit_once(rig->queue, plan, &submission);
    if (status == GANTRY_OK) {
        rig->submitted++;
        status = ops->queue_wait(rig->queue, rig->submitted, GANTRY_FOREVER);
    }
    return status;
}
