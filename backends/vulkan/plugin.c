/* What core sees of this plugin. */
#include "driver.h"

static const struct gantry_backend_ops ops = {
    .size = sizeof(ops),

    .instance_open = instance_open,
    .instance_close = instance_close,

    .device_count = device_count,
    .device_describe = device_describe,
    .device_open = device_open,
    .device_close = device_close,
    .device_native = device_native,
    .device_memory = device_memory,
    .device_fault = device_fault,

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

extern const struct gantry_backend gantry_backend;

__attribute__((visibility("default"))) const struct gantry_backend gantry_backend = {
    .magic = GANTRY_BACKEND_MAGIC,
    .abi_major = GANTRY_BACKEND_ABI_MAJOR,
    .abi_minor = GANTRY_BACKEND_ABI_MINOR,
    .size = sizeof(gantry_backend),
    .name = "vulkan",
    .version = "0.1.0",
    .ops = &ops,
};
