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
        memory->direct = NULL;
        memory->driver = NULL;
    }
    return status;
}

void memory_free(struct gantry_drv_device *device, struct gantry_drv_memory *memory)
{
    struct scope scope;

    if (!scope_enter_anyway(device, &scope))
        return;
    if (memory->kind == GANTRY_MEMORY_REGISTERED)
        device->instance->cu.cuMemHostUnregister(memory->host);
    else if (memory->host)
        device->instance->cu.cuMemFreeHost(memory->host);
    else
        device->instance->cu.cuMemFree(memory->address);
    scope_leave(device, &scope);
}

/* ---- The caller's memory -------------------------------------------------------------------- */

/* Why the driver did not lock the memory, as far as its code tells. */
static enum gantry_status refused(struct gantry_drv_device *device, const void *pointer,
                                  uint64_t size, CUresult result)
{
    struct gantry_drv_instance *instance = device->instance;
    struct driver_text text = driver_describe(instance, result);
    unsigned long long bytes = size;

    switch (result) {
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
        return FAIL(instance, GANTRY_E_INVALID_STATE,
                    "%s: some of the %llu bytes at %p are locked already, by gantry or by other "
                    "code in this process; end that registration first",
                    device->info.name, bytes, pointer);
    case CUDA_ERROR_OUT_OF_MEMORY:
        return FAIL(instance, GANTRY_E_OUT_OF_MEMORY,
                    "%s: the driver could not lock %llu bytes of host memory; register less or "
                    "raise the limit on locked memory (ulimit -l)",
                    device->info.name, bytes);
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_NOT_SUPPORTED:
        return FAIL(instance, GANTRY_E_UNSUPPORTED,
                    "%s: the driver does not take the %llu bytes at %p (%s); they must all be "
                    "mapped, for reading and writing, and be ordinary memory",
                    device->info.name, bytes, pointer, text.text);
    default:
        return driver_status(instance, device, result, "cuMemHostRegister(pointer, size, flags)");
    }
}

static enum gantry_status register_host(struct gantry_drv_device *device, void *pointer,
                                        uint64_t size, CUdeviceptr *address)
{
    const struct symbols *cu = &device->instance->cu;
    unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    CUresult result = cu->cuMemHostRegister(pointer, size, flags);
    enum gantry_status status;

    if (result != CUDA_SUCCESS)
        return refused(device, pointer, size, result);
    status = CU(device, cuMemHostGetDevicePointer(address, pointer, 0));
    if (status != GANTRY_OK)
        cu->cuMemHostUnregister(pointer);
    return status;
}

enum gantry_status memory_register(struct gantry_drv_device *device, void *pointer, uint64_t size,
                                   struct gantry_drv_memory *memory)
{
    CUdeviceptr address;
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = register_host(device, pointer, size, &address);
    scope_leave(device, &scope);
    if (status == GANTRY_OK)
        *memory = (struct gantry_drv_memory){.address = address,
                                             .host = pointer,
                                             .size = size,
                                             .kind = GANTRY_MEMORY_REGISTERED};
    return status;
}
