/* Failures: of the driver, turned into gantry's statuses and sentences, and our own. */
#ifndef GANTRY_CUDA_STATUS_H
#define GANTRY_CUDA_STATUS_H

#include "driver.h"

/* Calls an entry of the driver; what fails is reported with the very expression. CU() also notes
 * when the device is lost. */
#define CU(device, call) \
    driver_status((device)->instance, (device), (device)->instance->cu.call, #call)
#define CU_OF(instance, call) driver_status((instance), NULL, (instance)->cu.call, #call)

/* GANTRY_OK, or sets the thread's sentence. The device may be NULL. */
enum gantry_status driver_status(struct gantry_drv_instance *instance,
                                 struct gantry_drv_device *device, CUresult result,
                                 const char *call);

/* What status a result stands for; notes a lost device. Sets no sentence. */
enum gantry_status driver_judge(struct gantry_drv_device *device, CUresult result);

/* "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered" */
struct driver_text {
    char text[256];
};
struct driver_text driver_describe(const struct gantry_drv_instance *instance, CUresult result);

/* Sets the sentence of a device that was lost earlier. */
enum gantry_status device_lost(struct gantry_drv_device *device);

#define FAIL(instance, status, ...) \
    (instance)->services.fail((instance)->services.context, status, __VA_ARGS__)
#define LOG(instance, level, ...) \
    (instance)->services.log((instance)->services.context, level, __VA_ARGS__)

/* Zeroed host memory; on failure NULL and a sentence. */
void *host_allocate(struct gantry_drv_instance *instance, size_t size);
void host_release(struct gantry_drv_instance *instance, void *memory);

#endif
