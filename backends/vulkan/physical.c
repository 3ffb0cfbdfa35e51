#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

/* Everything that is asked of a device in one call; members of absent extensions stay zero. */
struct properties {
    VkPhysicalDeviceProperties2 core;
    VkPhysicalDeviceVulkan11Properties v11;
    VkPhysicalDeviceVulkan12Properties v12;
    VkPhysicalDeviceMaintenance4Properties maintenance4;
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci;
    VkPhysicalDeviceSubgroupSizeControlProperties subgroup;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host;
};

static void skip(struct physical *physical, const char *what, const char *detail)
{
    char *text = physical->info.skipped;
    size_t size = sizeof(physical->info.skipped);
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", what, detail);
}

/* ---- Extensions ----------------------------------------------------------------------------- */

static void note_extension(struct extensions *has, const char *extension)
{
#define X(member, name, enable)       \
    if (strcmp(extension, name) == 0) \
        has->member = true;
    EXTENSION_MAP(X)
#undef X
}

static void probe_extensions(const struct gantry_backend_services *services,
                             struct physical *physical)
{
    VkExtensionProperties *list = NULL;
    uint32_t count = 0;
    VkResult result;

    result = vkEnumerateDeviceExtensionProperties(physical->handle, NULL, &count, NULL);
    if (result >= VK_SUCCESS && count > 0) {
        list = services->allocate(services->context, count * sizeof(*list));
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        if (list)
            result = vkEnumerateDeviceExtensionProperties(physical->handle, NULL, &count, list);
    }
    if (result < VK_SUCCESS)
        skip(physical, "its extensions can't be listed: ", result_name(result));
    else
        for (uint32_t i = 0; i < count; i++)
            note_extension(&physical->has, list[i].extensionName);
    services->release(services->context, list);
}

/* ---- Features ------------------------------------------------------------------------------- */

VkPhysicalDeviceFeatures2 *features_chain(struct features *features, const struct extensions *has)
{
    features->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    features->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features->atomic_float.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
    features->fault.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT;
    features->core.pNext = NULL;
    link_struct(&features->core, &features->v11);
    link_struct(&features->core, &features->v12);
    if (has->atomic_float)
        link_struct(&features->core, &features->atomic_float);
    if (has->device_fault)
        link_struct(&features->core, &features->fault);
    return &features->core;
}

/* Enabled where present: whatever a kernel image may declare, and what gantry itself needs. Nothing
 * else, because some features (robust access) cost speed. */
static void keep_used_features(const struct features *found, struct features *used)
{
#define KEEP(member) used->member = found->member
    KEEP(core.features.shaderFloat64);
    KEEP(core.features.shaderInt64);
    KEEP(core.features.shaderInt16);
    KEEP(v11.storageBuffer16BitAccess);
    KEEP(v11.uniformAndStorageBuffer16BitAccess);
    KEEP(v11.storagePushConstant16);
    KEEP(v12.storageBuffer8BitAccess);
    KEEP(v12.uniformAndStorageBuffer8BitAccess);
    KEEP(v12.storagePushConstant8);
    KEEP(v12.shaderBufferInt64Atomics);
    KEEP(v12.shaderSharedInt64Atomics);
    KEEP(v12.shaderFloat16);
    KEEP(v12.shaderInt8);
    KEEP(v12.scalarBlockLayout);
    KEEP(v12.shaderSubgroupExtendedTypes);
    KEEP(v12.timelineSemaphore);
    KEEP(v12.bufferDeviceAddress);
    KEEP(v12.vulkanMemoryModel);
    KEEP(v12.vulkanMemoryModelDeviceScope);
    KEEP(atomic_float.shaderBufferFloat32Atomics);
    KEEP(atomic_float.shaderBufferFloat32AtomicAdd);
    KEEP(atomic_float.shaderSharedFloat32Atomics);
    KEEP(atomic_float.shaderSharedFloat32AtomicAdd);
    KEEP(fault.deviceFault);
#undef KEEP
}

static void probe_features(struct physical *physical)
{
    struct features found = {0};
    const struct features *used = &physical->features;

    vkGetPhysicalDeviceFeatures2(physical->handle, features_chain(&found, &physical->has));
    keep_used_features(&found, &physical->features);
    if (!used->v12.bufferDeviceAddress)
        skip(physical, "lacks ", "bufferDeviceAddress");
    if (!used->v12.scalarBlockLayout)
        skip(physical, "lacks ", "scalarBlockLayout");
    if (!used->v12.timelineSemaphore)
        skip(physical, "lacks ", "timelineSemaphore");
    if (!used->core.features.shaderInt64)
        skip(physical, "lacks ", "shaderInt64");
}

