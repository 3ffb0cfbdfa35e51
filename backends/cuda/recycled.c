#include "recycled.h"

#include "context.h"
#include "image.h"
#include "operation.h"
#include "status.h"

#include <string.h>

enum { ARGS_KEPT = 128 }; /* bytes of a node's arguments that are compared; more are always set */

/* What a node was set to, so that what is the same is not set again. The image is held: the graph
 * refers to it, and another one at its place must not pass for it. */
struct node {
    struct image *image; /* NULL: a join */
    CUfunction function;
    struct gantry_size blocks, block;
    uint32_t shared_bytes, args_size;
    unsigned char args[ARGS_KEPT];
};

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

/* In one block: itself, its nodes, the shape's words. */
static struct recycled *allocate(struct gantry_drv_instance *instance, const struct shape *shape)
{
    size_t nodes = shape->op_count * sizeof(struct node);
    size_t words = shape->word_count * sizeof(*shape->words);
    struct recycled *item = host_allocate(instance, sizeof(*item) + nodes + words);

    if (!item)
        return NULL;
    item->hash = shape->hash;
    item->op_count = shape->op_count;
    item->word_count = shape->word_count;
    item->nodes = (struct node *)(item + 1);
    item->words = (uint32_t *)((char *)item->nodes + nodes);
    memcpy(item->words, shape->words, words);
    return item;
}

bool recycled_has_shape(const struct recycled *item, const struct shape *shape)
{
    return item->hash == shape->hash && item->op_count == shape->op_count &&
           item->word_count == shape->word_count &&
           memcmp(item->words, shape->words, shape->word_count * sizeof(*shape->words)) == 0;
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

void recycled_destroy(struct gantry_drv_device *device, struct recycled *item)
{
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

enum gantry_status recycled_create(struct gantry_drv_queue *queue, const struct piece *piece,
                                   struct recycled **item)
{
    struct recycled *made = allocate(queue->device->instance, piece->shape);
    enum gantry_status status;

    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = build(queue, made, piece);
    if (status == GANTRY_OK)
        *item = made;
    else
        recycled_destroy(queue->device, made);
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

enum gantry_status recycled_change(struct gantry_drv_queue *queue, struct recycled *item,
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
