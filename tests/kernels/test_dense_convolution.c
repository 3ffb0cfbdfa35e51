/* convolution: edges of pictures and tiles, numbers of channels, addresses. */
#include "dense.h"
#include "reference_dense.h"

struct shape {
    uint32_t pictures, inputs, outputs, height, width;
    unsigned skew;
};

static void check_pictures(struct conform *c, struct shape shape,
                           const struct reference_convolution *convolution, const float *found)
{
    double tolerance = tolerance_of(c, "convolution"), expected, scale;

    for (size_t picture = 0; picture < shape.pictures; picture++)
        for (size_t output = 0; output < shape.outputs; output++)
            for (size_t y = 0; y < shape.height; y++)
                for (size_t x = 0; x < shape.width; x++) {
                    expected = reference_convolution(convolution, picture, output, y, x, &scale);
                    WITHIN(found++, &expected, &scale, 1, tolerance);
                }
}

static void check_convolution(struct conform *c, struct gantry_kernel *kernel, struct shape shape)
{
    size_t plane = (size_t)shape.height * shape.width, weights = 9u * shape.inputs * shape.outputs;
    size_t from_size = shape.pictures * shape.inputs * plane;
    size_t to_size = shape.pictures * shape.outputs * plane;
    struct reference_convolution reference = {make_floats(c, from_size, 1),
                                              make_floats(c, weights, 2),
                                              make_floats(c, shape.outputs, 3),
                                              shape.inputs,
                                              shape.outputs,
                                              shape.height,
                                              shape.width};
    struct array from = make_array(c, reference.from, from_size * 4, shape.skew);
    struct array by = make_array(c, reference.weights, weights * 4, shape.skew);
    struct array bias = make_array(c, reference.bias, shape.outputs * 4ull, shape.skew);
    struct array to = make_array(c, NULL, to_size * 4, shape.skew);
    struct gantry_convolution_args args = {to.address,    from.address,   by.address,
                                           bias.address,  shape.pictures, shape.inputs,
                                           shape.outputs, shape.height,   shape.width};
    float *found = make_floats(c, to_size, 4);

    RUN_GRID(kernel, (shape.width + 3) / 4, shape.height,
             shape.pictures * ((shape.outputs + 7) / 8), &args);
    read_array(c, &to, found);
    check_pictures(c, shape, &reference, found);
}

static void test_convolution(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(convolution);
    static const struct shape shapes[] = {
        {1, 1, 1, 1, 1, 0},   {2, 3, 8, 5, 3, 0},   {1, 4, 9, 17, 33, 0}, {2, 5, 11, 16, 32, 0},
        {1, 9, 16, 7, 40, 4}, {1, 2, 3, 40, 31, 0}, {1, 1, 8, 2, 68, 12}, {1, 1, 17, 1, 127, 0},
        {3, 1, 1, 129, 1, 0}, {1, 3, 2, 4, 64, 8},  {1, 2, 3, 6, 34, 0},  {2, 1, 2, 3, 2, 0},
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_convolution(c, kernel, shapes[i]);
}

const struct conform_case convolution_kernel_cases[] = {
    {"convolution/shapes", NULL, test_convolution},
    {NULL, NULL, NULL},
};
