/* What the library's kernels compute, in plain C: as simple as can be, sums in double. */
#ifndef GANTRY_TESTS_KERNELS_REFERENCE_H
#define GANTRY_TESTS_KERNELS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

void reference_copy(uint32_t *to, const uint32_t *from, size_t n);
void reference_fill(uint32_t *to, size_t n, uint32_t value);

#endif
