/* What kernels/edge.gk computes, in plain C. Luma, histogram and levels are in integers and the
 * same to the last bit; the rest is in floats, and the sum of a difference of roundings apart. */
#ifndef GANTRY_EXAMPLES_REFERENCE_H
#define GANTRY_EXAMPLES_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "png.h"

enum { EDGE_RADIUS = 4, EDGE_BINS = 256 };

struct reference {
    uint32_t *luma; /* one a pixel */
    uint32_t bins[EDGE_BINS];
    uint32_t levels[2];
    float *rows, *blurred, *edges; /* one a pixel */
    uint32_t *painted;             /* two a pixel, as in struct picture */
};

/* The weights of the blur: of the middle, and of both pixels 1 to EDGE_RADIUS away. */
void edge_weights(float weights[EDGE_RADIUS + 1]);

/* False: out of memory. Free it in either case. */
bool reference_make(struct reference *reference, const struct picture *picture, float threshold);
void reference_free(struct reference *reference);

#endif
