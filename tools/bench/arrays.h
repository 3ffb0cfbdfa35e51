/* Arrays in the memory of a device: filled with a pattern, and looked at in samples. */
#ifndef GANTRY_BENCH_ARRAYS_H
#define GANTRY_BENCH_ARRAYS_H

#include "gantry_side.h"
#include "pattern.h"

enum { ARRAYS_RESULTS = 256 };

struct arrays {
    struct gantry_side *side;
    struct gantry_buffer *a, *b;          /* n words each */
    struct gantry_buffer *c;              /* larger, for what algorithms need meanwhile */
    struct gantry_buffer *results;        /* ARRAYS_RESULTS words, where those are few */
    struct gantry_buffer *floats, *words; /* two periods of the pattern */
    struct gantry_buffer *sample;         /* what the host looks at */
};

/* False, and why was said; close it all the same. */
bool arrays_open(struct arrays *arrays, struct gantry_side *side, const struct pattern *pattern,
                 uint64_t n, uint64_t c_size);
void arrays_close(struct arrays *arrays);

/* Bytes that arrays_open() takes. */
uint64_t arrays_size(uint64_t n, uint64_t c_size);

/* Fills `count` words of `to` from word `at` on with a pattern (arrays->floats or ->words) that
 * begins at its word `shift`, and waits. False: why was said. */
bool arrays_fill(struct arrays *arrays, struct gantry_buffer *to, uint64_t at, uint64_t count,
                 struct gantry_buffer *pattern, uint32_t shift);

/* What an array must hold. */
struct expectation {
    bool words; /* unsigned integers; otherwise floats */

    /* Element i of the array. A value is right when it differs by no more than tolerance * *size,
     * which is 1 unless the function sets it. */
    double (*expect)(const void *what, uint64_t i, double *size);
    const void *what;
    double tolerance;
};

/* Looks at samples all over the `count` first elements. False: one is wrong or could not be read,
 * and that was said. */
bool arrays_check(struct arrays *arrays, struct gantry_buffer *array, uint64_t count,
                  const struct expectation *expectation);

#endif
