/* Executable graphs that run again with other kernels, grids and arguments: one pool per queue, so
 * that nobody else's submissions hold one up. A graph is free once its last submission is done. */
#ifndef GANTRY_CUDA_POOL_H
#define GANTRY_CUDA_POOL_H

#include "driver.h"
#include "shape.h"

enum gantry_status pool_open(struct gantry_drv_queue *queue);

/* When the queue's work is done. Takes a queue without a pool. */
void pool_close(struct gantry_drv_queue *queue);

/* A part of a plan that is to be run. */
struct piece {
    const struct shape *shape;
    const struct gantry_op *ops;
    uint64_t table; /* address of the plan's table */
    uint64_t value; /* of the submission */
    bool wanted;    /* a graph of the shape is worth making at once; else when the shape was seen
                       several times of late */
};

/* A graph that does what the piece says, to be launched on the queue's stream by this submission.
 * NULL: launch the operations one by one, because the shape is new, all graphs are in flight, or
 * the driver refuses one, which is counted. An update that the driver refuses makes the graph anew,
 * once. Call with the context current. */
enum gantry_status pool_take(struct gantry_drv_queue *queue, const struct piece *piece,
                             CUgraphExec *exec);

#endif
