/* The host plugin's table and descriptor. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define EXPORT __attribute__((visibility("default")))

/* What the latest closed instance left behind and was done wrong: for tests that load the plugin.
 */
EXPORT long gantry_host_faults;

static enum gantry_status read_settings(struct gantry_drv_instance *instance)
{
    char error[256];
    const char *devices = setting("DEVICES"), *fail = setting("FAIL"), *order = setting("ORDER"),
               *seed = setting("SEED");
    int count = spec_parse(devices ? devices : "", instance->devices, error, sizeof(error));
    if (count < 0)
        return FAIL(instance, GANTRY_E_CONFIG, "GANTRY_HOST_DEVICES: %s", error);
    instance->device_count = (uint32_t)count;
    if (!failures_parse(fail ? fail : "", &instance->failures, error, sizeof(error)))
        return FAIL(instance, GANTRY_E_CONFIG, "GANTRY_HOST_FAIL: %s", error);
    if (order && strcmp(order, "stages") != 0 && strcmp(order, "edges") != 0)
        return FAIL(instance, GANTRY_E_CONFIG,
                    "GANTRY_HOST_ORDER is \"%s\"; it must be edges or stages", order);
    instance->by_stages = order && strcmp(order, "stages") == 0;
    instance->seed = seed ? strtoull(seed, NULL, 10) : 1;
    return GANTRY_OK;
}

static enum gantry_status instance_open(const struct gantry_backend_services *services,
                                        const char *app_name, struct gantry_drv_instance **instance)
{
    (void)app_name;
    struct gantry_drv_instance *opened =
        services->allocate(services->context, sizeof(struct gantry_drv_instance));
    if (!opened)
        return services->fail(services->context, GANTRY_E_OUT_OF_HOST_MEMORY,
                              "no host memory for the " GANTRY_HOST_NAME " plugin's instance");
    opened->services = services;
    enum gantry_status status = read_settings(opened);
    if (status == GANTRY_OK)
        status = enter(opened, NULL, ENTRY_instance_open);
    if (status == GANTRY_OK && opened->device_count == 0)
        status = FAIL(opened, GANTRY_E_NO_DEVICE, "GANTRY_HOST_DEVICES names no device");
    if (status != GANTRY_OK) {
        services->release(services->context, opened);
        return status;
    }
    *instance = opened;
    return GANTRY_OK;
}

static void instance_close(struct gantry_drv_instance *instance)
{
    books_close(instance);
    gantry_host_faults = atomic_load(&instance->books.faults);
    RELEASE(instance, instance);
}

static const struct gantry_backend_ops ops = {
    .size = sizeof(struct gantry_backend_ops),
    .instance_open = instance_open,
    .instance_close = instance_close,
    .device_count = device_count,
    .device_describe = device_describe,
    .device_open = device_open,
    .device_close = device_close,
    .device_native = device_native,
    .device_memory = device_memory,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .memory_register = memory_register,
    .kernel_block = kernel_block,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_completed = queue_completed,
    .queue_wait = queue_wait,
    .queue_native = queue_native,
    .plan_build = plan_build,
    .plan_destroy = plan_destroy,
    .submit = submit,
    .submit_once = submit_once,
};

EXPORT const struct gantry_backend gantry_backend = {
    .magic = GANTRY_BACKEND_MAGIC,
    .abi_major = GANTRY_BACKEND_ABI_MAJOR,
    .abi_minor = GANTRY_BACKEND_ABI_MINOR,
    .size = sizeof(struct gantry_backend),
    .name = GANTRY_HOST_NAME,
    .version = "test",
    .ops = &ops,
};
