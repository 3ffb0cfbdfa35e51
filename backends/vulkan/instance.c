#include <string.h>

#include "driver.h"

static bool has_instance_extension(const struct gantry_backend_services *services, const char *name)
{
    VkExtensionProperties *list = NULL;
    uint32_t count = 0;
    bool found = false;

    if (vkEnumerateInstanceExtensionProperties(NULL, &count, NULL) != VK_SUCCESS || count == 0)
        return false;
    list = services->allocate(services->context, count * sizeof(*list));
    if (list && vkEnumerateInstanceExtensionProperties(NULL, &count, list) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count && !found; i++)
            found = strcmp(list[i].extensionName, name) == 0;
    services->release(services->context, list);
    return found;
}

static enum gantry_status check_loader(const struct gantry_backend_services *services)
{
    uint32_t version = VK_API_VERSION_1_0; /* such loaders lack the call */
    VkResult result = VK_SUCCESS;

    if (vkEnumerateInstanceVersion)
        result = vkEnumerateInstanceVersion(&version);
    if (result < VK_SUCCESS)
        return call_failed(services, result, "vkEnumerateInstanceVersion");
    if (version >= VK_API_VERSION_1_2)
        return GANTRY_OK;
    return services->fail(services->context, GANTRY_E_NO_DEVICE,
                          "the Vulkan loader speaks version %u.%u, gantry needs 1.2: update "
                          "libvulkan1",
                          VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
}

static enum gantry_status create_instance(struct gantry_drv_instance *instance,
                                          const char *app_name)
{
    const struct gantry_backend_services *services = &instance->services;
    const char *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = app_name,
        .pEngineName = "gantry",
        .apiVersion = VK_API_VERSION_1_2,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .ppEnabledExtensionNames = &extension,
    };
    VkResult result;

    symbols_claim();
    instance->debug_utils = has_instance_extension(services, extension);
    info.enabledExtensionCount = instance->debug_utils ? 1 : 0;
    result = vkCreateInstance(&info, NULL, &instance->handle);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return services->fail(services->context, GANTRY_E_NO_DEVICE,
                              "the Vulkan loader found no usable driver (VK_DRIVER_FILES, "
                              "VK_ICD_FILENAMES and the vulkan/icd.d folders say where it looks; "
                              "without a GPU: install mesa-vulkan-drivers)");
    if (result != VK_SUCCESS)
        return call_failed(services, result, "vkCreateInstance");
    volkLoadInstanceOnly(instance->handle);
    return GANTRY_OK;
}

static enum gantry_status list_devices(struct gantry_drv_instance *instance)
{
    const struct gantry_backend_services *services = &instance->services;
    enum gantry_status status = GANTRY_OK;
    VkPhysicalDevice *handles = NULL;
    uint32_t count = 0;
    VkResult result;

    result = vkEnumeratePhysicalDevices(instance->handle, &count, NULL);
    if (result < VK_SUCCESS && result != VK_ERROR_INITIALIZATION_FAILED)
        return call_failed(services, result, "vkEnumeratePhysicalDevices");
    if (count == 0)
        return services->fail(services->context, GANTRY_E_NO_DEVICE,
                              "the Vulkan drivers of this machine found no device "
                              "(vkEnumeratePhysicalDevices: %s; without a GPU: install "
                              "mesa-vulkan-drivers)",
                              result_name(result));
    handles = host_allocate(services, count * sizeof(*handles), "the device list");
    instance->devices =
        host_allocate(services, count * sizeof(*instance->devices), "the device list");
    if (!handles || !instance->devices) {
        status = GANTRY_E_OUT_OF_HOST_MEMORY;
        goto fail;
    }
    /* A device that appeared since the first call waits for the next instance: VK_INCOMPLETE. */
    result = vkEnumeratePhysicalDevices(instance->handle, &count, handles);
    if (result < VK_SUCCESS) {
        status = call_failed(services, result, "vkEnumeratePhysicalDevices");
        goto fail;
    }
    for (uint32_t i = 0; i < count; i++)
        physical_probe(services, handles[i], &instance->devices[i]);
    instance->device_count = count;
fail: /* also the way out */
    services->release(services->context, handles);
    return status;
}

enum gantry_status instance_open(const struct gantry_backend_services *services,
                                 const char *app_name, struct gantry_drv_instance **instance)
{
    struct gantry_drv_instance *made;
    enum gantry_status status;

    status = symbols_open(services);
    if (status == GANTRY_OK)
        status = check_loader(services);
    if (status != GANTRY_OK)
        return status;
    made = host_allocate(services, sizeof(*made), "the Vulkan instance");
    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    made->services = *services;
    status = create_instance(made, app_name);
    if (status == GANTRY_OK)
        status = list_devices(made);
    if (status != GANTRY_OK) {
        instance_close(made);
        return status;
    }
    *instance = made;
    return GANTRY_OK;
}

void instance_close(struct gantry_drv_instance *instance)
{
    struct gantry_backend_services services = instance->services;

    for (uint32_t i = 0; i < instance->device_count; i++)
        physical_free(&services, &instance->devices[i]);
    services.release(services.context, instance->devices);
    if (instance->handle)
        vkDestroyInstance(instance->handle, NULL);
    services.release(services.context, instance);
}

uint32_t device_count(struct gantry_drv_instance *instance)
{
    return instance->device_count;
}

enum gantry_status device_describe(struct gantry_drv_instance *instance, uint32_t index,
                                   struct gantry_backend_device_info *info)
{
    *info = instance->devices[index].info;
    return GANTRY_OK;
}
