/* Which pointers of its arguments a kernel can write through. */
#ifndef GANTRY_COMPILE_WRITES_H
#define GANTRY_COMPILE_WRITES_H

#include "unit.h"

/* Clears `written` of the pointers that no store and no atomic of this module can reach. `code` is
 * the kernel's direct entry, optimised: before that, all pointers of a type go through one
 * function, and are one to a reader who does not tell calls apart. */
void find_writes(struct pool *pool, const struct kernel *kernel, const uint32_t *code,
                 size_t words);

#endif
