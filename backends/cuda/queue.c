/* Queues: a stream each, with a counter of what is done. */
#include "queue.h"

#include "context.h"
#include "mark.h"
#include "pool.h"
#include "staging.h"
#include "status.h"

#include <time.h>

enum {
    POLLS_PER_LOOK = 256,  /* at the time, which costs more than a poll */
    QUESTION_NS = 1000000, /* asking the driver holds up whoever launches */
    FIRST_SLEEP_NS = 20000,
    LONGEST_SLEEP_NS = 1000000,
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Creation ------------------------------------------------------------------------------- */

/* Numbers of priorities run the other way round than gantry's: the most urgent is the lowest. */
static int driver_priority(const struct gantry_drv_device *device, int priority)
{
    if (priority <= -device->least_priority)
        return device->least_priority;
    if (priority >= -device->greatest_priority)
        return device->greatest_priority;
    return -priority;
}

enum gantry_status queue_create(struct gantry_drv_device *device,
                                const struct gantry_backend_queue_params *params,
                                struct gantry_drv_queue **queue)
{
    struct gantry_drv_queue *made;
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    made = host_allocate(device->instance, sizeof(*made));
    if (!made) {
        scope_leave(device, &scope);
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    }
    made->device = device;
    made->stats = params->stats;
    made->marking = !device->write_value;
    pthread_mutex_init(&made->lock, NULL);
    status = pool_open(made);
    if (status == GANTRY_OK)
        status = memory_allocate(device, GANTRY_MEMORY_READBACK, sizeof(uint64_t), &made->counter);
    if (status == GANTRY_OK) {
        atomic_store((_Atomic uint64_t *)made->counter.host, 0);
        status = CU(device, cuStreamCreateWithPriority(&made->stream, CU_STREAM_NON_BLOCKING,
                                                       driver_priority(device, params->priority)));
    }
    scope_leave(device, &scope);
    if (status != GANTRY_OK) {
        queue_destroy(made);
        return status;
    }
    *queue = made;
    return GANTRY_OK;
}

/* Takes a half-made queue. The stream goes first: what it still has writes the memory. */
void queue_destroy(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;
    struct scope scope;

    if (scope_enter_anyway(device, &scope)) {
        if (queue->stream) {
            device->instance->cu.cuStreamSynchronize(queue->stream);
            device->instance->cu.cuStreamDestroy(queue->stream);
        }
        marks_destroy(queue);
        scope_leave(device, &scope);
    }
    pool_close(queue);
    staging_free(queue);
    if (queue->counter.host)
        memory_free(device, &queue->counter);
    pthread_mutex_destroy(&queue->lock);
    host_release(device->instance, queue);
}

void queue_native(struct gantry_drv_queue *queue, struct gantry_native_queue *native)
{
    native->backend = "cuda";
    native->cuda_stream = queue->stream;
}

/* ---- The counter ---------------------------------------------------------------------------- */

uint64_t queue_counter(const struct gantry_drv_queue *queue)
{
    return atomic_load_explicit((_Atomic uint64_t *)queue->counter.host, memory_order_acquire);
}

static enum gantry_status refresh_from_marks(struct gantry_drv_queue *queue)
{
    uint64_t value;
    enum gantry_status status;

    pthread_mutex_lock(&queue->lock);
    status = mark_completed(queue, &value);
    if (status == GANTRY_OK && value > queue_counter(queue))
        atomic_store_explicit((_Atomic uint64_t *)queue->counter.host, value, memory_order_release);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

static enum gantry_status ask_stream(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;
    CUresult result = device->instance->cu.cuStreamQuery(queue->stream);

    if (result == CUDA_ERROR_NOT_READY)
        return GANTRY_OK;
    return driver_status(device->instance, device, result, "cuStreamQuery(queue->stream)");
}

enum gantry_status queue_refresh(struct gantry_drv_queue *queue)
{
    struct scope scope;
    enum gantry_status status = scope_enter(queue->device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = queue->device->write_value ? ask_stream(queue) : refresh_from_marks(queue);
    scope_leave(queue->device, &scope);
    return status;
}

/* Losing a device has to be noticed by who only polls, without a price for who spins. Two threads
 * may miscount, at no harm. */
static bool is_time_to_ask(struct gantry_drv_queue *queue)
{
    unsigned polls = atomic_load_explicit(&queue->polls, memory_order_relaxed) + 1;
    uint64_t now;

    atomic_store_explicit(&queue->polls, polls, memory_order_relaxed);
    if (polls % POLLS_PER_LOOK != 0)
        return false;
    now = now_ns();
    if (now - atomic_load_explicit(&queue->asked, memory_order_relaxed) < QUESTION_NS)
        return false;
    atomic_store_explicit(&queue->asked, now, memory_order_relaxed);
    return true;
}

enum gantry_status queue_completed(struct gantry_drv_queue *queue, uint64_t *value)
{
    struct gantry_drv_device *device = queue->device;
    enum gantry_status status = GANTRY_OK;

    if (atomic_load_explicit(&device->lost, memory_order_relaxed)) {
        *value = queue_counter(queue);
        return device_lost(device);
    }
    if (!device->write_value || is_time_to_ask(queue))
        status = queue_refresh(queue);
    if (status == GANTRY_OK)
        *value = queue_counter(queue);
    return status;
}

/* ---- Waiting -------------------------------------------------------------------------------- */

/* The mark of this very value; *event stays NULL when there is none. A later one would do as well,
 * but it would keep the caller waiting. */
static enum gantry_status exact_mark(struct gantry_drv_queue *queue, uint64_t value, CUevent *event)
{
    enum gantry_status status = GANTRY_OK;
    struct mark *mark;

