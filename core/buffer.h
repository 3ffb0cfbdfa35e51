#ifndef GANTRY_CORE_BUFFER_H
#define GANTRY_CORE_BUFFER_H

#include "device.h"

struct gantry_buffer {
    struct object object;
    uint64_t size; /* as asked for */
    struct gantry_drv_memory memory;
    char *label; /* never NULL */
};

/* Frees at once; the caller knows that no work uses it. */
void buffer_free(struct gantry_buffer *buffer);

/* Memory from the plugin, after what is retired was collected when the first try fails. Failures of
 * size name the size asked for, what is free, and `what` it is for. */
enum gantry_status memory_allocate(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what,
                                   struct gantry_drv_memory *memory);
void memory_free(struct gantry_device *device, struct gantry_drv_memory *memory);

#endif
