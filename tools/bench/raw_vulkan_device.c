/* The Vulkan loader, an instance and a device. */
#define VOLK_IMPLEMENTATION
#include "raw_vulkan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UUID_TEXT_SIZE = 41, MOST_DEVICES = 64 };

/* The loader stays open: drivers keep threads, and gantry uses it too. */
static bool open_loader(char *reason)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
    PFN_vkGetInstanceProcAddr get;

    symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!symbol) {
        snprintf(reason, REASON_SIZE, "the Vulkan loader can't be opened: %s", dlerror());
        return false;
    }
    *(void **)&get = symbol; /* ISO C has no conversion from object to function pointers */
    volkInitializeCustom(get);
    return true;
}

static bool make_instance(struct raw_vulkan *vulkan)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "gantry bench",
        .apiVersion = VK_API_VERSION_1_2,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };

    if (!VK(vkCreateInstance(&info, NULL, &vulkan->instance)))
        return false;
    volkLoadInstanceOnly(vulkan->instance);
    return true;
}

/* ---- Finding the device --------------------------------------------------------------------- */

/* As gantry writes it: "GPU-01234567-89ab-…". */
static void write_uuid(const uint8_t *bytes, char text[UUID_TEXT_SIZE])
{
    int at = snprintf(text, UUID_TEXT_SIZE, "GPU-");

    for (size_t i = 0; i < VK_UUID_SIZE; i++)
        at += snprintf(text + at, (size_t)(UUID_TEXT_SIZE - at), "%s%02x",
                       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static bool has_uuid(VkPhysicalDevice physical, const char *uuid)
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType =
                                                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &id};
    char text[UUID_TEXT_SIZE];

    vkGetPhysicalDeviceProperties2(physical, &properties);
    write_uuid(id.deviceUUID, text);
    return strcmp(text, uuid) == 0;
}

/* The device's number among those that the loader lists. */
static uint32_t listed_index(const struct gantry_device_info *info)
{
    for (uint32_t i = 0; i < info->backend_count; i++) {
        if (strcmp(info->backends[i].backend, "vulkan") == 0)
            return info->backends[i].index;
    }
    return 0;
}

/* By its UUID; where it has none, by its number: the loader lists the same devices again. */
static bool find_physical(struct raw_vulkan *vulkan, const struct gantry_device_info *info)
{
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES, index = listed_index(info);

    if (vkEnumeratePhysicalDevices(vulkan->instance, &count, devices) < VK_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (info->uuid ? has_uuid(devices[i], info->uuid) : i == index)
            vulkan->physical = devices[i];
    }
    return vulkan->physical != NULL;
}

/* ---- Opening it ----------------------------------------------------------------------------- */

/* What the tiny kernels and their memory need. The memory model where there is one, for images that
 * declare it. */
static bool make_device(struct raw_vulkan *vulkan)
{
    const float priority = 1;
    VkPhysicalDeviceVulkan12Features found = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &found};
    VkPhysicalDeviceVulkan12Features used = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .scalarBlockLayout = VK_TRUE,
        .timelineSemaphore = VK_TRUE,
        .bufferDeviceAddress = VK_TRUE,
    };
    const VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &used,
        .features = {.shaderInt64 = VK_TRUE},
    };
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = vulkan->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };

    vkGetPhysicalDeviceFeatures2(vulkan->physical, &all);
    used.vulkanMemoryModel = found.vulkanMemoryModel;
    used.vulkanMemoryModelDeviceScope = found.vulkanMemoryModelDeviceScope;
    if (!VK(vkCreateDevice(vulkan->physical, &info, NULL, &vulkan->device)))
        return false;
    volkLoadDeviceTable(&vulkan->vk, vulkan->device);
    vulkan->vk.vkGetDeviceQueue(vulkan->device, vulkan->family, 0, &vulkan->queue);
    return true;
}

bool raw_vulkan_device(struct raw_vulkan *vulkan, const struct gantry_side *side, char *reason)
{
    struct gantry_native_queue native;

    if (!open_loader(reason))
        return false;
    snprintf(reason, REASON_SIZE, "the Vulkan driver could not be used without gantry");
    if (gantry_queue_native(side->queue, &native) != GANTRY_OK)
        return gantry_side_failed();
    vulkan->family = native.vk_family;
    if (!make_instance(vulkan))
        return false;
    if (!find_physical(vulkan, &side->info)) {
        snprintf(reason, REASON_SIZE, "the loader does not list the device again");
        return false;
    }
    return make_device(vulkan);
}
