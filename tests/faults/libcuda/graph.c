/* Graphs. */
#include <stdlib.h>
#include <string.h>

#include "standin.h"

struct edge {
    uint32_t from, to;
    bool programmatic;
};

struct CUgraph_st {
    struct object object;
    struct CUgraphNode_st **nodes;
    struct edge *edges;
    uint32_t node_count, edge_count;
};

#define CHECK_GRAPH(graph)                                               \
    if (!object_check((const struct object *)(graph), KIND_GRAPH, NULL)) \
    return STANDIN_INVALID_HANDLE
#define CHECK_EXEC(exec)                                                  \
    if (!object_check((const struct object *)(exec), KIND_EXEC, context)) \
    return STANDIN_INVALID_HANDLE

/* A graph belongs to no context, so none need be current. */
CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    VISIT(cuGraphCreate);
    if (flags != 0)
        return MISUSE(STANDIN_INVALID_VALUE, "a graph with flags %u", flags);
    struct CUgraph_st *made = calloc(1, sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object_add(&made->object, KIND_GRAPH, NULL);
    *graph = made;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    VISIT(cuGraphDestroy);
    CHECK_GRAPH(graph);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        free(graph->nodes[i]->work.args);
        free(graph->nodes[i]);
    }
    free(graph->nodes);
    free(graph->edges);
    object_kill(&graph->object);
    return CUDA_SUCCESS;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static CUresult add_edge(struct CUgraph_st *graph, CUgraphNode from, CUgraphNode to,
                         const CUgraphEdgeData *data)
{
    struct edge edge = {.programmatic =
                            data && data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    if (from->graph != graph || to->graph != graph || from == to)
        return MISUSE(STANDIN_INVALID_VALUE, "an edge between nodes that are not of this graph");
    if (edge.programmatic && (from->work.kind != WORK_LAUNCH || to->work.kind != WORK_LAUNCH ||
                              data->from_port != CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC))
        return MISUSE(STANDIN_INVALID_VALUE, "a programmatic edge that joins no two kernels");
    edge.from = from->number;
    edge.to = to->number;
    struct edge *grown = realloc(graph->edges, (graph->edge_count + 1) * sizeof(edge));
    if (!grown)
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph->edges = grown;
    graph->edges[graph->edge_count++] = edge;
    return CUDA_SUCCESS;
}

static CUresult add_edges(struct CUgraph_st *graph, const CUgraphNode *from, const CUgraphNode *to,
                          const CUgraphEdgeData *data, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = add_edge(graph, from[i], to[i], data ? &data[i] : NULL);
    return result;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count)
{
    VISIT(cuGraphAddDependencies);
    CHECK_GRAPH(graph);
    return add_edges(graph, from, to, NULL, count);
}

CUresult cuGraphAddDependencies_12030(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t count)
{
    VISIT(cuGraphAddDependencies_12030);
    CHECK_GRAPH(graph);
    return add_edges(graph, from, to, data, count);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static CUresult add_node(struct CUgraph_st *graph, const CUgraphNode *from, size_t count,
                         CUresult result, const struct work *work, CUgraphNode *node)
{
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphNode_st **grown =
        realloc(graph->nodes, (graph->node_count + 1) * sizeof(*graph->nodes));
    struct CUgraphNode_st *made = calloc(1, sizeof(*made));
    if (grown)
        graph->nodes = grown;
    if (!grown || !made) {
        free(work->args);
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->graph = graph;
    made->number = graph->node_count;
    made->work = *work;
    graph->nodes[graph->node_count++] = made;
    *node = made;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = add_edge(graph, from[i], made, NULL);
    return result;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    VISIT_CONTEXT(cuGraphAddKernelNode);
    (void)context;
    CHECK_GRAPH(graph);
    const unsigned blocks[] = {params->gridDimX, params->gridDimY, params->gridDimZ};
    const unsigned block[] = {params->blockDimX, params->blockDimY, params->blockDimZ};
    struct work work;
    return add_node(graph, from, count,
                    work_launch(&work, params->func, blocks, block, params->sharedMemBytes,
                                params->kernelParams, params->extra),
                    &work, node);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
                              size_t count, const CUDA_MEMCPY3D_v2 *params, CUcontext context)
{
    VISIT(cuGraphAddMemcpyNode);
    CHECK_GRAPH(graph);
    if (!context)
        return MISUSE(CUDA_ERROR_INVALID_CONTEXT, "a copy node without a context");
    struct work work;
    return add_node(graph, from, count, work_copy_rows(&work, params, context), &work, node);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS_v1 *params,
                              CUcontext context)
{
    VISIT(cuGraphAddMemsetNode);
    CHECK_GRAPH(graph);
    if (!context || params->height != 1 || params->elementSize != 4)
        return MISUSE(STANDIN_INVALID_VALUE, "a fill of a kind that the stand-in does not know");
    struct work work;
    return add_node(graph, from, count, work_fill(&work, params->dst, params->value, params->width),
                    &work, node);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
                             size_t count)
{
    VISIT(cuGraphAddEmptyNode);
    CHECK_GRAPH(graph);
    const struct work work = {.kind = WORK_NOTHING};
    return add_node(graph, from, count, CUDA_SUCCESS, &work, node);
}

/* ---- Executable graphs ----------------------------------------------------------------------- */

/* A kernel at the end of a programmatic edge may start early, and sees its predecessor's results
 * only if it waits for them: without the wait the edge orders nothing. */
static bool orders(const struct CUgraphExec_st *exec, const struct edge *edge)
{
    return !edge->programmatic || exec->work[edge->to].function->waits;
}

static void free_edges(struct CUgraphExec_st *exec)
{
    free(exec->degree);
    free(exec->first_next);
    free(exec->next);
}

static void free_exec(struct CUgraphExec_st *exec)
{
    for (uint32_t i = 0; exec->work && i < exec->node_count; i++)
        free(exec->work[i].args);
    free(exec->work);
    free_edges(exec);
}

static bool copy_work(const struct CUgraph_st *graph, struct CUgraphExec_st *exec)
{
    exec->work = calloc(graph->node_count + 1, sizeof(*exec->work));
    for (uint32_t i = 0; exec->work && i < graph->node_count; i++) {
        struct work *work = &exec->work[i];
        *work = graph->nodes[i]->work;
        if (work->kind != WORK_LAUNCH)
            continue;
        work->args = calloc(1, work->args_size + 16);
        if (!work->args)
            return false;
        memcpy(work->args, graph->nodes[i]->work.args, work->args_size);
    }
    return exec->work != NULL;
}

static bool copy_edges(const struct CUgraph_st *graph, struct CUgraphExec_st *exec)
{
    uint32_t *first = exec->first_next = calloc(graph->node_count + 1, sizeof(uint32_t));
    exec->degree = calloc(graph->node_count + 1, sizeof(uint32_t));
    exec->next = calloc(graph->edge_count + 1, sizeof(uint32_t));
    if (!first || !exec->degree || !exec->next)
        return false;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct edge *edge = &graph->edges[i];
        if (orders(exec, edge)) {
            first[edge->from]++;
            exec->degree[edge->to]++;
        }
    }
    /* Counts become ends; filling in turns each end into its beginning. */
    for (uint32_t i = 0; i < graph->node_count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (orders(exec, &graph->edges[i]))
            exec->next[--first[graph->edges[i].from]] = graph->edges[i].to;
    return true;
}

/* Takes away nodes that wait for nothing: in a cycle some always wait. Twice the same edge is as
 * bad. */
static const char *find_mistake(const struct CUgraphExec_st *exec)
{
    uint32_t count = exec->node_count, *list = calloc(3 * (size_t)count + 1, sizeof(*list));
    uint32_t *missing = list + count, *seen = missing + count, end = 0;
    const char *mistake = NULL;
    if (!list)
        return NULL;
    memcpy(missing, exec->degree, count * sizeof(*missing));
    for (uint32_t i = 0; i < count; i++)
        if (missing[i] == 0)
            list[end++] = i;
    for (uint32_t at = 0; at < end; at++) {
        uint32_t node = list[at];
        for (uint32_t i = exec->first_next[node]; i < exec->first_next[node + 1]; i++) {
            uint32_t next = exec->next[i];
            if (seen[next] == node + 1)
                mistake = "a graph has the same edge twice";
            seen[next] = node + 1;
            if (--missing[next] == 0)
                list[end++] = next;
        }
    }
    free(list);
    return end < count ? "a graph has a cycle" : mistake;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    VISIT_CONTEXT(cuGraphInstantiateWithFlags);
    CHECK_GRAPH(graph);
    if (flags != 0)
        return MISUSE(STANDIN_INVALID_VALUE, "a graph was instantiated with flags %llu", flags);
    struct CUgraphExec_st *made = calloc(1, sizeof(*made));
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->source = graph;
    made->node_count = graph->node_count;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (copy_work(graph, made) && copy_edges(graph, made)) {
        const char *mistake = find_mistake(made);
        result = mistake ? MISUSE(STANDIN_INVALID_VALUE, "%s", mistake) : CUDA_SUCCESS;
    }
    if (result != CUDA_SUCCESS) {
        free_exec(made);
        free(made);
        return result;
    }
    object_add(&made->object, KIND_EXEC, context);
    *exec = made;
    return CUDA_SUCCESS;
}

/* The node's number; node_count: it is none of the graph's, or the graph is gone. */
static uint32_t find_node(const struct CUgraphExec_st *exec, const struct CUgraphNode_st *node)
{
    uint32_t i = exec->source->object.alive ? 0 : exec->node_count;
    while (i < exec->node_count && exec->source->nodes[i] != node)
        i++;
    return i;
}

/* A programmatic edge into the node may order something now that did not before, and the other way
 * round. */
static CUresult change_work(struct CUgraphExec_st *exec, uint32_t number, const struct work *work)
{
    struct work *old = &exec->work[number];
    bool waits = old->function->waits;
    free(old->args);
    *old = *work;
    if (waits == work->function->waits)
        return CUDA_SUCCESS;
    free_edges(exec);
    return copy_edges(exec->source, exec) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* NVIDIA's driver lets earlier launches see the old values; here nobody may be that bold. */
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    VISIT_CONTEXT(cuGraphExecKernelNodeSetParams);
    CHECK_EXEC(exec);
    uint32_t number = find_node(exec, node);
    if (number == exec->node_count || exec->work[number].kind != WORK_LAUNCH)
        return MISUSE(STANDIN_INVALID_VALUE, "a node was changed that is no kernel of the graph");
    if (exec->queued > 0)
        return MISUSE(STANDIN_INVALID_VALUE, "an executable graph was changed while queued");
    const unsigned blocks[] = {params->gridDimX, params->gridDimY, params->gridDimZ};
    const unsigned block[] = {params->blockDimX, params->blockDimY, params->blockDimZ};
    struct work work;
    CUresult result = work_launch(&work, params->func, blocks, block, params->sharedMemBytes,
                                  params->kernelParams, params->extra);
    return result == CUDA_SUCCESS ? change_work(exec, number, &work) : result;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    VISIT_CONTEXT(cuGraphExecDestroy);
    CHECK_EXEC(exec);
    if (exec->queued > 0)
        return MISUSE(STANDIN_INVALID_VALUE, "an executable graph was destroyed while queued");
    free_exec(exec);
    object_kill(&exec->object);
    return CUDA_SUCCESS;
}

/* The device has what it needs from the beginning. */
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    VISIT_CONTEXT(cuGraphUpload);
    CHECK_EXEC(exec);
    return object_check((const struct object *)stream, KIND_STREAM, context)
               ? CUDA_SUCCESS
               : STANDIN_INVALID_HANDLE;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    VISIT_CONTEXT(cuGraphLaunch);
    CHECK_EXEC(exec);
    if (!object_check((const struct object *)stream, KIND_STREAM, context))
        return STANDIN_INVALID_HANDLE;
    const struct task task = {
        .kind = TASK_GRAPH,
        .exec = exec,
        .left = exec->node_count,
        .missing = calloc(exec->node_count + 1, sizeof(uint32_t)),
        .ready = calloc(exec->node_count + 1, sizeof(uint32_t)),
    };
    exec->queued++; /* before the device may do it at once */
    CUresult result =
        task.missing && task.ready ? stream_enqueue(stream, &task) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        exec->queued--;
        free(task.missing);
        free(task.ready);
    }
    return result;
}
