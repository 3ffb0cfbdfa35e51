/* What the library's kernels compute, in plain C: as simple as can be, sums in double. */
#ifndef GANTRY_TESTS_KERNELS_REFERENCE_H
#define GANTRY_TESTS_KERNELS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void reference_copy(uint32_t *to, const uint32_t *from, size_t n);
void reference_fill(uint32_t *to, size_t n, uint32_t value);
void reference_saxpy(float *y, const float *x, size_t n, float a);

double reference_sum(const float *x, size_t n);
uint32_t reference_sum_uint(const uint32_t *x, size_t n);
double reference_dot(const float *x, const float *y, size_t n);

void reference_scan(double *to, const float *from, size_t n, bool exclusive);
void reference_scan_uint(uint32_t *to, const uint32_t *from, size_t n, bool exclusive);

void reference_histogram(uint32_t bins[256], const uint32_t *x, size_t n, uint32_t shift);

/* Stable. values NULL: none. */
void reference_sort(uint32_t *keys, uint32_t *values, size_t n);

/* Floats added in the very order that the kernels promise: the bits must be equal. */
float ordered_sum(const float *x, size_t n, size_t chunk);
float ordered_dot(const float *x, const float *y, size_t n, size_t chunk);
void ordered_scan(float *to, const float *from, size_t n, bool exclusive);

#endif
