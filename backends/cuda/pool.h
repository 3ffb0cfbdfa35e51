/* The recycled graphs of a queue: each has its own, so that nobody else's submissions hold one up.
 * A graph is free once its last submission is done. */
#ifndef GANTRY_CUDA_POOL_H
#define GANTRY_CUDA_POOL_H

#include "recycled.h"

enum gantry_status pool_open(struct gantry_drv_queue *queue);

/* When the queue's work is done. Takes a queue without a pool. */
void pool_close(struct gantry_drv_queue *queue);

/* A graph that does what the piece says, to be launched on the queue's stream by this submission.
 * NULL: launch the operations one by one, because the shape is new, all graphs are in flight, or
 * the driver refuses one, which is counted. Call with the context current. */
enum gantry_status pool_take(struct gantry_drv_queue *queue, const struct piece *piece,
                             CUgraphExec *exec);

#endif
