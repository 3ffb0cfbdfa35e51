/* Memory from the pools, blocks from the plugin, and what is done before there is none left. */
#include "memory.h"

#include <stdlib.h>

#include "device.h"
#include "queue.h"
#include "retire.h"
#include "status.h"

/* Of the device's memory a block holds at most this part. */
#define POOL_SHARE 16

static enum gantry_status no_host_memory(void)
{
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a block of memory");
}

/* ---- Opening and closing -------------------------------------------------------------------- */

uint64_t memory_block_size(const struct gantry_backend_device_info *info, uint32_t pool_block_mib)
{
    const struct gantry_limits *limits = &info->limits;
    uint64_t size = (uint64_t)pool_block_mib << 20;
    uint64_t least =
        info->max_memory_blocks ? limits->memory_size / info->max_memory_blocks * 4 : 0;

    if (size == 0)
        return 0;
    if (limits->memory_size && size > limits->memory_size / POOL_SHARE)
        size = limits->memory_size / POOL_SHARE;
    if (size < least)
        size = least;
    return size < limits->max_buffer_size ? size : limits->max_buffer_size;
}

void memory_open(struct gantry_device *device)
{
    for (int kind = 0; kind < POOL_COUNT; kind++)
        pool_open(&device->pools[kind],
                  memory_block_size(&device->info, device->policy.pool_block_mib));
}

void memory_close(struct gantry_device *device)
{
    memory_trim(device, true);
    for (int kind = 0; kind < POOL_COUNT; kind++)
        pool_close(&device->pools[kind]);
}

/* ---- Blocks --------------------------------------------------------------------------------- */

/* Counts a block that is about to be fetched; false when the driver would not allow it. */
static bool count_block(struct gantry_device *device)
{
    uint32_t most = device->info.max_memory_blocks;
    bool allowed;

    pthread_mutex_lock(&device->lock);
    allowed = most == 0 || device->block_count < most;
    device->block_count += allowed;
    pthread_mutex_unlock(&device->lock);
    return allowed;
}

static void uncount_block(struct gantry_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->block_count--;
    pthread_mutex_unlock(&device->lock);
}

static void free_block(struct gantry_device *device, struct gantry_drv_memory *block)
{
    device->ops->memory_free(device->drv, block);
    uncount_block(device);
}

static void free_pool_block(struct gantry_device *device, struct pool_block *block)
{
    free_block(device, &block->memory);
    free(block);
}

/* Adds the block to the pool, and takes `size` bytes for the request that it is for. False when
 * there is no host memory; *added says whether the block is the pool's nevertheless. */
static bool add_and_take(struct gantry_device *device, struct pool *pool, struct pool_block *block,
                         uint64_t size, struct memory *memory, bool *added)
{
    bool taken;

    pthread_mutex_lock(&device->lock);
    *added = pool_add(pool, block, size);
    taken = *added && pool_take(pool, size, memory);
    pthread_mutex_unlock(&device->lock);
    return taken;
}

/* Takes memory out of a new block of so many bytes. */
static enum gantry_status grow(struct gantry_device *device, struct pool *pool, uint64_t bytes,
                               uint64_t size, struct memory *memory)
{
    enum gantry_memory kind = (enum gantry_memory)(pool - device->pools);
    struct pool_block *block;
    enum gantry_status status;
    bool added = false;

    if (!count_block(device))
        return GANTRY_E_OUT_OF_MEMORY;
    block = calloc(1, sizeof(*block));
    if (!block) {
        uncount_block(device);
        return no_host_memory();
    }
    status =
        device_check(device, device->ops->memory_allocate(device->drv, kind, bytes, &block->memory),
                     "allocating memory", NULL);
    if (status != GANTRY_OK) {
        uncount_block(device);
        free(block);
        return status;
    }
    if (add_and_take(device, pool, block, size, memory, &added))
        return GANTRY_OK;
    if (!added)
        free_pool_block(device, block);
    return no_host_memory();
}

/* ---- Giving back ---------------------------------------------------------------------------- */

/* With the device's lock held. */
static bool can_trim(const struct gantry_device *device, const struct pool *pool)
{
    return pool_has_excess(pool) && (pool->block_size == 0 || queues_are_idle(device));
}

bool memory_has_excess(const struct gantry_device *device)
{
    for (int kind = 0; kind < POOL_COUNT; kind++)
        if (can_trim(device, &device->pools[kind]))
            return true;
    return false;
}

