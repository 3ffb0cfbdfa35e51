#include "machine.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- The machine ---------------------------------------------------------------------------- */

struct machine machine;
char machine_error[1024];
char machine_mapping[1 << 20];

static const VkQueueFamilyProperties nvidia_families[] = {
    {.queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT |
                   VK_QUEUE_SPARSE_BINDING_BIT,
     .queueCount = 16},
    {.queueFlags = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT, .queueCount = 2},
    {.queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT,
     .queueCount = 8},
    {.queueFlags = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_VIDEO_DECODE_BIT_KHR, .queueCount = 1},
};

#define LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define HOST  (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

static const VkPhysicalDeviceMemoryProperties desktop_memory = {
    .memoryTypeCount = 6,
    .memoryTypes = {{0, 1},
                    {LOCAL, 0},
                    {HOST, 1},
                    {HOST | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1},
                    {LOCAL | HOST, 2},
                    {LOCAL | HOST | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD, 0}},
    .memoryHeapCount = 3,
    .memoryHeaps = {{12 * GIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                    {32 * GIB, 0},
                    {GIB / 4, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
};

static const char *const extensions[] = {
    VK_KHR_MAINTENANCE_4_EXTENSION_NAME,
    VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
};

#define PAGE 4096

/* ---- Its answers ---------------------------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceProperties *properties)
{
    (void)device;
    memset(properties, 0, sizeof(*properties));
    properties->apiVersion = machine.version;
    properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    properties->limits = machine.limits;
    properties->limits.maxMemoryAllocationCount = machine.max_allocations;
    strcpy(properties->deviceName, "fake");
}

/* Copies the machine's struct over the one that was asked for, but not its place in the chain. */
static void answer(VkBaseOutStructure *asked, const void *known, size_t size)
{
    VkBaseOutStructure head = *asked;

    memcpy(asked, known, size);
    *asked = head;
}

static void answer_properties(VkBaseOutStructure *asked)
{
    VkPhysicalDeviceVulkan11Properties v11 = {
        .maxMemoryAllocationSize = machine.max_allocation,
        .subgroupSize = machine.subgroup_size,
    };
    VkPhysicalDeviceMaintenance4Properties maintenance4 = {.maxBufferSize = machine.max_buffer};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .minImportedHostPointerAlignment = PAGE,
    };
    const struct {
        VkStructureType type;
        const void *known;
        size_t size;
    } rows[] = {
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, &v11, sizeof(v11)},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES, &maintenance4,
         sizeof(maintenance4)},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT, &host,
         sizeof(host)},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV, &machine.nv,
         sizeof(machine.nv)},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD, &machine.amd,
         sizeof(machine.amd)},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD, &machine.amd2,
         sizeof(machine.amd2)},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM, &machine.arm,
         sizeof(machine.arm)},
    };

    memcpy(v11.deviceUUID, machine.uuid, sizeof(machine.uuid));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (asked->sType == rows[i].type)
            answer(asked, rows[i].known, rows[i].size);
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceProperties2 *properties)
{
    get_properties(device, &properties->properties);
    for (VkBaseOutStructure *next = properties->pNext; next; next = next->pNext)
        answer_properties(next);
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice device,
                                                VkPhysicalDeviceFeatures2 *features)
{
    VkPhysicalDeviceFaultFeaturesEXT fault = {.deviceFault = machine.device_fault,
                                              .deviceFaultVendorBinary = VK_TRUE};

    (void)device;
    features->features = machine.core;
    for (VkBaseOutStructure *next = features->pNext; next; next = next->pNext) {
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            answer(next, &machine.v12, sizeof(machine.v12));
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT)
            answer(next, &fault, sizeof(fault));
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL get_extensions(VkPhysicalDevice device, const char *layer,
                                                     uint32_t *count, VkExtensionProperties *list)
{
    (void)device;
    (void)layer;
    for (uint32_t i = 0; list && i < machine.extension_count; i++)
        strcpy(list[i].extensionName, machine.extensions[i]);
    *count = machine.extension_count;
    return machine.extensions_result;
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device,
                                             VkPhysicalDeviceMemoryProperties *memory)
{
    (void)device;
    *memory = machine.memory;
}

static VKAPI_ATTR void VKAPI_CALL get_external(VkPhysicalDevice device,
                                               const VkPhysicalDeviceExternalBufferInfo *info,
                                               VkExternalBufferProperties *properties)
{
    (void)device;
    assert_int_equal(info->handleType, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT);
    properties->externalMemoryProperties.externalMemoryFeatures = machine.host_import;
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count,
                                               VkQueueFamilyProperties *families)
{
    (void)device;
    if (families)
        memcpy(families, machine.families, machine.family_count * sizeof(*families));
    *count = machine.family_count;
}

/* ---- Memory of an open device --------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks,
                                                    VkBuffer *buffer)
{
    (void)device;
    (void)callbacks;
    *buffer = (VkBuffer)(uintptr_t)info->size;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                                 const VkAllocationCallbacks *callbacks)
{
    (void)device;
    (void)buffer;
    (void)callbacks;
}

static VKAPI_ATTR void VKAPI_CALL get_requirements(VkDevice device, VkBuffer buffer,
                                                   VkMemoryRequirements *needs)
{
    (void)device;
    *needs = (VkMemoryRequirements){(uintptr_t)buffer, 256, 0x3e}; /* not type 0 */
}

