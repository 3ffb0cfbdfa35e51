/* linear, relu and dropout, one by one and as one kernel. */
#include <math.h>

#include "dense.h"
#include "reference_dense.h"

struct shape {
    uint32_t rows, inputs, outputs;
    unsigned skew;
};

static const struct shape shapes[] = {{1, 1, 1, 0},     {3, 5, 2, 0},      {1, 64, 130, 0},
                                      {129, 20, 36, 0}, {17, 33, 127, 0},  {36, 40, 44, 4},
                                      {36, 40, 44, 12}, {140, 16, 132, 0}, {2, 300, 3, 0}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static const uint64_t SEED = UINT64_C(0x0123456789abcdef);
static const float RATE = 0.3f;

/* The layer's arguments on the host and on the device. */
struct layer {
    float *x, *weights, *bias;
    struct array on_x, on_weights, on_bias, y;
    size_t size; /* elements of y */
};

static struct layer make_layer(struct conform *c, struct shape shape)
{
    size_t x = (size_t)shape.rows * shape.inputs, weights = (size_t)shape.outputs * shape.inputs;
    struct layer layer = {.x = make_floats(c, x, 1),
                          .weights = make_floats(c, weights, 2),
                          .bias = make_floats(c, shape.outputs, 3),
                          .size = (size_t)shape.rows * shape.outputs};

    layer.on_x = make_array(c, layer.x, x * 4, shape.skew);
    layer.on_weights = make_array(c, layer.weights, weights * 4, shape.skew);
    layer.on_bias = make_array(c, layer.bias, shape.outputs * 4ull, shape.skew);
    layer.y = make_array(c, NULL, layer.size * 4, shape.skew);
    return layer;
}

static void run_linear(struct conform *c, struct shape shape, const struct layer *layer)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(linear);
    struct gantry_linear_args args = {
        layer->y.address,       layer->on_x.address, layer->on_weights.address,
        layer->on_bias.address, shape.rows,          shape.inputs,
        shape.outputs};

    RUN_GRID(kernel, (shape.outputs + 7) / 8, (shape.rows + 7) / 8, 1, &args);
    drop_kernel(c, kernel);
}

static void check_linear(struct conform *c, struct shape shape)
{
    struct layer layer = make_layer(c, shape);
    struct reference_product product = {
        layer.x, layer.weights, shape.inputs, shape.inputs, shape.inputs, layer.bias, 1};
    float *found = make_floats(c, layer.size, 4);
    double tolerance = tolerance_of(c, "linear"), expected, scale;

    run_linear(c, shape, &layer);
    read_array(c, &layer.y, found);
    for (size_t row = 0; row < shape.rows; row++)
        for (size_t column = 0; column < shape.outputs; column++) {
            expected = reference_product(&product, row, column, &scale);
            WITHIN(found + row * shape.outputs + column, &expected, &scale, 1, tolerance);
        }
}

static void test_linear(struct conform *c)
{
    for (size_t i = 0; i < SHAPES; i++)
        check_linear(c, shapes[i]);
}

/* ---- ReLU and dropout ----------------------------------------------------------------------- */

static void check_relu(struct conform *c, struct gantry_kernel *kernel, uint32_t n, unsigned skew,
                       uint32_t threads)
{
    float *x = make_floats(c, n, n + 1), *found = make_floats(c, n, 2);
    struct array from = make_array(c, x, n * 4ull, skew), to = make_array(c, NULL, n * 4ull, skew);
    struct gantry_relu_args args = {to.address, from.address, n};

    RUN(kernel, threads, &args);
    read_array(c, &to, found);
    for (uint32_t i = 0; i < n; i++)
        CHECK(found[i] == fmaxf(x[i], 0.0f), "relu(%.9g), %u of %u, is %.9g", x[i], i, n, found[i]);
}

static void test_relu(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(relu);

    for (size_t i = 0; i < length_count; i++)
        check_relu(c, kernel, lengths[i], 0, lengths[i] / 4 + 1);
    for (size_t i = 0; i < SKEWS; i++)
        check_relu(c, kernel, 1003, skews[i], 1);
}

