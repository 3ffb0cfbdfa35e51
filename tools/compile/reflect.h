/* Reads the layout of a kernel's argument struct, and of the structs that its pointers lead to,
 * from SPIR-V, and compares it with the source's words and with C's layout. */
#ifndef GANTRY_COMPILE_REFLECT_H
#define GANTRY_COMPILE_REFLECT_H

#include "unit.h"

/* False when spirv-cross can't read the code; mistakes of the source are counted in the unit. */
bool reflect(struct unit *unit, struct kernel *kernel, const uint32_t *code, size_t words);

/* Bytes of what a pointer points to, by the type's name; 0 for "", that of no pointer. */
uint32_t pointee_size(const struct unit *unit, const char *pointee);

/* XXH64 over names, types and offsets, as package_format.h says. */
uint64_t layout_hash(struct unit *unit, const struct record *record);

#endif
