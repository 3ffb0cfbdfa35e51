/* Matrices past 4 GiB, and products of the size that is measured. */
#include <math.h>
#include <string.h>

#include "dense.h"
#include "reference_dense.h"

static void need_big(struct conform *c)
{
    if (!c->options->big)
        skip(c, "gigabytes: asked for by --big");
}

/* Rows and columns that lie on both sides of 4 GiB in either matrix, and on no multiple of 64. */
static void test_transpose(struct conform *c)
{
    enum { ROWS = 40001, COLUMNS = 30011 };
    need_big(c);
    struct gantry_kernel *kernel = LIBRARY_KERNEL(transpose);
    size_t n = (size_t)ROWS * COLUMNS;
    uint32_t *words = make_words(c, n * 4), *found = make_words(c, n * 4);

    for (size_t i = 0; i < n; i++)
        words[i] = (uint32_t)(i * 2654435761u);
    struct array from = make_array(c, words, n * 4, 0), to = make_array(c, NULL, n * 4, 0);
    struct gantry_transpose_args args = {to.address, from.address, ROWS, COLUMNS, ROWS, COLUMNS};
    RUN_GRID(kernel, (ROWS + 3) / 4, (COLUMNS + 3) / 4, 1, &args);
    read_array(c, &to, found);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < COLUMNS; column++)
            CHECK(found[column * ROWS + row] == words[row * COLUMNS + column],
                  "element %zu, %zu is 0x%08x, expected 0x%08x", row, column,
                  found[column * ROWS + row], words[row * COLUMNS + column]);
}

static void test_softmax(struct conform *c)
{
    enum { ROWS = 270000, COLUMNS = 4096, EVERY = 9973 };
    need_big(c);
    struct gantry_kernel *kernel = LIBRARY_KERNEL(softmax);
    size_t n = (size_t)ROWS * COLUMNS;
    float *x = make_floats(c, n, 1), *found = make_words(c, n * 4);
    double *expected = make_words(c, COLUMNS * sizeof(double));
    struct array from = make_array(c, x, n * 4, 0), to = make_array(c, NULL, n * 4, 0);
    struct gantry_softmax_args args = {to.address, from.address, ROWS, COLUMNS, COLUMNS, COLUMNS};

    RUN(kernel, n / 16, &args);
    read_array(c, &to, found);
    for (size_t row = 0; row < ROWS; row += EVERY) {
        reference_softmax(expected, x + row * COLUMNS, COLUMNS);
        WITHIN(found + row * COLUMNS, expected, expected, COLUMNS, tolerance_of(c, "softmax"));
    }
}

static void test_matmul(struct conform *c)
{
    enum { N = 4096, SAMPLES = 1000 };
    need_big(c);
    struct gantry_kernel *kernel = LIBRARY_KERNEL(matmul);
    size_t size = (size_t)N * N;
    float *a = make_floats(c, size, 1), *b = make_floats(c, size, 2),
          *found = make_words(c, size * 4);
    struct array on_a = make_array(c, a, size * 4, 0), on_b = make_array(c, b, size * 4, 0);
    struct array to = make_array(c, NULL, size * 4, 0);
    struct gantry_matmul_args args = {to.address, on_a.address, on_b.address, N, N, N, N, N, N};
    struct reference_product product = {a, b, N, N, N, NULL, 0};
    double tolerance = tolerance_of(c, "matmul"), expected, scale;
    uint32_t state = 1;

    RUN_GRID(kernel, N / 8, N / 8, 1, &args);
    read_array(c, &to, found);
    for (int i = 0; i < SAMPLES; i++) {
        size_t row = next_random(&state) % N, column = next_random(&state) % N;

        expected = reference_product(&product, row, column, &scale);
        WITHIN(found + row * N + column, &expected, &scale, 1, tolerance);
    }
}

const struct conform_case dense_big_kernel_cases[] = {
    {"big/transpose", NULL, test_transpose},
    {"big/softmax", NULL, test_softmax},
    {"big/matmul", NULL, test_matmul},
    {NULL, NULL, NULL},
};
