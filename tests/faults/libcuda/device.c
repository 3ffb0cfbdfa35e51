/* Devices, contexts, and each thread's stack of current contexts. */
#include <stdio.h>
#include <string.h>

#include "standin.h"

static struct CUctx_st contexts[MAX_DEVICES];

enum { MAX_DEPTH = 32 };

static _Thread_local struct CUctx_st *stack[MAX_DEPTH];
static _Thread_local int depth;
static _Thread_local CUstreamCaptureMode capture_mode;

/* ---- Devices --------------------------------------------------------------------------------- */

static const struct device *find(CUdevice device)
{
    if (device >= 0 && device < settings()->device_count)
        return &settings()->devices[device];
    fault("device %d of %d was asked for", device, settings()->device_count);
    return NULL;
}

CUresult cuDriverGetVersion(int *version)
{
    VISIT_ANYTIME(cuDriverGetVersion);
    *version = settings()->driver;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    VISIT(cuDeviceGetCount);
    *count = settings()->device_count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    VISIT(cuDeviceGet);
    if (!find(ordinal))
        return STANDIN_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    VISIT(cuDeviceGetName);
    const struct device *found = find(device);
    if (!found)
        return STANDIN_INVALID_DEVICE;
    snprintf(name, (size_t)size, "%s", found->name);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    VISIT(cuDeviceGetUuid);
    const struct device *found = find(device);
    if (!found)
        return STANDIN_INVALID_DEVICE;
    memcpy(uuid->bytes, found->uuid, sizeof(uuid->bytes));
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *size, CUdevice device)
{
    VISIT(cuDeviceTotalMem);
    const struct device *found = find(device);
    if (!found)
        return STANDIN_INVALID_DEVICE;
    *size = found->memory;
    return CUDA_SUCCESS;
}

/* What the attributes are on common GPUs. */
static bool usual_attribute(int attribute, const struct device *device, int *value)
{
    static const struct {
        int attribute, value;
    } usual[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 100 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 99 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1 << 10},
        {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
    };
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (usual[i].attribute == attribute) {
            *value = usual[i].value;
            return true;
        }
    }
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        *value = device->pci_domain;
        return true;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *value = device->pci_bus;
        return true;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        *value = device->pci_device;
        return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = device->arch / 10;
        return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = device->arch % 10;
        return true;
    default:
        return false;
    }
}

static bool find_attribute(int attribute, const struct device *device, int *value)
{
    for (int i = 0; i < device->override_count; i++) {
        if (device->overrides[i].attribute == attribute) {
            *value = device->overrides[i].value;
            return true;
        }
    }
    return usual_attribute(attribute, device, value);
}

int attribute_of(const struct device *device, CUdevice_attribute attribute)
{
    int value = 0;
    return find_attribute((int)attribute, device, &value) ? value : 0;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    VISIT(cuDeviceGetAttribute);
    const struct device *found = find(device);
    if (!found)
        return STANDIN_INVALID_DEVICE;
    return find_attribute((int)attribute, found, value) ? CUDA_SUCCESS : STANDIN_INVALID_VALUE;
}

/* ---- Primary contexts ------------------------------------------------------------------------ */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    VISIT(cuDevicePrimaryCtxRetain);
    const struct device *found = find(device);
    if (!found)
        return STANDIN_INVALID_DEVICE;
    contexts[device].device = found;
    contexts[device].retained++;
    *context = &contexts[device];
    return CUDA_SUCCESS;
}

void contexts_break(CUresult result)
{
    if (context_current())
        poison_with(context_current(), result);
    for (int i = 0; i < MAX_DEVICES && !context_current(); i++)
        if (contexts[i].retained)
            poison_with(&contexts[i], result);
}

/* The last release destroys the context and all that is in it. What is in a broken one could not be
 * freed; the next one is whole. */
static void destroy_context(struct CUctx_st *context)
{
    struct object *next;
    for (struct object *object = objects(); object; object = next) {
        next = object->next;
        if (object->context != context)
            continue;
        if (!context->poison)
            fault("a context was destroyed with a %s in it", kind_name(object->kind));
        object_kill(object);
    }
    context->poison = CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    VISIT(cuDevicePrimaryCtxRelease);
    if (!find(device))
        return STANDIN_INVALID_DEVICE;
    if (contexts[device].retained == 0)
        return MISUSE(CUDA_ERROR_INVALID_CONTEXT,
                      "device %d's primary context was released once too often", device);
    if (--contexts[device].retained == 0)
        destroy_context(&contexts[device]);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    VISIT(cuDevicePrimaryCtxGetState);
    if (!find(device))
        return STANDIN_INVALID_DEVICE;
    *flags = 0;
    *active = contexts[device].retained > 0;
    return CUDA_SUCCESS;
}

void contexts_close(void)
{
    for (int i = 0; i < MAX_DEVICES; i++)
        if (contexts[i].retained)
            fault("leaked: device %d's primary context was retained %d times more than released", i,
                  contexts[i].retained);
}

/* ---- The current context --------------------------------------------------------------------- */

struct CUctx_st *context_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

struct CUctx_st *context_required(enum entry entry)
{
    struct CUctx_st *context = context_current();
    if (context && context->retained > 0)
        return context;
    fault("%s was called %s", entry_names[entry],
          context ? "in a context that had been destroyed" : "without a current context");
    return NULL;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    VISIT(cuCtxGetCurrent);
    *context = context_current();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    VISIT(cuCtxSetCurrent);
    depth -= depth > 0;
    if (context)
        stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    VISIT(cuCtxPushCurrent);
    if (!context || context->retained == 0)
        return MISUSE(CUDA_ERROR_INVALID_CONTEXT, "a context that does not exist was pushed");
    if (depth == MAX_DEPTH)
        return MISUSE(STANDIN_INVALID_VALUE, "contexts were pushed and never popped");
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    VISIT(cuCtxPopCurrent);
    if (depth == 0)
        return MISUSE(CUDA_ERROR_INVALID_CONTEXT, "a context was popped that nobody had pushed");
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    VISIT_CONTEXT(cuCtxGetStreamPriorityRange);
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    VISIT(cuThreadExchangeStreamCaptureMode);
    CUstreamCaptureMode before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    VISIT_CONTEXT(cuCtxSynchronize);
    return run_all(context);
}
