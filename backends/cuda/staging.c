#include "staging.h"

#include "queue.h"
#include "status.h"

enum {
    SMALLEST_CHUNK = 256 << 10,
    PIECE_ALIGNMENT = 256,
};

struct chunk {
    struct chunk *next;
    struct gantry_drv_memory host, twin; /* twin of size 0: not needed so far */
    uint64_t used;                       /* bytes from the start */
    uint64_t value;                      /* the latest submission that uses it */
};

/* The newest chunk comes first, and serves alone while its submissions complete in time. */
static struct chunk *find(struct gantry_drv_queue *queue, uint64_t size)
{
    uint64_t counter = queue_counter(queue);

    for (struct chunk *chunk = queue->staging; chunk; chunk = chunk->next) {
        if (chunk->value <= counter)
            chunk->used = 0;
        if (chunk->host.size - chunk->used >= size)
            return chunk;
    }
    return NULL;
}

static enum gantry_status add(struct gantry_drv_queue *queue, uint64_t size, struct chunk **chunk)
{
    struct gantry_drv_instance *instance = queue->device->instance;
    struct chunk *made = host_allocate(instance, sizeof(*made));
    enum gantry_status status;

    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = memory_allocate(queue->device, GANTRY_MEMORY_UPLOAD,
                             size > SMALLEST_CHUNK ? size : SMALLEST_CHUNK, &made->host);
    if (status != GANTRY_OK) {
        host_release(instance, made);
        return status;
    }
    queue->stats->allocations++;
    made->next = queue->staging;
    queue->staging = made;
    *chunk = made;
    return GANTRY_OK;
}

static enum gantry_status find_or_add(struct gantry_drv_queue *queue, uint64_t size,
                                      struct chunk **chunk)
{
    enum gantry_status status;

    *chunk = find(queue, size);
    if (*chunk)
        return GANTRY_OK;
    status = queue_refresh(queue); /* where the device does not write the counter */
    if (status != GANTRY_OK)
        return status;
    *chunk = find(queue, size);
    return *chunk ? GANTRY_OK : add(queue, size, chunk);
}

static enum gantry_status add_twin(struct gantry_drv_queue *queue, struct chunk *chunk)
{
    enum gantry_status status;

    if (chunk->twin.size > 0)
        return GANTRY_OK;
    status = memory_allocate(queue->device, GANTRY_MEMORY_DEVICE, chunk->host.size, &chunk->twin);
    queue->stats->allocations += status == GANTRY_OK;
    return status;
}

enum gantry_status staging_take(struct gantry_drv_queue *queue, uint64_t size, uint64_t value,
                                bool twin, struct staged *staged)
{
    uint64_t rounded = (size + PIECE_ALIGNMENT - 1) & ~(uint64_t)(PIECE_ALIGNMENT - 1);
    struct chunk *chunk;
    enum gantry_status status = find_or_add(queue, rounded, &chunk);

    if (status == GANTRY_OK && twin)
        status = add_twin(queue, chunk);
    if (status != GANTRY_OK)
        return status;
    staged->host = (char *)chunk->host.host + chunk->used;
    staged->address = chunk->host.address + chunk->used;
    staged->twin = twin ? chunk->twin.address + chunk->used : 0;
    chunk->used += rounded;
    chunk->value = value;
    return GANTRY_OK;
}

void staging_free(struct gantry_drv_queue *queue)
{
    struct chunk *next;

    for (struct chunk *chunk = queue->staging; chunk; chunk = next) {
        next = chunk->next;
        memory_free(queue->device, &chunk->host);
        if (chunk->twin.size > 0)
            memory_free(queue->device, &chunk->twin);
        host_release(queue->device->instance, chunk);
    }
}
