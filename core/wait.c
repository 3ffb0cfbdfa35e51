/* Reaching points: downloads are delivered, then the value counts as reached. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "queue.h"
#include "retire.h"
#include "status.h"

/* The clock costs about as much as a look at a counter in memory: ask it now and then. */
#define LOOKS_PER_CLOCK 16

/* Between looks at a queue that is not destroyed for sure. */
#define PAUSE_NS 20000

/* How often a driver may refuse to tell what has completed before nobody asks again. */
#define MOST_REFUSED 1000

/* ---- Deliveries ----------------------------------------------------------------------------- */

enum gantry_status deliveries_add(struct gantry_queue *queue, const struct delivery *delivery)
{
    enum gantry_status status = GANTRY_OK;

    pthread_mutex_lock(&queue->delivery_lock);
    if (queue->delivery_count == queue->delivery_capacity) {
        uint32_t capacity = queue->delivery_capacity ? 2 * queue->delivery_capacity : 16;
        struct delivery *grown = realloc(queue->deliveries, capacity * sizeof(*grown));

        if (grown) {
            queue->deliveries = grown;
            queue->delivery_capacity = capacity;
        } else {
            status = fail(GANTRY_E_OUT_OF_HOST_MEMORY,
                          "no host memory for %u pending downloads of queue \"%s\"", capacity,
                          queue->label);
        }
    }
    if (status == GANTRY_OK)
        queue->deliveries[queue->delivery_count++] = *delivery;
    pthread_mutex_unlock(&queue->delivery_lock);
    return status;
}

void deliveries_drop(struct gantry_queue *queue, uint64_t value, uint32_t most)
{
    pthread_mutex_lock(&queue->delivery_lock);
    while (most-- && queue->delivery_count > queue->delivered &&
           queue->deliveries[queue->delivery_count - 1].value == value)
        queue->delivery_count--;
    pthread_mutex_unlock(&queue->delivery_lock);
}

/* Forgets what was delivered once that is as much as what is left, so that an entry moves at most
 * once for each one that goes. */
static void forget_delivered(struct gantry_queue *queue)
{
    uint32_t left = queue->delivery_count - queue->delivered;

    if (left > queue->delivered)
        return;
    if (left)
        memcpy(queue->deliveries, queue->deliveries + queue->delivered,
               left * sizeof(*queue->deliveries));
    queue->delivered = 0;
    queue->delivery_count = left;
}

/* The value of the oldest download that is not delivered. */
static uint64_t next_delivery(const struct gantry_queue *queue)
{
    return queue->delivered < queue->delivery_count ? queue->deliveries[queue->delivered].value
                                                    : UINT64_MAX;
}

/* The device has completed `value`: writes the downloads up to the value that was asked for to host
 * memory, then lets others see that one, and what lies between it and the next download. (A large
 * download goes on as soon as its oldest piece is out of the way.) Two threads may come here with
 * different values; the lock makes the later one wait until the downloads are really there. */
static void deliver(struct gantry_queue *queue, uint64_t value, uint64_t asked)
{
    pthread_mutex_lock(&queue->delivery_lock);
    if (meter_watches(&queue->stream.meter))
        meter_look(&queue->stream.meter, value, now_ns());
    if (asked > value)
        asked = value;
    while (next_delivery(queue) <= asked)
        host_copy(&queue->deliveries[queue->delivered++].copy);
    forget_delivered(queue);
    if (value >= next_delivery(queue))
        value = next_delivery(queue) - 1;
    if (atomic_load(&queue->completed) < value)
        atomic_store_explicit(&queue->completed, value, memory_order_release);
    pthread_mutex_unlock(&queue->delivery_lock);
}

/* ---- Looking -------------------------------------------------------------------------------- */

/* What finds a loss, and how it is told, with or without the device's lock held. */
typedef enum gantry_status lose(struct gantry_device *device, const char *during, const char *name);

/* GANTRY_OK, GANTRY_NOT_READY, or the driver's failure. */
static inline enum gantry_status look_and(struct gantry_queue *queue, uint64_t value, lose *lose)
{
    struct gantry_device *device = queue->object.device;
    enum gantry_status status;
    uint64_t completed;

    if (atomic_load_explicit(&queue->completed, memory_order_acquire) >= value || !queue->drv)
        return GANTRY_OK;
    status = device->ops->queue_completed(queue->drv, &completed);
    if (status == GANTRY_E_DEVICE_LOST)
        return lose(device, "looking at what has completed on queue", queue->label);
    if (status != GANTRY_OK)
        return status;
    /* Acquire: another thread may have delivered what this one reports as reached. */
    if (completed > atomic_load_explicit(&queue->completed, memory_order_acquire))
        deliver(queue, completed, value);
    return completed >= value ? GANTRY_OK : GANTRY_NOT_READY;
}

static enum gantry_status look(struct gantry_queue *queue, uint64_t value)
{
    return look_and(queue, value, device_lose);
}

/* A look that the driver refused tells nothing; what was lost with its device is over. */
static bool is_over(enum gantry_status status)
{
    return status == GANTRY_OK || status == GANTRY_E_DEVICE_LOST;
}

/* Destroying things must leave the sentence of the call that found the loss. */
static bool is_lost(const struct gantry_queue *queue)
{
    return atomic_load_explicit(&queue->object.device->lost, memory_order_relaxed);
}

bool queue_reached(struct gantry_queue *queue, uint64_t value)
{
    return is_lost(queue) || is_over(look(queue, losses_pass(&queue->stream.losses, value)));
}

