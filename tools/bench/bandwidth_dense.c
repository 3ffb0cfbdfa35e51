/* Kernels over matrices and pictures. */
#include <math.h>

#include "bandwidth.h"

/* Of ROW elements in an array of n. */
static uint32_t rows(uint64_t n)
{
    return (uint32_t)(n / ROW);
}

/* ---- Transpose ------------------------------------------------------------------------------ */

static uint32_t transpose_columns(uint64_t n)
{
    return bandwidth_edge(n);
}

static uint32_t transpose_rows(uint64_t n)
{
    return (uint32_t)(n / transpose_columns(n));
}

static uint64_t transpose_bytes(uint64_t n)
{
    uint64_t elements = (uint64_t)transpose_rows(n) * transpose_columns(n);

    return 4 * elements + 4 * elements;
}

static void transpose_record(struct trial *trial, struct gantry_list *list)
{
    uint32_t height = transpose_rows(trial->n), width = transpose_columns(trial->n);
    const struct gantry_transpose_args args = {
        .to = trial_b(trial),
        .from = trial_a(trial),
        .rows = height,
        .columns = width,
        .to_pitch = height,
        .from_pitch = width,
    };
    const struct gantry_size threads = {(height + 3) / 4, (width + 3) / 4, 1};

    gantry_list_launch(list, trial->kernels[0], threads, &args, sizeof args);
}

static double transposed(const void *trial, uint64_t i, double *size)
{
    uint64_t n = ((const struct trial *)trial)->n;
    uint32_t height = transpose_rows(n), width = transpose_columns(n);

    (void)size;
    return pattern_float(trial_pattern(trial), i % height * width + i / height);
}

static bool transpose_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, transpose_bytes(trial->n) / 8, transposed, 0);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static uint64_t rows_in_and_out(uint64_t n)
{
    uint64_t elements = (uint64_t)rows(n) * ROW;

    return 4 * elements + 4 * elements;
}

static struct gantry_size row_threads(uint64_t n)
{
    return (struct gantry_size){.x = rows(n) * (ROW / 16)};
}

static void softmax_record(struct trial *trial, struct gantry_list *list)
{
    const struct gantry_softmax_args args = {
        .to = trial_b(trial),
        .from = trial_a(trial),
        .rows = rows(trial->n),
        .columns = ROW,
        .to_pitch = ROW,
        .from_pitch = ROW,
    };

    gantry_list_launch(list, trial->kernels[0], row_threads(trial->n), &args, sizeof args);
}

/* Relative to the result: elements are from -1 to 1, so that all results are of one size. */
static double softmax(const void *trial, uint64_t i, double *size)
{
    const struct pattern *pattern = trial_pattern(trial);
    double sum = 0, result;

    for (uint64_t k = i / ROW * ROW; k < i / ROW * ROW + ROW; k++)
        sum += exp(pattern_float(pattern, k));
    result = exp(pattern_float(pattern, i)) / sum;
    *size = result;
    return result;
}

static bool softmax_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, rows_in_and_out(trial->n) / 8, softmax, 1e-4);
}

enum { LAYER_NORM_THREADS = 1 << 23 }; /* the most that docs/kernels.md says to state */

static const float epsilon = 1e-5f;

/* The scales are the first ROW floats of c, the offsets those behind. */
static uint64_t layer_norm_bytes(uint64_t n)
{
    return rows_in_and_out(n) + 4 * 2 * ROW;
}

static void layer_norm_record(struct trial *trial, struct gantry_list *list)
{
    const struct gantry_layer_norm_args args = {
        .to = trial_b(trial),
        .from = trial_a(trial),
        .gamma = trial_c(trial),
        .beta = trial_c(trial) + 4 * ROW,
        .rows = rows(trial->n),
        .columns = ROW,
        .to_pitch = ROW,
        .from_pitch = ROW,
        .epsilon = epsilon,
    };
    struct gantry_size threads = row_threads(trial->n);

    if (threads.x > LAYER_NORM_THREADS)
        threads.x = LAYER_NORM_THREADS;
    gantry_list_launch(list, trial->kernels[0], threads, &args, sizeof args);
}

static double normalised(const void *trial, uint64_t i, double *size)
{
    const struct pattern *pattern = trial_pattern(trial);
    uint64_t first = i / ROW * ROW, column = i % ROW;
    double mean = 0, variance = 0;

    (void)size;
    for (uint64_t k = first; k < first + ROW; k++)
        mean += (double)pattern_float(pattern, k) / ROW;
    for (uint64_t k = first; k < first + ROW; k++)
        variance += pow(pattern_float(pattern, k) - mean, 2) / ROW;
    return (pattern_float(pattern, i) - mean) / sqrt(variance + (double)epsilon) *
               pattern_float(pattern, SECOND + column) +
           pattern_float(pattern, SECOND + ROW + column);
}

