#include "status.h"

#include "driver.h"

/* One row per result that Vulkan 1.2's core calls can give: name, status, text. */
#define RESULT_MAP(X)                                                                             \
    X(VK_SUCCESS, OK, "success")                                                                  \
    X(VK_NOT_READY, NOT_READY, "not finished yet")                                                \
    X(VK_TIMEOUT, TIMEOUT, "the time limit passed")                                               \
    X(VK_INCOMPLETE, E_DRIVER, "there was more than fitted")                                      \
    X(VK_ERROR_OUT_OF_HOST_MEMORY, E_OUT_OF_HOST_MEMORY, "no host memory is left")                \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY, E_OUT_OF_MEMORY, "no device memory is left")                 \
    X(VK_ERROR_INITIALIZATION_FAILED, E_DRIVER, "the driver could not be initialised")            \
    X(VK_ERROR_DEVICE_LOST, E_DEVICE_LOST, "the device was lost")                                 \
    X(VK_ERROR_MEMORY_MAP_FAILED, E_OUT_OF_HOST_MEMORY, "no address space is left to map memory") \
    X(VK_ERROR_LAYER_NOT_PRESENT, E_CONFIG, "a layer that VK_INSTANCE_LAYERS names is missing")   \
    X(VK_ERROR_EXTENSION_NOT_PRESENT, E_UNSUPPORTED, "the driver lacks an extension")             \
    X(VK_ERROR_FEATURE_NOT_PRESENT, E_UNSUPPORTED, "the device lacks a feature")                  \
    X(VK_ERROR_INCOMPATIBLE_DRIVER, E_NO_DEVICE, "no usable Vulkan driver is installed")          \
    X(VK_ERROR_TOO_MANY_OBJECTS, E_LIMIT, "the driver allows no more objects of this kind")       \
    X(VK_ERROR_FRAGMENTED_POOL, E_OUT_OF_MEMORY, "a pool of the driver is fragmented")            \
    X(VK_ERROR_UNKNOWN, E_DRIVER, "the driver gives no reason")                                   \
    X(VK_ERROR_OUT_OF_POOL_MEMORY, E_OUT_OF_MEMORY, "a pool of the driver is exhausted")          \
    X(VK_ERROR_INVALID_EXTERNAL_HANDLE, E_DRIVER, "an external handle is not valid")              \
    X(VK_ERROR_FRAGMENTATION, E_OUT_OF_MEMORY, "the device's memory is fragmented")               \
    X(VK_ERROR_INVALID_SHADER_NV, E_DRIVER, "the driver refused the shader")                      \
    X(VK_ERROR_NOT_PERMITTED_KHR, E_DRIVER, "the driver does not permit it to this user")

enum gantry_status result_status(VkResult result)
{
    switch ((int)result) {
#define X(name, status, text) \
    case name:                \
        return GANTRY_##status;
        RESULT_MAP(X)
#undef X
    }
    return GANTRY_E_DRIVER;
}

const char *result_name(VkResult result)
{
    switch ((int)result) {
#define X(name, status, text) \
    case name:                \
        return #name;
        RESULT_MAP(X)
#undef X
    }
    return "VkResult";
}

const char *result_text(VkResult result)
{
    switch ((int)result) {
#define X(name, status, text) \
    case name:                \
        return text;
        RESULT_MAP(X)
#undef X
    }
    return "an error that this version of gantry does not know";
}

enum gantry_status call_failed(const struct gantry_backend_services *services, VkResult result,
                               const char *call)
{
    return services->fail(services->context, result_status(result), "%s: %s (%d): %s", call,
                          result_name(result), (int)result, result_text(result));
}

enum gantry_status device_call_failed(struct gantry_drv_device *device, VkResult result,
                                      const char *call)
{
    if (result == VK_ERROR_DEVICE_LOST)
        atomic_store(&device->lost, true);
    return call_failed(device->services, result, call);
}

enum gantry_status device_check(struct gantry_drv_device *device)
{
    if (!atomic_load_explicit(&device->lost, memory_order_relaxed))
        return GANTRY_OK;
    return device->services->fail(device->services->context, GANTRY_E_DEVICE_LOST,
                                  "the Vulkan device %s was lost by an earlier failure; close it "
                                  "and open it again",
                                  device->physical->info.name);
}
