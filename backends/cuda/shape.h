/* Cutting a plan into pieces that graphs can be recycled for, and what makes two pieces alike.
 *
 * Any cut is right: operations are sorted, and pieces run one after the other on a stream. So
 * pieces are chosen to come again: chains by themselves, wide stages whole, and copies and fills in
 * no piece at all, because an executable graph takes few changes of those. */
#ifndef GANTRY_CUDA_SHAPE_H
#define GANTRY_CUDA_SHAPE_H

#include "driver.h"

/* How far a plan was cut. */
struct cut {
    const struct gantry_plan *plan;
    uint32_t op, edge; /* the first operation that is left, and the first edge into it or later */
};

enum cut_kind {
    CUT_OTHER, /* no launches: for the stream */
    CUT_CHAIN, /* launches, each alone in its stage; a part of it is as good */
    CUT_WIDE,  /* stages of several launches, and the joins between them */
};

enum { SHAPE_OPS = 256, SHAPE_WORDS = SHAPE_OPS / 32 + 4 * SHAPE_OPS };

/* What begins at the cut, and its length: at least one operation, no more than SHAPE_OPS launches
 * and joins. */
enum cut_kind cut_measure(const struct cut *cut, uint32_t *length);

void cut_advance(struct cut *cut, uint32_t length);

/* All that the graphs of two pieces must have in common: which operations are joins, and the edges.
 * Kernels, grids and arguments can be changed. */
struct shape {
    uint64_t hash;
    uint32_t op_count, word_count;
    uint32_t words[SHAPE_WORDS]; /* a bit per operation, 1: a join; then a word per edge */
};

/* Of the next `length` operations. False: they have too many edges. */
bool shape_read(const struct cut *cut, uint32_t length, struct shape *shape);

uint32_t shape_edge_count(const struct shape *shape);

/* Writes shape_edge_count() edges, between operations counted from the piece's first. */
void shape_edges(const struct shape *shape, struct gantry_edge *edges);

#endif
