/* The objects that belong to a device. */
#include "buffer.h"
#include "list.h"
#include "module.h"
#include "queue.h"
#include "retire.h"

void object_link_locked(struct object *object, struct gantry_device *device, enum object_rank rank)
{
    struct object **first = &device->objects[rank];

    object->device = device;
    object->rank = rank;
    object->prev = NULL;
    object->next = *first;
    if (*first)
        (*first)->prev = object;
    *first = object;
}

void object_link(struct object *object, struct gantry_device *device, enum object_rank rank)
{
    pthread_mutex_lock(&device->lock);
    object_link_locked(object, device, rank);
    pthread_mutex_unlock(&device->lock);
}

void object_unlink_locked(struct object *object)
{
    struct object **first = &object->device->objects[object->rank];

    if (object->prev)
        object->prev->next = object->next;
    else if (*first == object)
        *first = object->next;
    if (object->next)
        object->next->prev = object->prev;
    object->prev = object->next = NULL;
}

void object_unlink(struct object *object)
{
    struct gantry_device *device = object->device;

    if (!device)
        return;
    pthread_mutex_lock(&device->lock);
    object_unlink_locked(object);
    pthread_mutex_unlock(&device->lock);
}

static void free_object(struct object *object)
{
    switch (object->rank) {
    case OBJECT_LIST:
        list_free((struct gantry_list *)object);
        break;
    case OBJECT_KERNEL:
        kernel_free((struct gantry_kernel *)object);
        break;
    case OBJECT_MODULE:
        module_free((struct gantry_module *)object);
        break;
    case OBJECT_BUFFER:
        buffer_free((struct gantry_buffer *)object);
        break;
    case OBJECT_QUEUE:
        queue_free((struct gantry_queue *)object);
        break;
    case OBJECT_RANK_COUNT:
        break;
    }
}

void object_release(struct object *object)
{
    if (object->rank == OBJECT_KERNEL)
        kernel_release((struct gantry_kernel *)object);
    else
        free_object(object);
}

/* What a list held may retire when the list goes, so each rank is followed by a flush. */
void objects_free(struct gantry_device *device)
{
    for (int rank = 0; rank < OBJECT_RANK_COUNT; rank++) {
        while (device->objects[rank]) {
            struct object *object = device->objects[rank];

            object_unlink(object);
            free_object(object);
        }
        retire_flush(device);
    }
}
