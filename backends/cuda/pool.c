#include "pool.h"

#include "queue.h"
#include "status.h"

enum {
    POOL_MOST = 64, /* graphs */
    SEEN_MOST = 32, /* shapes that were wanted of late and not there */
    SEEN_OFTEN = 3, /* as often among these: it comes again, so that its graph will pay */
};

struct pool {
    struct recycled *items[POOL_MOST];
    uint32_t count;
    uint64_t clock;
    uint64_t seen[SEEN_MOST]; /* hashes */
    uint32_t next_seen;
};

enum gantry_status pool_open(struct gantry_drv_queue *queue)
{
    queue->pool = host_allocate(queue->device->instance, sizeof(*queue->pool));
    return queue->pool ? GANTRY_OK : GANTRY_E_OUT_OF_HOST_MEMORY;
}

void pool_close(struct gantry_drv_queue *queue)
{
    struct pool *pool = queue->pool;

    if (!pool)
        return;
    for (uint32_t i = 0; i < pool->count; i++)
        recycled_destroy(queue->device, pool->items[i]);
    host_release(queue->device->instance, pool);
}

/* One of the shape that is not in flight. *known: there are others. */
static struct recycled *find(struct gantry_drv_queue *queue, const struct shape *shape, bool *known)
{
    struct pool *pool = queue->pool;
    uint64_t counter = queue_counter(queue);

    for (uint32_t i = 0; i < pool->count; i++) {
        if (!recycled_has_shape(pool->items[i], shape))
            continue;
        *known = true;
        if (pool->items[i]->value <= counter)
            return pool->items[i];
    }
    return NULL;
}

/* An empty place, or that of the graph that was not used for longest; POOL_MOST: all are in flight.
 */
static uint32_t find_place(const struct gantry_drv_queue *queue)
{
    const struct pool *pool = queue->pool;
    uint64_t counter = queue_counter(queue);
    uint32_t oldest = POOL_MOST;

    if (pool->count < POOL_MOST)
        return pool->count;
    for (uint32_t i = 0; i < POOL_MOST; i++) {
        if (pool->items[i]->value <= counter &&
            (oldest == POOL_MOST || pool->items[i]->used < pool->items[oldest]->used))
            oldest = i;
    }
    return oldest;
}

/* Notes that the shape was wanted. */
static bool comes_again(struct pool *pool, uint64_t hash)
{
    uint32_t times = 0;

    for (uint32_t i = 0; i < SEEN_MOST; i++)
        times += pool->seen[i] == hash;
    pool->seen[pool->next_seen] = hash;
    pool->next_seen = (pool->next_seen + 1) % SEEN_MOST;
    return times >= SEEN_OFTEN;
}

/* *item stays NULL when there is no place. */
static enum gantry_status add(struct gantry_drv_queue *queue, const struct piece *piece,
                              struct recycled **item)
{
    struct pool *pool = queue->pool;
    uint32_t place = find_place(queue);
    enum gantry_status status;

    if (place == POOL_MOST)
        return GANTRY_OK;
    status = recycled_create(queue, piece, item);
    if (status != GANTRY_OK)
        return status;
    if (place < pool->count)
        recycled_destroy(queue->device, pool->items[place]);
    else
        pool->count++;
    pool->items[place] = *item;
    return GANTRY_OK;
}

/* What the caller gets of it, and who counts on it. */
static void use(struct gantry_drv_queue *queue, struct recycled *item, uint64_t value)
{
    item->used = ++queue->pool->clock;
    if (item->graph.exec)
        item->value = value;
    else
        queue->stats->fallbacks[GANTRY_FALLBACK_NO_GRAPH]++;
    if (item->graph.programmatic_lost)
        queue->stats->fallbacks[GANTRY_FALLBACK_NO_PROGRAMMATIC]++;
}

enum gantry_status pool_take(struct gantry_drv_queue *queue, const struct piece *piece,
                             CUgraphExec *exec)
{
    enum gantry_status status = GANTRY_OK;
    bool known = false;
    struct recycled *item = find(queue, piece->shape, &known);

    if (!item && known && !queue->device->write_value) {
        status = queue_refresh(queue);
        item = find(queue, piece->shape, &known);
    }
    if (status != GANTRY_OK)
        return status;
    if (item)
        status = recycled_change(queue, item, piece);
    else if (known || piece->wanted || comes_again(queue->pool, piece->shape->hash))
        status = add(queue, piece, &item);
    if (status != GANTRY_OK || !item)
        return status;
    use(queue, item, piece->value);
    *exec = item->graph.exec;
    return GANTRY_OK;
}
