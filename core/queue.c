/* Queues: their life, and what has been reached. Submitting is in submit.c, waiting in wait.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"
#include "retire.h"
#include "status.h"

static uint32_t count_queues(struct gantry_device *device)
{
    uint32_t count = 0;

    pthread_mutex_lock(&device->lock);
    for (struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next)
        count++;
    pthread_mutex_unlock(&device->lock);
    return count;
}

static char *make_label(struct gantry_device *device, const struct gantry_queue_params *params)
{
    char text[32];

    if (params && params->label)
        return strdup(params->label);
    snprintf(text, sizeof(text), "queue %u", count_queues(device));
    return strdup(text);
}

static void free_memory(struct gantry_queue *queue)
{
    pthread_mutex_destroy(&queue->delivery_lock);
    losses_free(&queue->stream.losses);
    flights_free(&queue->flights);
    free(queue->deliveries);
    free(queue->label);
    free(queue);
}

static enum gantry_status open_queue(struct gantry_queue *queue,
                                     const struct gantry_queue_params *params)
{
    struct gantry_device *device = queue->object.device;
    struct gantry_backend_queue_params drv_params = {0};
    enum gantry_status status;

    queue->label = make_label(device, params);
    if (!queue->label)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a queue");
    status = stream_open(queue);
    if (status != GANTRY_OK)
        return status;
    if (params)
        queue->kind = params->kind;
    drv_params.kind = queue->kind;
    drv_params.priority = params ? params->priority : 0;
    drv_params.label = queue->label;
    drv_params.stats = &queue->stats;
    status = device->ops->queue_create(device->drv, &drv_params, &queue->drv);
    if (status != GANTRY_OK)
        fail_context("queue \"%s\" of device \"%s\" can't be made", queue->label, device->label);
    return device_check(device, status, "making queue", queue->label);
}

enum gantry_status queue_make(struct gantry_device *device,
                              const struct gantry_queue_params *params, struct gantry_queue **queue)
{
    struct gantry_queue *made = calloc(1, sizeof(*made));
    enum gantry_status status;

    if (!made)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a queue");
    pthread_mutex_init(&made->delivery_lock, NULL);
    atomic_init(&made->refs, 1);
    made->object.device = device;
    status = open_queue(made, params);
    if (status != GANTRY_OK) {
        stream_free(made);
        free_memory(made);
        return status;
    }
    object_link(&made->object, device, OBJECT_QUEUE);
    *queue = made;
    return GANTRY_OK;
}

enum gantry_status gantry_queue_create(struct gantry_device *device,
                                       const struct gantry_queue_params *params,
                                       struct gantry_queue **queue)
{
    enum gantry_status status;

    if (!queue)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_queue_create: the place for the queue is NULL");
    *queue = NULL;
    status = device_usable(device, "gantry_queue_create");
    if (status != GANTRY_OK)
        return status;
    if (params && params->kind != GANTRY_QUEUE_COMPUTE && params->kind != GANTRY_QUEUE_TRANSFER)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_queue_create: kind %d is neither GANTRY_QUEUE_COMPUTE nor "
                    "GANTRY_QUEUE_TRANSFER",
                    (int)params->kind);
    return queue_make(device, params, queue);
}

void queue_ref(struct gantry_queue *queue)
{
    atomic_fetch_add(&queue->refs, 1);
}

void queue_unref(struct gantry_queue *queue)
{
    if (atomic_fetch_sub(&queue->refs, 1) == 1)
        free_memory(queue);
}

/* Other threads may look at the queue meanwhile, on behalf of the device: they do so with its lock
 * held, and find that everything was reached. */
static struct gantry_drv_queue *take_drv(struct gantry_queue *queue)
{
    struct gantry_device *device = queue->object.device;
    struct gantry_drv_queue *drv;

    pthread_mutex_lock(&device->lock);
    drv = queue->drv;
    queue->drv = NULL;
    pthread_mutex_unlock(&device->lock);
    return drv;
}

/* Waits for the queue's work and takes it from its device. */
static void close_queue(struct gantry_queue *queue)
{
    stream_flush(queue);
    if (queue_wait(queue, atomic_load(&queue->submitted), GANTRY_FOREVER) != GANTRY_OK)
        queue_settle(queue, atomic_load(&queue->submitted));
    queue->leaving = take_drv(queue);
    object_unlink(&queue->object);
    stream_free(queue);
}

void queue_free(struct gantry_queue *queue)
{
    if (queue->drv)
        close_queue(queue);
    queue->object.device->ops->queue_destroy(queue->leaving);
    queue_unref(queue);
}

/* Submissions of other queues that have yet to begin may be waiting for values of this one, reached
 * as they are: the driver's queue goes after them. */
void gantry_queue_destroy(struct gantry_queue **queue)
{
    struct gantry_queue *old;
    struct gantry_device *device;

    if (!queue || !*queue)
        return;
    old = *queue;
    *queue = NULL;
    device = old->object.device;
    if (device->process != process_id())
        return;
    close_queue(old);
    retire(&old->object);
    retire_collect(device);
}

/* ---- All queues of a device ----------------------------------------------------------------- */

/* The queue behind `queue`, or the first one when it is NULL or was destroyed, held; NULL behind
 * the last queue. */
static struct gantry_queue *next_queue(struct gantry_device *device, struct gantry_queue *queue)
{
    struct object *next;

    pthread_mutex_lock(&device->lock);
    next = queue && queue->drv ? queue->object.next : device->objects[OBJECT_QUEUE];
    if (next)
        queue_ref((struct gantry_queue *)next);
    pthread_mutex_unlock(&device->lock);
    return (struct gantry_queue *)next;
}

bool queues_are_idle(const struct gantry_device *device)
{
    for (const struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next) {
        const struct gantry_queue *queue = (const struct gantry_queue *)o;

        if (atomic_load(&queue->completed) < atomic_load(&queue->given))
            return false;
    }
    return true;
}

/* Queues may come and go meanwhile, so this looks with the lock held instead of sleeping in the
 * driver, which nobody may do while another thread destroys the queue. */
void queue_idle_all(struct gantry_device *device)
{
    struct gantry_queue *queue = NULL, *next;

    while ((next = next_queue(device, queue))) {
        if (queue)
            queue_unref(queue);
        queue = next;
        stream_flush(queue);
        queue_settle(queue, atomic_load(&queue->submitted));
    }
    if (queue)
        queue_unref(queue);
}

enum gantry_status gantry_queue_native(struct gantry_queue *queue,
                                       struct gantry_native_queue *native)
{
    enum gantry_status status;

    if (!queue || !native)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_queue_native: the %s is NULL",
                    queue ? "place for the answer" : "queue");
    *native = (struct gantry_native_queue){0};
    status = device_usable(queue->object.device, "gantry_queue_native");
    if (status != GANTRY_OK)
        return status;
    queue->object.device->ops->queue_native(queue->drv, native);
    native->backend = queue->object.device->backend;
    return GANTRY_OK;
}

enum gantry_status gantry_queue_stats(struct gantry_queue *queue, struct gantry_queue_stats *stats)
{
    if (!queue || !stats)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_queue_stats: the %s is NULL",
                    queue ? "place for the answer" : "queue");
    *stats = (struct gantry_queue_stats){0};
    if (queue->object.device->process != process_id())
        return device_usable(queue->object.device, "gantry_queue_stats");
    lock_take(&queue->lock);
    *stats = queue->stats;
    lock_release(&queue->lock);
    stats->spins = atomic_load(&queue->spins);
    stats->blocking_waits = atomic_load(&queue->blocking_waits);
    return GANTRY_OK;
}
