#include "graph.h"

#include "status.h"

/* ---- Nodes ---------------------------------------------------------------------------------- */

static CUDA_KERNEL_NODE_PARAMS_v1 launch_params(const struct gantry_op_launch *launch,
                                                const struct launch_args *args)
{
    return (CUDA_KERNEL_NODE_PARAMS_v1){
        .func = launch->kernel->function,
        .gridDimX = launch->blocks.x,
        .gridDimY = launch->blocks.y,
        .gridDimZ = launch->blocks.z,
        .blockDimX = launch->block.x,
        .blockDimY = launch->block.y,
        .blockDimZ = launch->block.z,
        .sharedMemBytes = launch->shared_bytes,
        .extra = args->extra,
    };
}

static enum gantry_status add_launch(struct gantry_drv_device *device, CUgraph graph,
                                     const struct gantry_op *op, uint64_t table, CUgraphNode *node)
{
    struct launch_args args;
    CUDA_KERNEL_NODE_PARAMS_v1 params;

    launch_args_set(&args, op, table);
    params = launch_params(&op->launch, &args);
    return CU(device, cuGraphAddKernelNode(node, graph, NULL, 0, &params));
}

/* A node is one call of the driver's. A plan with a copy that takes several is no graph. */
static enum gantry_status refuse_copy(struct gantry_drv_device *device)
{
    LOG(device->instance, GANTRY_LOG_DEBUG, "a copy's rows are more than %u bytes apart",
        device->max_pitch);
    return FAIL(device->instance, GANTRY_E_DRIVER,
                "a graph takes copies whose rows are up to %u bytes apart", device->max_pitch);
}

static enum gantry_status add_copy(struct gantry_drv_device *device, CUgraph graph,
                                   const struct gantry_op_copy *copy, CUgraphNode *node)
{
    CUDA_MEMCPY3D_v2 params = copy_params(copy);

    if (!copy_is_whole(device, copy))
        return refuse_copy(device);
    return CU(device, cuGraphAddMemcpyNode(node, graph, NULL, 0, &params, device->context));
}

static enum gantry_status add_fill(struct gantry_drv_device *device, CUgraph graph,
                                   const struct gantry_op_fill *fill, CUgraphNode *node)
{
    CUDA_MEMSET_NODE_PARAMS_v1 params = {
        .dst = fill->memory->address + fill->offset,
        .value = fill->pattern,
        .elementSize = 4,
        .width = fill->size / 4,
        .height = 1,
    };

    return CU(device, cuGraphAddMemsetNode(node, graph, NULL, 0, &params, device->context));
}

static enum gantry_status add_node(struct gantry_drv_device *device, CUgraph graph,
                                   const struct gantry_op *op, uint64_t table, CUgraphNode *node)
{
    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        return add_launch(device, graph, op, table, node);
    case GANTRY_OP_COPY:
        return add_copy(device, graph, &op->copy, node);
    case GANTRY_OP_FILL:
        return add_fill(device, graph, &op->fill, node);
    case GANTRY_OP_JOIN:
        break;
    }
    return CU(device, cuGraphAddEmptyNode(node, graph, NULL, 0));
}

static enum gantry_status add_nodes(struct gantry_drv_device *device, const struct graph *graph,
                                    const struct gantry_plan *plan, uint64_t table)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; i < plan->op_count && status == GANTRY_OK; i++)
        status = add_node(device, graph->source, &plan->ops[i], table, &graph->nodes[i]);
    return status;
}

/* ---- Edges ---------------------------------------------------------------------------------- */

/* As the driver wants them: three arrays, in one block of memory at `from`. */
struct edges {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    uint32_t count;
};

static bool edges_allocate(struct gantry_drv_instance *instance, struct edges *edges,
                           uint32_t count)
{
    edges->count = count;
    edges->from =
        host_allocate(instance, count * (2 * sizeof(*edges->from) + sizeof(*edges->data)));
    if (!edges->from)
        return false;
    edges->to = edges->from + count;
    edges->data = (CUgraphEdgeData *)(edges->to + count);
    return true;
}

static enum gantry_status connect(struct gantry_drv_device *device, const struct graph *graph,
                                  const struct gantry_plan *plan, bool programmatic,
                                  struct edges *edges)
{
    for (uint32_t i = 0; i < edges->count; i++) {
        edges->from[i] = graph->nodes[plan->edges[i].from];
        edges->to[i] = graph->nodes[plan->edges[i].to];
        if (programmatic && plan->edges[i].programmatic) {
            edges->data[i].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
            edges->data[i].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        }
    }
    if (programmatic)
        return CU(device, cuGraphAddDependencies_12030(graph->source, edges->from, edges->to,
                                                       edges->data, edges->count));
    return CU(device, cuGraphAddDependencies(graph->source, edges->from, edges->to, edges->count));
}

