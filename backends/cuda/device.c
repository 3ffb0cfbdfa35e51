/* Opened devices. */
#include "context.h"
#include "fault.h"
#include "image.h"
#include "status.h"

/* Attributes that only this plugin looks at. A driver that does not know one says so by an error,
 * which means no. */
static uint32_t attribute(struct gantry_drv_device *device, CUdevice_attribute which)
{
    int value;

    if (device->instance->cu.cuDeviceGetAttribute(&value, which, device->ordinal) != CUDA_SUCCESS)
        return 0;
    return (uint32_t)value;
}

static void read_limits(struct gantry_drv_device *device)
{
    device->max_pitch = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    device->max_blocks_per_unit =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    device->registers_per_unit =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    device->shared_per_unit =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    device->shared_reserved =
        attribute(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    device->write_value = device->instance->cu.cuStreamWriteValue64 &&
                          attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) != 0;
}

static enum gantry_status prepare(struct gantry_drv_device *device)
{
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = CU(device,
                cuCtxGetStreamPriorityRange(&device->least_priority, &device->greatest_priority));
    if (status == GANTRY_OK)
        status = CU(device, cuStreamCreateWithPriority(&device->transfer, CU_STREAM_NON_BLOCKING,
                                                       device->least_priority));
    scope_leave(device, &scope);
    return status;
}

static enum gantry_status open_failed(struct gantry_drv_device *made, enum gantry_status status)
{
    struct gantry_drv_instance *instance = made->instance;
    struct gantry_backend_device_info info = made->info;
    CUresult lost = (CUresult)atomic_load(&made->lost);
    CUdevice ordinal = made->ordinal;

    device_close(made);
    return status == GANTRY_E_DEVICE_LOST ? fault_at_open(instance, ordinal, info.name, lost)
                                          : status;
}

enum gantry_status device_open(struct gantry_drv_instance *instance, uint32_t index,
                               const struct gantry_backend_device_params *params,
                               struct gantry_drv_device **device)
{
    struct gantry_drv_device *made = host_allocate(instance, sizeof(*made));
    enum gantry_status status;

    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    made->instance = instance;
    made->submit = params->submit;
    pthread_mutex_init(&made->image_lock, NULL);
    pthread_mutex_init(&made->transfer_lock, NULL);
    status = device_describe(instance, index, &made->info);
    if (status == GANTRY_OK)
        status = CU_OF(instance, cuDeviceGet(&made->ordinal, (int)index));
    if (status == GANTRY_OK)
        status = CU(made, cuDevicePrimaryCtxRetain(&made->context, made->ordinal));
    if (status == GANTRY_OK)
        status = prepare(made);
    if (status != GANTRY_OK)
        return open_failed(made, status);
    read_limits(made);
    *device = made;
    return GANTRY_OK;
}

/* Takes a half-made device. */
void device_close(struct gantry_drv_device *device)
{
    struct gantry_drv_instance *instance = device->instance;
    struct scope scope;
    bool entered = device->context && scope_enter_anyway(device, &scope);

    images_close(device);
    if (entered) {
        if (device->transfer)
            instance->cu.cuStreamDestroy(device->transfer);
        scope_leave(device, &scope);
    }
    if (device->context)
        instance->cu.cuDevicePrimaryCtxRelease(device->ordinal);
    pthread_mutex_destroy(&device->transfer_lock);
    pthread_mutex_destroy(&device->image_lock);
    host_release(instance, device);
}

void device_native(struct gantry_drv_device *device, struct gantry_native_device *native)
{
    native->backend = "cuda";
    native->cuda_device = device->ordinal;
    native->cuda_context = device->context;
}

enum gantry_status device_memory(struct gantry_drv_device *device, uint64_t *available,
                                 uint64_t *total)
{
    struct scope scope;
    size_t unused, all;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = CU(device, cuMemGetInfo(&unused, &all));
    scope_leave(device, &scope);
    if (status == GANTRY_OK) {
        *available = unused;
        *total = all;
    }
    return status;
}
