/* What the library's kernels over matrices and pictures compute, in plain C: as simple as can be,
 * sums in double. Matrices are rows of `columns` elements, `pitch` elements apart. `sizes` gets the
 * sum of the sizes of what is added up, which the tolerances refer to. */
#ifndef GANTRY_TESTS_KERNELS_REFERENCE_DENSE_H
#define GANTRY_TESTS_KERNELS_REFERENCE_DENSE_H

#include <stddef.h>
#include <stdint.h>

void reference_transpose(uint32_t *to, size_t to_pitch, const uint32_t *from, size_t from_pitch,
                         size_t rows, size_t columns);

void reference_softmax(double *to, const float *from, size_t columns);

/* *ratio is the mean's size in standard deviations. */
void reference_layer_norm(double *to, const float *from, const float *gamma, const float *beta,
                          size_t columns, float epsilon, double *ratio);

struct reference_product {
    const float *a, *b;
    size_t a_pitch, b_pitch, inner;
    const float *bias; /* one a column; NULL: none */
    int b_turned;      /* column j of the product is of row j of b */
};

double reference_product(const struct reference_product *product, size_t row, size_t column,
                         double *size);

/* Philox 4x32-10. */
void reference_philox(uint32_t random[4], const uint32_t counter[4], uint64_t key);

/* Whether dropout sets this element to zero. */
int reference_dropped(size_t row, size_t column, uint64_t seed, float rate);

struct reference_convolution {
    const float *from, *weights, *bias;
    size_t inputs, outputs, height, width;
};

double reference_convolution(const struct reference_convolution *convolution, size_t picture,
                             size_t output, size_t y, size_t x, double *size);

void reference_particle(float position[3], float speed[3], float gravity, float bounce, float time);

#endif