/* The handle says which type it was. */
static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *callbacks,
                                                      VkDeviceMemory *memory)
{
    (void)device;
    (void)callbacks;
    if ((uint32_t)machine.blocks >= machine.max_allocations)
        return VK_ERROR_TOO_MANY_OBJECTS;
    if (machine.full_types >> info->memoryTypeIndex & 1 ||
        info->allocationSize > machine.largest_allocation)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (const VkBaseInStructure *next = info->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) {
            machine.imported =
                ((const VkImportMemoryHostPointerInfoEXT *)(const void *)next)->pHostPointer;
            machine.imported_size = info->allocationSize;
            if (machine.import_result != VK_SUCCESS)
                return machine.import_result;
        }
    *memory = (VkDeviceMemory)(uintptr_t)(info->memoryTypeIndex + 100);
    machine.blocks++;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *callbacks)
{
    (void)device;
    (void)memory;
    (void)callbacks;
    machine.blocks--;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                           VkDeviceSize offset)
{
    (void)device;
    (void)buffer;
    (void)memory;
    (void)offset;
    return VK_SUCCESS;
}

/* Aligned only for whole pages, like a CPU device. */
static VKAPI_ATTR VkDeviceAddress VKAPI_CALL get_address(VkDevice device,
                                                         const VkBufferDeviceAddressInfo *info)
{
    uint64_t size = (uintptr_t)info->buffer;

    (void)device;
    return size % 4096 == 0 ? 0x10000 : 0x10040;
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **host)
{
    (void)device;
    (void)memory;
    (void)offset;
    (void)size;
    (void)flags;
    *host = machine_mapping;
    return machine.map_result;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_pointer(VkDevice device,
                                                  VkExternalMemoryHandleTypeFlagBits type,
                                                  const void *pointer,
                                                  VkMemoryHostPointerPropertiesEXT *properties)
{
    (void)device;
    assert_int_equal(type, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT);
    assert_int_equal((uintptr_t)pointer % PAGE, 0);
    properties->memoryTypeBits = machine.pointer_types;
    return machine.pointer_result;
}

void machine_memory_calls(struct VolkDeviceTable *vk)
{
    vk->vkCreateBuffer = create_buffer;
    vk->vkDestroyBuffer = destroy_buffer;
    vk->vkGetBufferMemoryRequirements = get_requirements;
    vk->vkAllocateMemory = allocate_memory;
    vk->vkFreeMemory = free_memory;
    vk->vkBindBufferMemory = bind;
    vk->vkGetBufferDeviceAddress = get_address;
    vk->vkMapMemory = map;
    vk->vkGetMemoryHostPointerPropertiesEXT = get_pointer;
}

/* ---- Services ------------------------------------------------------------------------------- */

static enum gantry_status service_fail(void *context, enum gantry_status status, const char *format,
                                       ...)
{
    va_list args;

    (void)context;
    va_start(args, format);
    vsnprintf(machine_error, sizeof(machine_error), format, args);
    va_end(args);
    return status;
}

static void *allocate(void *context, size_t size)
{
    (void)context;
    return calloc(1, size);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

const struct gantry_backend_services machine_services = {
    .size = sizeof(machine_services),
    .fail = service_fail,
    .allocate = allocate,
    .release = release,
};

int machine_setup(void **state)
{
    (void)state;
    vkGetPhysicalDeviceProperties = get_properties;
    vkGetPhysicalDeviceProperties2 = get_properties2;
    vkGetPhysicalDeviceFeatures2 = get_features2;
    vkEnumerateDeviceExtensionProperties = get_extensions;
    vkGetPhysicalDeviceMemoryProperties = get_memory;
    vkGetPhysicalDeviceQueueFamilyProperties = get_families;
    vkGetPhysicalDeviceExternalBufferProperties = get_external;
    machine = (struct machine){
        .version = VK_API_VERSION_1_2,
        .extensions = extensions,
        .extension_count = 2,
        .core = {.shaderInt64 = VK_TRUE},
        .v12 = {.bufferDeviceAddress = VK_TRUE,
                .scalarBlockLayout = VK_TRUE,
                .timelineSemaphore = VK_TRUE},
        .uuid = {1},
        .max_allocation = 4 * GIB - 1,
        .max_buffer = 1024 * GIB,
        .max_allocations = 4096,
        .largest_allocation = UINT64_MAX,
        .subgroup_size = 32,
        .limits = {.maxComputeWorkGroupInvocations = 1024,
                   .maxComputeWorkGroupSize = {1024, 1024, 64},
                   .maxComputeSharedMemorySize = 49152},
        .host_import = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
        .pointer_types = UINT32_MAX,
        .memory = desktop_memory,
        .family_count = 4,
    };
    memcpy(machine.families, nvidia_families, sizeof(nvidia_families));
    machine_error[0] = '\0';
    return 0;
}

struct physical machine_probe(void)
{
    struct physical physical = {0};

    physical_probe(&machine_services, (VkPhysicalDevice)&machine, &physical);
    physical_free(&machine_services, &physical);
    return physical;
}
