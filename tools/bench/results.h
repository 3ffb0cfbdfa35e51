/* What was measured, and the ways of showing it. */
#ifndef GANTRY_BENCH_RESULTS_H
#define GANTRY_BENCH_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOW_SIZE = 80,
    EXTRA_COUNT = 4,
};

/* Times are ns per launch unless a case's comment in cases.c says otherwise; NAN: not measured. */
struct row {
    const char *test; /* the case: static */
    uint32_t n;
    double gantry_ns, gantry_p95_ns; /* median and 95th percentile */
    double raw_ns;                   /* median of the fastest raw way */
    char raw_how[HOW_SIZE];          /* which one that was; "" without raw_ns */

    /* Figures that only this case has. */
    struct {
        const char *key; /* static; NULL behind the last */
        double value;
    } extras[EXTRA_COUNT];
};

struct results {
    const char *device, *backend, *driver_version;
    const char *raw_missing; /* why there is no raw side; NULL: there is */
    uint32_t spin_us;        /* gantry's waits that take longer sleep */
    struct row *rows;
    size_t count;
};

/* A row without figures; valid until the next is added. NULL, said, when memory runs out. */
struct row *results_add(struct results *results, const char *test, uint32_t n);
void results_free(struct results *results);

void row_extra(struct row *row, const char *key, double value);

/* gantry_ns / raw_ns, NAN where one of them is not known. */
double row_ratio(const struct row *row);

void results_print_table(const struct results *results);

/* Prints one JSON object; returns the exit status: TOOL_DONE or TOOL_FAILED. */
int results_print_json(const struct results *results);

/* Draws the rows that have several n into an SVG file, by means of gnuplot. False: why was said. */
bool results_plot(const struct results *results, const char *file);

#endif