/* The next block to give back; NULL when there is none. */
static struct pool_block *drop(struct gantry_device *device, bool all)
{
    struct pool_block *block = NULL;

    pthread_mutex_lock(&device->lock);
    for (int kind = 0; kind < POOL_COUNT && !block; kind++)
        if (all || can_trim(device, &device->pools[kind]))
            block = pool_drop(&device->pools[kind]);
    pthread_mutex_unlock(&device->lock);
    return block;
}

bool memory_trim(struct gantry_device *device, bool all)
{
    struct pool_block *block = drop(device, all);
    bool any = block;

    for (; block; block = drop(device, all))
        free_pool_block(device, block);
    return any;
}

bool memory_give(struct gantry_device *device, const struct memory *memory)
{
    struct pool *pool = &device->pools[memory->block->kind];

    pool_give(pool, memory);
    return can_trim(device, pool);
}

void memory_free(struct gantry_device *device, struct memory *memory)
{
    bool excess;

    if (memory->range) {
        pthread_mutex_lock(&device->lock);
        excess = memory_give(device, memory);
        pthread_mutex_unlock(&device->lock);
        if (excess)
            memory_trim(device, false);
    } else if (memory->block) {
        free_block(device, memory->block);
        free(memory->block);
    }
    *memory = (struct memory){.size = 0};
}

enum gantry_status memory_adopt(struct gantry_device *device, const struct gantry_drv_memory *block,
                                uint64_t size, struct memory *memory)
{
    struct gantry_drv_memory *kept = malloc(sizeof(*kept));

    if (!kept)
        return no_host_memory();
    *kept = *block;
    *memory = (struct memory){.block = kept, .size = size};
    pthread_mutex_lock(&device->lock);
    device->block_count++;
    pthread_mutex_unlock(&device->lock);
    return GANTRY_OK;
}

/* ---- Allocating ----------------------------------------------------------------------------- */

static bool take(struct gantry_device *device, struct pool *pool, uint64_t size,
                 struct memory *memory)
{
    bool taken;

    pthread_mutex_lock(&device->lock);
    taken = pool_take(pool, size, memory);
    pthread_mutex_unlock(&device->lock);
    return taken;
}

static uint64_t wants(struct gantry_device *device, const struct pool *pool, uint64_t size)
{
    uint64_t bytes;

    pthread_mutex_lock(&device->lock);
    bytes = pool_wants(pool, size);
    pthread_mutex_unlock(&device->lock);
    return bytes;
}

/* False when there was nothing to give back. */
static bool make_room(struct gantry_device *device)
{
    bool pending = retire_pending(device);

    if (pending) {
        queue_idle_all(device);
        retire_collect(device);
    }
    return memory_trim(device, true) || pending;
}

/* The block that the pool wants was refused: once more when that may help, then smaller ones. */
static enum gantry_status try_again(struct gantry_device *device, struct pool *pool, uint64_t size,
                                    struct memory *memory)
{
    uint64_t least = pool_round(size), bytes = wants(device, pool, size);
    enum gantry_status status = GANTRY_E_OUT_OF_MEMORY;

    if (!make_room(device))
        bytes /= 2;
    else if (take(device, pool, size, memory))
        return GANTRY_OK;
    while (bytes >= least && status == GANTRY_E_OUT_OF_MEMORY) {
        status = grow(device, pool, bytes, size, memory);
        bytes = bytes > least && bytes / 2 < least ? least : bytes / 2;
    }
    return status;
}

/* No block has room. */
static enum gantry_status allocate_anew(struct gantry_device *device, struct pool *pool,
                                        uint64_t size, struct memory *memory)
{
    enum gantry_status status;

    if (pool_round(size) == 0)
        return GANTRY_E_OUT_OF_MEMORY;
    retire_collect(device);
    if (take(device, pool, size, memory))
        return GANTRY_OK;
    status = grow(device, pool, wants(device, pool, size), size, memory);
    return status == GANTRY_E_OUT_OF_MEMORY ? try_again(device, pool, size, memory) : status;
}

enum gantry_status memory_allocate(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what, struct memory *memory)
{
    struct pool *pool = &device->pools[kind];
    enum gantry_status status;

    *memory = (struct memory){.size = 0};
    if (take(device, pool, size, memory))
        return GANTRY_OK;
    status = allocate_anew(device, pool, size, memory);
    if (status == GANTRY_E_OUT_OF_MEMORY)
        return memory_shortage(device, kind, size, what);
    if (status != GANTRY_OK)
        fail_context("%s", what);
    return status;
}
