/* Memory of a device: ranges of blocks that the plugin allocates. */
#ifndef GANTRY_CORE_MEMORY_H
#define GANTRY_CORE_MEMORY_H

#include <gantry/backend.h>

struct gantry_device;

/* All zero: none. */
struct memory {
    struct gantry_drv_memory *block; /* what operations name; others may lie in it, too */
    uint64_t offset;                 /* of the range in the block */
    uint64_t size;                   /* bytes that were asked for */
};

/* The device's address of the range's first byte. */
static inline uint64_t memory_address(const struct memory *memory)
{
    return memory->block ? memory->block->address + memory->offset : 0;
}

/* The host's, NULL for device memory. */
static inline void *memory_host(const struct memory *memory)
{
    return memory->block && memory->block->host ? (uint8_t *)memory->block->host + memory->offset
                                                : NULL;
}

/* Where the host can write device memory at speed, NULL when it can't: see gantry_drv_memory. */
static inline void *memory_direct(const struct memory *memory)
{
    return memory->block && memory->block->direct
               ? (uint8_t *)memory->block->direct + memory->offset
               : NULL;
}

/* Memory at a multiple of 256. When the first try fails, after what is retired was collected.
 * Failures name the size asked for, what is free, and `what` it is for. */
enum gantry_status memory_allocate(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what, struct memory *memory);

/* Makes `memory` a block of its own, which the plugin made otherwise; memory_free gives it back. */
enum gantry_status memory_adopt(struct gantry_device *device, const struct gantry_drv_memory *block,
                                uint64_t size, struct memory *memory);

/* Nothing uses it any more. Leaves none. */
void memory_free(struct gantry_device *device, struct memory *memory);

#endif