static bool has_subgroup(const struct physical *physical, VkSubgroupFeatureFlags operations)
{
    return (physical->subgroup & operations) == operations;
}

static uint32_t feature_bits(const struct physical *physical)
{
    const struct features *f = &physical->features;
    uint32_t bits = 0;

#define FEATURE(name, condition) \
    if (condition)               \
        bits |= GANTRY_FEATURE_##name;
    FEATURE(HALF, f->v12.shaderFloat16 && f->v11.storageBuffer16BitAccess)
    FEATURE(DOUBLE, f->core.features.shaderFloat64)
    FEATURE(INT64, f->core.features.shaderInt64)
    FEATURE(INT8, f->v12.shaderInt8 && f->v12.storageBuffer8BitAccess)
    FEATURE(INT16, f->core.features.shaderInt16 && f->v11.storageBuffer16BitAccess)
    FEATURE(SUBGROUP_BALLOT,
            has_subgroup(physical, VK_SUBGROUP_FEATURE_VOTE_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT))
    FEATURE(SUBGROUP_SHUFFLE, has_subgroup(physical, VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                                                         VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT))
    FEATURE(SUBGROUP_ARITHMETIC, has_subgroup(physical, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT))
    FEATURE(ATOMIC_FLOAT_ADD, f->atomic_float.shaderBufferFloat32AtomicAdd &&
                                  f->atomic_float.shaderSharedFloat32AtomicAdd)
    FEATURE(ATOMIC_INT64, f->v12.shaderBufferInt64Atomics && f->v12.shaderSharedInt64Atomics)
    FEATURE(MEMORY_MODEL, f->v12.vulkanMemoryModel && f->v12.vulkanMemoryModelDeviceScope)
#undef FEATURE
    return bits;
}

/* ---- Properties ----------------------------------------------------------------------------- */

static void query_properties(const struct physical *physical, struct properties *p)
{
    p->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    p->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    p->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    p->maintenance4.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES;
    p->pci.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
    p->subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
    p->host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
    link_struct(&p->core, &p->v11);
    link_struct(&p->core, &p->v12);
    if (physical->has.maintenance4)
        link_struct(&p->core, &p->maintenance4);
    if (physical->has.pci_bus_info)
        link_struct(&p->core, &p->pci);
    if (physical->has.subgroup_size_control)
        link_struct(&p->core, &p->subgroup);
    if (physical->has.external_memory_host)
        link_struct(&p->core, &p->host);
    vkGetPhysicalDeviceProperties2(physical->handle, &p->core);
}

static enum gantry_device_type device_type(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return GANTRY_DEVICE_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return GANTRY_DEVICE_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return GANTRY_DEVICE_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return GANTRY_DEVICE_CPU;
    default:
        return GANTRY_DEVICE_OTHER;
    }
}

static void identify(struct physical *physical, const VkPhysicalDeviceProperties *core)
{
    struct gantry_backend_device_info *info = &physical->info;

    snprintf(info->name, sizeof(info->name), "%s", core->deviceName);
    info->type = device_type(core->deviceType);
    info->vendor_id = core->vendorID; /* PCI's, or above 0xffff one that Khronos gave: Mesa's */
}

static void identify_further(struct physical *physical, const struct properties *p)
{
    static const uint8_t unknown[VK_UUID_SIZE];
    struct gantry_backend_device_info *info = &physical->info;

    info->has_uuid = memcmp(p->v11.deviceUUID, unknown, sizeof(unknown)) != 0;
    memcpy(info->uuid, p->v11.deviceUUID, sizeof(info->uuid));
    info->has_pci = physical->has.pci_bus_info;
    info->pci_domain = p->pci.pciDomain;
    info->pci_bus = p->pci.pciBus;
    info->pci_device = p->pci.pciDevice;
    info->pci_function = p->pci.pciFunction;
    if (p->v12.driverInfo[0])
        snprintf(info->driver_version, sizeof(info->driver_version), "%.63s", p->v12.driverInfo);
    else
        snprintf(info->driver_version, sizeof(info->driver_version), "%#" PRIx32,
                 p->core.properties.driverVersion);
}

static uint64_t device_local_size(const VkPhysicalDeviceMemoryProperties *memory)
{
    uint64_t size = 0;

    for (uint32_t i = 0; i < memory->memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory->memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && heap->size > size)
            size = heap->size;
    }
    return size;
}

