/* The caller's own memory as buffers, and finding them by host addresses. */
#ifndef GANTRY_CORE_HOST_REGISTER_H
#define GANTRY_CORE_HOST_REGISTER_H

#include "device.h"

/* The registered buffer that holds the whole range, with a reference for the caller, and where in
 * it the range begins; NULL: there is none. */
struct gantry_buffer *registered_find(struct gantry_device *device, const void *pointer,
                                      uint64_t size, uint64_t *offset);

/* gantry_buffer_destroy() of a registered buffer: waits for the device, then gives the memory back,
 * even if lists still hold the buffer. */
void registered_drop(struct gantry_buffer *buffer);

/* Forgets a buffer that is being freed; others are left alone. */
void registered_forget(struct gantry_buffer *buffer);

/* With the device, after its buffers. */
void registered_free(struct gantry_device *device);

#endif
