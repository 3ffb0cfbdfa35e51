/* Matrix products and layers of networks. */
#include <math.h>
#include <stdlib.h>

#include "../output.h"
#include "bandwidth.h"

/* ---- Linear layers -------------------------------------------------------------------------- */

static const float rate = 0.5f; /* of the outputs that dropout sets to 0 */

enum { SEED = 7 };

static uint32_t layer_rows(uint64_t n)
{
    return (uint32_t)(n / LAYER_OUTPUTS);
}

static uint64_t layer_outputs(uint64_t n)
{
    return (uint64_t)layer_rows(n) * LAYER_OUTPUTS;
}

static uint64_t layer_inputs(uint64_t n)
{
    return (uint64_t)layer_rows(n) * LAYER_INPUTS + TRIAL_WEIGHTS;
}

/* ReLU and dropout read and write all outputs once more. */
static uint64_t layer_three_bytes(uint64_t n)
{
    return 4 * (layer_inputs(n) + layer_outputs(n)) + 2 * (4 * layer_outputs(n) * 2);
}

static uint64_t layer_fused_bytes(uint64_t n)
{
    return 4 * (layer_inputs(n) + layer_outputs(n));
}

static double layer_operations(uint64_t n)
{
    return 2.0 * LAYER_INPUTS * (double)layer_outputs(n);
}

static gantry_ptr bias(const struct trial *trial)
{
    return trial_c(trial) + UINT64_C(4) * LAYER_INPUTS * LAYER_OUTPUTS;
}

static struct gantry_size layer_threads(uint64_t n)
{
    return (struct gantry_size){(LAYER_OUTPUTS + 7) / 8, (layer_rows(n) + 7) / 8, 1};
}

static void layer_three_record(struct trial *trial, struct gantry_list *list)
{
    uint64_t outputs = layer_outputs(trial->n);
    const struct gantry_linear_args linear = {.y = trial_b(trial),
                                              .x = trial_a(trial),
                                              .weights = trial_c(trial),
                                              .bias = bias(trial),
                                              .rows = layer_rows(trial->n),
                                              .inputs = LAYER_INPUTS,
                                              .outputs = LAYER_OUTPUTS};
    const struct gantry_relu_args relu = {trial_b(trial), trial_b(trial), outputs};
    const struct gantry_dropout_args dropout = {.to = trial_b(trial),
                                                .from = trial_b(trial),
                                                .seed = SEED,
                                                .rows = layer_rows(trial->n),
                                                .columns = LAYER_OUTPUTS,
                                                .rate = rate};
    const struct gantry_size by_4 = {.x = (uint32_t)(outputs / 4)};

    gantry_list_launch(list, trial->kernels[0], layer_threads(trial->n), &linear, sizeof linear);
    gantry_list_launch(list, trial->kernels[1], by_4, &relu, sizeof relu);
    gantry_list_launch(list, trial->kernels[2], by_4, &dropout, sizeof dropout);
}

static void layer_fused_record(struct trial *trial, struct gantry_list *list)
{
    const struct gantry_linear_relu_dropout_args args = {.y = trial_b(trial),
                                                         .x = trial_a(trial),
                                                         .weights = trial_c(trial),
                                                         .bias = bias(trial),
                                                         .seed = SEED,
                                                         .rows = layer_rows(trial->n),
                                                         .inputs = LAYER_INPUTS,
                                                         .outputs = LAYER_OUTPUTS,
                                                         .rate = rate};

    gantry_list_launch(list, trial->kernels[0], layer_threads(trial->n), &args, sizeof args);
}

/* Philox 4x32-10, the generator of the kernels: word `which` of counter and key. */
static uint32_t philox(const uint32_t counter[4], uint64_t key, unsigned which)
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);

    for (int turn = 0; turn < 10; turn++) {
        uint64_t first = UINT64_C(0xd2511f53) * c[0], third = UINT64_C(0xcd9e8d57) * c[2];

        c[0] = (uint32_t)(third >> 32) ^ c[1] ^ low;
        c[1] = (uint32_t)third;
        c[2] = (uint32_t)(first >> 32) ^ c[3] ^ high;
        c[3] = (uint32_t)first;
        low += 0x9e3779b9u;
        high += 0xbb67ae85u;
    }
    return c[which];
}

static double layer_output(const void *trial, uint64_t i, double *size)
{
    const struct pattern *pattern = trial_pattern(trial);
    uint64_t row = i / LAYER_OUTPUTS, column = i % LAYER_OUTPUTS;
    const uint32_t counter[4] = {(uint32_t)(column / 4), (uint32_t)row, 0, 0};
    double sum = pattern_float(pattern, SECOND + LAYER_INPUTS * LAYER_OUTPUTS + column);

    *size = LAYER_INPUTS;
    for (uint32_t k = 0; k < LAYER_INPUTS; k++)
        sum += (double)pattern_float(pattern, row * LAYER_INPUTS + k) *
               pattern_float(pattern, SECOND + column * LAYER_INPUTS + k);
    if (philox(counter, SEED, column % 4) < (uint32_t)((double)rate * 0x1p32))
        return 0;
    return fmax(sum, 0) / (1 - (double)rate);
}

