/* An executable graph that runs pieces of one shape, with other kernels, grids and arguments each
 * time. */
#ifndef GANTRY_CUDA_RECYCLED_H
#define GANTRY_CUDA_RECYCLED_H

#include "graph.h"
#include "shape.h"

/* A part of a plan that is to be run. */
struct piece {
    const struct shape *shape;
    const struct gantry_op *ops;
    uint64_t table; /* address of the plan's table */
    uint64_t value; /* of the submission */
    bool wanted;    /* a graph of the shape is worth making at once; else when the shape was seen
                       several times of late */
};

struct node;

struct recycled {
    struct graph graph; /* without exec: the driver refuses this shape */
    uint64_t value;     /* the submission that uses it */
    uint64_t used;      /* the pool's clock at that time */
    bool rebuilt;       /* an update was refused before */
    uint64_t hash;      /* of the shape, as what follows */
    uint32_t op_count, word_count;
    uint32_t *words;
    struct node *nodes; /* op_count */
};

bool recycled_has_shape(const struct recycled *item, const struct shape *shape);

/* What follows is counted in the queue's statistics; call it with the context current. What the
 * driver refuses is no failure: the item is without a graph then. */

enum gantry_status recycled_create(struct gantry_drv_queue *queue, const struct piece *piece,
                                   struct recycled **item);

/* Makes the graph do what the piece says. An update that the driver refuses makes the graph anew,
 * once; after a second one there is none. The graph must not be in flight. */
enum gantry_status recycled_change(struct gantry_drv_queue *queue, struct recycled *item,
                                   const struct piece *piece);

/* The graph must not be in flight; the context may be gone, or not current. */
void recycled_destroy(struct gantry_drv_device *device, struct recycled *item);

#endif
