#ifndef GANTRY_CORE_BUFFER_H
#define GANTRY_CORE_BUFFER_H

#include "device.h"
#include "memory.h"

struct gantry_buffer {
    struct object object;
    uint64_t size; /* as asked for */
    struct memory memory;
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

/* Frees the structs that a device keeps for its next buffers. */
void buffers_close(struct gantry_device *device);

/* Frees at once; the caller knows that no work uses it. */
void buffer_free(struct gantry_buffer *buffer);

/* A buffer over memory that is no other's, which it takes over; on failure the caller keeps it. */
enum gantry_status buffer_make(struct gantry_device *device, const struct memory *memory,
                               const char *label, struct gantry_buffer **buffer);

/* Operations on byte `offset` of a buffer name its block and an offset there. */
static inline struct gantry_drv_memory *buffer_block(const struct gantry_buffer *buffer)
{
    return buffer->memory.block;
}

static inline uint64_t buffer_offset(const struct gantry_buffer *buffer, uint64_t offset)
{
    return buffer->memory.offset + offset;
}

static inline enum gantry_memory buffer_kind(const struct gantry_buffer *buffer)
{
    return buffer->memory.block->kind;
}

#endif
