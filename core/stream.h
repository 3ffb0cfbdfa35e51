/* A queue's open batch: streamed commands that were not submitted yet. */
#ifndef GANTRY_CORE_STREAM_H
#define GANTRY_CORE_STREAM_H

#include "list.h"
#include "losses.h"
#include "meter.h"
#include "staging.h"

/* Guarded by the queue's lock, but for what says otherwise. */
struct stream {
    struct gantry_list *batch; /* empty: no batch is open */
    uint64_t value;            /* of the open batch */
    uint32_t stop;             /* with so many commands, look whether the batch must go out */
    uint32_t limit;            /* with so many it must */
    bool hurried;              /* it may be that the program is faster than submitting */
    uint64_t sent_at, send_ns; /* when the latest batch had gone out, how long that took */
    uint64_t max_ns;           /* estimated time of a batch */
    struct meter meter;        /* guarded by the queue's delivery lock */
    struct losses losses;      /* has a lock of its own */

    struct list_instance memory; /* what batches stage through: never freed while in flight */
    struct staging uploads, downloads;
};

enum gantry_status stream_open(struct gantry_queue *queue);
void stream_free(struct gantry_queue *queue);

/* ---- With the queue's lock held ------------------------------------------------------------- */

/* A command was recorded: opens the batch with the first one, sends it when it is time. */
enum gantry_status stream_decide(struct gantry_queue *queue);

static inline enum gantry_status stream_added(struct gantry_queue *queue, struct stream *stream)
{
    return stream->batch->command_count >= stream->stop ? stream_decide(queue) : GANTRY_OK;
}

/* The same for a command that goes out at once, whatever the device is doing. Does not look, and so
 * delivers no download on the way. */
enum gantry_status stream_push(struct gantry_queue *queue);

/* Submits the open batch, if there is one. When the driver refuses it, it is lost, and its points
 * keep the failure. */
enum gantry_status stream_send(struct gantry_queue *queue, enum gantry_batch reason);

/* ---- Without the lock ----------------------------------------------------------------------- */

/* Sends the open batch if the value is its own. Whether it was lost then comes out of
 * losses_find(). */
void stream_reach(struct gantry_queue *queue, uint64_t value, enum gantry_batch reason);

/* The same, but rather than wait for a thread that is using the queue it does nothing. */
void stream_try_reach(struct gantry_queue *queue, uint64_t value);

enum gantry_status stream_flush(struct gantry_queue *queue);

#endif
