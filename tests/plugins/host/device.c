/* Devices: whatever the variables claim. */
#include "host.h"

uint32_t device_count(struct gantry_drv_instance *instance)
{
    return instance->device_count;
}

enum gantry_status device_describe(struct gantry_drv_instance *instance, uint32_t index,
                                   struct gantry_backend_device_info *info)
{
    enum gantry_status status = enter(instance, NULL, ENTRY_device_describe);
    if (status == GANTRY_OK)
        *info = instance->devices[index].info;
    return status;
}

static int family_limit(const struct spec *spec)
{
    return spec->info.family_count ? (int)spec->info.family_count : 1;
}

static enum gantry_status check_family(struct gantry_drv_instance *instance,
                                       const struct spec *spec, const char *which, int32_t family)
{
    if (family < family_limit(spec))
        return GANTRY_OK;
    return FAIL(instance, GANTRY_E_LIMIT, "%s %d: the device \"%s\" has %d", which, family,
                spec->info.name, family_limit(spec));
}

enum gantry_status device_open(struct gantry_drv_instance *instance, uint32_t index,
                               const struct gantry_backend_device_params *params,
                               struct gantry_drv_device **device)
{
    const struct spec *spec = &instance->devices[index];
    enum gantry_status status = enter(instance, NULL, ENTRY_device_open);
    if (status == GANTRY_OK)
        status = check_family(instance, spec, "queue family", params->queue_family);
    if (status == GANTRY_OK)
        status = check_family(instance, spec, "transfer family", params->transfer_family);
    if (status != GANTRY_OK)
        return status;
    if (spec->info.skipped[0])
        fault(instance, "a device that was described as unusable was opened");
    struct gantry_drv_device *opened = ALLOCATE(instance, sizeof(*opened));
    if (!opened)
        return FAIL(instance, GANTRY_E_OUT_OF_HOST_MEMORY, "no memory for a device");
    opened->instance = instance;
    opened->spec = spec;
    opened->random = instance->seed * 2 + 1;
    pthread_mutex_init(&opened->lock, NULL);
    atomic_fetch_add(&instance->books.devices, 1);
    *device = opened;
    return GANTRY_OK;
}

void device_close(struct gantry_drv_device *device)
{
    struct gantry_drv_instance *instance = device->instance;
    if (device->queues)
        fault(instance, "a device was closed with its queues alive");
    pthread_mutex_destroy(&device->lock);
    atomic_fetch_sub(&instance->books.devices, 1);
    RELEASE(instance, device);
}

void device_native(struct gantry_drv_device *device, struct gantry_native_device *native)
{
    (void)device;
    *native = (struct gantry_native_device){.backend = GANTRY_HOST_NAME};
}

enum gantry_status device_memory(struct gantry_drv_device *device, uint64_t *available,
                                 uint64_t *total)
{
    enum gantry_status status = enter(device->instance, device, ENTRY_device_memory);
    if (status != GANTRY_OK)
        return status;
    *total = device->spec->info.limits.memory_size;
    *available = *total - atomic_load(&device->used);
    return GANTRY_OK;
}
