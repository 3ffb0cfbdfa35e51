/* What the tests of kernels over matrices and pictures share, on top of rig.h. */
#ifndef GANTRY_TESTS_KERNELS_DENSE_H
#define GANTRY_TESTS_KERNELS_DENSE_H

#include "rig.h"

/* One table a file, ended by a case without a name. */
extern const struct conform_case transpose_kernel_cases[], rows_kernel_cases[],
    matmul_kernel_cases[], linear_kernel_cases[], convolution_kernel_cases[],
    particle_kernel_cases[], dense_fold_kernel_cases[], dense_big_kernel_cases[];

/* One launch of so many threads along three axes, waited for. */
#define RUN_GRID(kernel, x, y, z, args) \
    run_grid(c, kernel, (struct gantry_size){x, y, z}, args, sizeof(*(args)))
void run_grid(struct conform *c, struct gantry_kernel *kernel, struct gantry_size threads,
              const void *args, size_t size);

/* Every float within tolerance * scale of the expected value. */
#define WITHIN(found, expected, scale, n, tolerance) \
    within_at(c, __FILE__, __LINE__, #found, found, expected, scale, n, tolerance)
void within_at(struct conform *c, const char *file, int line, const char *what, const float *found,
               const double *expected, const double *scale, size_t n, double tolerance);

/* Nothing was written between the rows of a matrix that a kernel filled. */
#define GAPS_UNWRITTEN(found, rows, columns, pitch) \
    gaps_unwritten_at(c, __FILE__, __LINE__, #found, found, rows, columns, pitch)
void gaps_unwritten_at(struct conform *c, const char *file, int line, const char *what,
                       const float *found, size_t rows, size_t columns, size_t pitch);

/* Places in a piece of 16 bytes where arguments begin. */
extern const unsigned skews[];
enum { SKEWS = 3 };

/* The tolerance that the kernel states. */
double tolerance_of(struct conform *c, const char *kernel);

#endif