static bool layer_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.b, layer_outputs(trial->n), layer_output, 1e-5);
}

/* ---- Square matrices ------------------------------------------------------------------------ */

enum { LARGEST_SIDE = 4096 };

/* Of few elements, because the work grows faster than they do. */
static uint32_t side(uint64_t n)
{
    uint32_t side = bandwidth_edge(n / 16);

    return side < LARGEST_SIDE ? side : LARGEST_SIDE;
}

static uint64_t matmul_bytes(uint64_t n)
{
    uint64_t elements = (uint64_t)side(n) * side(n);

    return 4 * elements + 4 * elements + 4 * elements;
}

static uint64_t matmul_half_bytes(uint64_t n)
{
    uint64_t elements = (uint64_t)side(n) * side(n);

    return 2 * elements + 2 * elements + 4 * elements;
}

static double matmul_operations(uint64_t n)
{
    return 2 * pow(side(n), 3);
}

/* Halves have the same argument struct but for what is behind the pointers. */
static_assert(sizeof(struct gantry_matmul_args) == sizeof(struct gantry_matmul_half_args),
              "products of floats and of halves");

static void matmul_record(struct trial *trial, struct gantry_list *list)
{
    uint32_t edge = side(trial->n);
    const struct gantry_matmul_args args = {
        .c = trial_c(trial),
        .a = trial_a(trial),
        .b = trial_b(trial),
        .rows = edge,
        .columns = edge,
        .inner = edge,
        .c_pitch = edge,
        .a_pitch = edge,
        .b_pitch = edge,
    };
    const struct gantry_size threads = {(edge + 7) / 8, (edge + 7) / 8, 1};

    gantry_list_launch(list, trial->kernels[0], threads, &args, sizeof args);
}

static double product(const void *trial, uint64_t i, double *size)
{
    const struct pattern *pattern = trial_pattern(trial);
    uint64_t edge = side(((const struct trial *)trial)->n), row = i / edge, column = i % edge;
    double sum = 0;

    *size = 0;
    for (uint64_t k = 0; k < edge; k++) {
        double term = (double)pattern_float(pattern, row * edge + k) *
                      pattern_float(pattern, SECOND + k * edge + column);

        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static bool matmul_check(struct trial *trial)
{
    return trial_check(trial, trial->bench->arrays.c, (uint64_t)side(trial->n) * side(trial->n),
                       product, 1e-5);
}

/* For the pattern's floats, which halves hold exactly. */
static uint16_t half_of(float value)
{
    int exponent;
    float part = frexpf(fabsf(value), &exponent);

    if (value == 0.0f)
        return 0;
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                      (int)((2 * part - 1) * 1024));
}

static bool upload_halves(struct trial *trial, struct gantry_buffer *to, uint32_t shift)
{
    uint64_t count = (uint64_t)side(trial->n) * side(trial->n);
    uint16_t *halves = calloc(count, sizeof *halves);
    struct gantry_point point;
    bool done;

    if (!halves) {
        output_error("bench: out of memory for a matrix of halves");
        return false;
    }
    for (uint64_t i = 0; i < count; i++)
        halves[i] = half_of(pattern_float(&trial->bench->pattern, shift + i));
    done = (gantry_queue_upload(trial->bench->side.queue, to, 0, halves, count * sizeof *halves,
                                &point) == GANTRY_OK ||
            gantry_side_failed()) &&
           gantry_side_wait(point);
    free(halves);
    return done;
}

static bool fill_with_halves(struct trial *trial)
{
    return upload_halves(trial, trial->bench->arrays.a, 0) &&
           upload_halves(trial, trial->bench->arrays.b, SECOND);
}

/* ---- All ------------------------------------------------------------------------------------ */

const struct bandwidth_case product_cases[] = {
    {.name = "layer_three",
     .kernels = {"linear", "relu", "dropout"},
     .bytes = layer_three_bytes,
     .operations = layer_operations,
     .fill = trial_fill_a_and_c,
     .record = layer_three_record,
     .check = layer_check},
    {.name = "layer_fused",
     .kernels = {"linear_relu_dropout"},
     .bytes = layer_fused_bytes,
     .operations = layer_operations,
     .fill = trial_fill_a_and_c,
     .record = layer_fused_record,
     .check = layer_check},
    {.name = "matmul",
     .kernels = {"matmul"},
     .bytes = matmul_bytes,
     .operations = matmul_operations,
     .fill = trial_fill_a_and_b,
     .record = matmul_record,
     .check = matmul_check},
    {.name = "matmul_half",
     .kernels = {"matmul_half"},
     .bytes = matmul_half_bytes,
     .operations = matmul_operations,
     .fill = fill_with_halves,
     .record = matmul_record,
     .check = matmul_check},
    {.name = NULL},
};
