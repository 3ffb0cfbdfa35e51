/* softmax and layer norm: rows that one thread, a team, or a block holds, and rows that are too
 * long. */
#include <math.h>

#include "dense.h"
#include "reference_dense.h"

struct shape {
    uint32_t rows, columns, gap;
    unsigned skew;
    uint32_t threads; /* of the launch; 0: as it should be */
};

static const struct shape shapes[] = {
    {1, 1, 0, 0, 0},     {9, 1, 0, 0, 0},      {300, 2, 0, 0, 0},  {257, 3, 1, 0, 0},
    {70, 16, 0, 0, 0},   {33, 17, 0, 4, 0},    {17, 100, 0, 0, 0}, {17, 100, 4, 0, 1},
    {17, 100, 1, 0, 0},  {9, 127, 0, 0, 0},    {9, 128, 0, 12, 0}, {5, 1000, 0, 0, 0},
    {3, 4096, 0, 0, 1},  {2, 4096, 0, 4, 0},   {2, 4097, 0, 0, 0}, {2, 4100, 0, 0, 0},
    {1, 10000, 0, 0, 0}, {3, 10007, 5, 12, 1},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static uint32_t threads_of(struct shape shape)
{
    return shape.threads ? shape.threads : shape.rows * ((shape.columns + 15) / 16);
}

/* A matrix whose rows have different sizes and means. */
static float *make_matrix(struct conform *c, struct shape shape, float offset)
{
    size_t pitch = shape.columns + shape.gap;
    float *matrix = make_floats(c, pitch * shape.rows, shape.columns);

    for (size_t i = 0; i < pitch * shape.rows; i++) {
        float row = (float)(i / pitch % 7);

        matrix[i] = matrix[i] * (1.0f + row * row) + offset * row;
    }
    return matrix;
}

static double *make_doubles(struct conform *c, size_t n)
{
    return make_words(c, n * sizeof(double));
}

/* ---- Softmax -------------------------------------------------------------------------------- */

static void check_softmax_rows(struct conform *c, struct shape shape, const float *matrix,
                               const float *found)
{
    double tolerance = tolerance_of(c, "softmax");
    double *expected = make_doubles(c, shape.columns), *scale = make_doubles(c, shape.columns);
    size_t pitch = shape.columns + shape.gap;

    for (size_t row = 0; row < shape.rows; row++) {
        reference_softmax(expected, matrix + row * pitch, shape.columns);
        for (size_t i = 0; i < shape.columns; i++)
            scale[i] = fmax(expected[i], 1e-30); /* denormals may be flushed */
        WITHIN(found + row * pitch, expected, scale, shape.columns, tolerance);
    }
}

static void check_softmax(struct conform *c, struct gantry_kernel *kernel, struct shape shape,
                          float offset, bool in_place)
{
    uint32_t pitch = shape.columns + shape.gap;
    size_t size = (size_t)pitch * shape.rows;
    float *matrix = make_matrix(c, shape, offset), *found = make_floats(c, size, 2);
    struct array from = make_array(c, matrix, size * 4, shape.skew);
    struct array to = make_array(c, NULL, size * 4, shape.skew);
    struct array *result = in_place ? &from : &to;
    struct gantry_softmax_args args = {result->address, from.address, shape.rows,
                                       shape.columns,   pitch,        pitch};

    RUN(kernel, threads_of(shape), &args);
    read_array(c, result, found);
    GAPS_UNWRITTEN(found, shape.rows, shape.columns, pitch);
    check_softmax_rows(c, shape, matrix, found);
    drop_array(c, &to);
    drop_array(c, &from);
}

static void test_softmax_shapes(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(softmax);

    for (size_t i = 0; i < SHAPES; i++)
        check_softmax(c, kernel, shapes[i], 0.0f, false);
}

static void test_softmax_large(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(softmax);

    check_softmax(c, kernel, (struct shape){9, 200, 0, 0, 0}, 1e4f, false);
    check_softmax(c, kernel, (struct shape){9, 200, 0, 0, 0}, -1e4f, false);
}

static void test_softmax_in_place(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(softmax);

    check_softmax(c, kernel, (struct shape){9, 200, 0, 0, 0}, 0.0f, true);
    check_softmax(c, kernel, (struct shape){2, 9000, 0, 0, 0}, 0.0f, true);
}

/* ---- Layer norm ----------------------------------------------------------------------------- */

static void check_norm_rows(struct conform *c, struct shape shape, const float *matrix,
                            const float *found, const struct gantry_layer_norm_args *args,
                            const float *gamma, const float *beta)
{
    double tolerance = tolerance_of(c, "layer_norm"), ratio;
    double *expected = make_doubles(c, shape.columns), *scale = make_doubles(c, shape.columns);

    for (size_t row = 0; row < shape.rows; row++) {
        size_t at = row * args->from_pitch;

        reference_layer_norm(expected, matrix + at, gamma, beta, shape.columns, args->epsilon,
                             &ratio);
        for (size_t i = 0; i < shape.columns; i++)
            scale[i] = fabs(expected[i]) + fabs(beta[i]) + fabs(gamma[i]) * fmax(1.0, ratio);
        WITHIN(found + at, expected, scale, shape.columns, tolerance);
    }
}

static void check_norm(struct conform *c, struct gantry_kernel *kernel, struct shape shape,
                       float offset, unsigned gamma_skew)
{
    uint32_t pitch = shape.columns + shape.gap;
    size_t size = (size_t)pitch * shape.rows;
    float *matrix = make_matrix(c, shape, offset), *found = make_floats(c, size, 2);
    float *scales = make_floats(c, shape.columns, 3), *shifts = make_floats(c, shape.columns, 4);
    struct array from = make_array(c, matrix, size * 4, shape.skew);
    struct array to = make_array(c, NULL, size * 4, shape.skew);
    struct array gamma = make_array(c, scales, shape.columns * 4ull, gamma_skew);
    struct array beta = make_array(c, shifts, shape.columns * 4ull, shape.skew);
    struct gantry_layer_norm_args args = {to.address,   from.address, gamma.address,
                                          beta.address, shape.rows,   shape.columns,
                                          pitch,        pitch,        1e-5f};

    RUN(kernel, threads_of(shape), &args);
    read_array(c, &to, found);
    GAPS_UNWRITTEN(found, shape.rows, shape.columns, pitch);
    check_norm_rows(c, shape, matrix, found, &args, scales, shifts);
    drop_array(c, &beta);
    drop_array(c, &gamma);
    drop_array(c, &to);
    drop_array(c, &from);
}

static void test_norm_shapes(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(layer_norm);

    for (size_t i = 0; i < SHAPES; i++)
        check_norm(c, kernel, shapes[i], 0.0f, shapes[i].skew);
    check_norm(c, kernel, (struct shape){9, 128, 0, 0, 0}, 0.0f, 8);
}

/* The variance of a row far from zero is small against its squares. */
static void test_norm_offset(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(layer_norm);

    check_norm(c, kernel, (struct shape){9, 200, 0, 0, 0}, 1e4f, 0);
    check_norm(c, kernel, (struct shape){3, 9001, 0, 0, 0}, 1e4f, 0);
}

const struct conform_case rows_kernel_cases[] = {
    {"softmax/shapes", NULL, test_softmax_shapes},
    {"softmax/large", NULL, test_softmax_large},
    {"softmax/in-place", NULL, test_softmax_in_place},
    {"layer-norm/shapes", NULL, test_norm_shapes},
    {"layer-norm/offset", NULL, test_norm_offset},
    {NULL, NULL, NULL},
};
