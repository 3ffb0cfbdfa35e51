/* Blocks of memory. Host memory is page-locked and mapped, so that one address works in kernels,
 * copies and fills; it is not write-combined, because hosts also read what they staged. */
#include "context.h"
#include "status.h"

static enum gantry_status allocate_host(struct gantry_drv_device *device, uint64_t size,
                                        struct gantry_drv_memory *memory)
{
    void *host;
    CUdeviceptr address;
    enum gantry_status status;

    status = CU(device,
                cuMemHostAlloc(&host, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    if (status != GANTRY_OK)
        return status;
    status = CU(device, cuMemHostGetDevicePointer(&address, host, 0));
    if (status != GANTRY_OK) {
        device->instance->cu.cuMemFreeHost(host);
        return status;
    }
    memory->host = host;
    memory->address = address;
    return GANTRY_OK;
}

static enum gantry_status allocate_device(struct gantry_drv_device *device, uint64_t size,
                                          struct gantry_drv_memory *memory)
{
    CUdeviceptr address;
    enum gantry_status status = CU(device, cuMemAlloc(&address, size));

    if (status == GANTRY_OK) {
        memory->host = NULL;
        memory->address = address;
    }
    return status;
}

static enum gantry_status out_of_memory(struct gantry_drv_device *device, enum gantry_memory kind,
                                        uint64_t size)
{
    size_t unused = 0, all = 0;

    if (kind != GANTRY_MEMORY_DEVICE)
        return FAIL(device->instance, GANTRY_E_OUT_OF_MEMORY,
                    "%s: the driver could not lock %llu bytes of host memory; free some buffers or "
                    "raise the limit on locked memory",
                    device->info.name, (unsigned long long)size);
    device->instance->cu.cuMemGetInfo(&unused, &all);
    return FAIL(device->instance, GANTRY_E_OUT_OF_MEMORY,
                "%s: %llu bytes of device memory were asked for, %zu of %zu are free; free some "
                "buffers or ask for less",
                device->info.name, (unsigned long long)size, unused, all);
}

enum gantry_status memory_allocate(struct gantry_drv_device *device, enum gantry_memory kind,
                                   uint64_t size, struct gantry_drv_memory *memory)
{
    uint64_t rounded = (size + 3) & ~(uint64_t)3;
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = kind == GANTRY_MEMORY_DEVICE ? allocate_device(device, rounded, memory)
                                          : allocate_host(device, rounded, memory);
    if (status == GANTRY_E_OUT_OF_MEMORY)
        status = out_of_memory(device, kind, size);
    scope_leave(device, &scope);
    if (status == GANTRY_OK) {
        memory->size = rounded;
        memory->kind = kind;
        memory->driver = NULL;
    }
    return status;
}

void memory_free(struct gantry_drv_device *device, struct gantry_drv_memory *memory)
{
    struct scope scope;

    if (!scope_enter_anyway(device, &scope))
        return;
    if (memory->host)
        device->instance->cu.cuMemFreeHost(memory->host);
    else
        device->instance->cu.cuMemFree(memory->address);
    scope_leave(device, &scope);
}
