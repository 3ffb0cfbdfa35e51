#ifndef GANTRY_BENCH_STATISTICS_H
#define GANTRY_BENCH_STATISTICS_H

#include <stddef.h>

/* The value below which `share` (0 to 1) of the values lie; 0.5 is the median. Sorts the values, of
 * which there is at least one. */
double percentile(double *values, size_t count, double share);

#endif
