#include <string.h>

#include "driver.h"

void *host_allocate(const struct gantry_backend_services *services, size_t size, const char *what)
{
    void *memory = services->allocate(services->context, size);

    if (!memory)
        services->fail(services->context, GANTRY_E_OUT_OF_HOST_MEMORY,
                       "no host memory is left for %s (%zu bytes)", what, size);
    return memory;
}

void device_name(struct gantry_drv_device *device, VkObjectType type, uint64_t handle,
                 const char *name)
{
    VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name,
    };

    if (device->instance->debug_utils && name && *name)
        vkSetDebugUtilsObjectNameEXT(device->handle, &info); /* a nameless object works as well */
}

/* ---- Opening -------------------------------------------------------------------------------- */

static struct family *add_family(struct gantry_drv_device *device, uint32_t index)
{
    const VkQueueFamilyProperties *properties = &device->physical->families[index];
    struct family *family = &device->families[device->family_count++];

    family->index = index;
    family->flags = properties->queueFlags;
    family->slot_count = properties->queueCount < MAX_SLOTS ? properties->queueCount : MAX_SLOTS;
    for (uint32_t i = 0; i < family->slot_count; i++)
        pthread_mutex_init(&family->slots[i].lock, NULL);
    return family;
}

static enum gantry_status choose_families(struct gantry_drv_device *device,
                                          const struct gantry_backend_device_params *params)
{
    const struct physical *physical = device->physical;
    uint32_t compute, transfer;
    enum gantry_status status;

    status = family_choose(device->services, physical, params->queue_family, UINT32_MAX, &compute);
    if (status == GANTRY_OK)
        status =
            family_choose(device->services, physical, params->transfer_family, compute, &transfer);
    if (status != GANTRY_OK)
        return status;
    device->compute = add_family(device, compute);
    device->transfer = transfer == compute ? device->compute : add_family(device, transfer);
    return GANTRY_OK;
}

static uint32_t enabled_extensions(const struct physical *physical, const char **names)
{
    uint32_t count = 0;

#define X(member, name, enable)         \
    if (enable && physical->has.member) \
        names[count++] = name;
    EXTENSION_MAP(X)
#undef X
    return count;
}

static enum gantry_status create_device(struct gantry_drv_device *device)
{
    struct features features = device->physical->features;
    const char *extensions[sizeof(struct extensions) / sizeof(bool)];
    VkDeviceQueueCreateInfo queues[MAX_FAMILIES] = {0};
    float priorities[MAX_FAMILIES][MAX_SLOTS];
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = features_chain(&features, &device->physical->has),
        .queueCreateInfoCount = device->family_count,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = enabled_extensions(device->physical, extensions),
        .ppEnabledExtensionNames = extensions,
    };
    enum gantry_status status = GANTRY_OK;

    for (uint32_t f = 0; f < device->family_count; f++) {
        const struct family *family = &device->families[f];
        for (uint32_t i = 0; i < family->slot_count; i++)
            priorities[f][i] = slot_priority(family->slot_count, i);
        queues[f].sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queues[f].queueFamilyIndex = family->index;
        queues[f].queueCount = family->slot_count;
        queues[f].pQueuePriorities = priorities[f];
    }
    VK(device, vkCreateDevice(device->physical->handle, &info, NULL, &device->handle));
    volkLoadDeviceTable(&device->vk, device->handle);
fail:
    return status;
}

static enum gantry_status create_cache(struct gantry_drv_device *device)
{
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkCreatePipelineCache(device->handle, &info, NULL, &device->cache));
fail:
    return status;
}

static void get_queues(struct gantry_drv_device *device)
{
    for (uint32_t f = 0; f < device->family_count; f++) {
        struct family *family = &device->families[f];
        for (uint32_t i = 0; i < family->slot_count; i++)
            device->vk.vkGetDeviceQueue(device->handle, family->index, i, &family->slots[i].handle);
    }
}

enum gantry_status device_open(struct gantry_drv_instance *instance, uint32_t index,
                               const struct gantry_backend_device_params *params,
                               struct gantry_drv_device **device)
{
    const struct gantry_backend_services *services = &instance->services;
    struct gantry_drv_device *made = host_allocate(services, sizeof(*made), "the Vulkan device");
    enum gantry_status status;

    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    made->services = services;
    made->instance = instance;
    made->physical = &instance->devices[index];
    pthread_mutex_init(&made->lock, NULL);
    status = choose_families(made, params);
    if (status == GANTRY_OK)
        status = create_device(made);
    if (status == GANTRY_OK)
        status = create_cache(made);
    if (status != GANTRY_OK) {
        device_close(made);
        return status;
    }
    get_queues(made);
    *device = made;
    return GANTRY_OK;
}

void device_close(struct gantry_drv_device *device)
{
    tables_close(device);
    if (device->cache)
        device->vk.vkDestroyPipelineCache(device->handle, device->cache, NULL);
    if (device->handle)
        device->vk.vkDestroyDevice(device->handle, NULL);
    for (uint32_t f = 0; f < device->family_count; f++)
        for (uint32_t i = 0; i < device->families[f].slot_count; i++)
            pthread_mutex_destroy(&device->families[f].slots[i].lock);
    pthread_mutex_destroy(&device->lock);
    device->services->release(device->services->context, device);
}

/* ---- What an open device tells -------------------------------------------------------------- */

void device_native(struct gantry_drv_device *device, struct gantry_native_device *native)
{
    native->backend = "vulkan";
    native->vk_instance = device->instance->handle;
    native->vk_physical_device = device->physical->handle;
    native->vk_device = device->handle;
}

/* Of the largest device-local heap, which limits.memory_size speaks of too. */
enum gantry_status device_memory(struct gantry_drv_device *device, uint64_t *available,
                                 uint64_t *total)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
    };
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
        .pNext = &budget,
    };

    if (!device->physical->has.memory_budget)
        return device->services->fail(device->services->context, GANTRY_E_UNSUPPORTED,
                                      "the driver of %s does not tell how much memory is free "
                                      "(it lacks VK_EXT_memory_budget)",
                                      device->physical->info.name);
    vkGetPhysicalDeviceMemoryProperties2(device->physical->handle, &memory);
    *available = 0;
    *total = device->physical->info.limits.memory_size;
    for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory.memoryProperties.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && heap->size == *total &&
            budget.heapBudget[i] > budget.heapUsage[i])
            *available = budget.heapBudget[i] - budget.heapUsage[i];
    }
    return GANTRY_OK;
}
