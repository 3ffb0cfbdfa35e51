/* Time on the host. */
#ifndef GANTRY_BENCH_STOPWATCH_H
#define GANTRY_BENCH_STOPWATCH_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t stopwatch_read(void);

/* ns between two readings, less what reading the clock takes by itself, which is as much as some of
 * what is measured. Never negative. */
double stopwatch_between(uint64_t start, uint64_t end);

#endif
