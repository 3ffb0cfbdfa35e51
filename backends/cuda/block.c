#include "block.h"

#include "queue.h"
#include "status.h"

enum { SMALLEST_BLOCK = 64 << 10 };

static struct block *find(struct gantry_drv_queue *queue, uint64_t size)
{
    uint64_t counter = queue_counter(queue);
    struct block *block = queue->blocks;

    while (block && (block->memory.size < size || block->value > counter))
        block = block->next;
    return block;
}

enum gantry_status block_take(struct gantry_drv_queue *queue, uint64_t size, struct block **block)
{
    struct gantry_drv_instance *instance = queue->device->instance;
    enum gantry_status status = GANTRY_OK;
    struct block *made;

    *block = find(queue, size);
    if (!*block) {
        status = queue_refresh(queue);
        *block = find(queue, size);
    }
    if (status != GANTRY_OK || *block)
        return status;
    made = host_allocate(instance, sizeof(*made));
    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = memory_allocate(queue->device, GANTRY_MEMORY_UPLOAD,
                             size > SMALLEST_BLOCK ? size : SMALLEST_BLOCK, &made->memory);
    if (status != GANTRY_OK) {
        host_release(instance, made);
        return status;
    }
    queue->stats->allocations++;
    made->next = queue->blocks;
    queue->blocks = made;
    *block = made;
    return GANTRY_OK;
}

void blocks_free(struct gantry_drv_queue *queue)
{
    struct block *next;

    for (struct block *block = queue->blocks; block; block = next) {
        next = block->next;
        memory_free(queue->device, &block->memory);
        host_release(queue->device->instance, block);
    }
}
