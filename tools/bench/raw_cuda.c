/* The CUDA driver opened for the bench: context, kernels, memory. */
#include "raw_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"

bool raw_cuda_check(struct raw_cuda *cuda, CUresult result, const char *call)
{
    const char *name = NULL;

    if (result == CUDA_SUCCESS)
        return true;
    if (cuda->cu.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "unknown error";
    output_error("bench: raw CUDA: %s failed: %s (%d)", call, name, (int)result);
    return false;
}

bool raw_cuda_enter(struct raw_cuda *cuda)
{
    return CU(cuda, cuCtxPushCurrent(cuda->context));
}

void raw_cuda_leave(struct raw_cuda *cuda)
{
    CUcontext popped;

    cuda->cu.cuCtxPopCurrent(&popped);
}

void raw_cuda_args_set(struct raw_cuda_args *args, struct launch *launch)
{
    args->size = sizeof launch->args;
    args->list[0] = (void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT;
    args->list[1] = &launch->args;
    args->list[2] = (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT;
    args->list[3] = &args->size;
    args->list[4] = (void *)CU_LAUNCH_PARAM_END_AS_INT;
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static bool load(struct raw_cuda *cuda, int index, const char *name,
                 const struct gantry_image_info *info, const void *code)
{
    bool loaded;
    char *text;

    /* The driver wants PTX to end in a zero, which a package does not have. */
    text = info->kind == GANTRY_IMAGE_PTX ? strndup(code, info->size) : NULL;
    loaded = CU(cuda, cuModuleLoadDataEx(&cuda->modules[index], text ? text : code, 0, NULL, NULL));
    free(text);
    return loaded &&
           CU(cuda, cuModuleGetFunction(&cuda->kernels[index], cuda->modules[index], name));
}

/* Each kernel is loaded from the image that gantry took for it. From compute capability 9.0 on
 * these wait before they do anything, which makes programmatic edges into them right. */
static bool load_all(struct raw_cuda *cuda, const struct gantry_side *side,
                     const struct package *package)
{
    bool waits = true;

    for (int i = 0; i < KERNEL_COUNT; i++) {
        struct gantry_kernel_info kernel;
        struct gantry_image_info image;
        const void *code;

        if (gantry_kernel_describe(side->kernels[i], &kernel) != GANTRY_OK)
            return gantry_side_failed();
        if (!package_code(package, kernel.name, kernel.image, &image, &code)) {
            output_error("bench: the package has no image '%s' of %s for the raw side",
                         kernel.image, kernel.name);
            return false;
        }
        if (!load(cuda, i, kernel.name, &image, code))
            return false;
        waits = waits && image.arch >= 90;
    }
    cuda->programmatic = waits && cuda->cu.cuGraphAddDependencies_12030;
    return true;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

static bool make_counter(struct raw_cuda *cuda)
{
    int can = 0;
    void *host;

    if (!CU(cuda, cuMemHostAlloc(&host, sizeof(uint64_t), CU_MEMHOSTALLOC_DEVICEMAP)))
        return false;
    cuda->done = host;
    atomic_store(cuda->done, 0);
    cuda->cu.cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
                                  cuda->device);
    cuda->write_value = can && cuda->cu.cuStreamWriteValue64;
    return CU(cuda, cuMemHostGetDevicePointer(&cuda->done_address, host, 0));
}

static bool open_stream(struct raw_cuda *cuda)
{
    return CU(cuda, cuStreamCreateWithPriority(&cuda->stream, CU_STREAM_NON_BLOCKING, 0)) &&
           CU(cuda, cuEventCreate(&cuda->event, CU_EVENT_DISABLE_TIMING)) && make_counter(cuda);
}

static void close_all(struct raw_cuda *cuda)
{
    if (cuda->stream)
        cuda->cu.cuStreamDestroy(cuda->stream);
    if (cuda->event)
        cuda->cu.cuEventDestroy(cuda->event);
    if (cuda->done)
        cuda->cu.cuMemFreeHost((void *)cuda->done);
    if (cuda->y)
        cuda->cu.cuMemFree(cuda->y);
    for (int i = 0; i < 2; i++) {
        if (cuda->copied[i])
            cuda->cu.cuMemFree(cuda->copied[i]);
    }
    if (cuda->copied_host)
        cuda->cu.cuMemFreeHost(cuda->copied_host);
    for (int i = 0; i < KERNEL_COUNT; i++) {
        if (cuda->modules[i])
            cuda->cu.cuModuleUnload(cuda->modules[i]);
    }
}

/* Takes a half-made side. The driver itself stays: it has threads, and gantry uses it. */
static void close_side(struct raw *raw)
{
    struct raw_cuda *cuda = (struct raw_cuda *)raw;

    if (cuda->context && raw_cuda_enter(cuda)) {
        close_all(cuda);
        raw_cuda_leave(cuda);
    }
    if (cuda->context)
        cuda->cu.cuDevicePrimaryCtxRelease(cuda->device);
    cells_close(&raw->cells);
    free(cuda);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static bool reserve(struct raw *raw, uint32_t blocks)
{
    struct raw_cuda *cuda = (struct raw_cuda *)raw;
    size_t floats = (size_t)blocks * BLOCK_THREADS;
    bool done;

    if (!cells_open(&raw->cells, blocks) || !raw_cuda_enter(cuda))
        return false;
    done = CU(cuda, cuMemAlloc(&cuda->y, floats * sizeof(float))) &&
           CU(cuda, cuMemsetD32Async(cuda->y, 0, floats, cuda->stream)) &&
           CU(cuda, cuStreamSynchronize(cuda->stream));
    raw_cuda_leave(cuda);
    return done;
}

static bool read_and_clear(struct raw_cuda *cuda, float **memory)
{
    size_t floats = (size_t)cuda->raw.cells.count * BLOCK_THREADS;
    CUdeviceptr address;
    void *host;

    if (!CU(cuda, cuMemHostAlloc(&host, floats * sizeof(float), CU_MEMHOSTALLOC_DEVICEMAP)))
        return false;
    *memory = host;
    return CU(cuda, cuMemHostGetDevicePointer(&address, host, 0)) &&
           CU(cuda, cuMemcpyAsync(address, cuda->y, floats * sizeof(float), cuda->stream)) &&
           CU(cuda, cuMemsetD32Async(cuda->y, 0, floats, cuda->stream)) &&
           CU(cuda, cuStreamSynchronize(cuda->stream));
}

static bool check(struct raw *raw)
{
    struct raw_cuda *cuda = (struct raw_cuda *)raw;
    float *memory = NULL;
    bool right;

    if (!raw_cuda_enter(cuda))
        return false;
    right = read_and_clear(cuda, &memory) && cells_match(&raw->cells, memory, "raw CUDA");
    if (memory)
        cuda->cu.cuMemFreeHost(memory);
    raw_cuda_leave(cuda);
    cells_clear(&raw->cells);
    return right;
}

static bool come_and_go(struct raw *raw, uint64_t size, unsigned rounds)
{
    struct raw_cuda *cuda = (struct raw_cuda *)raw;
    CUdeviceptr memory;
    bool done = raw_cuda_enter(cuda);

    if (!done)
        return false;
    for (unsigned i = 0; i < rounds && done; i++)
        done = CU(cuda, cuMemAlloc(&memory, size)) && CU(cuda, cuMemFree(memory));
    raw_cuda_leave(cuda);
    return done;
}

static const struct raw_ops ops = {
    .come_and_go = come_and_go,
    .come_and_go_how = "cuMemAlloc, cuMemFree",
    .close = close_side,
    .reserve = reserve,
    .check = check,
    .replay = raw_cuda_replay,
    .oneshot = raw_cuda_oneshot,
    .roundtrip = raw_cuda_roundtrip,
    .reserve_copies = raw_cuda_reserve_copies,
    .copy = raw_cuda_copy,
};

static bool open_context(struct raw_cuda *cuda, const struct gantry_side *side)
{
    struct gantry_native_device native;

    if (gantry_device_native(side->device, &native) != GANTRY_OK)
        return gantry_side_failed();
    cuda->device = native.cuda_device;
    return CU(cuda, cuInit(0)) && CU(cuda, cuDevicePrimaryCtxRetain(&cuda->context, cuda->device));
}

struct raw *raw_cuda_open(const struct gantry_side *side, const struct package *package,
                          char *reason)
{
    struct raw_cuda *cuda = calloc(1, sizeof *cuda);
    bool opened;

    if (!cuda || !symbols_open(&cuda->cu, reason, REASON_SIZE)) {
        if (!cuda)
            snprintf(reason, REASON_SIZE, "out of memory");
        free(cuda);
        return NULL;
    }
    cuda->raw.ops = &ops;
    opened = open_context(cuda, side) && raw_cuda_enter(cuda);
    if (opened) {
        opened = open_stream(cuda) && (!package || load_all(cuda, side, package));
        raw_cuda_leave(cuda);
    }
    if (opened)
        return &cuda->raw;
    close_side(&cuda->raw);
    snprintf(reason, REASON_SIZE, "the CUDA driver could not be used without gantry");
    return NULL;
}
