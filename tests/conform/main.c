/* The conformance suite: what every backend must do, asked through gantry.h alone.
 *
 *     conform [--device SELECTOR] [--packages DIR] [--big] [--gpu] [--except CASE] [--list] [CASE…]
 *
 * A CASE is a name, or the beginning of one ("copy/"). Exit status: 0 all passed or skipped, 1 some
 * failed, 2 wrong usage, 77 the device is not there. docs/conformance.md says more. */
#include "run.h"

#ifndef PACKAGES
#define PACKAGES "."
#endif

static const struct conform_case *const tables[] = {
    device_cases, memory_cases,  pool_cases,     copy_cases, rect_cases,  transfer_cases,
    launch_cases, kernel_cases,  language_cases, list_cases, order_cases, mixed_cases,
    fold_cases,   patch_cases,   stream_cases,   wait_cases, limit_cases, error_cases,
    thread_cases, process_cases, validate_cases, NULL,
};

int main(int argc, char **argv)
{
    return run_program(argc, argv, PACKAGES, tables);
}
