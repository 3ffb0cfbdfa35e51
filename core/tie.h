/* Sections of which neither is more specific. */
#ifndef GANTRY_CORE_TIE_H
#define GANTRY_CORE_TIE_H

#include "match.h"

/* Whether two different selectors are equally specific and some device is taken by both. Not all
 * that vendor's words could do behind a leading wildcard is followed. */
bool tie_between(const struct selector *a, const struct selector *b);

#endif