static bool layer_norm_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, rows_in_and_out(trial->n) / 8, normalised,
                       1e-4);
}

/* ---- Convolution ---------------------------------------------------------------------------- */

enum { LARGEST_PICTURE = 512 };

static uint32_t picture_edge(uint64_t n)
{
    uint32_t edge = bandwidth_edge(n / CHANNELS);

    return edge < LARGEST_PICTURE ? edge : LARGEST_PICTURE;
}

static uint32_t pictures(uint64_t n)
{
    return (uint32_t)(n / ((uint64_t)CHANNELS * picture_edge(n) * picture_edge(n)));
}

/* Of each, in and out. */
static uint64_t pixels(uint64_t n)
{
    return (uint64_t)pictures(n) * CHANNELS * picture_edge(n) * picture_edge(n);
}

static uint64_t convolution_bytes(uint64_t n)
{
    return 4 * pixels(n) + 4 * pixels(n) + 4 * (9 * CHANNELS + 1) * CHANNELS;
}

static double convolution_operations(uint64_t n)
{
    return 2.0 * 9 * CHANNELS * (double)pixels(n);
}

static void convolution_record(struct trial *trial, struct gantry_list *list)
{
    uint32_t edge = picture_edge(trial->n);
    const struct gantry_convolution_args args = {
        .to = trial_b(trial),
        .from = trial_a(trial),
        .weights = trial_c(trial),
        .bias = trial_c(trial) + 4 * 9 * CHANNELS * CHANNELS,
        .pictures = pictures(trial->n),
        .inputs = CHANNELS,
        .outputs = CHANNELS,
        .height = edge,
        .width = edge,
    };
    const struct gantry_size threads = {(edge + 3) / 4, edge, pictures(trial->n)};

    gantry_list_launch(list, trial->kernels[0], threads, &args, sizeof args);
}

/* One input channel's part of a pixel; `at` is where its plane begins. */
static double convolved(const struct pattern *pattern, uint64_t at, uint64_t edge, uint64_t y,
                        uint64_t x, uint64_t weights)
{
    double sum = 0;

    for (uint32_t tap = 0; tap < 9; tap++) {
        /* Outside, these are far too large. */
        uint64_t row = y + tap / 3 - 1, column = x + tap % 3 - 1;

        if (row < edge && column < edge)
            sum += (double)pattern_float(pattern, at + row * edge + column) *
                   pattern_float(pattern, weights + tap);
    }
    return sum;
}

static double convolution(const void *trial, uint64_t i, double *size)
{
    const struct pattern *pattern = trial_pattern(trial);
    uint64_t edge = picture_edge(((const struct trial *)trial)->n), plane = edge * edge;
    uint64_t output = i / plane % CHANNELS, picture = i / plane / CHANNELS;
    double sum = pattern_float(pattern, SECOND + 9 * CHANNELS * CHANNELS + output);

    *size = 9 * CHANNELS;
    for (uint64_t input = 0; input < CHANNELS; input++)
        sum += convolved(pattern, (picture * CHANNELS + input) * plane, edge, i % plane / edge,
                         i % edge, SECOND + (output * CHANNELS + input) * 9);
    return fmax(sum, 0);
}

static bool convolution_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, pixels(trial->n), convolution, 1e-5);
}

/* ---- All ------------------------------------------------------------------------------------ */

const struct bandwidth_case dense_cases[] = {
    {.name = "transpose",
     .kernels = {"transpose"},
     .bytes = transpose_bytes,
     .fill = trial_fill_a,
     .record = transpose_record,
     .check = transpose_check},
    {.name = "softmax",
     .kernels = {"softmax"},
     .bytes = rows_in_and_out,
     .fill = trial_fill_a,
     .record = softmax_record,
     .check = softmax_check},
    {.name = "layer_norm",
     .kernels = {"layer_norm"},
     .bytes = layer_norm_bytes,
     .fill = trial_fill_a_and_c,
     .record = layer_norm_record,
     .check = layer_norm_check},
    {.name = "convolution",
     .kernels = {"convolution"},
     .bytes = convolution_bytes,
     .operations = convolution_operations,
     .fill = trial_fill_a_and_c,
     .record = convolution_record,
     .check = convolution_check},
    {.name = NULL},
};