    pthread_mutex_lock(&queue->lock);
    mark = mark_find(queue, value);
    if (mark && mark->value != value)
        mark = NULL;
    if (!mark && value == queue->submitted)
        status = mark_record(queue, &mark);
    else if (!mark)
        queue->marking = true;
    if (status == GANTRY_OK && mark)
        *event = mark->event;
    pthread_mutex_unlock(&queue->lock);
    return status;
}

static enum gantry_status sleep_on_mark(struct gantry_drv_queue *queue, uint64_t value, bool *slept)
{
    struct gantry_drv_device *device = queue->device;
    struct scope scope;
    CUevent event = NULL;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = exact_mark(queue, value, &event);
    if (status == GANTRY_OK && event)
        status = CU(device, cuEventSynchronize(event));
    *slept = event != NULL;
    scope_leave(device, &scope);
    return status;
}

static void sleep_for(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    nanosleep(&time, NULL);
}

/* Each turn asks the driver, so that a lost device ends the wait. */
static enum gantry_status wait_until(struct gantry_drv_queue *queue, uint64_t value,
                                     uint64_t deadline)
{
    uint64_t step = FIRST_SLEEP_NS;

    for (;;) {
        enum gantry_status status = queue_refresh(queue);
        uint64_t now = now_ns();

        if (queue_counter(queue) >= value)
            return GANTRY_OK;
        if (status != GANTRY_OK)
            return status;
        if (now >= deadline)
            return GANTRY_TIMEOUT;
        sleep_for(deadline - now < step ? deadline - now : step);
        if (step < LONGEST_SLEEP_NS)
            step *= 2;
    }
}

/* Sleeping in the driver needs an event; where one can't be had, looking now and then does as well.
 */
static enum gantry_status wait_forever(struct gantry_drv_queue *queue, uint64_t value)
{
    bool slept = true;

    while (queue_counter(queue) < value && slept) {
        enum gantry_status status = sleep_on_mark(queue, value, &slept);

        if (status == GANTRY_OK)
            status = queue_refresh(queue);
        if (status == GANTRY_E_DEVICE_LOST)
            return queue_counter(queue) >= value ? GANTRY_OK : status;
        slept = slept && status == GANTRY_OK;
    }
    return queue_counter(queue) >= value ? GANTRY_OK : wait_until(queue, value, UINT64_MAX);
}

enum gantry_status queue_wait(struct gantry_drv_queue *queue, uint64_t value, uint64_t timeout_ns)
{
    uint64_t start;

    if (timeout_ns == GANTRY_FOREVER)
        return wait_forever(queue, value);
    start = now_ns();
    return wait_until(queue, value,
                      timeout_ns < UINT64_MAX - start ? start + timeout_ns : UINT64_MAX);
}

/* ---- Submitting ----------------------------------------------------------------------------- */

/* An event, not a wait for the counter in memory: the driver does not see the latter, and may put
 * the two streams on one hardware queue in the order in which they block each other. The event is
 * consumed under the lock, because the ring may use it again afterwards. */
static enum gantry_status wait_for(struct gantry_drv_queue *queue,
                                   const struct gantry_backend_wait *wait)
{
    struct gantry_drv_queue *other = wait->queue;
    enum gantry_status status = GANTRY_OK;
    struct mark *mark;

    if (queue_counter(other) >= wait->value)
        return GANTRY_OK;
    pthread_mutex_lock(&other->lock);
    mark = mark_find(other, wait->value);
    if (!mark)
        status = mark_record(other, &mark);
    if (status == GANTRY_OK) {
        other->marking = other->marking || mark->value != wait->value;
        status = CU(queue->device, cuStreamWaitEvent(queue->stream, mark->event, 0));
    }
    pthread_mutex_unlock(&other->lock);
    return status;
}

enum gantry_status queue_wait_for_all(struct gantry_drv_queue *queue,
                                      const struct gantry_backend_submission *submission)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; i < submission->wait_count && status == GANTRY_OK; i++)
        status = wait_for(queue, &submission->waits[i]);
    return status;
}

enum gantry_status queue_signal(struct gantry_drv_queue *queue, uint64_t value)
{
    struct gantry_drv_device *device = queue->device;
    enum gantry_status status = GANTRY_OK;
    struct mark *mark;
    uint64_t before;

    pthread_mutex_lock(&queue->lock);
    before = queue->submitted;
    queue->submitted = value;
    if (device->write_value)
        status = CU(device, cuStreamWriteValue64(queue->stream, queue->counter.address, value,
                                                 CU_STREAM_WRITE_VALUE_DEFAULT));
    if (status == GANTRY_OK && queue->marking)
        status = mark_record(queue, &mark);
    if (status != GANTRY_OK)
        queue->submitted = before;
    pthread_mutex_unlock(&queue->lock);
    return status;
}

void queue_drain(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;
    struct scope scope;

    if (!scope_enter_anyway(device, &scope))
        return;
    device->instance->cu.cuStreamSynchronize(queue->stream);
    scope_leave(device, &scope);
}
