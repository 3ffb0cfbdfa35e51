/* Things that queued work may still use. Each remembers, per queue, the last value that had been
 * given out when it was retired, that of the open batch included. */
#include <stdlib.h>

#include "queue.h"
#include "retire.h"

struct mark {
    struct gantry_queue *queue; /* held */
    uint64_t value;
};

struct retired {
    struct retired *next;
    void (*release)(struct gantry_device *, void *);
    void *object;
    uint32_t mark_count;
    struct mark marks[];
};

/* With the device's lock held: the moment as marks; NULL without memory. */
static struct retired *take_moment(struct gantry_device *device)
{
    struct retired *retired;
    uint32_t count = 0;

    for (struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next)
        count++;
    retired = calloc(1, sizeof(*retired) + count * sizeof(retired->marks[0]));
    if (!retired)
        return NULL;
    for (struct object *o = device->objects[OBJECT_QUEUE]; o; o = o->next) {
        struct gantry_queue *queue = (struct gantry_queue *)o;

        queue_ref(queue);
        retired->marks[retired->mark_count++] = (struct mark){queue, atomic_load(&queue->given)};
    }
    return retired;
}

static bool is_over(const struct retired *retired)
{
    for (uint32_t i = 0; i < retired->mark_count; i++)
        if (!queue_reached(retired->marks[i].queue, retired->marks[i].value))
            return false;
    return true;
}

static void release(struct gantry_device *device, struct retired *retired)
{
    retired->release(device, retired->object);
    for (uint32_t i = 0; i < retired->mark_count; i++)
        queue_unref(retired->marks[i].queue);
    free(retired);
}

/* Takes the oldest ones that are over out of the device's list: later ones were retired later, so
 * nothing is kept for long by looking no further than the first that is not. */
static struct retired *take_over(struct gantry_device *device, bool all)
{
    struct retired *first, **end;

    pthread_mutex_lock(&device->lock);
    first = device->retired;
    end = &device->retired;
    while (*end && (all || is_over(*end)))
        end = &(*end)->next;
    device->retired = *end;
    if (end == &device->retired)
        first = NULL;
    else
        *end = NULL;
    pthread_mutex_unlock(&device->lock);
    return first;
}

static void collect(struct gantry_device *device, bool all)
{
    struct retired *retired = take_over(device, all);

    while (retired) {
        struct retired *next = retired->next;

        release(device, retired);
        retired = next;
    }
}

void retire(struct gantry_device *device, void (*release_object)(struct gantry_device *, void *),
            void *object)
{
    struct retired *retired, **end;

    pthread_mutex_lock(&device->lock);
    retired = take_moment(device);
    if (retired) {
        retired->release = release_object;
        retired->object = object;
        for (end = &device->retired; *end; end = &(*end)->next)
            ;
        *end = retired;
    }
    pthread_mutex_unlock(&device->lock);
    if (!retired) {
        queue_idle_all(device);
        release_object(device, object);
    }
    collect(device, false);
}

void retire_collect(struct gantry_device *device)
{
    collect(device, false);
}

void retire_flush(struct gantry_device *device)
{
    /* Releasing a list may retire its kernels. */
    while (device->retired)
        collect(device, true);
}
