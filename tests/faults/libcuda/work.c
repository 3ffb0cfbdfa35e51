/* What a stream's task or a graph's node does: checked when it is given, run when its time comes.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { WARP_SIZE = 32 };

/* ---- Launches -------------------------------------------------------------------------------- */

/* The parameter buffer out of `extra`: pairs of a name and a value, ended by a zero. */
static bool read_extra(void **extra, const void **buffer, size_t *size)
{
    *buffer = NULL;
    *size = 0;
    for (; extra && extra[0] != (void *)CU_LAUNCH_PARAM_END_AS_INT; extra += 2) {
        if (extra[0] == (void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
            *buffer = extra[1];
        else if (extra[0] == (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
            *size = *(const size_t *)extra[1];
        else
            return false;
    }
    return true;
}

static bool grid_fits(const struct CUfunc_st *function, const unsigned blocks[3],
                      const unsigned block[3])
{
    static const unsigned most_blocks[] = {0x7fffffff, 65535, 65535}, most[] = {1024, 1024, 64};
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    for (int i = 0; i < 3; i++)
        if (blocks[i] < 1 || blocks[i] > most_blocks[i] || block[i] < 1 || block[i] > most[i])
            return false;
    return threads <= (uint64_t)function->max_threads;
}

CUresult work_launch(struct work *work, CUfunction function, const unsigned blocks[3],
                     const unsigned block[3], unsigned shared, void **params, void **extra)
{
    const void *buffer;
    size_t size;
    if (!function || !object_check(&function->module->object, KIND_MODULE, NULL))
        return STANDIN_INVALID_HANDLE;
    if (!grid_fits(function, blocks, block))
        return MISUSE(STANDIN_INVALID_VALUE, "%s: the grid or the block is beyond the limits",
                      function->name);
    if (shared > (unsigned)function->max_dynamic_shared)
        return MISUSE(STANDIN_INVALID_VALUE, "%s: %u bytes of dynamic shared memory, %d allowed",
                      function->name, shared, function->max_dynamic_shared);
    if (params || !read_extra(extra, &buffer, &size))
        return MISUSE(STANDIN_INVALID_VALUE, "%s: parameters come in no buffer", function->name);
    if (function->args_size && size != function->args_size)
        return MISUSE(STANDIN_INVALID_VALUE, "%s: %zu bytes of parameters, it has %zu",
                      function->name, size, function->args_size);
    *work = (struct work){.kind = WORK_LAUNCH,
                          .function = function,
                          .shared = shared,
                          .args_size = size};
    work->args = calloc(1, size + 16); /* a struct may end in padding that the buffer lacks */
    if (!work->args)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (size)
        memcpy(work->args, buffer, size);
    for (int i = 0; i < 3; i++) {
        work->blocks[i] = blocks[i];
        work->block[i] = block[i];
    }
    return CUDA_SUCCESS;
}

static _Thread_local sigjmp_buf way_out;

static void leave_kernel(int signal)
{
    (void)signal;
    siglongjmp(way_out, 1);
}

/* A kernel that touches an address without memory breaks the device, not the process. */
static void run_body(const struct work *work)
{
    struct CUfunc_st *function = work->function;
    struct sigaction action = {.sa_handler = leave_kernel}, segv, bus;
    sigaction(SIGSEGV, &action, &segv);
    sigaction(SIGBUS, &action, &bus);
    if (sigsetjmp(way_out, 1) == 0) {
        const char *trouble =
            function->body(work->args, work->blocks, work->block, work->shared, WARP_SIZE);
        if (trouble)
            fault("%s: %s", function->name, trouble);
    } else {
        poison_with(function->module->object.context, CUDA_ERROR_ILLEGAL_ADDRESS);
        host_images_renew();
    }
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
}

static void run_launch(const struct work *work)
{
    struct CUfunc_st *function = work->function;
    if (!object_check(&function->module->object, KIND_MODULE, NULL))
        return;
    if (function->body)
        run_body(work);
    else
        fault("%s: no image of STANDIN_KERNELS has it", function->name);
}

/* ---- Copies and fills ------------------------------------------------------------------------ */

CUresult work_copy(struct work *work, uint64_t to, uint64_t from, size_t size)
{
    if (size == 0)
        return MISUSE(STANDIN_INVALID_VALUE, "a copy of 0 bytes");
    if (!memory_find(to, size) || !memory_find(from, size))
        return MISUSE(STANDIN_INVALID_VALUE, "a copy of %zu bytes outside of any memory", size);
    *work = (struct work){.kind = WORK_COPY, .to = to, .from = from, .size = size, .rows = 1};
    return CUDA_SUCCESS;
}

static size_t extent(const struct work *work, size_t pitch)
{
    return (work->rows - 1) * pitch + work->size;
}

static bool pitch_fits(const struct work *work, size_t pitch, const struct CUctx_st *context)
{
    return pitch >= work->size &&
           pitch <= (size_t)attribute_of(context->device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
}

/* Pitches of a single row don't count. */
CUresult work_copy_rows(struct work *work, const CUDA_MEMCPY3D_v2 *params,
                        const struct CUctx_st *context)
{
    if (params->Height < 1 || params->Depth != 1 || params->srcLOD || params->dstLOD ||
        params->srcY || params->srcZ || params->dstY || params->dstZ ||
        params->srcMemoryType != CU_MEMORYTYPE_UNIFIED ||
        params->dstMemoryType != CU_MEMORYTYPE_UNIFIED)
        return MISUSE(STANDIN_INVALID_VALUE, "a copy of a kind that the stand-in does not know");
    CUresult result = work_copy(work, params->dstDevice + params->dstXInBytes,
                                params->srcDevice + params->srcXInBytes, params->WidthInBytes);
    if (result != CUDA_SUCCESS || params->Height == 1)
        return result;
    work->rows = params->Height;
    work->to_pitch = params->dstPitch;
    work->from_pitch = params->srcPitch;
    if (!pitch_fits(work, work->to_pitch, context) || !pitch_fits(work, work->from_pitch, context))
        return MISUSE(STANDIN_INVALID_VALUE, "a copy's pitches of %zu and %zu bytes don't fit",
                      work->to_pitch, work->from_pitch);
    if (!memory_find(work->to, extent(work, work->to_pitch)) ||
        !memory_find(work->from, extent(work, work->from_pitch)))
        return MISUSE(STANDIN_INVALID_VALUE, "a copy of %zu rows outside of any memory",
                      work->rows);
    return CUDA_SUCCESS;
}

CUresult work_fill(struct work *work, uint64_t to, uint32_t value, size_t count)
{
    if (count == 0 || to % sizeof(value) != 0)
        return MISUSE(STANDIN_INVALID_VALUE, "a fill of 0 elements, or not aligned");
    if (!memory_find(to, count * sizeof(value)))
        return MISUSE(STANDIN_INVALID_VALUE, "a fill of %zu elements outside of any memory", count);
    *work = (struct work){.kind = WORK_FILL, .to = to, .value = value, .size = count};
    return CUDA_SUCCESS;
}

static bool is_there(uint64_t address, size_t size)
{
    if (memory_find(address, size))
        return true;
    fault("work ran on memory that had been freed");
    return false;
}

static void run_copy(const struct work *work)
{
    const char *from = work->args ? work->args : (const char *)(uintptr_t)work->from;
    char *to = (char *)(uintptr_t)work->to;
    if (!is_there(work->to, extent(work, work->to_pitch)) ||
        (!work->args && !is_there(work->from, extent(work, work->from_pitch))))
        return;
    for (size_t row = 0; row < work->rows; row++)
        memmove(to + row * work->to_pitch, from + row * work->from_pitch, work->size);
}

static void run_fill(const struct work *work)
{
    uint32_t value = (uint32_t)work->value;
    if (!is_there(work->to, work->size * sizeof(value)))
        return;
    for (size_t i = 0; i < work->size; i++)
        memcpy((char *)(uintptr_t)work->to + i * sizeof(value), &value, sizeof(value));
}

/* The host polls the value without asking the driver. */
static void run_write(const struct work *work)
{
    if (is_there(work->to, sizeof(work->value)))
        atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)work->to, work->value,
                              memory_order_release);
}

void work_run(const struct work *work)
{
    switch (work->kind) {
    case WORK_NOTHING:
        break;
    case WORK_LAUNCH:
        run_launch(work);
        break;
    case WORK_COPY:
        run_copy(work);
        break;
    case WORK_FILL:
        run_fill(work);
        break;
    case WORK_WRITE:
        run_write(work);
        break;
    }
}

static bool touches(const struct memory *memory, uint64_t address)
{
    uint64_t start = (uintptr_t)memory->start;
    return address >= start && address - start < memory->size;
}

bool work_uses(const struct work *work, const void *object)
{
    if (work->kind == WORK_LAUNCH)
        return work->function == object || work->function->module == object;
    const struct object *header = object;
    if (work->kind == WORK_NOTHING || header->kind != KIND_MEMORY)
        return false;
    const struct memory *memory = object;
    return touches(memory, work->to) ||
           (work->kind == WORK_COPY && !work->args && touches(memory, work->from));
}
