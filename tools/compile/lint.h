/* Refuses what the compilers would take but understand differently. docs/kernel-language.md has a
 * row for each rule. */
#ifndef GANTRY_COMPILE_LINT_H
#define GANTRY_COMPILE_LINT_H

#include "unit.h"

void lint(struct unit *unit);

#endif
