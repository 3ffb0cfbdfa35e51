/* Whether the Vulkan loader is there, and whether it finds a driver with a device. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

#include "drivers.h"
#include "isolate.h"

struct vulkan {
    PFN_vkGetInstanceProcAddr get;
    char version[32]; /* the loader's: "1.3.239" */
    VkInstance instance;
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX says that they look alike.
 */
static bool open_loader(struct report *report, struct vulkan *vulkan)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
    struct finding finding = {CODE_VULKAN_LIBRARY_MISSING, .subject = "libvulkan.so.1"};

    if (!library) {
        finding.why = dlerror();
        report_add(report, &finding, "the Vulkan loader can't be opened");
        return false;
    }
    symbol = dlsym(library, "vkGetInstanceProcAddr");
    memcpy(&vulkan->get, &symbol, sizeof symbol);
    if (!symbol)
        report_add(report, &finding,
                   "the library has no vkGetInstanceProcAddr: it is no Vulkan "
                   "loader");
    return symbol != NULL;
}

static bool check_version(struct report *report, struct vulkan *vulkan)
{
    PFN_vkEnumerateInstanceVersion enumerate =
        (PFN_vkEnumerateInstanceVersion)vulkan->get(NULL, "vkEnumerateInstanceVersion");
    uint32_t version = VK_API_VERSION_1_0; /* such loaders lack the call */

    if (enumerate)
        enumerate(&version);
    snprintf(vulkan->version, sizeof vulkan->version, "%u.%u.%u", VK_API_VERSION_MAJOR(version),
             VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
    if (version >= VK_API_VERSION_1_2)
        return true;
    report_add(report, &(struct finding){CODE_VULKAN_LOADER_OLD, .subject = "libvulkan.so.1"},
               "the Vulkan loader speaks version %s, gantry needs 1.2", vulkan->version);
    return false;
}

static VkResult create_instance(struct vulkan *vulkan)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "gantry doctor",
        .apiVersion = VK_API_VERSION_1_2,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)vulkan->get(NULL, "vkCreateInstance");

    return create ? create(&info, NULL, &vulkan->instance) : VK_ERROR_INITIALIZATION_FAILED;
}

static VkResult count_devices(const struct vulkan *vulkan, uint32_t *count)
{
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)vulkan->get(vulkan->instance, "vkEnumeratePhysicalDevices");

    return enumerate ? enumerate(vulkan->instance, count, NULL) : VK_ERROR_INITIALIZATION_FAILED;
}

/* Drivers that can't start make the loader fail either call, some list no device instead. */
static void report_drivers(struct report *report, const struct vulkan *vulkan, VkResult result,
                           uint32_t count)
{
    struct finding finding = {CODE_VULKAN_NO_DRIVER, .subject = "libvulkan.so.1"};

    if (result == VK_ERROR_INCOMPATIBLE_DRIVER ||
        (vulkan->instance && count == 0 &&
         (result >= VK_SUCCESS || result == VK_ERROR_INITIALIZATION_FAILED))) {
        report_add(report, &finding,
                   "the Vulkan loader (version %s) finds no driver that has a "
                   "device",
                   vulkan->version);
    } else if (result < VK_SUCCESS) {
        finding.code = CODE_VULKAN_INIT_FAILED;
        report_add(report, &finding,
                   "the Vulkan loader (version %s) is there, but %s fails with "
                   "VkResult %d",
                   vulkan->version,
                   vulkan->instance ? "vkEnumeratePhysicalDevices" : "vkCreateInstance", result);
    } else {
        finding.code = CODE_VULKAN_LOADER;
        report_add(report, &finding, "works: version %s, %u %s", vulkan->version, count,
                   count == 1 ? "device" : "devices");
    }
}

static void probe(struct report *report, void *context)
{
    struct vulkan vulkan = {.instance = NULL};
    uint32_t count = 0;
    VkResult result;

    (void)context;
    if (!open_loader(report, &vulkan) || !check_version(report, &vulkan))
        return;
    result = create_instance(&vulkan);
    if (result == VK_SUCCESS)
        result = count_devices(&vulkan, &count);
    report_drivers(report, &vulkan, result, count);
}

bool check_vulkan(struct report *report)
{
    static const struct isolation isolation = {
        .subject = "libvulkan.so.1",
        .crashed = CODE_VULKAN_CRASHED,
        .hangs = CODE_VULKAN_HANGS,
        .seconds = DRIVER_SECONDS,
    };

    return isolate(report, &isolation, probe, NULL);
}
