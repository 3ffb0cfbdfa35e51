/* Writes a package: the format is core/package_format.h's. */
#ifndef GANTRY_COMPILE_PACKAGE_H
#define GANTRY_COMPILE_PACKAGE_H

#include "image.h"

/* The same input and tools give the same bytes. `toolchain` names the tools for people. */
struct text package_bytes(const struct compilation *c, const char *toolchain);

#endif
