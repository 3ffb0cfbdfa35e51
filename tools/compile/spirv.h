/* What a kernel's unoptimised SPIR-V says about it, apart from the argument struct. */
#ifndef GANTRY_COMPILE_SPIRV_H
#define GANTRY_COMPILE_SPIRV_H

#include "unit.h"

/* Fills in shared memory and features, and reports what only the compiled code shows: `%` of signed
 * numbers, 64-bit atomics in shared memory. `code` was compiled with -g. */
void spirv_read(struct unit *unit, struct kernel *kernel, const uint32_t *code, size_t words);

#endif
