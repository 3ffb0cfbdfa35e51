#include "image.h"

#include "image_check.h"
#include "nvrtc.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_ARCH = 90, /* from here on what gantry compile makes begins with griddepcontrol.wait */
    JIT_LOG_SIZE = 4096,
    JIT_EXCERPT = 512,
};

/* One attempt: an image that may do, and why it did not. */
struct attempt {
    struct gantry_drv_device *device;
    const struct gantry_backend_kernel_params *params;
    const struct gantry_backend_image *image;
    struct report *report;
};

/* ---- The order ------------------------------------------------------------------------------ */

static int rank(const struct gantry_backend_image *image)
{
    switch (image->kind) {
    case GANTRY_IMAGE_CUBIN:
        return 0;
    case GANTRY_IMAGE_FATBIN:
        return 1;
    case GANTRY_IMAGE_PTX:
        return 2;
    case GANTRY_IMAGE_SOURCE:
        return 3;
    default:
        return 4;
    }
}

/* Ready code before code to be compiled, the highest architecture first, else as the package has
 * it. */
static int compare(const void *left, const void *right)
{
    const struct gantry_backend_image *a = *(const struct gantry_backend_image *const *)left;
    const struct gantry_backend_image *b = *(const struct gantry_backend_image *const *)right;

    if (rank(a) != rank(b))
        return rank(a) - rank(b);
    if (a->arch != b->arch)
        return a->arch > b->arch ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Source images are one candidate: the first is the main file. Returns the number of candidates. */
static uint32_t sort_images(const struct gantry_backend_kernel_params *params,
                            const struct gantry_backend_image **sorted)
{
    bool have_source = false;
    uint32_t count = 0;

    for (uint32_t i = 0; i < params->image_count; i++) {
        const struct gantry_backend_image *image = &params->images[i];
        bool source = image->kind == GANTRY_IMAGE_SOURCE;

        if (!source || !have_source)
            sorted[count++] = image;
        have_source = have_source || source;
    }
    qsort(sorted, count, sizeof(*sorted), compare);
    return count;
}

/* ---- The images that are loaded ------------------------------------------------------------- */

/* FNV-1a: cheap next to what loading costs. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_image(const struct attempt *attempt)
{
    const struct gantry_backend_kernel_params *params = attempt->params;
    enum gantry_image_kind kind = attempt->image->kind;
    bool packaged = attempt->image->packaged;
    uint64_t hash = 0xcbf29ce484222325u;

    hash = hash_bytes(hash, &kind, sizeof(kind));
    hash = hash_bytes(hash, &packaged, sizeof(packaged));
    if (kind != GANTRY_IMAGE_SOURCE)
        return hash_bytes(hash, attempt->image->data, attempt->image->size);
    for (uint32_t i = 0; i < params->image_count; i++) {
        if (params->images[i].kind == kind)
            hash = hash_bytes(hash, params->images[i].data, params->images[i].size);
    }
    return hash;
}

static struct image *find_loaded(struct gantry_drv_device *device, uint64_t hash)
{
    struct image *image = device->images;

    while (image && image->hash != hash)
        image = image->next;
    return image;
}

static void unref(struct gantry_drv_device *device, struct image *image)
{
    struct image **link = &device->images;

    if (--image->refs > 0)
        return;
    while (*link != image)
        link = &(*link)->next;
    *link = image->next;
    if (!atomic_load(&device->gone))
        device->instance->cu.cuModuleUnload(image->module);
    host_release(device->instance, image);
}

/* The caller gets a reference, and the device keeps one in place of that to the image before. */
static struct image *take(struct gantry_drv_device *device, struct image *image)
{
    struct image *before = device->recent;

    image->refs += 2;
    device->recent = image;
    if (before)
        unref(device, before);
    return image;
}

static struct image *add(struct gantry_drv_device *device, const struct image *described)
{
    struct image *image = host_allocate(device->instance, sizeof(*image));

    if (!image) {
        device->instance->cu.cuModuleUnload(described->module);
        return NULL;
    }
    *image = *described;
    image->next = device->images;
    device->images = image;
    return image;
}

/* ---- Loading -------------------------------------------------------------------------------- */

/* GANTRY_E_NO_IMAGE: it can't be loaded, the reason is in the report; try another. */
static enum gantry_status load_module(const struct attempt *attempt, const void *data,
                                      CUmodule *module)
{
    struct gantry_drv_instance *instance = attempt->device->instance;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    char log[JIT_LOG_SIZE] = "";
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    CUresult result;
    enum gantry_status status;

    result = instance->cu.cuModuleLoadDataEx(module, data, 2, options, values);
    status = driver_judge(attempt->device, result);
    if (status == GANTRY_OK)
        return GANTRY_OK;
    if (status != GANTRY_E_DRIVER)
        return driver_status(instance, attempt->device, result, "cuModuleLoadDataEx()");
    report_add(attempt->report, "%s", driver_describe(instance, result).text);
    if (result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
        report_add(attempt->report,
                   ": install libnvidia-ptxjitcompiler.so.1 of the driver's own version");
    log[sizeof(log) - 1] = '\0';
    if (log[0]) {
        report_add(attempt->report, ": ");
        report_add_folded(attempt->report, log, JIT_EXCERPT);
    }
    return GANTRY_E_NO_IMAGE;
}

/* Texts in a package don't end in a zero. */
static char *copy_text(struct gantry_drv_instance *instance,
                       const struct gantry_backend_image *image)
{
    char *text = host_allocate(instance, image->size + 1);

    if (text)
        memcpy(text, image->data, image->size);
    return text;
}

static void release_sources(struct gantry_drv_instance *instance, struct nvrtc_source *sources,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        host_release(instance, (char *)sources[i].text);
    host_release(instance, sources);
}

static struct nvrtc_source *copy_sources(const struct attempt *attempt, uint32_t *count)
{
    struct gantry_drv_instance *instance = attempt->device->instance;
    const struct gantry_backend_kernel_params *params = attempt->params;
    struct nvrtc_source *sources = host_allocate(instance, params->image_count * sizeof(*sources));

    *count = 0;
    for (uint32_t i = 0; sources && i < params->image_count; i++) {
        if (params->images[i].kind != GANTRY_IMAGE_SOURCE)
            continue;
        sources[*count].name = params->images[i].name;
        sources[*count].text = copy_text(instance, &params->images[i]);
        if (!sources[(*count)++].text) {
            release_sources(instance, sources, *count);
            sources = NULL;
        }
    }
    return sources;
}

static enum gantry_status load_source(const struct attempt *attempt, struct image *image)
{
    struct gantry_drv_instance *instance = attempt->device->instance;
    struct nvrtc_output output;
    struct nvrtc_source *sources;
    enum gantry_status status;
    uint32_t count;
    bool compiled;

    sources = copy_sources(attempt, &count);
    if (!sources)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    compiled = nvrtc_compile(instance, sources, count, attempt->device->info.arch_number, &output,
                             attempt->report);
    release_sources(instance, sources, count);
    if (!compiled)
        return GANTRY_E_NO_IMAGE;
    status = load_module(attempt, output.data, &image->module);
    host_release(instance, output.data);
    snprintf(image->text, sizeof(image->text), "source, by NVRTC %d.%d as %s_%u", output.major,
             output.minor, output.ptx ? "compute" : "sm", output.arch);
    image->waits = attempt->image->packaged && output.arch >= WAIT_ARCH;
    return status;
}

static enum gantry_status load_ptx(const struct attempt *attempt, struct image *image)
{
    char *text = copy_text(attempt->device->instance, attempt->image);
    enum gantry_status status;

    if (!text)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = load_module(attempt, text, &image->module);
    host_release(attempt->device->instance, text);
    return status;
}

static enum gantry_status load_image(const struct attempt *attempt, struct image *image)
{
    if (attempt->image->kind == GANTRY_IMAGE_SOURCE)
        return load_source(attempt, image);
    image_name(attempt->image, image->text, sizeof(image->text));
    image->waits = attempt->image->packaged && attempt->image->arch >= WAIT_ARCH;
    if (attempt->image->kind == GANTRY_IMAGE_PTX)
        return load_ptx(attempt, image);
    return load_module(attempt, attempt->image->data, &image->module);
}

static enum gantry_status get_image(const struct attempt *attempt, struct image **image)
{
    struct image described = {.hash = hash_image(attempt)};
    struct image *found = find_loaded(attempt->device, described.hash);
    enum gantry_status status;

    if (!found) {
        status = load_image(attempt, &described);
        if (status != GANTRY_OK)
            return status;
        found = add(attempt->device, &described);
        if (!found)
            return GANTRY_E_OUT_OF_HOST_MEMORY;
    }
    *image = take(attempt->device, found);
    return GANTRY_OK;
}

/* GANTRY_E_NOT_FOUND: it is of a package and lacks the entry, and so do the package's others. */
static enum gantry_status try_image(const struct attempt *attempt, struct image **image,
                                    CUfunction *function)
{
    struct gantry_drv_device *device = attempt->device;
    enum gantry_status status;
    CUresult result;

    if (!image_fits(device, attempt->params->entry, attempt->image, attempt->report))
        return GANTRY_E_NO_IMAGE;
    status = get_image(attempt, image);
    if (status != GANTRY_OK)
        return status;
    result = device->instance->cu.cuModuleGetFunction(function, (*image)->module,
                                                      attempt->params->symbol);
    if (result == CUDA_SUCCESS)
        return GANTRY_OK;
    unref(device, *image);
    if (driver_judge(device, result) == GANTRY_E_DEVICE_LOST)
        return device_lost(device);
    report_add(attempt->report, "no entry %s: %s", attempt->params->symbol,
               driver_describe(device->instance, result).text);
    return attempt->image->packaged ? GANTRY_E_NOT_FOUND : GANTRY_E_NO_IMAGE;
}

static enum gantry_status no_image(struct gantry_drv_device *device,
                                   const struct gantry_backend_kernel_params *params,
                                   const struct report *report)
{
    return FAIL(
        device->instance, GANTRY_E_NO_IMAGE,
        "no image of kernel %s has an entry %s that runs on %s (%s, driver of CUDA %s): %s; "
        "compile it for this architecture, or as PTX for an earlier one",
        params->source->name, params->symbol, device->info.name, device->info.arch,
        device->info.driver_version, report->length ? report->text : "it has none");
}

/* `why` is empty for what was not refused. */
static void refuse(const struct attempt *attempt, const char *why)
{
    const struct gantry_backend_services *services = &attempt->device->instance->services;

    if (why[0] && services->refuse)
        services->refuse(services->context, attempt->image, "%s", why);
}

static enum gantry_status try_all(struct gantry_drv_device *device,
                                  const struct gantry_backend_kernel_params *params,
                                  const struct gantry_backend_image **sorted, struct image **image,
                                  CUfunction *function)
{
    uint32_t count = sort_images(params, sorted);
    enum gantry_status status = GANTRY_E_NO_IMAGE;
    struct report report = {0};

    for (uint32_t i = 0; i < count && status == GANTRY_E_NO_IMAGE; i++) {
        struct attempt attempt = {device, params, sorted[i], &report};
        char name[64];
        size_t start;

        image_name(sorted[i], name, sizeof(name));
        report_add(&report, "%s%s: ", i ? "; " : "", name);
        start = report.length;
        status = try_image(&attempt, image, function);
        refuse(&attempt, report.text + start);
    }
    if (status != GANTRY_E_NO_IMAGE && status != GANTRY_E_NOT_FOUND)
        return status;
    return no_image(device, params, &report);
}

enum gantry_status image_acquire(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct image **image, CUfunction *function)
{
    const struct gantry_backend_image **sorted =
        host_allocate(device->instance, (params->image_count + 1) * sizeof(*sorted));
    enum gantry_status status;

    if (!sorted)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&device->image_lock);
    status = try_all(device, params, sorted, image, function);
    pthread_mutex_unlock(&device->image_lock);
    host_release(device->instance, sorted);
    return status;
}

void image_hold(struct gantry_drv_device *device, struct image *image)
{
    pthread_mutex_lock(&device->image_lock);
    image->refs++;
    pthread_mutex_unlock(&device->image_lock);
}

void image_release(struct gantry_drv_device *device, struct image *image)
{
    pthread_mutex_lock(&device->image_lock);
    unref(device, image);
    pthread_mutex_unlock(&device->image_lock);
}

void images_close(struct gantry_drv_device *device)
{
    struct image *recent = device->recent;

    device->recent = NULL;
    if (recent)
        unref(device, recent);
}
