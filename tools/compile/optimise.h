/* Optimising SPIR-V with spirv-opt, in place. */
#ifndef GANTRY_COMPILE_OPTIMISE_H
#define GANTRY_COMPILE_OPTIMISE_H

#include "image.h"
#include "process.h"

/* What spirv-opt -O does, in two commands. The first inlines functions and unrolls loops; the float
 * operations that are there afterwards must be decorated (contraction.h) before the second, which
 * folds arithmetic, and would make one rounding of a multiplication and an addition. */
struct command unroll_command(struct compilation *c, const char *path);
struct command optimise_command(struct compilation *c, const char *path);

#endif
