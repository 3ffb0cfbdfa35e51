/* gantry's Vulkan device, as a program sees it that has driver code of its own. */
#define VOLK_IMPLEMENTATION
#include "raw_vulkan.h"

#include <dlfcn.h>
#include <stdio.h>

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

bool raw_vulkan_device(struct raw_vulkan *vulkan, const struct gantry_side *side, char *reason)
{
    struct gantry_native_device device;
    struct gantry_native_queue queue;

    if (!open_loader(reason))
        return false;
    if (gantry_device_native(side->device, &device) != GANTRY_OK ||
        gantry_queue_native(side->queue, &queue) != GANTRY_OK) {
        snprintf(reason, REASON_SIZE, "gantry does not tell which Vulkan device it opened");
        return gantry_side_failed();
    }
    volkLoadInstanceOnly(device.vk_instance);
    volkLoadDeviceTable(&vulkan->vk, device.vk_device);
    vulkan->physical = device.vk_physical_device;
    vkGetPhysicalDeviceMemoryProperties(vulkan->physical, &vulkan->memory);
    vulkan->device = device.vk_device;
    vulkan->queue = queue.vk_queue;
    vulkan->family = queue.vk_family;
    return true;
}