/* The generator's authors give this result. */
static void test_philox(struct conform *c)
{
    const uint32_t counter[4] = {0, 0, 0, 0};
    const uint32_t expected[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    uint32_t found[4];

    reference_philox(found, counter, 0);
    EQUAL(found, expected, 4);
}

static void check_dropout(struct conform *c, struct gantry_kernel *kernel, uint32_t rows,
                          uint32_t columns, unsigned skew, float rate)
{
    size_t n = (size_t)rows * columns;
    float *x = make_floats(c, n, 1), *found = make_floats(c, n, 2);
    struct array from = make_array(c, x, n * 4, skew), to = make_array(c, NULL, n * 4, skew);
    struct gantry_dropout_args args = {to.address, from.address, SEED, rows, columns, rate};
    double tolerance = tolerance_of(c, "dropout"), expected, scale;

    RUN(kernel, rows * ((columns + 3) / 4), &args);
    read_array(c, &to, found);
    for (size_t i = 0; i < n; i++) {
        bool dropped = reference_dropped(i / columns, i % columns, SEED, rate);

        expected = dropped ? 0.0 : x[i] / (1.0 - rate);
        scale = fabs(expected); /* a zero must be one */
        WITHIN(found + i, &expected, &scale, 1, tolerance);
    }
}

static void test_dropout(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(dropout);
    static const uint32_t columns[] = {1, 2, 3, 4, 5, 31, 64, 127};

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        check_dropout(c, kernel, 13, columns[i], 0, RATE);
    for (size_t i = 0; i < SKEWS; i++)
        check_dropout(c, kernel, 7, 32, skews[i], RATE);
    check_dropout(c, kernel, 7, 33, 0, 0.0f);
    check_dropout(c, kernel, 7, 33, 0, 0.999f);
}

/* ---- One kernel and three ------------------------------------------------------------------- */

static void run_three(struct conform *c, struct shape shape, const struct layer *layer,
                      uint32_t *result)
{
    struct gantry_kernel *relu = LIBRARY_KERNEL(relu), *dropout = LIBRARY_KERNEL(dropout);
    struct gantry_relu_args relu_args = {layer->y.address, layer->y.address, layer->size};
    struct gantry_dropout_args dropout_args = {layer->y.address, layer->y.address, SEED,
                                               shape.rows,       shape.outputs,    RATE};

    run_linear(c, shape, layer);
    RUN(relu, layer->size / 4 + 1, &relu_args);
    RUN(dropout, shape.rows * ((shape.outputs + 3) / 4), &dropout_args);
    read_array(c, &layer->y, result);
    drop_kernel(c, relu);
    drop_kernel(c, dropout);
}

static void run_fused(struct conform *c, struct shape shape, const struct layer *layer,
                      uint32_t *result)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(linear_relu_dropout);
    struct gantry_linear_relu_dropout_args args = {layer->y.address,
                                                   layer->on_x.address,
                                                   layer->on_weights.address,
                                                   layer->on_bias.address,
                                                   SEED,
                                                   shape.rows,
                                                   shape.inputs,
                                                   shape.outputs,
                                                   RATE};

    RUN_GRID(kernel, (shape.outputs + 7) / 8, (shape.rows + 7) / 8, 1, &args);
    read_array(c, &layer->y, result);
    drop_kernel(c, kernel);
}

static void test_fused(struct conform *c)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct layer layer = make_layer(c, shapes[i]), other = make_layer(c, shapes[i]);
        uint32_t *three = make_randoms(c, layer.size, 1), *fused = make_randoms(c, layer.size, 2);

        run_three(c, shapes[i], &layer, three);
        run_fused(c, shapes[i], &other, fused);
        EQUAL(fused, three, layer.size);
    }
}

const struct conform_case linear_kernel_cases[] = {
    {"linear/shapes", NULL, test_linear}, {"linear/relu", NULL, test_relu},
    {"linear/philox", NULL, test_philox}, {"linear/dropout", NULL, test_dropout},
    {"linear/fused", NULL, test_fused},   {NULL, NULL, NULL},
};
