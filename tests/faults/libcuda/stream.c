/* Streams and events, and the device's progress.
 *
 * Work is done when somebody asks for it, on that thread; among what may run now, on any stream,
 * the next piece is chosen at random. The seed makes a run repeatable. */
#include <stdlib.h>
#include <string.h>

#include "standin.h"

static uint64_t random_below(uint64_t limit)
{
    static uint64_t state;
    if (state == 0)
        state = settings()->seed * 2 + 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % limit;
}

/* ---- What may run ---------------------------------------------------------------------------- */

static bool is_over(const struct CUstream_st *stream, uint64_t number)
{
    return stream->done >= number;
}

/* A graph runs after its own earlier launches, as NVIDIA's driver has it. */
static void start_graph(struct task *task)
{
    const struct CUgraphExec_st *exec = task->exec;
    if (task->exec->running > 0)
        return;
    task->exec->running++;
    task->started = true;
    for (uint32_t i = 0; i < exec->node_count; i++) {
        task->missing[i] = exec->degree[i];
        if (exec->degree[i] == 0)
            task->ready[task->ready_count++] = i;
    }
}

/* The pieces of a task that may run now. */
static uint64_t count_ready(struct task *task)
{
    switch (task->kind) {
    case TASK_WORK:
        return 1;
    case TASK_WAIT:
        return is_over(task->awaited, task->number);
    case TASK_GRAPH:
        if (!task->started)
            start_graph(task);
        return task->started && task->left == 0 ? 1 : task->ready_count;
    }
    return 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void complete(struct CUstream_st *stream)
{
    struct task *task = stream->first;
    stream->first = task->next;
    if (!stream->first)
        stream->last = NULL;
    stream->done++;
    if (task->kind == TASK_GRAPH) {
        task->exec->running--;
        task->exec->queued--;
    }
    free(task->work.args);
    free(task->missing);
    free(task->ready);
    free(task);
}

static void run_node(struct task *task, uint64_t chosen)
{
    const struct CUgraphExec_st *exec = task->exec;
    uint32_t node = task->ready[chosen];
    task->ready[chosen] = task->ready[--task->ready_count];
    work_run(&exec->work[node]);
    task->left--;
    for (uint32_t i = exec->first_next[node]; i < exec->first_next[node + 1]; i++)
        if (--task->missing[exec->next[i]] == 0)
            task->ready[task->ready_count++] = exec->next[i];
}

static void run_piece(struct CUstream_st *stream, uint64_t chosen)
{
    struct task *task = stream->first;
    if (task->kind == TASK_WORK)
        work_run(&task->work);
    else if (task->kind == TASK_GRAPH && task->left > 0)
        run_node(task, chosen);
    if (task->left == 0)
        complete(stream);
}

static bool is_stream(const struct object *object)
{
    return object->kind == KIND_STREAM && ((const struct CUstream_st *)object)->first &&
           poisoned(object->context) == CUDA_SUCCESS;
}

/* Runs one piece. False: there is none that may run. */
static bool step(void)
{
    uint64_t ready = 0;
    for (struct object *object = objects(); object; object = object->next)
        if (is_stream(object))
            ready += count_ready(((struct CUstream_st *)object)->first);
    if (ready == 0)
        return false;
    uint64_t chosen = random_below(ready);
    for (struct object *object = objects(); object; object = object->next) {
        if (!is_stream(object))
            continue;
        struct CUstream_st *stream = (struct CUstream_st *)object;
        uint64_t here = count_ready(stream->first);
        if (chosen < here) {
            run_piece(stream, chosen);
            return true;
        }
        chosen -= here;
    }
    return false;
}

void progress(uint32_t most)
{
    for (uint64_t steps = random_below(most + 1u); steps > 0 && step(); steps--)
        ;
}

CUresult run_until(const struct CUstream_st *stream, uint64_t number)
{
    while (!is_over(stream, number) && step())
        ;
    const struct CUctx_st *context = stream->object.context;
    if (poisoned(context) == CUDA_SUCCESS && !is_over(stream, number))
        return MISUSE(CUDA_ERROR_LAUNCH_TIMEOUT, "streams wait for each other for ever");
    return poisoned(context);
}

CUresult run_all(const struct CUctx_st *context)
{
    CUresult result = CUDA_SUCCESS;
    for (struct object *object = objects(); object && result == CUDA_SUCCESS; object = object->next)
        if (object->kind == KIND_STREAM && object->context == context)
            result =
                run_until((struct CUstream_st *)object, ((struct CUstream_st *)object)->enqueued);
    return result;
}

static bool task_uses(const struct task *task, const void *object)
{
    if (task->kind == TASK_WORK)
        return work_uses(&task->work, object);
    if (task->kind != TASK_GRAPH)
        return false;
    for (uint32_t i = 0; i < task->exec->node_count; i++)
        if (work_uses(&task->exec->work[i], object))
            return true;
    return task->exec == object;
}

bool work_is_queued_on(const void *object)
{
    for (struct object *other = objects(); other; other = other->next) {
        if (!is_stream(other))
            continue;
        for (struct task *task = ((struct CUstream_st *)other)->first; task; task = task->next)
            if (task_uses(task, object))
                return true;
    }
    return false;
}

CUresult stream_enqueue(struct CUstream_st *stream, const struct task *task)
{
    struct task *made = malloc(sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made = *task;
    made->next = NULL;
    if (stream->last)
        stream->last->next = made;
    else
        stream->first = made;
    stream->last = made;
    stream->enqueued++;
    if (settings()->eager)
        progress(2);
    return CUDA_SUCCESS;
}

/* ---- Streams --------------------------------------------------------------------------------- */

#define CHECK_STREAM(stream)                                                  \
    if (!object_check((const struct object *)(stream), KIND_STREAM, context)) \
    return STANDIN_INVALID_HANDLE
#define CHECK_EVENT(event)                                                  \
    if (!object_check((const struct object *)(event), KIND_EVENT, context)) \
    return STANDIN_INVALID_HANDLE

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    VISIT_CONTEXT(cuStreamCreateWithPriority);
    if (flags > CU_STREAM_NON_BLOCKING)
        return MISUSE(STANDIN_INVALID_VALUE, "a stream with flags %u", flags);
    (void)priority;
    struct CUstream_st *made = calloc(1, sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object_add(&made->object, KIND_STREAM, context);
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
    VISIT_CONTEXT(cuStreamDestroy);
    CHECK_STREAM(stream);
    CUresult result = run_until(stream, stream->enqueued);
    if (result == CUDA_SUCCESS)
        object_kill(&stream->object);
    return result;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    VISIT_CONTEXT(cuStreamSynchronize);
    CHECK_STREAM(stream);
    return run_until(stream, stream->enqueued);
}

CUresult cuStreamQuery(CUstream stream)
{
    VISIT_CONTEXT(cuStreamQuery);
    CHECK_STREAM(stream);
    progress(64);
    CUresult result = poisoned(context);
    return stream->first && result == CUDA_SUCCESS ? CUDA_ERROR_NOT_READY : result;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    VISIT_CONTEXT(cuStreamWaitEvent);
    CHECK_STREAM(stream);
    CHECK_EVENT(event);
    if (flags != 0)
        return MISUSE(STANDIN_INVALID_VALUE, "a wait for an event with flags %u", flags);
    if (!event->stream || is_over(event->stream, event->number))
        return CUDA_SUCCESS;
    const struct task task = {.kind = TASK_WAIT, .awaited = event->stream, .number = event->number};
    return stream_enqueue(stream, &task);
}

static CUresult enqueue_work(struct CUstream_st *stream, CUresult result, const struct work *work)
{
    if (result != CUDA_SUCCESS)
        return result;
    const struct task task = {.kind = TASK_WORK, .work = *work};
    result = stream_enqueue(stream, &task);
    if (result != CUDA_SUCCESS)
        free(work->args);
    return result;
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr to, cuuint64_t value, unsigned flags)
{
    VISIT_CONTEXT(cuStreamWriteValue64);
    CHECK_STREAM(stream);
    if (flags != 0 || to % sizeof(value) != 0 || !memory_find(to, sizeof(value)))
        return MISUSE(STANDIN_INVALID_VALUE, "a value was to be written outside of any memory");
    const struct work work = {.kind = WORK_WRITE, .to = to, .value = value, .size = sizeof(value)};
    return enqueue_work(stream, CUDA_SUCCESS, &work);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    VISIT_CONTEXT(cuMemcpyAsync);
    CHECK_STREAM(stream);
    struct work work;
    return enqueue_work(stream, work_copy(&work, to, from, size), &work);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D_v2 *params, CUstream stream)
{
    VISIT_CONTEXT(cuMemcpy3DAsync);
    CHECK_STREAM(stream);
    struct work work;
    return enqueue_work(stream, work_copy_rows(&work, params, context), &work);
}

/* Pageable memory has been read when the call returns; page-locked memory is read when the copy
 * runs. */
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    VISIT_CONTEXT(cuMemcpyHtoDAsync);
    CHECK_STREAM(stream);
    struct work work;
    if (memory_find((uintptr_t)from, size))
        return enqueue_work(stream, work_copy(&work, to, (uintptr_t)from, size), &work);
    CUresult result = work_copy(&work, to, to, size);
    if (result != CUDA_SUCCESS)
        return result;
    work.args = malloc(size);
    if (!work.args)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(work.args, from, size);
    return enqueue_work(stream, CUDA_SUCCESS, &work);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    VISIT_CONTEXT(cuMemsetD32Async);
    CHECK_STREAM(stream);
    struct work work;
    return enqueue_work(stream, work_fill(&work, to, value, count), &work);
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks_x, unsigned blocks_y,
                        unsigned blocks_z, unsigned block_x, unsigned block_y, unsigned block_z,
                        unsigned shared, CUstream stream, void **params, void **extra)
{
    VISIT_CONTEXT(cuLaunchKernel);
    CHECK_STREAM(stream);
    const unsigned blocks[] = {blocks_x, blocks_y, blocks_z};
    const unsigned block[] = {block_x, block_y, block_z};
    struct work work;
    return enqueue_work(stream, work_launch(&work, function, blocks, block, shared, params, extra),
                        &work);
}

/* ---- Events ---------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    VISIT_CONTEXT(cuEventCreate);
    (void)flags;
    struct CUevent_st *made = calloc(1, sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object_add(&made->object, KIND_EVENT, context);
    *event = made;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    VISIT_CONTEXT(cuEventDestroy);
    CHECK_EVENT(event);
    object_kill(&event->object);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    VISIT_CONTEXT(cuEventRecord);
    CHECK_EVENT(event);
    CHECK_STREAM(stream);
    event->stream = stream;
    event->number = stream->enqueued;
    return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event)
{
    VISIT_CONTEXT(cuEventQuery);
    CHECK_EVENT(event);
    progress(64);
    CUresult result = poisoned(context);
    if (result == CUDA_SUCCESS && event->stream && !is_over(event->stream, event->number))
        return CUDA_ERROR_NOT_READY;
    return result;
}

CUresult cuEventSynchronize(CUevent event)
{
    VISIT_CONTEXT(cuEventSynchronize);
    CHECK_EVENT(event);
    return event->stream ? run_until(event->stream, event->number) : CUDA_SUCCESS;
}
