/* Kernels: an entry of a host image, an ELF object that is loaded from memory. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

static const struct gantry_backend_image *
find_image(const struct gantry_backend_kernel_params *params)
{
    for (uint32_t i = 0; i < params->image_count; i++) {
        const struct gantry_backend_image *image = &params->images[i];
        if (image->kind == GANTRY_IMAGE_HOST &&
            (image->entry == GANTRY_ENTRY_ALL || image->entry == params->entry))
            return image;
    }
    return NULL;
}

static bool write_all(int file, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t written = write(file, at, size);
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* The loader knows libraries by their path. While the file stays open its path is its own, unless
 * an earlier library of that path could not be unloaded: then another descriptor is taken. */
static void *load_file(int *file)
{
    char path[64];
    void *old;
    snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", *file);
    while ((old = dlopen(path, RTLD_NOW | RTLD_NOLOAD)) != NULL) {
        dlclose(old);
        int other = dup(*file);
        if (other < 0)
            return NULL;
        *file = other;
        snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", *file);
    }
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* dlsym's void * is not a function pointer to ISO C, POSIX says that it is one. */
static gantry_host_entry *find_entry(void *library, const char *symbol)
{
    char name[256];
    union {
        void *object;
        gantry_host_entry *function;
    } found;
    snprintf(name, sizeof(name), GANTRY_HOST_PREFIX "%s", symbol);
    found.object = dlsym(library, name);
    return found.function;
}

static void unload(struct gantry_drv_kernel *kernel)
{
    if (kernel->library)
        dlclose(kernel->library);
    if (kernel->file >= 0)
        close(kernel->file);
}

static enum gantry_status load(struct gantry_drv_instance *instance,
                               const struct gantry_backend_image *image, const char *symbol,
                               struct gantry_drv_kernel *kernel)
{
    kernel->file = memfd_create(symbol, MFD_CLOEXEC);
    if (kernel->file < 0 || !write_all(kernel->file, image->data, image->size))
        return FAIL(instance, GANTRY_E_OUT_OF_HOST_MEMORY,
                    "kernel %s: the host image of %zu bytes could not be kept in memory", symbol,
                    image->size);
    kernel->library = load_file(&kernel->file);
    if (!kernel->library)
        return FAIL(instance, GANTRY_E_NO_IMAGE, "kernel %s: the host image was refused: %s",
                    symbol, dlerror());
    kernel->run = find_entry(kernel->library, symbol);
    if (!kernel->run)
        return FAIL(instance, GANTRY_E_NO_IMAGE, "kernel %s: the host image has no such entry",
                    symbol);
    return GANTRY_OK;
}

static uint32_t shared_bytes(const struct gantry_kernel_source *source, struct gantry_size block)
{
    return source->shared_bytes + source->shared_per_thread * block.x * block.y * block.z;
}

enum gantry_status kernel_block(struct gantry_drv_device *device,
                                const struct gantry_backend_kernel_params *params,
                                uint32_t *threads)
{
    (void)params;
    enum gantry_status status = enter(device->instance, device, ENTRY_kernel_block);
    uint32_t limit = device->spec->info.limits.max_threads_per_block;
    *threads = limit < 64 ? limit : 64;
    return status;
}

enum gantry_status kernel_create(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info)
{
    struct gantry_drv_instance *instance = device->instance;
    enum gantry_status status = enter(instance, device, ENTRY_kernel_create);
    if (status != GANTRY_OK)
        return status;
    const struct gantry_backend_image *image = find_image(params);
    if (!image)
        return FAIL(instance, GANTRY_E_NO_IMAGE, "kernel %s: none of its %u images is a host image",
                    params->symbol, params->image_count);
    struct gantry_drv_kernel *made = ALLOCATE(instance, sizeof(*made));
    if (!made)
        return FAIL(instance, GANTRY_E_OUT_OF_HOST_MEMORY, "no memory for kernel %s",
                    params->symbol);
    status = load(instance, image, params->symbol, made);
    if (status != GANTRY_OK) {
        unload(made);
        RELEASE(instance, made);
        return status;
    }
    snprintf(made->symbol, sizeof(made->symbol), "%s", params->symbol);
    made->entry = params->entry;
    made->waits = device->spec->waits;
    *info = (struct gantry_backend_kernel_info){
        .image = "host",
        .max_threads = device->spec->info.limits.max_threads_per_block,
        .shared_bytes = shared_bytes(params->source, params->block),
        .blocks_per_unit = 1,
        .waits = made->waits,
    };
    atomic_fetch_add(&instance->books.kernels, 1);
    *kernel = made;
    return GANTRY_OK;
}

void kernel_destroy(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel)
{
    check_unused(device, kernel, "kernel");
    unload(kernel);
    atomic_fetch_sub(&device->instance->books.kernels, 1);
    RELEASE(device->instance, kernel);
}