bool queue_reached_locked(struct gantry_queue *queue, uint64_t value)
{
    if (is_lost(queue))
        return true;
    value = losses_pass(&queue->stream.losses, value);
    return is_over(look_and(queue, value, device_lose_locked));
}

/* With the device's lock held: a look, and behind it one that asks the driver whatever the plugin
 * knows by itself. */
static enum gantry_status look_twice(struct gantry_queue *queue, uint64_t value)
{
    struct gantry_device *device = queue->object.device;
    enum gantry_status status = look_and(queue, value, device_lose_locked);

    if (is_over(status))
        return status;
    status = device->ops->queue_wait(queue->drv, value, 0);
    if (status == GANTRY_OK)
        deliver(queue, value, value);
    if (status == GANTRY_E_DEVICE_LOST)
        device_lose_locked(device, "waiting for queue", queue->label);
    return status == GANTRY_TIMEOUT ? GANTRY_NOT_READY : status;
}

void queue_settle(struct gantry_queue *queue, uint64_t value)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct gantry_device *device = queue->object.device;
    uint32_t refused = 0;
    enum gantry_status status;

    value = losses_pass(&queue->stream.losses, value);
    while (refused < MOST_REFUSED) {
        pthread_mutex_lock(&device->lock);
        status = look_twice(queue, value);
        pthread_mutex_unlock(&device->lock);
        if (is_over(status))
            return;
        refused += status != GANTRY_NOT_READY;
        nanosleep(&pause, NULL);
    }
    /* Sleeping in the driver may still work; others wait meanwhile. */
    pthread_mutex_lock(&device->lock);
    if (queue->drv && device->ops->queue_wait(queue->drv, value, GANTRY_FOREVER) == GANTRY_OK)
        deliver(queue, value, value);
    pthread_mutex_unlock(&device->lock);
}

/* Looks until the policy's spin time or the limit is over. */
static enum gantry_status spin(struct gantry_queue *queue, uint64_t value, uint64_t limit_ns)
{
    uint64_t spin_ns = (uint64_t)queue->object.device->policy.spin_us * 1000;
    uint64_t start = now_ns();
    enum gantry_status status;

    if (spin_ns > limit_ns)
        spin_ns = limit_ns;
    do {
        for (int i = 0; i < LOOKS_PER_CLOCK; i++) {
            status = look(queue, value);
            if (status != GANTRY_NOT_READY)
                return status;
        }
    } while (now_ns() - start < spin_ns);
    return GANTRY_NOT_READY;
}

static enum gantry_status sleep_until(struct gantry_queue *queue, uint64_t value,
                                      uint64_t timeout_ns)
{
    struct gantry_device *device = queue->object.device;
    enum gantry_status status;

    atomic_fetch_add(&queue->blocking_waits, 1);
    status = device->ops->queue_wait(queue->drv, value, timeout_ns);
    if (status == GANTRY_OK)
        deliver(queue, value, value);
    return device_check(device, status, "waiting for queue", queue->label);
}

enum gantry_status queue_wait(struct gantry_queue *queue, uint64_t value, uint64_t timeout_ns)
{
    uint64_t start;
    enum gantry_status status;

    value = losses_pass(&queue->stream.losses, value);
    status = look(queue, value);
    if (status != GANTRY_NOT_READY)
        return status;
    start = now_ns();
    status = spin(queue, value, timeout_ns);
    if (status != GANTRY_NOT_READY) {
        atomic_fetch_add(&queue->spins, 1);
        return status;
    }
    if (timeout_ns != GANTRY_FOREVER) {
        uint64_t spent = now_ns() - start;

        if (spent >= timeout_ns)
            return fail(GANTRY_TIMEOUT,
                        "point %" PRIu64 " of queue \"%s\" was not reached within %" PRIu64 " ns",
                        value, queue->label, timeout_ns);
        timeout_ns -= spent;
    }
    return sleep_until(queue, value, timeout_ns);
}

/* ---- Points --------------------------------------------------------------------------------- */

static enum gantry_status check_point(struct gantry_point point, const char *what)
{
    enum gantry_status status = device_usable(point.queue->object.device, what);
    uint64_t given;

    if (status != GANTRY_OK)
        return status;
    given = atomic_load(&point.queue->given);
    if (point.value > given)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: point %" PRIu64 " of queue \"%s\" was never given out; the last one is "
                    "%" PRIu64,
                    what, point.value, point.queue->label, given);
    return GANTRY_OK;
}

enum gantry_status gantry_wait(struct gantry_point point, uint64_t timeout_ns)
{
    enum gantry_status status;

    if (!point.queue)
        return GANTRY_OK;
    status = check_point(point, "gantry_wait");
    if (status != GANTRY_OK)
        return status;
    stream_reach(point.queue, point.value, GANTRY_BATCH_LOOK);
    status = losses_find(&point.queue->stream.losses, point.value);
    if (status == GANTRY_OK)
        status = queue_wait(point.queue, point.value, timeout_ns);
    if (status == GANTRY_OK)
        retire_collect(point.queue->object.device);
    return status;
}

enum gantry_status gantry_poll(struct gantry_point point)
{
    enum gantry_status status;

    if (!point.queue)
        return GANTRY_OK;
    status = check_point(point, "gantry_poll");
    if (status != GANTRY_OK)
        return status;
    stream_try_reach(point.queue, point.value);
    status = losses_find(&point.queue->stream.losses, point.value);
    return status == GANTRY_OK ? look(point.queue, point.value) : status;
}
