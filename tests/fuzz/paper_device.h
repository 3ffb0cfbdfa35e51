/* An open device on paper: modules can be loaded and kernels be made on it, nothing runs. */
#ifndef GANTRY_TESTS_FUZZ_PAPER_DEVICE_H
#define GANTRY_TESTS_FUZZ_PAPER_DEVICE_H

#include <gantry/gantry.h>

/* Made with the first call, and never closed. What core promises a plugin about a kernel holds when
 * one is made, or the program ends. A kernel's images decide how many threads a block of it may
 * have, and whether it is refused. */
struct gantry_device *paper_device(void);

/* Kernels of the plugin that are alive. */
unsigned paper_kernels(void);

/* Frees what destroyed kernels have left behind. */
void paper_collect(void);

#endif
