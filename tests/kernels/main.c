/* The kernel library on one device, against references in plain C.
 *
 *     kernels_test [--device SELECTOR] [--packages DIR] [--big] [--gpu] [--except CASE] [--list]
 *                  [CASE…]
 *
 * The command line is that of the conformance suite. */
#include "../conform/run.h"
#include "dense.h"

#ifndef PACKAGES
#define PACKAGES "."
#endif

static const struct conform_case *const tables[] = {
    copy_kernel_cases,      sum_kernel_cases,
    scan_kernel_cases,      sort_kernel_cases,
    big_kernel_cases,       transpose_kernel_cases,
    rows_kernel_cases,      matmul_kernel_cases,
    linear_kernel_cases,    convolution_kernel_cases,
    particle_kernel_cases,  dense_fold_kernel_cases,
    dense_big_kernel_cases, NULL,
};

int main(int argc, char **argv)
{
    return run_program(argc, argv, PACKAGES, tables);
}
