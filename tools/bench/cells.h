/* What the memory of a side must hold: the tiny kernels, done by the processor. */
#ifndef GANTRY_BENCH_CELLS_H
#define GANTRY_BENCH_CELLS_H

#include "work.h"

/* All values of a block of memory are alike, so one stands for it. */
struct cells {
    float *values;
    uint32_t count; /* blocks */
};

/* Zeros. False when memory runs out. Close takes cells of zeros, too. */
bool cells_open(struct cells *cells, uint32_t count);
void cells_close(struct cells *cells);
void cells_clear(struct cells *cells);

/* One launch, and all launches of a work with a = 1. */
void cells_launch(struct cells *cells, const struct work *work, uint32_t launch, float a);
void cells_run(struct cells *cells, const struct work *work);

/* Whether memory of `count` blocks holds the same; says where not. `who` is the side, for the
 * message. */
bool cells_match(const struct cells *cells, const float *memory, const char *who);

#endif
