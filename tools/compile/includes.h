/* The files that a source is made of. */
#ifndef GANTRY_COMPILE_INCLUDES_H
#define GANTRY_COMPILE_INCLUDES_H

#include "settings.h"
#include "unit.h"

/* Fills in unit->includes: the source, kernel.h, and whatever they include, each with the name in
 * its #include. False with a complaint when two files go by one name: NVRTC could not tell them
 * apart. */
bool find_includes(struct unit *unit, const struct settings *settings);

#endif
