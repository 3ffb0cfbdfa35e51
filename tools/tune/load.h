/* What the values of a key are tried on: a piece of work that is run again and again. */
#ifndef GANTRY_TUNE_LOAD_H
#define GANTRY_TUNE_LOAD_H

#include "job.h"

enum load_kind {
    LOAD_REPLAY, /* a finished list of the bench's kernels, submitted and waited for */
    LOAD_STREAM, /* gantry_queue_launch for each launch, and a wait */
    LOAD_JOB,    /* a finished list of a job's launches, likewise */
};

struct load {
    enum load_kind kind;
    struct work work;      /* of the first two */
    const struct job *job; /* of the third */
};

/* The way of running it on a side; `block` is for jobs, {0, 0, 0}: what the policy says. NULL: it
 * can't be made; gantry_last_error() says why. */
struct way *load_way(struct gantry_side *side, const struct load *load, struct gantry_size block);

/* Blocks of the side's memory that it needs. */
uint32_t load_blocks(const struct load *load);

#endif
