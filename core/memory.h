/* Memory of a device: ranges of blocks that the plugin allocates. */
#ifndef GANTRY_CORE_MEMORY_H
#define GANTRY_CORE_MEMORY_H

#include <gantry/backend.h>

struct gantry_device;
struct range;

/* All zero: none. */
struct memory {
    struct gantry_drv_memory *block; /* what operations name; others may lie in it, too */
    uint64_t offset;                 /* of the range in the block */
    uint64_t size;                   /* bytes that were asked for */
    struct range *range;             /* the pool's; NULL: the block is no pool's */
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

/* Bytes of the blocks that small buffers share: the policy's, but no large part of a small device;
 * and so large that buffers with blocks of their own can fill the device with half of the blocks
 * that the driver allows. */
uint64_t memory_block_size(const struct gantry_backend_device_info *info, uint32_t pool_block_mib);

/* Before anything of the device is made, and after all of it was freed. */
void memory_open(struct gantry_device *device);
void memory_close(struct gantry_device *device);

/* Memory at a multiple of 256, of which nobody else's shares a 256-byte line. When there seems to
 * be none left, what is retired is waited for, what is cached goes back to the driver, and it is
 * tried again. Failures name the size asked for, what is free, and `what` it is for. With no lock
 * held. */
enum gantry_status memory_allocate(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what, struct memory *memory);

/* Makes `memory` of a block that the plugin made otherwise; memory_free gives that back. */
enum gantry_status memory_adopt(struct gantry_device *device, const struct gantry_drv_memory *block,
                                uint64_t size, struct memory *memory);

/* Nothing uses it any more. Leaves none. */
void memory_free(struct gantry_device *device, struct memory *memory);

/* The same for memory of a pool, with the device's lock held. True: memory_trim() has something to
 * do, once the lock is not held. */
bool memory_give(struct gantry_device *device, const struct memory *memory);

/* With the device's lock held: whether more is cached than is worth keeping, and can go. Giving
 * memory back may make a driver wait for the device, so that happens when it is idle. */
bool memory_has_excess(const struct gantry_device *device);

/* Gives what is cached back to the driver: the excess, or all of it. False: there was nothing. */
bool memory_trim(struct gantry_device *device, bool all);

/* GANTRY_E_OUT_OF_MEMORY, with the figures and the cause. */
enum gantry_status memory_shortage(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what);

#endif
