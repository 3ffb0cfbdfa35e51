/* Contents of large arrays that can be predicted: they repeat themselves. */
#ifndef GANTRY_BENCH_PATTERN_H
#define GANTRY_BENCH_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* Words after which a pattern begins again: a prime, so that what a block of threads finds differs
 * from block to block. */
enum { PATTERN_PERIOD = 1048573 };

struct pattern {
    float *floats;   /* multiples of 1/128 from -1 to 1 whose sum is 0: their sums are exact */
    double *sums;    /* sums[i] is that of the first i floats; PATTERN_PERIOD + 1 */
    uint32_t *words; /* of all sizes */
};

/* False when memory runs out, which was said; close it all the same. */
bool pattern_open(struct pattern *pattern);
void pattern_close(struct pattern *pattern);

static inline float pattern_float(const struct pattern *pattern, uint64_t i)
{
    return pattern->floats[i % PATTERN_PERIOD];
}

/* Of the first n floats. */
static inline double pattern_sum(const struct pattern *pattern, uint64_t n)
{
    return pattern->sums[n % PATTERN_PERIOD];
}

/* How often word i of the period is in an array of n words. */
static inline uint64_t pattern_count(uint64_t n, uint32_t i)
{
    return n / PATTERN_PERIOD + (i < n % PATTERN_PERIOD);
}

#endif
