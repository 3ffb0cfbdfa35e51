/* Graphs as one would write them by hand. */
#include "raw_cuda.h"

#include <stdlib.h>

#include "../output.h"

enum { MOST_CHAINS = 16 };

/* A graph that grows stage by stage. */
struct sketch {
    struct raw_cuda *cuda;
    const struct work *work;
    struct launch *launches;
    CUgraph graph;
    bool programmatic;
    CUgraphNode join; /* of the stages before; NULL in the first */
    bool join_is_kernel;
    CUgraphNode tails[MOST_CHAINS];
    uint32_t chains, used; /* tails */
};

/* Only an edge between two kernels can be programmatic. */
static bool add_edge(struct sketch *sketch, CUgraphNode from, bool from_kernel, CUgraphNode to)
{
    const CUgraphEdgeData data = {
        .from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
        .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
    };

    if (sketch->programmatic && from_kernel)
        return CU(sketch->cuda, cuGraphAddDependencies_12030(sketch->graph, &from, &to, &data, 1));
    return CU(sketch->cuda, cuGraphAddDependencies(sketch->graph, &from, &to, 1));
}

static bool add_kernel(struct sketch *sketch, uint32_t launch, CUgraphNode *node)
{
    struct raw_cuda_args args;
    const CUDA_KERNEL_NODE_PARAMS_v1 kernel = {
        .func = sketch->cuda->kernels[sketch->launches[launch].kernel],
        .gridDimX = sketch->work->blocks,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = BLOCK_THREADS,
        .blockDimY = 1,
        .blockDimZ = 1,
        .extra = args.list,
    };

    raw_cuda_args_set(&args, &sketch->launches[launch]);
    return CU(sketch->cuda, cuGraphAddKernelNode(node, sketch->graph, NULL, 0, &kernel));
}

/* What follows waits for all tails: through an empty node, or on one chain for the tail itself. */
static bool end_stage(struct sketch *sketch)
{
    sketch->join_is_kernel = sketch->used == 1;
    if (sketch->join_is_kernel)
        sketch->join = sketch->tails[0];
    else if (!CU(sketch->cuda,
                 cuGraphAddEmptyNode(&sketch->join, sketch->graph, sketch->tails, sketch->used)))
        return false;
    sketch->used = 0;
    return true;
}

static bool add_launch(struct sketch *sketch, uint32_t launch)
{
    const struct work *work = sketch->work;
    uint32_t chain = launch % work->width % sketch->chains;
    CUgraphNode node, before;
    bool after_tail;

    if (launch > 0 && work_begins_stage(work, launch) && !end_stage(sketch))
        return false;
    after_tail = chain < sketch->used;
    before = after_tail ? sketch->tails[chain] : sketch->join;
    if (!add_kernel(sketch, launch, &node))
        return false;
    sketch->tails[chain] = node;
    if (chain >= sketch->used)
        sketch->used = chain + 1;
    return !before || add_edge(sketch, before, after_tail || sketch->join_is_kernel, node);
}

static bool instantiate(struct sketch *sketch, CUgraphExec *graph)
{
    struct raw_cuda *cuda = sketch->cuda;

    return CU(cuda, cuGraphInstantiateWithFlags(graph, sketch->graph, 0)) &&
           CU(cuda, cuGraphUpload(*graph, cuda->stream)) &&
           CU(cuda, cuStreamSynchronize(cuda->stream));
}

bool raw_cuda_graph(struct raw_cuda *cuda, const struct work *work, uint32_t chains,
                    bool programmatic, CUgraphExec *graph)
{
    struct sketch sketch = {.cuda = cuda,
                            .work = work,
                            .chains = chains,
                            .programmatic = programmatic};
    bool built;

    sketch.launches = work_launches(work, cuda->y);
    built = sketch.launches && CU(cuda, cuGraphCreate(&sketch.graph, 0));
    for (uint32_t i = 0; i < work->launches && built; i++)
        built = add_launch(&sketch, i);
    built = built && instantiate(&sketch, graph);
    if (sketch.graph)
        cuda->cu.cuGraphDestroy(sketch.graph);
    free(sketch.launches);
    return built;
}
