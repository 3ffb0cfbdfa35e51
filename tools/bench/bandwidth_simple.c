/* Kernels that go over arrays once. */
#include <string.h>

#include "bandwidth.h"

static const float factor = 0.5f;
static const float filling = 2.5f;

/* ---- Copy and fill -------------------------------------------------------------------------- */

static uint64_t one_way(uint64_t n)
{
    return 4 * n;
}

static uint64_t one_in_one_out(uint64_t n)
{
    return 4 * n + 4 * n;
}

static void copy_record(struct trial *trial, struct gantry_list *list)
{
    const struct gantry_copy_args args = {trial_b(trial), trial_a(trial), trial->n};

    gantry_list_launch(list, trial->kernels[0], gantry_threads_by_16(trial->n), &args, sizeof args);
}

static double a_float(const void *trial, uint64_t i, double *size)
{
    (void)size;
    return pattern_float(trial_pattern(trial), i);
}

static bool copy_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, trial->n, a_float, 0);
}

static void fill_record(struct trial *trial, struct gantry_list *list)
{
    struct gantry_fill_args args = {.to = trial_a(trial), .n = trial->n};

    memcpy(&args.value, &filling, sizeof args.value);
    gantry_list_launch(list, trial->kernels[0], gantry_threads_by_16(trial->n), &args, sizeof args);
}

static double the_filling(const void *trial, uint64_t i, double *size)
{
    (void)trial;
    (void)i;
    (void)size;
    return filling;
}

static bool fill_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.a, trial->n, the_filling, 0);
}

/* ---- saxpy ---------------------------------------------------------------------------------- */

static uint64_t two_in_one_out(uint64_t n)
{
    return 4 * n + 4 * n + 4 * n;
}

static void record_saxpy(struct trial *trial, struct gantry_list *list, struct gantry_size threads)
{
    const struct gantry_saxpy_args args = {.x = trial_a(trial),
                                           .y = trial_b(trial),
                                           .n = trial->n,
                                           .a = factor};

    gantry_list_launch(list, trial->kernels[0], threads, &args, sizeof args);
}

static void saxpy_record(struct trial *trial, struct gantry_list *list)
{
    record_saxpy(trial, list, gantry_threads_by_16(trial->n));
}

static void saxpy_4_bytes_record(struct trial *trial, struct gantry_list *list)
{
    record_saxpy(trial, list, (struct gantry_size){.x = (uint32_t)trial->n});
}

static double a_saxpy(const void *trial, uint64_t i, double *size)
{
    const struct pattern *pattern = trial_pattern(trial);

    (void)size;
    return factor * pattern_float(pattern, i) + pattern_float(pattern, i + SECOND);
}

static bool saxpy_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, trial->n, a_saxpy, 1e-6);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static void sum_record(struct trial *trial, struct gantry_list *list)
{
    gantry_list_sum(list, &trial->bench->library.algorithms, trial_a(trial), trial_results(trial),
                    trial->n, trial_c(trial));
}

static double the_sum(const void *trial, uint64_t i, double *size)
{
    (void)i;
    (void)size;
    return pattern_sum(trial_pattern(trial), ((const struct trial *)trial)->n);
}

/* Sums of the pattern are small and exact, so that one that was left out shows. */
static bool sum_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.results, 1, the_sum, 1e-3);
}

static uint64_t two_in(uint64_t n)
{
    return 4 * n + 4 * n;
}

static void dot_record(struct trial *trial, struct gantry_list *list)
{
    gantry_list_dot(list, &trial->bench->library.algorithms, trial_a(trial), trial_b(trial),
                    trial_results(trial), trial->n, trial_c(trial));
}

static double the_dot(const void *trial, uint64_t i, double *size)
{
    const struct pattern *pattern = trial_pattern(trial);
    double dot = 0;

    (void)i;
    *size = 0;
    for (uint32_t k = 0; k < PATTERN_PERIOD; k++) {
        double times = (double)pattern_count(((const struct trial *)trial)->n, k);
        double product = (double)pattern_float(pattern, k) * pattern_float(pattern, k + SECOND);

        dot += times * product;
        *size += times * (product < 0 ? -product : product);
    }
    return dot;
}

static bool dot_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.results, 1, the_dot, 1e-6);
}

/* ---- All ------------------------------------------------------------------------------------ */

const struct bandwidth_case simple_cases[] = {
    {.name = "copy",
     .kernels = {"copy"},
     .bytes = one_in_one_out,
     .fill = trial_fill_a,
     .record = copy_record,
     .check = copy_check},
    {.name = "fill",
     .kernels = {"fill"},
     .bytes = one_way,
     .fill = trial_fill_a,
     .record = fill_record,
     .check = fill_check},
    {.name = "saxpy",
     .kernels = {"saxpy"},
     .bytes = two_in_one_out,
     .fill = trial_fill_a_and_b,
     .record = saxpy_record,
     .check = saxpy_check},
    {.name = "saxpy_stride",
     .kernels = {"saxpy_stride"},
     .bytes = two_in_one_out,
     .fill = trial_fill_a_and_b,
     .record = saxpy_4_bytes_record,
     .check = saxpy_check},
    {.name = "saxpy_each",
     .kernels = {"saxpy_each"},
     .bytes = two_in_one_out,
     .fill = trial_fill_a_and_b,
     .record = saxpy_4_bytes_record,
     .check = saxpy_check},
    {.name = "sum",
     .bytes = one_way,
     .fill = trial_fill_a,
     .record = sum_record,
     .check = sum_check},
    {.name = "dot",
     .bytes = two_in,
     .fill = trial_fill_a_and_b,
     .record = dot_record,
     .check = dot_check},
    {.name = NULL},
};
