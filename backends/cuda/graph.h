/* A plan as a CUDA graph: made from explicit nodes, never captured, so that other threads' calls
 * can't disturb it, nor it theirs.
 *
 * What the driver refuses comes back as GANTRY_E_DRIVER or GANTRY_E_OUT_OF_MEMORY and leaves the
 * device as it was. Call with the context current, in a whole scope. */
#ifndef GANTRY_CUDA_GRAPH_H
#define GANTRY_CUDA_GRAPH_H

#include "driver.h"
#include "operation.h"

struct graph {
    CUgraphExec exec;
    CUgraph source; /* what exec was made from, with a node per operation; NULL: sealed */
    CUgraphNode *nodes;
    bool programmatic_lost; /* programmatic edges became full ones */
};

/* Two tries at most: as the plan wants it, then with full edges. On failure the graph is as it was.
 */
enum gantry_status graph_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                               uint64_t table, struct graph *graph);

/* Gives a launch another kernel, grid and arguments. The graph must be whole and not in flight. */
enum gantry_status graph_change(struct gantry_drv_device *device, const struct graph *graph,
                                uint32_t node, const struct gantry_op_launch *launch,
                                const struct launch_args *args);

/* Frees what only changes need. */
void graph_seal(struct gantry_drv_device *device, struct graph *graph);

/* Takes an empty graph, and leaves one. */
void graph_destroy(struct gantry_drv_device *device, struct graph *graph);

bool graph_is_refusal(enum gantry_status status);

/* Waits for what the device's own stream was given, with its lock held. A driver that fails to do
 * so is polled, because what the work uses is freed after the failure. */
enum gantry_status transfer_finish(struct gantry_drv_device *device);

#endif
