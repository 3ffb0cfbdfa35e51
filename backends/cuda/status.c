#include "status.h"

#include <stdio.h>

struct driver_text driver_describe(const struct gantry_drv_instance *instance, CUresult result)
{
    struct driver_text text;
    const char *name = NULL, *meaning = NULL;

    instance->cu.cuGetErrorName(result, &name);
    instance->cu.cuGetErrorString(result, &meaning);
    snprintf(text.text, sizeof(text.text), "%s (%d): %s", name ? name : "CUDA error", (int)result,
             meaning ? meaning : "the driver gives no text");
    return text;
}

/* After these every further call on the context fails, and so the device is lost for the process.
 * The context is always ours, so an invalid one was destroyed by somebody else. */
static bool is_sticky(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}

enum gantry_status driver_judge(struct gantry_drv_device *device, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return GANTRY_OK;
    if (device && is_sticky(result)) {
        int none = CUDA_SUCCESS;

        atomic_compare_exchange_strong(&device->lost, &none, (int)result);
        return GANTRY_E_DEVICE_LOST;
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return GANTRY_E_OUT_OF_MEMORY;
    return GANTRY_E_DRIVER;
}

enum gantry_status driver_status(struct gantry_drv_instance *instance,
                                 struct gantry_drv_device *device, CUresult result,
                                 const char *call)
{
    enum gantry_status status = driver_judge(device, result);

    if (status == GANTRY_OK)
        return GANTRY_OK;
    if (status == GANTRY_E_DEVICE_LOST)
        return device_lost(device);
    LOG(instance, GANTRY_LOG_DEBUG, "%s failed: %s", call, driver_describe(instance, result).text);
    return FAIL(instance, status, "%s failed: %s", call, driver_describe(instance, result).text);
}

enum gantry_status device_lost(struct gantry_drv_device *device)
{
    CUresult result = (CUresult)atomic_load(&device->lost);

    return FAIL(
        device->instance, GANTRY_E_DEVICE_LOST,
        "%s was lost: %s; CUDA's primary context is shared, so close whatever uses this GPU "
        "in the process before it is opened again, or restart the program",
        device->info.name, driver_describe(device->instance, result).text);
}

void *host_allocate(struct gantry_drv_instance *instance, size_t size)
{
    void *memory = instance->services.allocate(instance->services.context, size);

    if (!memory)
        FAIL(instance, GANTRY_E_OUT_OF_HOST_MEMORY,
             "there are no %zu bytes of host memory left; free some and try again", size);
    return memory;
}

void host_release(struct gantry_drv_instance *instance, void *memory)
{
    instance->services.release(instance->services.context, memory);
}
