/* Cuts what `glslc -E` writes into tokens. */
#ifndef GANTRY_COMPILE_TOKEN_H
#define GANTRY_COMPILE_TOKEN_H

#include "unit.h"

/* Fills in unit->tokens. Lines of the wrapper, whose name ends in `wrapper`, are left out. */
void tokenize(struct unit *unit, const char *text, const char *wrapper);

#endif
