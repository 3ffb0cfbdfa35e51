/* Open batches: when they go out, and what becomes of them. The commands are recorded in
 * stream_commands.c. */
#include "stream.h"

#include "buffer.h"
#include "clock.h"
#include "context.h"
#include "queue.h"
#include "status.h"

/* Asking whether the device is idle costs a read of memory on CUDA and a driver call on Vulkan, a
 * hundred nanoseconds and more, ten times what recording a launch costs. So a batch asks when it
 * holds 1, 2 and 4 commands, which keeps the delay of few launches short, and then at every 8th. */
#define COMMANDS_PER_LOOK 8

enum gantry_status stream_open(struct gantry_queue *queue)
{
    struct stream *stream = &queue->stream;
    struct gantry_device *device = queue->object.device;

    stream->batch = list_make(device, queue->label);
    if (!stream->batch || !losses_open(&stream->losses))
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a queue");
    stream->batch->batch = true;
    stream->stop = 1;
    stream->max_ns = (uint64_t)(device->policy.batch_max_ms * 1e6);
    return GANTRY_OK;
}

void stream_free(struct gantry_queue *queue)
{
    struct stream *stream = &queue->stream;
    struct gantry_list *batch;

    lock_take(&queue->lock);
    batch = stream->batch;
    stream->batch = NULL;
    lock_release(&queue->lock);
    if (batch)
        list_free(batch);
    memory_free(queue->object.device, &stream->memory.upload);
    memory_free(queue->object.device, &stream->memory.readback);
}

/* ---- Sending -------------------------------------------------------------------------------- */

static void lose(struct gantry_queue *queue, enum gantry_status status)
{
    struct stream *stream = &queue->stream;

    fail_context("a batch of %u commands streamed to queue \"%s\" is lost",
                 stream->batch->command_count, queue->label);
    log_write(&queue->object.device->g->log, GANTRY_LOG_WARNING, "%s", gantry_last_error());
    losses_add(&stream->losses, stream->value, status);
    deliveries_drop(queue, stream->value, UINT32_MAX);
}

static void count(struct gantry_queue *queue, enum gantry_batch reason)
{
    queue->stats.batches[reason]++;
    queue->stats.streamed += queue->stream.batch->launch_count;
}

static void watch(struct gantry_queue *queue, uint64_t began)
{
    struct stream *stream = &queue->stream;

    pthread_mutex_lock(&queue->delivery_lock);
    meter_begin(&stream->meter, stream->value, stream->batch->command_count, began);
    pthread_mutex_unlock(&queue->delivery_lock);
}

static void empty(struct stream *stream)
{
    staging_close_batch(&stream->uploads, stream->value);
    staging_close_batch(&stream->downloads, stream->value);
    list_reset(stream->batch);
    stream->stop = 1;
}

enum gantry_status stream_send(struct gantry_queue *queue, enum gantry_batch reason)
{
    static const struct waits none;
    struct stream *stream = &queue->stream;
    enum gantry_status status;
    uint64_t began;

    if (stream->batch->command_count == 0)
        return GANTRY_OK;
    began = now_ns();
    status = queue_hand_over(queue, stream->batch, &stream->memory, &none, stream->value);
    if (status == GANTRY_OK) {
        count(queue, reason);
        watch(queue, began);
    } else {
        lose(queue, status);
    }
    empty(stream);
    stream->hurried = reason <= GANTRY_BATCH_TIME;
    stream->sent_at = now_ns();
    stream->send_ns = stream->sent_at - began;
    return status;
}

/* ---- Deciding ------------------------------------------------------------------------------- */

/* Also tells the meter: a look that finds nothing new has still seen that the work before the
 * watched batch runs. */
static bool is_idle(struct gantry_queue *queue)
{
    bool idle = queue_reached(queue, atomic_load(&queue->submitted));

    if (!idle) {
        pthread_mutex_lock(&queue->delivery_lock);
        if (meter_watches(&queue->stream.meter))
            meter_look(&queue->stream.meter, atomic_load(&queue->completed), now_ns());
        pthread_mutex_unlock(&queue->delivery_lock);
    }
    return idle;
}

/* A program that gives commands faster than they can be submitted would find a fast device idle at
 * each of them, submit each by itself, and be as slow as the driver. So after a batch has gone out,
 * no command makes the next one go out before as much time has passed as that took. (Unless the
 * program has flushed or looked at a point: then it does not go on at once.) */
static bool is_hurried(struct stream *stream)
{
    stream->hurried = stream->hurried && now_ns() - stream->sent_at < stream->send_ns;
    return stream->hurried;
}

static void open_batch(struct gantry_queue *queue)
{
    struct stream *stream = &queue->stream;

    stream->value = atomic_load(&queue->given) + 1;
    stream->limit =
        meter_fit(&stream->meter, stream->max_ns, queue->object.device->policy.batch_size);
    atomic_store(&queue->given, stream->value);
}

/* Looks at the device in any case: every batch must, or the meter would learn nothing. */
static bool open_beside_idle(struct gantry_queue *queue)
{
    bool idle = is_idle(queue);

    open_batch(queue);
    return idle && !is_hurried(&queue->stream);
}

enum gantry_status stream_decide(struct gantry_queue *queue)
{
    struct stream *stream = &queue->stream;
    uint32_t commands = stream->batch->command_count;

    if (commands == 1 && open_beside_idle(queue))
        return stream_send(queue, GANTRY_BATCH_IDLE);
    if (commands >= stream->limit)
        return stream_send(queue, commands < queue->object.device->policy.batch_size
                                      ? GANTRY_BATCH_TIME
                                      : GANTRY_BATCH_FULL);
    if (commands > 1 && !is_hurried(stream) && is_idle(queue))
        return stream_send(queue, GANTRY_BATCH_IDLE);
    stream->stop = commands < COMMANDS_PER_LOOK ? 2 * commands : commands + COMMANDS_PER_LOOK;
    if (stream->stop > stream->limit)
        stream->stop = stream->limit;
    return GANTRY_OK;
}

enum gantry_status stream_push(struct gantry_queue *queue)
{
    if (queue->stream.batch->command_count == 1)
        open_batch(queue);
    return stream_send(queue, GANTRY_BATCH_FULL);
}

/* ---- Looking from outside ------------------------------------------------------------------- */

static void reach(struct gantry_queue *queue, uint64_t value, enum gantry_batch reason)
{
    struct stream *stream = &queue->stream;

    if (stream->batch->command_count && value == stream->value)
        stream_send(queue, reason);
}

void stream_reach(struct gantry_queue *queue, uint64_t value, enum gantry_batch reason)
{
    if (value <= atomic_load(&queue->submitted))
        return;
    lock_take(&queue->lock);
    reach(queue, value, reason);
    lock_release(&queue->lock);
}

void stream_try_reach(struct gantry_queue *queue, uint64_t value)
{
    if (value <= atomic_load(&queue->submitted) || !lock_try(&queue->lock))
        return;
    reach(queue, value, GANTRY_BATCH_LOOK);
    lock_release(&queue->lock);
}

enum gantry_status stream_flush(struct gantry_queue *queue)
{
    enum gantry_status status = GANTRY_OK;

    lock_take(&queue->lock);
    /* Whoever waits for all queues of a device may come while another thread destroys this one. */
    if (queue->stream.batch)
        status = stream_send(queue, GANTRY_BATCH_FLUSH);
    lock_release(&queue->lock);
    return status;
}
