/* What repeated measurements of a ratio say. */
#ifndef GANTRY_TUNE_ESTIMATE_H
#define GANTRY_TUNE_ESTIMATE_H

#include <stddef.h>

enum { ESTIMATE_SAMPLES = 64 }; /* the most that are looked at */

struct estimate {
    double ratio; /* the median */
    double noise; /* how far off the median may be: twice the spread of the middle half of the
                     samples, divided by the root of their number. In 95 of 100 cases or more, for
                     bell-shaped noise */
};

/* Of 1 to ESTIMATE_SAMPLES values, which stay as they are. */
struct estimate estimate_of(const double *samples, size_t count);

/* Of values that would all be 1 if there were no noise: how far their median is from that counts as
 * noise too. */
struct estimate estimate_of_null(const double *samples, size_t count);

#endif
