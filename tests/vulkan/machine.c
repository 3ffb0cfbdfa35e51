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

static const char *const maintenance4[] = {VK_KHR_MAINTENANCE_4_EXTENSION_NAME};

/* ---- Its answers ---------------------------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceProperties *properties)
{
    (void)device;
    memset(properties, 0, sizeof(*properties));
    properties->apiVersion = machine.version;
    properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    strcpy(properties->deviceName, "fake");
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceProperties2 *properties)
{
    get_properties(device, &properties->properties);
    for (VkBaseOutStructure *next = properties->pNext; next; next = next->pNext) {
        void *any = next;
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
            VkPhysicalDeviceVulkan11Properties *v11 = any;
            memcpy(v11->deviceUUID, machine.uuid, sizeof(machine.uuid));
            v11->maxMemoryAllocationSize = machine.max_allocation;
        } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES) {
            ((VkPhysicalDeviceMaintenance4Properties *)any)->maxBufferSize = machine.max_buffer;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice device,
                                                VkPhysicalDeviceFeatures2 *features)
{
    (void)device;
    features->features = machine.core;
    for (VkBaseOutStructure *next = features->pNext; next; next = next->pNext) {
        void *any = next;
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
            void *after = next->pNext;
            *(VkPhysicalDeviceVulkan12Features *)any = machine.v12;
            next->sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
            next->pNext = after;
        }
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
    if (machine.full_types >> info->memoryTypeIndex & 1)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
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
    return VK_SUCCESS;
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
    machine = (struct machine){
        .version = VK_API_VERSION_1_2,
        .extensions = maintenance4,
        .extension_count = 1,
        .core = {.shaderInt64 = VK_TRUE},
        .v12 = {.bufferDeviceAddress = VK_TRUE,
                .scalarBlockLayout = VK_TRUE,
                .timelineSemaphore = VK_TRUE},
        .uuid = {1},
        .max_allocation = 4 * GIB - 1,
        .max_buffer = 1024 * GIB,
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
