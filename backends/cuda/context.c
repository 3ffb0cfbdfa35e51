#include "context.h"

#include "status.h"

/* Asking for the current context costs some nanoseconds; pushing the same one again costs more. */
static CUresult enter(struct gantry_drv_device *device, struct scope *scope)
{
    const struct symbols *cu = &device->instance->cu;
    CUcontext current = NULL;
    CUresult result;

    scope->pushed = false;
    scope->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    result = cu->cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS)
        return result;
    if (current != device->context) {
        result = cu->cuCtxPushCurrent(device->context);
        if (result != CUDA_SUCCESS)
            return result;
        scope->pushed = true;
    }
    result = cu->cuThreadExchangeStreamCaptureMode(&scope->mode);
    if (result != CUDA_SUCCESS && scope->pushed)
        cu->cuCtxPopCurrent(&current);
    return result;
}

enum gantry_status scope_enter(struct gantry_drv_device *device, struct scope *scope)
{
    if (atomic_load_explicit(&device->lost, memory_order_relaxed))
        return device_lost(device);
    return driver_status(device->instance, device, enter(device, scope),
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

    cu->cuThreadExchangeStreamCaptureMode(&mode);
    if (scope->pushed)
        cu->cuCtxPopCurrent(&ours);
}
