/* Things that queued work may still use, to be freed when it has completed. */
#ifndef GANTRY_CORE_RETIRE_H
#define GANTRY_CORE_RETIRE_H

#include <stdbool.h>

struct gantry_device;
struct object;

/* Frees an object, which was unlinked, with object_release() once everything that was given to its
 * device before this call, open batches included, has completed: at once when it has, else during a
 * later call. When there is no memory to remember it, waits for the device instead. Never fails.
 * Not with a queue's lock held. */
void retire(struct object *object);

/* Frees what has become free, and gives back memory that is not worth keeping. */
void retire_collect(struct gantry_device *device);

/* Frees everything; the device is idle or lost. */
void retire_flush(struct gantry_device *device);

/* Whether anything waits to be freed. */
bool retire_pending(struct gantry_device *device);

#endif
