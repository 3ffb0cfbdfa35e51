/* transpose: every kind of edge, pitch and address. */
#include <string.h>

#include "dense.h"
#include "reference_dense.h"

struct shape {
    uint32_t rows, columns, to_gap, from_gap;
};

static void check_transpose(struct conform *c, struct gantry_kernel *kernel, struct shape shape,
                            unsigned to_skew, unsigned from_skew)
{
    uint32_t to_pitch = shape.rows + shape.to_gap, from_pitch = shape.columns + shape.from_gap;
    size_t to_size = (size_t)to_pitch * shape.columns, from_size = (size_t)from_pitch * shape.rows;
    uint32_t *contents = make_randoms(c, from_size, 1), *found = make_randoms(c, to_size, 2);
    uint32_t *expected = make_randoms(c, to_size, 3);
    struct array from = make_array(c, contents, from_size * 4, from_skew);
    struct array to = make_array(c, NULL, to_size * 4, to_skew);
    struct gantry_transpose_args args = {to.address,    from.address, shape.rows,
                                         shape.columns, to_pitch,     from_pitch};

    read_array(c, &to, expected); /* what lies between the rows stays */
    RUN_GRID(kernel, (shape.rows + 3) / 4, (shape.columns + 3) / 4, 1, &args);
    read_array(c, &to, found);
    reference_transpose(expected, to_pitch, contents, from_pitch, shape.rows, shape.columns);
    EQUAL(found, expected, to_size);
    drop_array(c, &to);
    drop_array(c, &from);
}

static void test_transpose_shapes(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(transpose);
    static const struct shape shapes[] = {{1, 1, 0, 0},   {1, 5, 0, 0},     {5, 1, 0, 0},
                                          {3, 4, 0, 0},   {4, 4, 0, 0},     {64, 64, 0, 0},
                                          {63, 65, 0, 0}, {127, 129, 0, 0}, {68, 60, 4, 8},
                                          {68, 60, 1, 3}, {128, 64, 0, 4},  {2, 4096, 0, 0}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_transpose(c, kernel, shapes[i], 0, 0);
}

static void test_transpose_places(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(transpose);

    for (size_t to = 0; to < SKEWS; to++)
        for (size_t from = 0; from < SKEWS; from++)
            check_transpose(c, kernel, (struct shape){68, 72, 0, 0}, skews[to], skews[from]);
}

const struct conform_case transpose_kernel_cases[] = {
    {"transpose/shapes", NULL, test_transpose_shapes},
    {"transpose/places", NULL, test_transpose_places},
    {NULL, NULL, NULL},
};
