#include "reference.h"

double reference_sum(const float *x, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

uint32_t reference_sum_uint(const uint32_t *x, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double reference_dot(const float *x, const float *y, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    return sum;
}

void reference_scan(double *to, const float *from, size_t n, bool exclusive)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++) {
        double before = sum;

        sum += from[i];
        to[i] = exclusive ? before : sum;
    }
}

void reference_scan_uint(uint32_t *to, const uint32_t *from, size_t n, bool exclusive)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t before = sum;

        sum += from[i];
        to[i] = exclusive ? before : sum;
    }
}
