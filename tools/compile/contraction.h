#ifndef GANTRY_COMPILE_CONTRACTION_H
#define GANTRY_COMPILE_CONTRACTION_H

#include <stdbool.h>

#include "pool.h"

/* Decorates the float operations of a SPIR-V file with NoContraction (SPIR-V specification, 3.20),
 * so that neither spirv-opt nor a driver makes one rounding of a multiplication and an addition:
 * the entries of a kernel, which both optimise apart, then give the same bits. False when the file
 * can't be read or written. */
bool spirv_forbid_contraction(struct pool *pool, const char *path);

#endif
