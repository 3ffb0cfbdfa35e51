#include "pool.h"

#include "context.h"
#include "graph.h"
#include "image.h"
#include "operation.h"
#include "queue.h"
#include "status.h"

#include <string.h>

enum {
    POOL_MOST = 64,  /* graphs */
    ARGS_KEPT = 128, /* bytes of a node's arguments that are compared; larger ones are always set */
    SEEN_MOST = 32,  /* shapes that were wanted of late and not there */
    SEEN_OFTEN = 3,  /* as often among these: it comes again, so that its graph will pay */
};

/* What a node was set to, so that what is the same is not set again. The image is held: the graph
 * refers to it, and another one at its place must not pass for it. */
struct node {
    struct image *image; /* NULL: a join */
    CUfunction function;
    struct gantry_size blocks, block;
    uint32_t shared_bytes, args_size;
    unsigned char args[ARGS_KEPT];
};

struct recycled {
    struct graph graph; /* without exec: the driver refuses this shape */
    uint64_t value;     /* the submission that uses it */
    uint64_t used;      /* the pool's clock at that time */
    bool rebuilt;       /* an update was refused before */
    uint64_t hash;      /* of the shape, and what follows it there */
    uint32_t op_count, word_count;
    uint32_t *words;
    struct node nodes[]; /* op_count, and then the words */
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

/* ---- Nodes ---------------------------------------------------------------------------------- */

static void drop_image(struct gantry_drv_device *device, struct image *image)
{
    struct scope scope;
    bool entered = scope_enter_anyway(device, &scope);

    image_release(device, image);
    if (entered)
        scope_leave(device, &scope);
}

static void hold_image(struct gantry_drv_device *device, struct node *node, struct image *image)
{
    struct image *before = node->image;

    if (before == image)
        return;
    image_hold(device, image);
    node->image = image;
    if (before)
        drop_image(device, before);
}

static void node_note(struct gantry_drv_device *device, struct node *node,
                      const struct gantry_op_launch *launch, const struct launch_args *args)
{
    hold_image(device, node, launch->kernel->image);
    node->function = launch->kernel->function;
    node->blocks = launch->blocks;
    node->block = launch->block;
    node->shared_bytes = launch->shared_bytes;
    node->args_size = (uint32_t)args->size;
    if (args->size > 0 && args->size <= ARGS_KEPT)
        memcpy(node->args, args->bytes, args->size);
}

static bool args_equal(const struct node *node, const struct launch_args *args)
{
    return node->args_size == args->size && args->size <= ARGS_KEPT &&
           (args->size == 0 || memcmp(node->args, args->bytes, args->size) == 0);
}

static bool size_equals(struct gantry_size a, struct gantry_size b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool node_is(const struct node *node, const struct gantry_op_launch *launch,
                    const struct launch_args *args)
{
    return node->function == launch->kernel->function &&
           size_equals(node->blocks, launch->blocks) && size_equals(node->block, launch->block) &&
           node->shared_bytes == launch->shared_bytes && args_equal(node, args);
}

/* ---- One graph ------------------------------------------------------------------------------ */

static struct recycled *create(struct gantry_drv_instance *instance, const struct shape *shape)
{
    size_t nodes = shape->op_count * sizeof(struct node);
    size_t words = shape->word_count * sizeof(*shape->words);
    struct recycled *item = host_allocate(instance, sizeof(*item) + nodes + words);

    if (!item)
        return NULL;
    item->hash = shape->hash;
    item->op_count = shape->op_count;
    item->word_count = shape->word_count;
    item->words = (uint32_t *)((char *)item->nodes + nodes);
    memcpy(item->words, shape->words, words);
    return item;
}

/* Leaves it without a graph. */
static void clear(struct gantry_drv_device *device, struct recycled *item)
{
    struct scope scope;
    bool entered = scope_enter_anyway(device, &scope);

    graph_destroy(device, &item->graph);
    for (uint32_t i = 0; i < item->op_count; i++) {
        if (item->nodes[i].image)
            image_release(device, item->nodes[i].image);
        item->nodes[i].image = NULL;
    }
    if (entered)
        scope_leave(device, &scope);
}

static void destroy(struct gantry_drv_device *device, struct recycled *item)
{
    if (!item)
        return;
    clear(device, item);
    host_release(device->instance, item);
}

static void note_all(struct gantry_drv_device *device, struct recycled *item,
                     const struct piece *piece)
{
    for (uint32_t i = 0; i < item->op_count; i++) {
        struct launch_args args;

        if (piece->ops[i].kind != GANTRY_OP_LAUNCH)
            continue;
        launch_args_set(&args, &piece->ops[i], piece->table);
        node_note(device, &item->nodes[i], &piece->ops[i].launch, &args);
    }
}

static enum gantry_status make_graph(struct gantry_drv_device *device, struct recycled *item,
                                     const struct piece *piece, struct gantry_edge *edges)
{
    struct gantry_plan plan = {.ops = piece->ops,
                               .op_count = item->op_count,
                               .edges = edges,
                               .edge_count = shape_edge_count(piece->shape)};
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    shape_edges(piece->shape, edges);
    status = graph_build(device, &plan, piece->table, &item->graph);
    scope_leave(device, &scope);
    return status;
}

static void give_up(struct gantry_drv_device *device, const struct recycled *item)
{
    LOG(device->instance, GANTRY_LOG_WARNING,
        "%s: the driver refused a graph of %u operations, so lists like this one are launched one "
        "by one (log = debug tells its reason)",
        device->info.name, item->op_count);
}

/* What the driver refuses is no failure: the item stays without a graph, so that it is not asked
 * again. */
static enum gantry_status build(struct gantry_drv_queue *queue, struct recycled *item,
                                const struct piece *piece)
{
    struct gantry_drv_device *device = queue->device;
    struct gantry_edge *edges =
        host_allocate(device->instance, (shape_edge_count(piece->shape) + 1) * sizeof(*edges));
    enum gantry_status status;

    if (!edges)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = make_graph(device, item, piece, edges);
    host_release(device->instance, edges);
    if (graph_is_refusal(status)) {
        give_up(device, item);
        return GANTRY_OK;
    }
    if (status == GANTRY_OK) {
        queue->stats->builds++;
        note_all(device, item, piece);
    }
    return status;
}

/* The second time the shape is given up: a driver that refuses its own graph would do so for ever.
 */
static enum gantry_status rebuild(struct gantry_drv_queue *queue, struct recycled *item,
                                  const struct piece *piece)
{
    clear(queue->device, item);
    if (item->rebuilt) {
        give_up(queue->device, item);
        return GANTRY_OK;
    }
    item->rebuilt = true;
    queue->stats->rebuilds++;
    queue->stats->fallbacks[GANTRY_FALLBACK_GRAPH_REBUILT]++;
    return build(queue, item, piece);
}

static enum gantry_status change(struct gantry_drv_queue *queue, struct recycled *item,
                                 const struct piece *piece)
{
    struct gantry_drv_device *device = queue->device;
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; item->graph.exec && i < item->op_count && status == GANTRY_OK; i++) {
        const struct gantry_op *op = &piece->ops[i];
        struct launch_args args;

        if (op->kind != GANTRY_OP_LAUNCH)
            continue;
        launch_args_set(&args, op, piece->table);
        if (node_is(&item->nodes[i], &op->launch, &args))
            continue;
        status = graph_change(device, &item->graph, i, &op->launch, &args);
        if (status == GANTRY_OK)
            node_note(device, &item->nodes[i], &op->launch, &args);
    }
    return graph_is_refusal(status) ? rebuild(queue, item, piece) : status;
}

/* ---- The pool ------------------------------------------------------------------------------- */

void pool_close(struct gantry_drv_queue *queue)
{
    struct pool *pool = queue->pool;

    if (!pool)
        return;
    for (uint32_t i = 0; i < pool->count; i++)
        destroy(queue->device, pool->items[i]);
    host_release(queue->device->instance, pool);
}

static bool has_shape(const struct recycled *item, const struct shape *shape)
{
    return item->hash == shape->hash && item->op_count == shape->op_count &&
           item->word_count == shape->word_count &&
           memcmp(item->words, shape->words, shape->word_count * sizeof(*shape->words)) == 0;
}

/* One of the shape that is not in flight. *known: there are others. */
static struct recycled *find(struct gantry_drv_queue *queue, const struct shape *shape, bool *known)
{
    struct pool *pool = queue->pool;
    uint64_t counter = queue_counter(queue);

    for (uint32_t i = 0; i < pool->count; i++) {
        if (!has_shape(pool->items[i], shape))
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
    struct gantry_drv_device *device = queue->device;
    struct pool *pool = queue->pool;
    uint32_t place = find_place(queue);
    struct recycled *made;
    enum gantry_status status;

    if (place == POOL_MOST)
        return GANTRY_OK;
    made = create(device->instance, piece->shape);
    status = made ? build(queue, made, piece) : GANTRY_E_OUT_OF_HOST_MEMORY;
    if (status != GANTRY_OK) {
        destroy(device, made);
        return status;
    }
    if (place < pool->count)
        destroy(device, pool->items[place]);
    else
        pool->count++;
    pool->items[place] = *item = made;
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
        status = change(queue, item, piece);
    else if (known || piece->wanted || comes_again(queue->pool, piece->shape->hash))
        status = add(queue, piece, &item);
    if (status != GANTRY_OK || !item)
        return status;
    use(queue, item, piece->value);
    *exec = item->graph.exec;
    return GANTRY_OK;
}
