/* What the benchmarks of bandwidth found: how fast bytes moved, beside the raw driver. */
#ifndef GANTRY_BENCH_RATES_H
#define GANTRY_BENCH_RATES_H

#include "gantry_side.h"
#include "results.h"

/* A GB/s is a byte per ns. */
struct rate {
    struct row row;     /* its times are those of `bytes` and of `raw_bytes` */
    uint64_t n;         /* elements, or the size of a copy */
    uint64_t bytes;     /* that must move */
    uint64_t raw_bytes; /* that the raw way moves meanwhile */
};

/* A case that this device can't run, and why. */
struct rate_skip {
    const char *test;
    char why[256];
};

enum { MOST_SKIPS = 32 }; /* more than there are cases */

struct rates {
    const char *device, *backend, *driver_version;
    const char *raw_missing; /* why there is no raw side; NULL: there is */
    const char *n_key;       /* what n is called: "n", "size" */
    struct rate *items;
    size_t count;
    struct rate_skip skips[MOST_SKIPS];
    size_t skip_count;
};

/* A rate without figures; valid until the next is added. NULL, said, when memory runs out. */
struct rate *rates_add(struct rates *rates, const char *test, uint64_t n, uint64_t bytes);
void rates_skip(struct rates *rates, const char *test, const char *why);
void rates_free(struct rates *rates);

/* What they are about. raw_missing: why there is no raw side, or NULL; the strings outlive them. */
void rates_describe(struct rates *rates, const struct gantry_side *side, const char *raw_missing,
                    const char *n_key);

/* NAN where there is no raw twin. */
double rate_gbps(const struct rate *rate);
double rate_p95_gbps(const struct rate *rate); /* of the run at the 95th percentile of time */
double rate_raw_gbps(const struct rate *rate);
double rate_ratio(const struct rate *rate); /* gbps / raw_gbps: above 1 is faster than raw */

void rates_print_table(const struct rates *rates);

/* Prints one JSON object; returns the exit status: TOOL_DONE or TOOL_FAILED. */
int rates_print_json(const struct rates *rates);

/* An SVG file, by means of gnuplot: a bar for each case with the raw rate as a line; or for each
 * case, whose rates follow one another, a diagram with curves over n. False: why was said. */
bool rates_plot_bars(const struct rates *rates, const char *file);
bool rates_plot_curves(const struct rates *rates, const char *file);

/* Shows them: draws into `svg` by one of these two, unless it is NULL, and prints one JSON object
 * or the table. Returns the exit status. */
int rates_show(const struct rates *rates, bool json, const char *svg,
               bool (*plot)(const struct rates *rates, const char *file));

#endif
