/* From VkResult to gantry's statuses and sentences. */
#ifndef GANTRY_VULKAN_STATUS_H
#define GANTRY_VULKAN_STATUS_H

#include "symbols.h"

struct gantry_drv_device;

enum gantry_status result_status(VkResult result);

/* "VK_ERROR_DEVICE_LOST", and what it means in a few words. Static, never NULL. */
const char *result_name(VkResult result);
const char *result_text(VkResult result);

/* Reports that `call` (its source text) gave `result`; returns the status. */
enum gantry_status call_failed(const struct gantry_backend_services *services, VkResult result,
                               const char *call);

/* The same for a call on a device, which is remembered as lost when that is the result. */
enum gantry_status device_call_failed(struct gantry_drv_device *device, VkResult result,
                                      const char *call);

/* GANTRY_OK, or GANTRY_E_DEVICE_LOST for a device that was lost before. */
enum gantry_status device_check(struct gantry_drv_device *device);

/* Makes a call on `device`. When it does not succeed: sets `status` and goes to `fail`. */
#define VK(device, call)                                            \
    do {                                                            \
        VkResult vk_result_ = (call);                               \
        if (vk_result_ != VK_SUCCESS) {                             \
            status = device_call_failed(device, vk_result_, #call); \
            goto fail;                                              \
        }                                                           \
    } while (0)

#endif
