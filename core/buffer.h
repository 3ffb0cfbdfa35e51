#ifndef GANTRY_CORE_BUFFER_H
#define GANTRY_CORE_BUFFER_H

#include "device.h"

struct gantry_buffer {
    struct object object;
    uint64_t size; /* as asked for */
    struct gantry_drv_memory memory;
    char *label;    /* never NULL */
    unsigned refs;  /* the handle, and one for each list that copies from or to it; guarded by the
                       device's lock */
    bool destroyed; /* the handle is gone: a list that still holds the buffer can't be submitted */
};

/* Lists hold the buffers that their copies, fills and transfers name, so that submitting such a
 * list after gantry_buffer_destroy() is an error and not a crash. buffer_unref frees through
 * retire() when it was the last reference. (Launches hold raw addresses; nobody knows whose.) */
void buffer_ref(struct gantry_buffer *buffer);
void buffer_unref(struct gantry_buffer *buffer);

/* Frees at once; the caller knows that no work uses it. */
void buffer_free(struct gantry_buffer *buffer);

/* Memory from the plugin, after what is retired was collected when the first try fails. Failures of
 * size name the size asked for, what is free, and `what` it is for. */
enum gantry_status memory_allocate(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what,
                                   struct gantry_drv_memory *memory);
void memory_free(struct gantry_device *device, struct gantry_drv_memory *memory);

#endif
