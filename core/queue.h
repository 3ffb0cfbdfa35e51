#ifndef GANTRY_CORE_QUEUE_H
#define GANTRY_CORE_QUEUE_H

#include "device.h"
#include "list.h"

/* Downloads that must reach host memory before anyone learns that `value` was reached. */
struct delivery {
    uint64_t value;
    struct list_instance *instance;
};

struct gantry_queue {
    struct object object;
    atomic_uint refs; /* the handle, and every list whose last submission was here: a list must be
                         able to ask a queue that was destroyed, for which every value is reached */
    struct gantry_drv_queue *drv; /* NULL once destroyed */
    enum gantry_queue_kind kind;
    char *label;

    pthread_mutex_t lock; /* one submission at a time; guards stats */
    struct gantry_queue_stats stats;
    _Atomic uint64_t submitted; /* the last value given out */
    _Atomic uint64_t completed; /* the last value seen; never ahead of the deliveries */
    _Atomic uint64_t spins, blocking_waits;

    pthread_mutex_t delivery_lock; /* guards what follows; taken inside lock, never around it */
    struct delivery *deliveries;   /* oldest first */
    uint32_t delivery_count, delivery_capacity;
};

enum gantry_status queue_make(struct gantry_device *device,
                              const struct gantry_queue_params *params,
                              struct gantry_queue **queue);

/* Waits for the queue's work, takes it from its device and closes it. */
void queue_free(struct gantry_queue *queue);

void queue_ref(struct gantry_queue *queue);
void queue_unref(struct gantry_queue *queue);

/* Whether a value was reached, its downloads delivered; asks the driver when it must. A lost device
 * and a destroyed queue have reached everything. */
bool queue_reached(struct gantry_queue *queue, uint64_t value);

/* Waits without a limit; a lost device ends it. */
enum gantry_status queue_wait(struct gantry_queue *queue, uint64_t value, uint64_t timeout_ns);

/* Waits for what the queues of the device have been given before this call. Queues may be made and
 * destroyed by other threads meanwhile. */
void queue_idle_all(struct gantry_device *device);

/* Fills through the device's service queue and waits. */
enum gantry_status queue_fill_now(struct gantry_device *device, struct gantry_drv_memory *memory,
                                  uint64_t offset, uint64_t size, uint32_t pattern);

#endif
