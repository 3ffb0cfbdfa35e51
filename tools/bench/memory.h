/* gantry bench memory: what it measures. */
#ifndef GANTRY_BENCH_MEMORY_H
#define GANTRY_BENCH_MEMORY_H

#include "raw.h"

/* Making and destroying one buffer, ns. */
struct memory_row {
    uint64_t size;
    double gantry_ns, gantry_p95_ns;
    double raw_ns; /* NAN: there is no raw side */
};

/* Many buffers of mixed sizes that come and go. */
struct memory_churn {
    uint32_t creates, live;
    double ns;                      /* a create and a destroy, on the average */
    struct gantry_memory_info info; /* at the end, with all the live ones */
    double worst_unused;            /* largest share of reserved memory that no buffer had */
    uint64_t resident_early, resident_late; /* bytes of this process; 0: unknown */
};

/* False: something failed, and that was said. */
bool memory_measure_row(struct gantry_side *side, struct raw *raw, bool quick,
                        struct memory_row *row);
bool memory_measure_churn(struct gantry_side *side, bool quick, struct memory_churn *churn);

/* Share of reserved memory that no buffer has. */
double memory_unused(const struct gantry_memory_info *info);

#endif
