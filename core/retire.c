/* Things that queued work may still use. They hang on moments: what each queue had given out last,
 * in its open batch or before, when they were retired. Many retired at one moment share it. */
#include "retire.h"

#include <stdlib.h>

#include "queue.h"

struct mark {
    struct gantry_queue *queue; /* held */
    uint64_t value;
};

struct moment {
    struct moment *next;
    struct object *first, **end; /* chained by `next`, in the order of retiring */
    uint32_t mark_count;
    struct mark marks[];
};

/* ---- Moments -------------------------------------------------------------------------------- */

/* With the device's lock held: this moment, as the latest; NULL without memory. */
static struct moment *add_moment(struct gantry_device *device)
{
    struct moment *moment;
    uint32_t count = 0;

    for (struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next)
        count++;
    moment = calloc(1, sizeof(*moment) + count * sizeof(moment->marks[0]));
    if (!moment)
        return NULL;
    for (struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next) {
        struct gantry_queue *queue = (struct gantry_queue *)o;

        queue_ref(queue);
        moment->marks[moment->mark_count++] = (struct mark){queue, atomic_load(&queue->given)};
    }
    moment->end = &moment->first;
    *(device->latest ? &device->latest->next : &device->oldest) = moment;
    device->latest = moment;
    return moment;
}

/* With the device's lock held: whether nothing was given to the device since. */
static bool is_now(const struct moment *moment, const struct gantry_device *device)
{
    uint32_t i = 0;

    for (struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next, i++) {
        struct gantry_queue *queue = (struct gantry_queue *)o;

        if (i == moment->mark_count || moment->marks[i].queue != queue ||
            moment->marks[i].value != atomic_load(&queue->given))
            return false;
    }
    return i == moment->mark_count;
}

static bool is_over(const struct moment *moment)
{
    for (uint32_t i = 0; i < moment->mark_count; i++)
        if (!queue_reached_locked(moment->marks[i].queue, moment->marks[i].value))
            return false;
    return true;
}

static void free_moment(struct moment *moment)
{
    while (moment->first) {
        struct object *object = moment->first;

        moment->first = object->next;
        object->next = NULL;
        object_release(object);
    }
    for (uint32_t i = 0; i < moment->mark_count; i++)
        queue_unref(moment->marks[i].queue);
    free(moment);
}

/* ---- Collecting ----------------------------------------------------------------------------- */

/* With the device's lock held: takes the oldest moment out if it is over. Later ones can't be over
 * before it is. */
static struct moment *take_oldest(struct gantry_device *device, bool all)
{
    struct moment *oldest = device->oldest;

    if (!oldest || (!all && !is_over(oldest)))
        return NULL;
    device->oldest = oldest->next;
    if (!device->oldest)
        device->latest = NULL;
    return oldest;
}

static void collect(struct gantry_device *device, bool all)
{
    struct moment *moment;
    bool excess;

    do {
        pthread_mutex_lock(&device->lock);
        moment = take_oldest(device, all);
        excess = memory_has_excess(device);
        pthread_mutex_unlock(&device->lock);
        if (moment)
            free_moment(moment);
    } while (moment);
    if (excess)
        memory_trim(device, false);
}

void retire(struct object *object)
{
    struct gantry_device *device = object->device;
    struct moment *moment;
    bool added = false;

    pthread_mutex_lock(&device->lock);
    moment = device->latest;
    if (!moment || !is_now(moment, device)) {
        moment = add_moment(device);
        added = true;
    }
    if (moment) {
        object->next = NULL;
        *moment->end = object;
        moment->end = &object->next;
    }
    pthread_mutex_unlock(&device->lock);
    if (!moment) {
        queue_idle_all(device);
        object_release(object);
    }
    /* At a moment that is known already, the driver was asked. */
    if (added)
        collect(device, false);
}

void retire_collect(struct gantry_device *device)
{
    collect(device, false);
}

/* What is freed may retire more, as a list does its kernels. */
void retire_flush(struct gantry_device *device)
{
    while (device->oldest)
        collect(device, true);
}

bool retire_pending(struct gantry_device *device)
{
    bool pending;

    pthread_mutex_lock(&device->lock);
    pending = device->oldest != NULL;
    pthread_mutex_unlock(&device->lock);
    return pending;
}
