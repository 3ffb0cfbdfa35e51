/* A way of doing a piece of work, by gantry or by the driver alone, that can be done again and
 * again and is timed. */
#ifndef GANTRY_BENCH_WAY_H
#define GANTRY_BENCH_WAY_H

#include <stdbool.h>
#include <stddef.h>

#include "results.h"

struct timing {
    double ns;        /* of the part that the case is about */
    double submit_ns; /* of handing the work to the driver, where that is worth knowing by itself;
                         negative: not measured */
};

struct way {
    char how[HOW_SIZE];

    /* The ways that it takes turns with may be in another context of the GPU. It is run once
     * untimed before each timed run, so that changing contexts is not what is measured. */
    bool own_context;

    /* Does the work once and waits for its end, also where waiting is not timed. False: it failed,
     * and why was said. */
    bool (*run)(struct way *way, struct timing *timing);
    void (*destroy)(struct way *way);
};

enum { WAY_COUNT = 4 };

/* Several ways of doing the same. */
struct ways {
    struct way *items[WAY_COUNT];
    size_t count;
};

/* Takes the way; false when there is none, so that makers can be called in place. */
bool ways_add(struct ways *ways, struct way *way);
void ways_destroy(struct ways *ways);

/* Runs gantry's way and the raw ones (of which there may be none) in turn, `repetitions` times
 * after a warm-up, and fills the row in. Times are divided by `launches`. False: one failed. */
bool ways_measure(struct way *gantry, const struct ways *raw, uint32_t launches,
                  unsigned repetitions, struct row *row);

#endif
