/* gantry bench: its benchmarks, and what the parts of gantry bench submit share. */
#ifndef GANTRY_BENCH_BENCH_H
#define GANTRY_BENCH_BENCH_H

#include "gantry_side.h"
#include "raw.h"
#include "results.h"

/* The benchmarks. argv[0] is "bench", for messages; each returns the exit status. */
int bench_submit(int argc, char **argv);
int bench_memory(int argc, char **argv);
int bench_bandwidth(int argc, char **argv);
int bench_copy(int argc, char **argv);

/* ---- gantry bench submit -------------------------------------------------------------------- */

enum { MOST_COUNTS = 32, MOST_CASES = 32 };

struct options {
    const char *device, *backend, *package, *svg;
    bool json, quick;
    uint32_t counts[MOST_COUNTS + 1]; /* launches to try, up to a 0; none: each case's own */
    const char *cases[MOST_CASES];    /* names; case_count 0: all */
    size_t case_count;
};

/* False: nothing is left to do but to exit with *status. */
bool options_read(int argc, char **argv, struct options *options, int *status);

struct bench {
    struct options options;
    unsigned repetitions;
    struct package package;
    struct gantry_side side;
    struct gantry_side unfolded; /* the same device with fold = off; open when the sweep needs it */
    struct raw *raw;             /* NULL: there is none, and why */
    char raw_missing[REASON_SIZE];
    struct results results;
};

/* ---- Cases ---------------------------------------------------------------------------------- */

struct bench_case;

/* NULL past the end. */
const struct bench_case *case_at(size_t index);
const char *case_name(const struct bench_case *test);
const struct bench_case *case_find(const char *name);

/* The most blocks of memory that a case needs of those that were reserved; and running it, which
 * adds its rows. False: something failed or a result is wrong, and that was said. */
uint32_t case_blocks(const struct bench *bench, const struct bench_case *test);
bool case_run(struct bench *bench, const struct bench_case *test);

/* Folding against fold = off, over the number of blocks; sweep.c. It reserves what it needs itself:
 * too much for the other cases, which compare all of it. */
bool sweep_run(struct bench *bench);

#endif
