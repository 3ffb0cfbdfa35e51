/* matmul, matmul_small and matmul_half: edges of tiles, pitches, addresses, halves. */
#include <math.h>

#include "dense.h"
#include "reference_dense.h"

struct shape {
    uint32_t rows, columns, inner, gap; /* the gap lies behind every row of every matrix */
    unsigned skew;
};

static const struct shape shapes[] = {
    {1, 1, 1, 0, 0},     {1, 7, 3, 0, 0},      {5, 1, 9, 0, 0},      {3, 3, 0, 0, 0},
    {16, 16, 16, 0, 0},  {127, 129, 33, 0, 0}, {128, 128, 16, 0, 0}, {130, 66, 48, 0, 0},
    {64, 192, 17, 0, 0}, {200, 4, 1, 0, 0},    {36, 40, 20, 4, 0},   {36, 40, 20, 1, 0},
    {36, 40, 20, 0, 4},  {36, 40, 20, 4, 12},  {8, 8, 300, 0, 0},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* The matrices as floats, and where they lie on the device. */
struct operands {
    float *a, *b;
    struct array to, from_a, from_b;
};

static size_t size_of(uint32_t rows, uint32_t columns, struct shape shape)
{
    return (size_t)rows * (columns + shape.gap);
}

static void check_product(struct conform *c, struct shape shape, struct operands *operands,
                          double tolerance)
{
    struct reference_product product = {.a = operands->a,
                                        .b = operands->b,
                                        .a_pitch = shape.inner + shape.gap,
                                        .b_pitch = shape.columns + shape.gap,
                                        .inner = shape.inner};
    size_t pitch = shape.columns + shape.gap, size = size_of(shape.rows, shape.columns, shape);
    float *found = make_floats(c, size, 3);
    double expected, scale;

    read_array(c, &operands->to, found);
    GAPS_UNWRITTEN(found, shape.rows, shape.columns, pitch);
    for (size_t row = 0; row < shape.rows; row++)
        for (size_t column = 0; column < shape.columns; column++) {
            expected = reference_product(&product, row, column, &scale);
            WITHIN(found + row * pitch + column, &expected, &scale, 1, tolerance);
        }
    drop_array(c, &operands->to);
    drop_array(c, &operands->from_a);
    drop_array(c, &operands->from_b);
}

/* ---- Floats --------------------------------------------------------------------------------- */

static struct operands make_operands(struct conform *c, struct shape shape)
{
    size_t a = size_of(shape.rows, shape.inner, shape);
    size_t b = size_of(shape.inner, shape.columns, shape);
    struct operands operands = {.a = make_floats(c, a, 1), .b = make_floats(c, b, 2)};

    operands.from_a = make_array(c, operands.a, a * 4, shape.skew);
    operands.from_b = make_array(c, operands.b, b * 4, shape.skew);
    operands.to = make_array(c, NULL, size_of(shape.rows, shape.columns, shape) * 4, shape.skew);
    return operands;
}

static void check_matmul(struct conform *c, struct gantry_kernel *kernel, struct shape shape,
                         double tolerance)
{
    struct operands operands = make_operands(c, shape);
    struct gantry_matmul_args args = {
        .c = operands.to.address,
        .a = operands.from_a.address,
        .b = operands.from_b.address,
        .rows = shape.rows,
        .columns = shape.columns,
        .inner = shape.inner,
        .c_pitch = shape.columns + shape.gap,
        .a_pitch = shape.inner + shape.gap,
        .b_pitch = shape.columns + shape.gap,
    };

    RUN_GRID(kernel, (shape.columns + 7) / 8, (shape.rows + 7) / 8, 1, &args);
    check_product(c, shape, &operands, tolerance);
}

static void test_matmul(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(matmul);
    double tolerance = tolerance_of(c, "matmul");

    for (size_t i = 0; i < SHAPES; i++)
        check_matmul(c, kernel, shapes[i], tolerance);
}

static void test_matmul_small(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(matmul_small);
    double tolerance = tolerance_of(c, "matmul_small");

    for (size_t i = 0; i < SHAPES; i++)
        check_matmul(c, kernel, shapes[i], tolerance);
}

/* ---- Halves --------------------------------------------------------------------------------- */

/* Halves of sizes from 0.125 to 2, and the floats that they are. */
static uint16_t *make_halves(struct conform *c, size_t n, uint32_t seed, float *floats)
{
    uint32_t *randoms = make_randoms(c, n, seed);
    uint16_t *halves = make_words(c, (n ? n : 1) * sizeof(*halves));

    for (size_t i = 0; i < n; i++) {
        int exponent = 12 + (int)(randoms[i] >> 16 & 3), digits = (int)(randoms[i] & 1023);
        int negative = (int)(randoms[i] >> 31);

        halves[i] = (uint16_t)(negative << 15 | exponent << 10 | digits);
        floats[i] = ldexpf((float)(1024 + digits), exponent - 25) * (negative ? -1.0f : 1.0f);
    }
    return halves;
}

static struct operands make_half_operands(struct conform *c, struct shape shape)
{
    size_t a = size_of(shape.rows, shape.inner, shape);
    size_t b = size_of(shape.inner, shape.columns, shape);
    struct operands operands = {.a = make_floats(c, a, 1), .b = make_floats(c, b, 2)};
    uint16_t *a_halves = make_halves(c, a, 3, operands.a);
    uint16_t *b_halves = make_halves(c, b, 4, operands.b);

    operands.from_a = make_array(c, a_halves, a * 2, shape.skew / 2);
    operands.from_b = make_array(c, b_halves, b * 2, shape.skew / 2);
    operands.to = make_array(c, NULL, size_of(shape.rows, shape.columns, shape) * 4, shape.skew);
    return operands;
}

static void test_matmul_half(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(matmul_half);
    double tolerance = tolerance_of(c, "matmul_half");

    for (size_t i = 0; i < SHAPES; i++) {
        struct operands operands = make_half_operands(c, shapes[i]);
        struct gantry_matmul_half_args args = {
            .c = operands.to.address,
            .a = operands.from_a.address,
            .b = operands.from_b.address,
            .rows = shapes[i].rows,
            .columns = shapes[i].columns,
            .inner = shapes[i].inner,
            .c_pitch = shapes[i].columns + shapes[i].gap,
            .a_pitch = shapes[i].inner + shapes[i].gap,
            .b_pitch = shapes[i].columns + shapes[i].gap,
        };

        RUN_GRID(kernel, (shapes[i].columns + 7) / 8, (shapes[i].rows + 7) / 8, 1, &args);
        check_product(c, shapes[i], &operands, tolerance);
    }
}

const struct conform_case matmul_kernel_cases[] = {
    {"matmul/shapes", NULL, test_matmul},
    {"matmul/small", NULL, test_matmul_small},
    {"matmul/half", NULL, test_matmul_half},
    {NULL, NULL, NULL},
};
