#include "reference.h"

void reference_copy(uint32_t *to, const uint32_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

void reference_fill(uint32_t *to, size_t n, uint32_t value)
{
    for (size_t i = 0; i < n; i++)
        to[i] = value;
}

void reference_saxpy(float *y, const float *x, size_t n, float a)
{
    for (size_t i = 0; i < n; i++) {
        float product = a * x[i];

        y[i] = product + y[i];
    }
}