/* Kernels reach buffers by address alone, so maxStorageBufferRange does not count. Nor does
 * maxMemoryAllocationSize where maxBufferSize is known: it is a promise and not a limit (NVIDIA's
 * driver promises just below 4 GiB and gives what the heap has). */
static uint64_t max_buffer_size(const struct physical *physical, const struct properties *p)
{
    uint64_t size =
        physical->has.maintenance4 ? p->maintenance4.maxBufferSize : p->v11.maxMemoryAllocationSize;
    uint64_t heap = device_local_size(&physical->memory);

    if (size > heap)
        size = heap;
    return size & ~UINT64_C(3); /* blocks are rounded up to whole words */
}

static void fill_limits(struct physical *physical, const struct properties *p)
{
    struct gantry_limits *limits = &physical->info.limits;
    const VkPhysicalDeviceLimits *l = &p->core.properties.limits;
    bool sizes_vary = physical->has.subgroup_size_control;

    limits->max_buffer_size = max_buffer_size(physical, p);
    limits->memory_size = device_local_size(&physical->memory);
    limits->max_threads_per_block = l->maxComputeWorkGroupInvocations;
    limits->max_block =
        (struct gantry_size){l->maxComputeWorkGroupSize[0], l->maxComputeWorkGroupSize[1],
                             l->maxComputeWorkGroupSize[2]};
    limits->max_blocks =
        (struct gantry_size){l->maxComputeWorkGroupCount[0], l->maxComputeWorkGroupCount[1],
                             l->maxComputeWorkGroupCount[2]};
    limits->max_shared_bytes = l->maxComputeSharedMemorySize;
    limits->inline_args_bytes = l->maxPushConstantsSize;
    limits->max_args_bytes = MAX_ARGS_BYTES;
    limits->subgroup_size = p->v11.subgroupSize;
    limits->subgroup_min = sizes_vary ? p->subgroup.minSubgroupSize : p->v11.subgroupSize;
    limits->subgroup_max = sizes_vary ? p->subgroup.maxSubgroupSize : p->v11.subgroupSize;
}

static void fill_memory(struct physical *physical, const struct properties *p)
{
    uint32_t count = p->core.properties.limits.maxMemoryAllocationCount;

    physical->promised_allocation = p->v11.maxMemoryAllocationSize;
    physical->max_allocations = count;
    physical->import_alignment = p->host.minImportedHostPointerAlignment;
    physical->info.max_memory_blocks = count - OWN_BLOCKS(count);
    physical->info.memory_alignment = BLOCK_ALIGNMENT;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void probe_families(const struct gantry_backend_services *services,
                           struct physical *physical)
{
    uint32_t count = 0;

    vkGetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, NULL);
    physical->families =
        services->allocate(services->context, count * sizeof(VkQueueFamilyProperties));
    if (!physical->families) {
        skip(physical, "its queue families can't be listed: ", "no host memory is left");
        return;
    }
    vkGetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, physical->families);
    physical->info.family_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (physical->families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return;
    skip(physical, "has no queue family that computes", "");
}

static void probe_properties(struct physical *physical)
{
    struct properties p = {0};

    query_properties(physical, &p);
    vkGetPhysicalDeviceMemoryProperties(physical->handle, &physical->memory);
    if (p.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT)
        physical->subgroup = p.v11.subgroupSupportedOperations;
    identify_further(physical, &p);
    fill_limits(physical, &p);
    fill_memory(physical, &p);
    occupancy_probe(physical);
}

void physical_probe(const struct gantry_backend_services *services, VkPhysicalDevice handle,
                    struct physical *physical)
{
    VkPhysicalDeviceProperties core;
    char version[32];

    physical->handle = handle;
    vkGetPhysicalDeviceProperties(handle, &core);
    identify(physical, &core);
    if (core.apiVersion < VK_API_VERSION_1_2) {
        snprintf(version, sizeof(version), "%" PRIu32 ".%" PRIu32,
                 VK_API_VERSION_MAJOR(core.apiVersion), VK_API_VERSION_MINOR(core.apiVersion));
        skip(physical, "gantry needs Vulkan 1.2, the driver has ", version);
        return; /* the structs of 1.2 must not be given to it */
    }
    probe_extensions(services, physical);
    probe_properties(physical);
    probe_features(physical);
    probe_families(services, physical);
    physical->info.features = feature_bits(physical);
}

void physical_free(const struct gantry_backend_services *services, struct physical *physical)
{
    services->release(services->context, physical->families);
}
