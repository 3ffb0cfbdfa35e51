#include "graph.h"

#include "operation.h"
#include "status.h"

/* Where the graph grows: one node per operation, one triple per edge. */
struct sketch {
    CUgraph graph;
    CUgraphNode *nodes, *from, *to;
    CUgraphEdgeData *data;
};

static enum gantry_status add_launch(struct gantry_drv_device *device, struct sketch *sketch,
                                     const struct gantry_op *op, uint64_t table, CUgraphNode *node)
{
    const struct gantry_op_launch *launch = &op->launch;
    struct launch_args args;
    CUDA_KERNEL_NODE_PARAMS_v1 params = {
        .func = launch->kernel->function,
        .gridDimX = launch->blocks.x,
        .gridDimY = launch->blocks.y,
        .gridDimZ = launch->blocks.z,
        .blockDimX = launch->block.x,
        .blockDimY = launch->block.y,
        .blockDimZ = launch->block.z,
        .sharedMemBytes = launch->shared_bytes,
    };

    launch_args_set(&args, op, table);
    params.extra = args.extra;
    return CU(device, cuGraphAddKernelNode(node, sketch->graph, NULL, 0, &params));
}

static enum gantry_status add_copy(struct gantry_drv_device *device, struct sketch *sketch,
                                   const struct gantry_op_copy *copy, CUgraphNode *node)
{
    /* Unified: either side may be pinned host memory. */
    CUDA_MEMCPY3D_v2 params = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = copy->from->address + copy->from_offset,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = copy->to->address + copy->to_offset,
        .WidthInBytes = copy->size,
        .Height = 1,
        .Depth = 1,
    };

    return CU(device, cuGraphAddMemcpyNode(node, sketch->graph, NULL, 0, &params, device->context));
}

static enum gantry_status add_fill(struct gantry_drv_device *device, struct sketch *sketch,
                                   const struct gantry_op_fill *fill, CUgraphNode *node)
{
    CUDA_MEMSET_NODE_PARAMS_v1 params = {
        .dst = fill->memory->address + fill->offset,
        .value = fill->pattern,
        .elementSize = 4,
        .width = fill->size / 4,
        .height = 1,
    };

    return CU(device, cuGraphAddMemsetNode(node, sketch->graph, NULL, 0, &params, device->context));
}

static enum gantry_status add_node(struct gantry_drv_device *device, struct sketch *sketch,
                                   const struct gantry_op *op, uint64_t table, CUgraphNode *node)
{
    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        return add_launch(device, sketch, op, table, node);
    case GANTRY_OP_COPY:
        return add_copy(device, sketch, &op->copy, node);
    case GANTRY_OP_FILL:
        return add_fill(device, sketch, &op->fill, node);
    case GANTRY_OP_JOIN:
        break;
    }
    return CU(device, cuGraphAddEmptyNode(node, sketch->graph, NULL, 0));
}

static enum gantry_status add_nodes(struct gantry_drv_device *device, struct sketch *sketch,
                                    const struct gantry_plan *plan, uint64_t table)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; i < plan->op_count && status == GANTRY_OK; i++)
        status = add_node(device, sketch, &plan->ops[i], table, &sketch->nodes[i]);
    return status;
}

/* All edges in one call. The mutation build leaves them out, to show that tests notice. */
static enum gantry_status add_edges(struct gantry_drv_device *device, struct sketch *sketch,
                                    const struct gantry_plan *plan, bool programmatic)
{
#ifdef GANTRY_TEST_DROP_BARRIER
    uint32_t count = 0;
#else
    uint32_t count = plan->edge_count;
#endif

    if (count == 0)
        return GANTRY_OK;
    for (uint32_t i = 0; i < count; i++) {
        sketch->from[i] = sketch->nodes[plan->edges[i].from];
        sketch->to[i] = sketch->nodes[plan->edges[i].to];
        if (programmatic && plan->edges[i].programmatic) {
            sketch->data[i].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
            sketch->data[i].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        }
    }
    if (programmatic)
        return CU(device, cuGraphAddDependencies_12030(sketch->graph, sketch->from, sketch->to,
                                                       sketch->data, count));
    return CU(device, cuGraphAddDependencies(sketch->graph, sketch->from, sketch->to, count));
}

/* The upload now saves the first launch from doing it. */
static enum gantry_status instantiate(struct gantry_drv_device *device, CUgraph graph,
                                      CUgraphExec *made)
{
    enum gantry_status status = CU(device, cuGraphInstantiateWithFlags(made, graph, 0));

    if (status != GANTRY_OK)
        return status;
    pthread_mutex_lock(&device->transfer_lock);
    status = CU(device, cuGraphUpload(*made, device->transfer));
    if (status == GANTRY_OK)
        status = CU(device, cuStreamSynchronize(device->transfer));
    pthread_mutex_unlock(&device->transfer_lock);
    if (status != GANTRY_OK)
        device->instance->cu.cuGraphExecDestroy(*made);
    return status;
}

static bool sketch_allocate(struct gantry_drv_instance *instance, struct sketch *sketch,
                            const struct gantry_plan *plan)
{
    size_t nodes = plan->op_count + 2 * (size_t)plan->edge_count;

    sketch->nodes = host_allocate(instance, nodes * sizeof(*sketch->nodes) +
                                                plan->edge_count * sizeof(*sketch->data));
    if (!sketch->nodes)
        return false;
    sketch->from = sketch->nodes + plan->op_count;
    sketch->to = sketch->from + plan->edge_count;
    sketch->data = (CUgraphEdgeData *)(sketch->to + plan->edge_count);
    return true;
}

enum gantry_status graph_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                               uint64_t table, bool programmatic, CUgraphExec *graph)
{
    struct sketch sketch = {0};
    CUgraphExec made = NULL;
    enum gantry_status status;

    if (!sketch_allocate(device->instance, &sketch, plan))
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = CU(device, cuGraphCreate(&sketch.graph, 0));
    if (status == GANTRY_OK)
        status = add_nodes(device, &sketch, plan, table);
    if (status == GANTRY_OK)
        status = add_edges(device, &sketch, plan, programmatic);
    if (status == GANTRY_OK)
        status = instantiate(device, sketch.graph, &made);
    if (sketch.graph)
        device->instance->cu.cuGraphDestroy(sketch.graph);
    host_release(device->instance, sketch.nodes);
    if (status == GANTRY_OK)
        *graph = made;
    return status;
}
