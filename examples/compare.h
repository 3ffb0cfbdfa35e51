/* edge --all: every device, through every backend, against plain C. */
#ifndef GANTRY_EXAMPLES_COMPARE_H
#define GANTRY_EXAMPLES_COMPARE_H

#include "filter.h"

/* A device's floats may be rounded differently from the next one's. Painted samples, of 65535, may
 * therefore differ by this much; luma, histogram and levels are integers and must not differ. */
enum { COMPARE_TOLERANCE = 16 };

/* Runs the filter `repeat` times on each, and prints a line for each. params->to gets the last
 * picture. False: one failed, one differs, or there is none. */
bool compare_all(struct gantry *g, uint32_t repeat, const struct filter_params *params);

#endif
