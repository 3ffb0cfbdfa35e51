#ifndef GANTRY_CORE_QUEUE_H
#define GANTRY_CORE_QUEUE_H

#include "device.h"
#include "flight.h"
#include "host_copy.h"
#include "stream.h"

/* A download that must reach host memory before anyone learns that `value` was reached. */
struct delivery {
    uint64_t value;
    struct host_copy copy;
};

/* Locks. A thread holds the lock of at most one queue: whoever needs another queue's work sends it
 * first. Inside it may be taken: the delivery lock, the losses' and the device's; and inside any of
 * these the flights'. */
struct gantry_queue {
    struct object object;
    atomic_uint refs; /* the handle, and every list whose last submission was here: a list must be
                         able to ask a queue that was destroyed, for which every value is reached */
    struct gantry_drv_queue *drv;     /* NULL once destroyed */
    struct gantry_drv_queue *leaving; /* then what it was, until it is freed */
    enum gantry_queue_kind kind;
    char *label;

    struct lock lock; /* one submission at a time; guards stats and the stream */
    struct gantry_queue_stats stats;
    struct stream stream;
    _Atomic uint64_t given;     /* the last value given out, be it in the open batch or lost */
    _Atomic uint64_t submitted; /* the last value that the driver has got */
    _Atomic uint64_t completed; /* the last value seen; never ahead of the deliveries */
    _Atomic uint64_t spins, blocking_waits;
    struct flights flights; /* has a lock of its own */

    pthread_mutex_t delivery_lock; /* guards what follows, and the stream's meter */
    struct delivery
        *deliveries; /* in ascending order of value; those before `delivered` are over */
    uint32_t delivered, delivery_count, delivery_capacity;
};

enum gantry_status queue_make(struct gantry_device *device,
                              const struct gantry_queue_params *params,
                              struct gantry_queue **queue);

/* Waits for the queue's work, takes it from its device and closes it; the latter only when it was
 * destroyed before. No submission may be waiting for it any more. */
void queue_free(struct gantry_queue *queue);

void queue_ref(struct gantry_queue *queue);
void queue_unref(struct gantry_queue *queue);

/* Whether a value was reached, its downloads delivered; asks the driver when it must. A lost device
 * and a destroyed queue have reached everything; a lost batch is over with the work before it. */
bool queue_reached(struct gantry_queue *queue, uint64_t value);

/* The same with the device's lock held. */
bool queue_reached_locked(struct gantry_queue *queue, uint64_t value);

/* Waits for a value that was submitted or lost. */
enum gantry_status queue_wait(struct gantry_queue *queue, uint64_t value, uint64_t timeout_ns);

/* Waits likewise, whatever the driver answers: a call that it refuses is tried again, and another
 * way of asking beside it. Ends without knowing when that goes on, so only for what is to be
 * destroyed. The queue may be destroyed by another thread meanwhile. */
void queue_settle(struct gantry_queue *queue, uint64_t value);

/* With the device's lock held: whether all that its queues were given is known to have completed.
 * Asks no driver, so that it may say no for too long, but never yes too early. */
bool queues_are_idle(const struct gantry_device *device);

/* Sends the open batches of the device's queues and waits for what they have been given before this
 * call. Queues may be made and destroyed by other threads meanwhile. With no lock held. */
void queue_idle_all(struct gantry_device *device);

/* Fills through the device's service queue and waits. */
enum gantry_status queue_fill_now(struct gantry_device *device, struct gantry_drv_memory *memory,
                                  uint64_t offset, uint64_t size, uint32_t pattern);

/* Waits that a submission hands to the plugin; most have few. */
#define INLINE_WAITS 8

struct waits {
    struct gantry_backend_wait *all;
    struct gantry_backend_wait here[INLINE_WAITS];
    uint32_t count;
};

/* Gives the list's commands to the plugin as submission `value`, with the queue's lock held, and
 * counts them. The failure of the plugin is remembered by the device. */
enum gantry_status queue_hand_over(struct gantry_queue *queue, struct gantry_list *list,
                                   struct list_instance *instance, const struct waits *waits,
                                   uint64_t value);

/* Announces a download of a submission that the driver is not asked for yet, so that whoever sees
 * its value completed finds it; deliveries_drop() takes back the latest `most` of that value. */
enum gantry_status deliveries_add(struct gantry_queue *queue, const struct delivery *delivery);
void deliveries_drop(struct gantry_queue *queue, uint64_t value, uint32_t most);

#endif
