#include "context.h"

#include "status.h"

/* Asking for the current context costs some nanoseconds; pushing the same one again costs more. */
static CUresult enter_context(struct gantry_drv_device *device, struct scope *scope)
{
    const struct symbols *cu = &device->instance->cu;
    CUcontext current = NULL;
    CUresult result;

    scope->pushed = scope->relaxed = false;
    result = cu->cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS || current == device->context)
        return result;
    result = cu->cuCtxPushCurrent(device->context);
    scope->pushed = result == CUDA_SUCCESS;
    return result;
}

static CUresult enter(struct gantry_drv_device *device, struct scope *scope)
{
    const struct symbols *cu = &device->instance->cu;
    CUresult result = enter_context(device, scope);
    CUcontext ours;

    if (result != CUDA_SUCCESS)
        return result;
    scope->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    result = cu->cuThreadExchangeStreamCaptureMode(&scope->mode);
    scope->relaxed = result == CUDA_SUCCESS;
    if (!scope->relaxed && scope->pushed)
        cu->cuCtxPopCurrent(&ours);
    return result;
}

enum gantry_status scope_enter(struct gantry_drv_device *device, struct scope *scope)
{
    if (atomic_load_explicit(&device->lost, memory_order_relaxed))
        return device_lost(device);
    return driver_status(device->instance, device, enter(device, scope),
                         "making the device's context current");
}

enum gantry_status scope_enter_work(struct gantry_drv_device *device, struct scope *scope)
{
    if (atomic_load_explicit(&device->lost, memory_order_relaxed))
        return device_lost(device);
    return driver_status(device->instance, device, enter_context(device, scope),
                         "making the device's context current");
}

bool scope_enter_anyway(struct gantry_drv_device *device, struct scope *scope)
{
    if (enter(device, scope) == CUDA_SUCCESS)
        return true;
    atomic_store(&device->gone, true);
    return false;
}

void scope_leave(struct gantry_drv_device *device, const struct scope *scope)
{
    const struct symbols *cu = &device->instance->cu;
    CUstreamCaptureMode mode = scope->mode;
    CUcontext ours;

    if (scope->relaxed)
        cu->cuThreadExchangeStreamCaptureMode(&mode);
    if (scope->pushed)
        cu->cuCtxPopCurrent(&ours);
}
