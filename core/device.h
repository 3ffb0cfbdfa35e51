/* An open device: the state that queues, buffers, modules and lists share. */
#ifndef GANTRY_CORE_DEVICE_H
#define GANTRY_CORE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <gantry/backend.h>

#include "addresses.h"
#include "policy.h"
#include "pool.h"
#include "process.h"

/* What can belong to a device, in the order in which closing the device frees it. */
enum object_rank {
    OBJECT_LIST,
    OBJECT_KERNEL,
    OBJECT_MODULE,
    OBJECT_BUFFER,
    OBJECT_QUEUE,
    OBJECT_RANK_COUNT,
};

/* First member of every object of a device, so that closing the device finds what is left. */
struct object {
    struct object *prev, *next;
    struct gantry_device *device;
    enum object_rank rank;
};

struct moment;
struct view;

/* Buffers over the caller's own memory, by their host addresses; no two share a byte. */
struct registered {
    struct gantry_buffer **all;
    uint32_t count, capacity;
};

struct gantry_device {
    struct gantry_device *prev, *next; /* open devices of g, guarded by g's lock */
    struct gantry *g;
    const struct view *view; /* that was opened; lives as long as g */
    const struct gantry_backend_ops *ops;
    struct gantry_drv_device *drv;
    struct gantry_backend_device_info info; /* of the view that was opened */
    const char *backend;                    /* its name */
    uint32_t index;                         /* in gantry_device_describe()'s numbering */
    char *label;
    struct policy_device policy;
    uint32_t process; /* process_id() of the opener */

    atomic_bool lost; /* set once, by device_lose() */

    pthread_mutex_t lock; /* guards all that follows, and that `lost` is set */
    char *loss;           /* once it is lost: what is known of that; NULL without memory for it */
    char *loss_sentence;  /* the same, for whoever finds it next */
    struct object *objects[OBJECT_RANK_COUNT];
    struct registered registered;
    struct moment *oldest, *latest;      /* of what is retired; see retire.c */
    struct pool pools[POOL_COUNT];       /* by enum gantry_memory */
    uint32_t block_count;                /* blocks from the plugin, those of no pool included */
    struct gantry_buffer *spare_buffers; /* unused structs */
    uint32_t buffer_count, spare_buffer_count;
    struct addresses addresses;   /* of live buffers, when policy.validate is on */
    struct gantry_queue *service; /* for zeroing; made at first need */
};

/* Links a made object to its device, or takes it out. Both take the lock.
 * Taking out an object that is not linked does nothing. */
void object_link(struct object *object, struct gantry_device *device, enum object_rank rank);
void object_unlink(struct object *object);

/* The same with the lock held. */
void object_link_locked(struct object *object, struct gantry_device *device, enum object_rank rank);
void object_unlink_locked(struct object *object);

/* Frees an object that was unlinked, and lets go of what it held. */
void object_release(struct object *object);

/* Frees all objects that the device still has; it is idle or lost. */
void objects_free(struct gantry_device *device);

/* Whether a forked child asks about its parent's device, or whoever comes late at the end of the
 * process: then neither the plugin nor a lock, which may be held for ever, may be touched, so that
 * destroying an object can only forget it. */
static inline bool device_forked(const struct gantry_device *device)
{
    return device->process != process_id();
}

/* Whether the device may be used: not NULL, made by this process, which is not ending, and
 * not lost. Costs no system call. */
static inline bool device_is_usable(const struct gantry_device *device)
{
    return device && !device_forked(device) &&
           !atomic_load_explicit(&device->lost, memory_order_relaxed);
}

/* GANTRY_OK when it may; otherwise fails naming `what`, the call. */
enum gantry_status device_check_usable(struct gantry_device *device, const char *what);

static inline enum gantry_status device_usable(struct gantry_device *device, const char *what)
{
    return device_is_usable(device) ? GANTRY_OK : device_check_usable(device, what);
}

/* Passes the status of a plugin's entry through. The first loss is reported, with what was being
 * done (`during`, and a `name` or NULL), and every later call fails at once. Takes the device's
 * lock; of two that find a loss at the same time, one waits for the other's report, which reads
 * what those who find a lost device may free. */
enum gantry_status device_lose(struct gantry_device *device, const char *during, const char *name);

static inline enum gantry_status device_check(struct gantry_device *device,
                                              enum gantry_status status, const char *during,
                                              const char *name)
{
    return status == GANTRY_E_DEVICE_LOST ? device_lose(device, during, name) : status;
}

/* The same with the device's lock held. */
enum gantry_status device_lose_locked(struct gantry_device *device, const char *during,
                                      const char *name);

/* The queue that gantry itself uses, made at first need. */
enum gantry_status device_service_queue(struct gantry_device *device, struct gantry_queue **queue);

#endif
