/* Things that queued work may still use, to be freed when it has completed. */
#ifndef GANTRY_CORE_RETIRE_H
#define GANTRY_CORE_RETIRE_H

#include <gantry/gantry.h>

struct gantry_device;

/* Calls release(device, object) once everything that was given to the device before this call, open
 * batches included, has completed: at once when it has, else during a later call. When there is no
 * memory to remember it, waits for the device instead. Never fails. Not with a queue's lock held.
 */
void retire(struct gantry_device *device, void (*release)(struct gantry_device *, void *),
            void *object);

/* Releases what has become free; cheap when nothing is retired. */
void retire_collect(struct gantry_device *device);

/* Releases everything; the device is idle or lost. */
void retire_flush(struct gantry_device *device);

#endif
