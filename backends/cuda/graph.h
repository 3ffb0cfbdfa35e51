/* A plan as a CUDA graph: made from explicit nodes, never captured, so that other threads' calls
 * can't disturb it, nor it theirs. */
#ifndef GANTRY_CUDA_GRAPH_H
#define GANTRY_CUDA_GRAPH_H

#include "driver.h"

/* Programmatic edges are made full unless `programmatic`. GANTRY_E_DRIVER and
 * GANTRY_E_OUT_OF_MEMORY leave the device as it was. Call with the context current. */
enum gantry_status graph_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                               uint64_t table, bool programmatic, CUgraphExec *graph);

#endif