/* All edges in one call. The mutation build leaves them out, to show that tests notice. */
static enum gantry_status add_edges(struct gantry_drv_device *device, const struct graph *graph,
                                    const struct gantry_plan *plan, bool programmatic)
{
#ifdef GANTRY_TEST_DROP_BARRIER
    uint32_t count = 0;
#else
    uint32_t count = plan->edge_count;
#endif
    enum gantry_status status;
    struct edges edges;

    if (count == 0)
        return GANTRY_OK;
    if (!edges_allocate(device->instance, &edges, count))
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = connect(device, graph, plan, programmatic, &edges);
    host_release(device->instance, edges.from);
    return status;
}

/* ---- Graphs --------------------------------------------------------------------------------- */

enum gantry_status transfer_finish(struct gantry_drv_device *device)
{
    enum gantry_status status = CU(device, cuStreamSynchronize(device->transfer));

    if (status == GANTRY_OK)
        return GANTRY_OK;
    while (device->instance->cu.cuStreamQuery(device->transfer) == CUDA_ERROR_NOT_READY)
        continue;
    return status;
}

/* The upload now saves the first launch from doing it. */
static enum gantry_status instantiate(struct gantry_drv_device *device, struct graph *graph)
{
    enum gantry_status status =
        CU(device, cuGraphInstantiateWithFlags(&graph->exec, graph->source, 0));

    if (status != GANTRY_OK) {
        graph->exec = NULL;
        return status;
    }
    pthread_mutex_lock(&device->transfer_lock);
    status = CU(device, cuGraphUpload(graph->exec, device->transfer));
    if (status == GANTRY_OK)
        status = transfer_finish(device);
    pthread_mutex_unlock(&device->transfer_lock);
    return status;
}

static enum gantry_status build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                                uint64_t table, bool programmatic, struct graph *graph)
{
    struct graph made = {0};
    enum gantry_status status;

    made.nodes = host_allocate(device->instance, plan->op_count * sizeof(*made.nodes));
    if (!made.nodes)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = CU(device, cuGraphCreate(&made.source, 0));
    if (status == GANTRY_OK)
        status = add_nodes(device, &made, plan, table);
    if (status == GANTRY_OK)
        status = add_edges(device, &made, plan, programmatic);
    if (status == GANTRY_OK)
        status = instantiate(device, &made);
    if (status != GANTRY_OK) {
        graph_destroy(device, &made);
        return status;
    }
    *graph = made;
    return GANTRY_OK;
}

static bool has_programmatic(const struct gantry_plan *plan)
{
    for (uint32_t i = 0; i < plan->edge_count; i++) {
        if (plan->edges[i].programmatic)
            return true;
    }
    return false;
}

enum gantry_status graph_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                               uint64_t table, struct graph *graph)
{
    bool wanted = has_programmatic(plan);
    enum gantry_status status = GANTRY_E_DRIVER;

    if (wanted && device->info.programmatic)
        status = build(device, plan, table, true, graph);
    if (wanted && !graph_is_refusal(status))
        return status;
    status = build(device, plan, table, false, graph);
    if (status == GANTRY_OK)
        graph->programmatic_lost = wanted;
    return status;
}

enum gantry_status graph_change(struct gantry_drv_device *device, const struct graph *graph,
                                uint32_t node, const struct gantry_op_launch *launch,
                                const struct launch_args *args)
{
    CUDA_KERNEL_NODE_PARAMS_v1 params = launch_params(launch, args);

    return CU(device, cuGraphExecKernelNodeSetParams(graph->exec, graph->nodes[node], &params));
}

void graph_seal(struct gantry_drv_device *device, struct graph *graph)
{
    if (graph->source && !atomic_load(&device->gone))
        device->instance->cu.cuGraphDestroy(graph->source);
    host_release(device->instance, graph->nodes);
    graph->source = NULL;
    graph->nodes = NULL;
}

void graph_destroy(struct gantry_drv_device *device, struct graph *graph)
{
    if (graph->exec && !atomic_load(&device->gone))
        device->instance->cu.cuGraphExecDestroy(graph->exec);
    graph_seal(device, graph);
    *graph = (struct graph){0};
}

bool graph_is_refusal(enum gantry_status status)
{
    return status == GANTRY_E_DRIVER || status == GANTRY_E_OUT_OF_MEMORY;
}
