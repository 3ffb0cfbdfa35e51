/* What one run of a case launches. It is said once, so that every side launches the same. */
#ifndef GANTRY_BENCH_WORK_H
#define GANTRY_BENCH_WORK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BLOCK_THREADS = 256, /* of the kernels in kernels/bench.gk */
    KERNEL_COUNT = 8,    /* tiny1 … tiny8; tinyK adds K */
};

/* The argument struct of the tiny kernels. */
struct tiny_args {
    uint64_t y;
    float a;
    uint32_t n;
};

/* Launches in stages: those of a stage are independent and each has blocks of its own; a stage
 * waits for the one before it and has the same blocks. */
struct work {
    uint32_t launches; /* a multiple of width */
    uint32_t width;    /* launches of a stage: 1 is a chain */
    uint32_t blocks;   /* of each launch */
    uint32_t kernels;  /* taken in turn: 1 or KERNEL_COUNT */
};

static inline bool work_begins_stage(const struct work *work, uint32_t launch)
{
    return launch % work->width == 0;
}

static inline uint32_t work_kernel(const struct work *work, uint32_t launch)
{
    return launch % work->kernels;
}

static inline uint32_t work_first_block(const struct work *work, uint32_t launch)
{
    return launch % work->width * work->blocks;
}

/* Blocks of memory that the work touches. */
static inline uint32_t work_all_blocks(const struct work *work)
{
    return work->width * work->blocks;
}

/* One launch, ready to be given to a side: what is timed is the side and not the arithmetic. */
struct launch {
    struct tiny_args args;
    uint32_t kernel;
};

/* All launches of a work, with a = 1; y is the memory of block 0. Free it. NULL, said, when memory
 * runs out. */
struct launch *work_launches(const struct work *work, uint64_t y);

#endif
