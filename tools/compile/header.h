/* The C header that goes with a package: argument structs, typed launch functions, the package
 * itself. */
#ifndef GANTRY_COMPILE_HEADER_H
#define GANTRY_COMPILE_HEADER_H

#include "unit.h"

/* C names begin with `prefix`. `package` NULL: its bytes are not put in. */
struct text header_text(const struct unit *unit, const char *prefix, const struct text *package);

#endif
