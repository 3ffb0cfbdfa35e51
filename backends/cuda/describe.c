/* What a device is, found without making a context on it. */
#include "status.h"

#include <stdio.h>
#include <string.h>

enum {
    NVIDIA_PCI_VENDOR = 0x10de,
    OLDEST_ARCH = 75,       /* what gantry compile makes images for */
    PROGRAMMATIC_ARCH = 90, /* griddepcontrol */
    ALLOCATION_ALIGNMENT = 256,
    INLINE_ARGS_BYTES = 4096,  /* of every driver; larger ones need CUDA 12.1 and sm_70 */
    MAX_ARGS_BYTES = 64 << 10, /* through a table there is no limit but sense */
    ALL_FEATURES = GANTRY_FEATURE_HALF | GANTRY_FEATURE_DOUBLE | GANTRY_FEATURE_INT64 |
                   GANTRY_FEATURE_INT8 | GANTRY_FEATURE_INT16 | GANTRY_FEATURE_SUBGROUP_BALLOT |
                   GANTRY_FEATURE_SUBGROUP_SHUFFLE | GANTRY_FEATURE_SUBGROUP_ARITHMETIC |
                   GANTRY_FEATURE_ATOMIC_FLOAT_ADD | GANTRY_FEATURE_ATOMIC_INT64 |
                   GANTRY_FEATURE_MEMORY_MODEL, /* of every device from OLDEST_ARCH on */
};

/* The attributes that are copied as they are: X(attribute's end, member of the info). */
#define ATTRIBUTE_MAP(X)                                          \
    X(MAX_THREADS_PER_BLOCK, limits.max_threads_per_block)        \
    X(MAX_BLOCK_DIM_X, limits.max_block.x)                        \
    X(MAX_BLOCK_DIM_Y, limits.max_block.y)                        \
    X(MAX_BLOCK_DIM_Z, limits.max_block.z)                        \
    X(MAX_GRID_DIM_X, limits.max_blocks.x)                        \
    X(MAX_GRID_DIM_Y, limits.max_blocks.y)                        \
    X(MAX_GRID_DIM_Z, limits.max_blocks.z)                        \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, limits.max_shared_bytes) \
    X(WARP_SIZE, limits.subgroup_size)                            \
    X(MULTIPROCESSOR_COUNT, limits.compute_units)                 \
    X(MAX_THREADS_PER_MULTIPROCESSOR, limits.threads_per_unit)    \
    X(PCI_DOMAIN_ID, pci_domain)                                  \
    X(PCI_BUS_ID, pci_bus)                                        \
    X(PCI_DEVICE_ID, pci_device)

static const struct {
    CUdevice_attribute attribute;
    size_t offset;
} copied[] = {
#define X(name, member) \
    {CU_DEVICE_ATTRIBUTE_##name, offsetof(struct gantry_backend_device_info, member)},
    ATTRIBUTE_MAP(X)
#undef X
};

static enum gantry_status read_attributes(struct gantry_drv_instance *instance, CUdevice device,
                                          struct gantry_backend_device_info *info)
{
    int value;
    enum gantry_status status;

    for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
        status = CU_OF(instance, cuDeviceGetAttribute(&value, copied[i].attribute, device));
        if (status != GANTRY_OK)
            return status;
        memcpy((char *)info + copied[i].offset, &value, sizeof(value));
    }
    return GANTRY_OK;
}

static enum gantry_status read_identity(struct gantry_drv_instance *instance, CUdevice device,
                                        struct gantry_backend_device_info *info)
{
    CUuuid uuid;
    size_t memory;
    enum gantry_status status;

    status = CU_OF(instance, cuDeviceGetName(info->name, (int)sizeof(info->name), device));
    if (status == GANTRY_OK)
        status = CU_OF(instance, cuDeviceGetUuid(&uuid, device));
    if (status == GANTRY_OK)
        status = CU_OF(instance, cuDeviceTotalMem(&memory, device));
    if (status != GANTRY_OK)
        return status;
    memcpy(info->uuid, uuid.bytes, sizeof(info->uuid));
    info->limits.memory_size = memory;
    info->limits.max_buffer_size = memory;
    return GANTRY_OK;
}

static enum gantry_status read_architecture(struct gantry_drv_instance *instance, CUdevice device,
                                            struct gantry_backend_device_info *info)
{
    int major, minor, mode, integrated;
    enum gantry_status status;

    status =
        CU_OF(instance,
              cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    if (status == GANTRY_OK)
        status = CU_OF(instance,
                       cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                            device));
    if (status == GANTRY_OK)
        status =
            CU_OF(instance, cuDeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device));
    if (status == GANTRY_OK)
        status = CU_OF(instance,
                       cuDeviceGetAttribute(&integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED, device));
    if (status != GANTRY_OK)
        return status;
    info->type = integrated ? GANTRY_DEVICE_INTEGRATED : GANTRY_DEVICE_DISCRETE;
    info->arch_number = (uint32_t)(major * 10 + minor);
    snprintf(info->arch, sizeof(info->arch), "sm_%u", info->arch_number);
    if (info->arch_number < OLDEST_ARCH)
        snprintf(info->skipped, sizeof(info->skipped),
                 "compute capability %d.%d is below %d.%d, the oldest that gantry supports", major,
                 minor, OLDEST_ARCH / 10, OLDEST_ARCH % 10);
    else if (mode == CU_COMPUTEMODE_PROHIBITED)
        snprintf(info->skipped, sizeof(info->skipped),
                 "its compute mode prohibits contexts; allow them with nvidia-smi -c DEFAULT");
    return GANTRY_OK;
}

enum gantry_status device_describe(struct gantry_drv_instance *instance, uint32_t index,
                                   struct gantry_backend_device_info *info)
{
    CUdevice device;
    enum gantry_status status;

    memset(info, 0, sizeof(*info));
    status = CU_OF(instance, cuDeviceGet(&device, (int)index));
    if (status == GANTRY_OK)
        status = read_identity(instance, device, info);
    if (status == GANTRY_OK)
        status = read_attributes(instance, device, info);
    if (status == GANTRY_OK)
        status = read_architecture(instance, device, info);
    if (status != GANTRY_OK)
        return status;
    info->has_uuid = true;
    info->has_pci = true;
    info->vendor_id = NVIDIA_PCI_VENDOR;
    info->features = ALL_FEATURES;
    info->limits.subgroup_min = info->limits.subgroup_max = info->limits.subgroup_size;
    info->limits.inline_args_bytes = INLINE_ARGS_BYTES;
    info->limits.max_args_bytes = MAX_ARGS_BYTES;
    info->memory_alignment = ALLOCATION_ALIGNMENT;
    info->programmatic =
        info->arch_number >= PROGRAMMATIC_ARCH && instance->cu.cuGraphAddDependencies_12030;
    snprintf(info->occupancy_source, sizeof(info->occupancy_source),
             "cuOccupancyMaxActiveBlocksPerMultiprocessor, asked for each kernel");
    snprintf(info->driver_version, sizeof(info->driver_version), "%d.%d",
             instance->cu.version / 1000, instance->cu.version % 1000 / 10);
    return GANTRY_OK;
}
