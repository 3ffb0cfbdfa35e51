/* gantry bench bandwidth: what its parts share. */
#ifndef GANTRY_BENCH_BANDWIDTH_H
#define GANTRY_BENCH_BANDWIDTH_H

#include "arrays.h"
#include "library.h"
#include "rates.h"
#include "raw.h"

enum {
    MOST_BANDWIDTH_CASES = 32,
    LEAST_N = 4096,
    TRIAL_KERNELS = 3,
    ROW = 1024,         /* elements of a row of softmax and layer norm */
    CHANNELS = 8,       /* of the convolution, in and out */
    LAYER_INPUTS = 256, /* of the linear layers */
    LAYER_OUTPUTS = 1024,
    TRIAL_WEIGHTS = (LAYER_INPUTS + 1) * LAYER_OUTPUTS, /* in c */
};

struct bandwidth_options {
    const char *device, *backend, *package, *svg;
    bool json, quick;
    uint64_t n; /* 0: what suits the device */
    const char *cases[MOST_BANDWIDTH_CASES];
    size_t case_count; /* 0: all */
};

struct bandwidth {
    struct bandwidth_options options;
    uint64_t n; /* words of the arrays */
    struct gantry_side side;
    struct raw *raw; /* NULL: there is none, and why */
    char raw_missing[REASON_SIZE];
    struct library library;
    struct pattern pattern;
    struct arrays arrays;
    struct rates rates;
};

/* ---- Cases ---------------------------------------------------------------------------------- */

struct bandwidth_case;

/* A case that runs. */
struct trial {
    struct bandwidth *bench;
    const struct bandwidth_case *test;
    struct gantry_kernel *kernels[TRIAL_KERNELS]; /* as the case names them */
    uint64_t n;
};

/* Sizes follow from n, the words of the arrays a and b, alone. */
struct bandwidth_case {
    const char *name;
    const char *kernels[TRIAL_KERNELS]; /* that it makes, beside those of algorithms.h */

    uint64_t (*bytes)(uint64_t n);    /* that must be read and written, once each */
    double (*operations)(uint64_t n); /* floating-point ones; NULL: few beside the bytes */

    bool (*fill)(struct trial *trial);    /* the inputs; before and after the timing */
    bool (*restore)(struct trial *trial); /* before each run, not timed; NULL: runs may repeat */
    void (*record)(struct trial *trial, struct gantry_list *list); /* one run */
    bool (*check)(struct trial *trial); /* of one run over what `fill` put there */
};

/* Each ends with a case without a name. */
extern const struct bandwidth_case simple_cases[], ordered_cases[], dense_cases[], particle_cases[],
    product_cases[];

/* NULL past the end. */
const struct bandwidth_case *bandwidth_case_at(size_t index);

/* Runs it and adds its rate. False: something failed or a result is wrong, and that was said. */
bool bandwidth_case_run(struct bandwidth *bench, const struct bandwidth_case *test);

/* Bytes of the array c for n words. */
uint64_t bandwidth_c_size(uint64_t n);

/* The largest power of two whose square is not above n. */
uint32_t bandwidth_edge(uint64_t n);

/* ---- Helpers of cases ----------------------------------------------------------------------- */

enum { SECOND = 4099 }; /* the word of the pattern that b and c begin with */

/* With the pattern's floats. */
bool trial_fill_a(struct trial *trial);
bool trial_fill_a_and_b(struct trial *trial);
bool trial_fill_a_and_c(struct trial *trial); /* of c, for weights, TRIAL_WEIGHTS words */

static inline gantry_ptr trial_a(const struct trial *trial)
{
    return gantry_buffer_address(trial->bench->arrays.a);
}

static inline gantry_ptr trial_b(const struct trial *trial)
{
    return gantry_buffer_address(trial->bench->arrays.b);
}

static inline gantry_ptr trial_c(const struct trial *trial)
{
    return gantry_buffer_address(trial->bench->arrays.c);
}

static inline gantry_ptr trial_results(const struct trial *trial)
{
    return gantry_buffer_address(trial->bench->arrays.results);
}

static inline const struct pattern *trial_pattern(const void *trial)
{
    return &((const struct trial *)trial)->bench->pattern;
}

/* As arrays_check(), of floats, for the trial. */
bool trial_check(struct trial *trial, struct gantry_buffer *array, uint64_t count,
                 double (*expect)(const void *trial, uint64_t i, double *size), double tolerance);

#endif
