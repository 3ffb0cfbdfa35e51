#include "reference_dense.h"

#include <math.h>

void reference_transpose(uint32_t *to, size_t to_pitch, const uint32_t *from, size_t from_pitch,
                         size_t rows, size_t columns)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            to[column * to_pitch + row] = from[row * from_pitch + column];
}

void reference_softmax(double *to, const float *from, size_t columns)
{
    double top = -HUGE_VAL, sum = 0.0;

    for (size_t i = 0; i < columns; i++)
        top = fmax(top, from[i]);
    for (size_t i = 0; i < columns; i++)
        sum += exp(from[i] - top);
    for (size_t i = 0; i < columns; i++)
        to[i] = exp(from[i] - top) / sum;
}

void reference_layer_norm(double *to, const float *from, const float *gamma, const float *beta,
                          size_t columns, float epsilon, double *ratio)
{
    double mean = 0.0, variance = 0.0;

    for (size_t i = 0; i < columns; i++)
        mean += from[i] / (double)columns;
    for (size_t i = 0; i < columns; i++)
        variance += (from[i] - mean) * (from[i] - mean) / (double)columns;
    for (size_t i = 0; i < columns; i++)
        to[i] = (from[i] - mean) / sqrt(variance + epsilon) * gamma[i] + beta[i];
    *ratio = fabs(mean) / sqrt(variance + epsilon);
}

double reference_product(const struct reference_product *product, size_t row, size_t column,
                         double *size)
{
    double sum = product->bias ? product->bias[column] : 0.0;

    *size = fabs(sum);
    for (size_t i = 0; i < product->inner; i++) {
        size_t at =
            product->b_turned ? column * product->b_pitch + i : i * product->b_pitch + column;
        double term = (double)product->a[row * product->a_pitch + i] * product->b[at];

        sum += term;
        *size += fabs(term);
    }
    return sum;
}

void reference_philox(uint32_t random[4], const uint32_t counter[4], uint64_t key)
{
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);

    for (int i = 0; i < 4; i++)
        random[i] = counter[i];
    for (int round = 0; round < 10; round++) {
        uint64_t first = UINT64_C(0xd2511f53) * random[0], third = UINT64_C(0xcd9e8d57) * random[2];

        random[0] = (uint32_t)(third >> 32) ^ random[1] ^ low;
        random[1] = (uint32_t)third;
        random[2] = (uint32_t)(first >> 32) ^ random[3] ^ high;
        random[3] = (uint32_t)first;
        low += 0x9e3779b9u;
        high += 0xbb67ae85u;
    }
}

int reference_dropped(size_t row, size_t column, uint64_t seed, float rate)
{
    uint32_t counter[4] = {(uint32_t)(column / 4), (uint32_t)row, 0, 0}, random[4];

    reference_philox(random, counter, seed);
    return random[column % 4] < (uint32_t)((double)rate * 0x1p32);
}

double reference_convolution(const struct reference_convolution *convolution, size_t picture,
                             size_t output, size_t y, size_t x, double *size)
{
    size_t height = convolution->height, width = convolution->width;
    double sum = convolution->bias[output];

    *size = fabs(sum);
    for (size_t input = 0; input < convolution->inputs; input++)
        for (size_t tap = 0; tap < 9; tap++) {
            /* One more than the place, because it may be -1. */
            size_t row = y + tap / 3, column = x + tap % 3,
                   plane = picture * convolution->inputs + input;
            double term;

            if (row < 1 || row > height || column < 1 || column > width)
                continue;
            term = (double)convolution->from[(plane * height + row - 1) * width + column - 1] *
                   convolution->weights[(output * convolution->inputs + input) * 9 + tap];
            sum += term;
            *size += fabs(term);
        }
    return fmax(sum, 0.0);
}

void reference_particle(float position[3], float speed[3], float gravity, float bounce, float time)
{
    speed[1] -= gravity * time;
    for (int i = 0; i < 3; i++)
        position[i] += speed[i] * time;
    if (position[1] < 0.0f) {
        position[1] = -position[1];
        speed[1] = -speed[1] * bounce;
    }
}
