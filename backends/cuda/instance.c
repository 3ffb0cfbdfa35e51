/* Finding the driver. */
#include "nvrtc.h"
#include "status.h"

/* What helps against the failures of cuInit() that people meet. */
static const struct {
    CUresult result;
    const char *advice;
} advices[] = {
    {CUDA_ERROR_SYSTEM_NOT_READY,
     "the machine's GPU services are not up; start nvidia-fabricmanager or nvidia-persistenced"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
     "libcuda.so.1 and the kernel's driver are of different versions; reboot, or make the "
     "container's libraries match the host's driver"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
     "the libcuda.so.1 of a forward-compatibility package does not work with this GPU; take it out "
     "of LD_LIBRARY_PATH"},
    {CUDA_ERROR_UNKNOWN,
     "the kernel's driver gave up; look at the kernel log, reload nvidia_uvm or reboot"},
};

static const char *advice_for(CUresult result)
{
    for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
        if (advices[i].result == result)
            return advices[i].advice;
    }
    return "see whether nvidia-smi works";
}

static enum gantry_status no_device(struct gantry_drv_instance *instance)
{
    return FAIL(instance, GANTRY_E_NO_DEVICE,
                "the CUDA driver (CUDA %d.%d) works but sees no device; there is no NVIDIA GPU, or "
                "the environment hides it (CUDA_VISIBLE_DEVICES, a container without --gpus)",
                instance->cu.version / 1000, instance->cu.version % 1000 / 10);
}

/* What cuInit() answers in a child of a process that has called it, the program's own calls
 * included. */
static enum gantry_status forked(struct gantry_drv_instance *instance)
{
    return FAIL(instance, GANTRY_E_NO_DEVICE,
                "the process that forked this one had initialised CUDA, which can't be used in "
                "such a child (cuInit: %s); fork before gantry_open(), or start the child with "
                "exec()",
                driver_describe(instance, CUDA_ERROR_NOT_INITIALIZED).text);
}

static enum gantry_status init_failed(struct gantry_drv_instance *instance, CUresult result)
{
    if (result == CUDA_ERROR_NO_DEVICE)
        return no_device(instance);
    if (result == CUDA_ERROR_NOT_INITIALIZED)
        return forked(instance);
    return FAIL(instance, GANTRY_E_DRIVER, "cuInit() failed: %s; the driver is of CUDA %d.%d; %s",
                driver_describe(instance, result).text, instance->cu.version / 1000,
                instance->cu.version % 1000 / 10, advice_for(result));
}

/* Once cuInit() was called the driver stays loaded, whatever it answered. */
static enum gantry_status start_driver(struct gantry_drv_instance *instance)
{
    CUresult result;
    int count = 0;

    result = instance->cu.cuInit(0);
    if (result == CUDA_SUCCESS)
        result = instance->cu.cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return init_failed(instance, result);
    if (count < 1)
        return no_device(instance);
    instance->device_count = (uint32_t)count;
    return GANTRY_OK;
}

enum gantry_status instance_open(const struct gantry_backend_services *services,
                                 const char *app_name, struct gantry_drv_instance **instance)
{
    struct gantry_drv_instance *made = services->allocate(services->context, sizeof(*made));
    char reason[512];
    enum gantry_status status;

    (void)app_name; /* the CUDA driver has no place for it */
    if (!made)
        return services->fail(services->context, GANTRY_E_OUT_OF_HOST_MEMORY,
                              "there is no host memory left to open the CUDA driver");
    made->services = *services;
    pthread_mutex_init(&made->lock, NULL);
    if (symbols_open(&made->cu, reason, sizeof(reason)))
        status = start_driver(made);
    else
        status = FAIL(made, made->cu.version ? GANTRY_E_DRIVER : GANTRY_E_NO_DEVICE, "%s", reason);
    if (status != GANTRY_OK) {
        instance_close(made);
        return status;
    }
    *instance = made;
    return GANTRY_OK;
}

void instance_close(struct gantry_drv_instance *instance)
{
    nvrtc_close(instance);
    pthread_mutex_destroy(&instance->lock);
    host_release(instance, instance);
}

uint32_t device_count(struct gantry_drv_instance *instance)
{
    return instance->device_count;
}
