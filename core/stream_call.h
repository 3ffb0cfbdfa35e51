/* How every streamed call begins and ends. */
#ifndef GANTRY_CORE_STREAM_CALL_H
#define GANTRY_CORE_STREAM_CALL_H

#include "queue.h"
#include "status.h"

static inline enum gantry_status stream_check_queue(const struct gantry_queue *queue,
                                                    const char *what)
{
    if (!queue)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the queue is NULL", what);
    return device_usable(queue->object.device, what);
}

/* The end of a call that has taken the queue's lock and recorded a command, or was refused. */
static inline enum gantry_status stream_end(struct gantry_queue *queue, enum gantry_status status,
                                            struct gantry_point *point)
{
    uint64_t value;

    if (status == GANTRY_OK)
        status = stream_added(queue, &queue->stream);
    value = atomic_load_explicit(&queue->given, memory_order_relaxed);
    lock_release(&queue->lock);
    if (point)
        *point = status == GANTRY_OK ? (struct gantry_point){queue, value}
                                     : (struct gantry_point){NULL, 0};
    return status;
}

/* The end of one that was refused before. */
static inline enum gantry_status stream_refuse(enum gantry_status status,
                                               struct gantry_point *point)
{
    if (point)
        *point = (struct gantry_point){NULL, 0};
    return status;
}

#endif
