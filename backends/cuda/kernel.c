/* Kernels: one entry of one loaded image, made ready for a block size. */
#include "context.h"
#include "image.h"
#include "occupancy.h"
#include "status.h"

#include <string.h>

enum { MOST_PADDING = 16 }; /* at the end of an argument struct, bytes */

/* Allows the function as much dynamic shared memory as this kernel launches with. Kernels of one
 * image share the function, so the allowance only ever grows. */
static enum gantry_status allow_shared(struct gantry_drv_device *device, CUfunction function,
                                       uint32_t bytes)
{
    enum gantry_status status;
    int allowed;

    pthread_mutex_lock(&device->image_lock);
    status =
        CU(device,
           cuFuncGetAttribute(&allowed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    if (status == GANTRY_OK && bytes > (uint32_t)allowed)
        status =
            CU(device, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          (int)bytes));
    pthread_mutex_unlock(&device->image_lock);
    return status;
}

/* Core counts what the package states; the compiler may have used more. */
static enum gantry_status check_shared(struct gantry_drv_device *device,
                                       const struct gantry_backend_kernel_params *params,
                                       uint64_t bytes)
{
    if (bytes <= device->info.limits.max_shared_bytes)
        return GANTRY_OK;
    return FAIL(device->instance, GANTRY_E_LIMIT,
                "kernel %s needs %llu bytes of shared memory per block, %s has %u; use a smaller "
                "block",
                params->symbol, (unsigned long long)bytes, device->info.name,
                device->info.limits.max_shared_bytes);
}

static enum gantry_status describe(struct gantry_drv_device *device, CUfunction function,
                                   const struct gantry_backend_kernel_params *params,
                                   struct gantry_backend_kernel_info *info)
{
    uint64_t threads = (uint64_t)params->block.x * params->block.y * params->block.z;
    uint64_t dynamic = threads * params->source->shared_per_thread;
    struct usage usage;
    enum gantry_status status = usage_read(device, function, &usage);

    if (status == GANTRY_OK)
        status = check_shared(device, params, dynamic + (uint64_t)usage.static_shared);
    if (status == GANTRY_OK)
        status = allow_shared(device, function, (uint32_t)dynamic);
    /* Core refuses a block over the kernel's own maximum, once it knows that. */
    if (status == GANTRY_OK && threads <= (uint64_t)usage.max_threads)
        status = occupancy_blocks(device, function, (uint32_t)threads, (uint32_t)dynamic,
                                  &info->blocks_per_unit);
    if (status != GANTRY_OK)
        return status;
    info->max_threads = (uint32_t)usage.max_threads;
    info->registers = (uint32_t)usage.registers;
    info->spill_bytes = (uint32_t)usage.local_bytes;
    info->shared_bytes = (uint32_t)dynamic + (uint32_t)usage.static_shared;
    info->limited_by = occupancy_limit(device, &usage, (uint32_t)threads, (uint32_t)dynamic);
    return GANTRY_OK;
}

/* The driver refuses a parameter buffer that is longer than the parameters, as a struct is that
 * ends in padding where a user's kernel has single parameters. Drivers before CUDA 12.4 don't tell:
 * there the stated size must be exact. */
static enum gantry_status measure_args(struct gantry_drv_device *device,
                                       const struct gantry_backend_kernel_params *params,
                                       struct gantry_drv_kernel *kernel)
{
    const struct symbols *cu = &device->instance->cu;
    size_t stated = params->entry == GANTRY_ENTRY_DIRECT ? params->source->args_size
                                                         : sizeof(struct gantry_fold_args);
    size_t offset, size, end = 0;

    kernel->args_size = (uint32_t)stated;
    if (!cu->cuFuncGetParamInfo)
        return GANTRY_OK;
    /* A question too far is a failed call, which checking tools report: ask no further than needed.
     */
    for (size_t i = 0; end < stated; i++) {
        CUresult result = cu->cuFuncGetParamInfo(kernel->function, i, &offset, &size);

        if (result == CUDA_ERROR_INVALID_VALUE) /* there is no such parameter */
            break;
        if (result != CUDA_SUCCESS)
            return driver_status(device->instance, device, result, "cuFuncGetParamInfo()");
        end = offset + size;
    }
    if (end > stated || stated - end >= MOST_PADDING)
        return FAIL(device->instance, GANTRY_E_LAYOUT,
                    "%s: the image (%s) takes %zu bytes of arguments, the stated struct has %zu; "
                    "rebuild one of them",
                    params->symbol, kernel->image->text, end, stated);
    kernel->args_size = (uint32_t)end;
    return GANTRY_OK;
}

static enum gantry_status make(struct gantry_drv_device *device,
                               const struct gantry_backend_kernel_params *params,
                               struct gantry_drv_kernel *kernel,
                               struct gantry_backend_kernel_info *info)
{
    enum gantry_status status = image_acquire(device, params, &kernel->image, &kernel->function);

    if (status != GANTRY_OK)
        return status;
    status = measure_args(device, params, kernel);
    if (status == GANTRY_OK)
        status = describe(device, kernel->function, params, info);
    if (status != GANTRY_OK) {
        image_release(device, kernel->image);
        return status;
    }
    memcpy(info->image, kernel->image->text, sizeof(info->image));
    info->waits = kernel->image->waits;
    return GANTRY_OK;
}

enum gantry_status kernel_create(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info)
{
    struct gantry_backend_kernel_info found = {0};
    struct gantry_drv_kernel *made;
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    made = host_allocate(device->instance, sizeof(*made));
    status = made ? make(device, params, made, &found) : GANTRY_E_OUT_OF_HOST_MEMORY;
    scope_leave(device, &scope);
    if (status != GANTRY_OK) {
        host_release(device->instance, made);
        return status;
    }
    *kernel = made;
    *info = found;
    return GANTRY_OK;
}

void kernel_destroy(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel)
{
    struct scope scope;
    bool entered = scope_enter_anyway(device, &scope);

    image_release(device, kernel->image);
    host_release(device->instance, kernel);
    if (entered)
        scope_leave(device, &scope);
}

/* So that larger blocks count in the proposal. */
static enum gantry_status allow_most(struct gantry_drv_device *device, CUfunction function,
                                     const struct gantry_backend_kernel_params *params,
                                     const struct usage *usage)
{
    uint64_t most = (uint64_t)params->source->shared_per_thread * (uint32_t)usage->max_threads;
    uint32_t room = device->info.limits.max_shared_bytes - (uint32_t)usage->static_shared;

    return allow_shared(device, function, most < room ? (uint32_t)most : room);
}

static enum gantry_status propose(struct gantry_drv_device *device,
                                  const struct gantry_backend_kernel_params *params,
                                  uint32_t *threads)
{
    struct image *image;
    CUfunction function;
    struct usage usage;
    enum gantry_status status = image_acquire(device, params, &image, &function);

    if (status != GANTRY_OK)
        return status;
    status = usage_read(device, function, &usage);
    if (status == GANTRY_OK)
        status = allow_most(device, function, params, &usage);
    if (status == GANTRY_OK)
        status = occupancy_best_block(device, function, &usage, params->source->shared_per_thread,
                                      threads);
    image_release(device, image);
    return status;
}

enum gantry_status kernel_block(struct gantry_drv_device *device,
                                const struct gantry_backend_kernel_params *params,
                                uint32_t *threads)
{
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = propose(device, params, threads);
    scope_leave(device, &scope);
    return status;
}
