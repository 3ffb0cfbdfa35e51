#include "estimate.h"

#include <math.h>
#include <string.h>

#include "../bench/statistics.h"

struct estimate estimate_of(const double *samples, size_t count)
{
    double sorted[ESTIMATE_SAMPLES], spread;

    memcpy(sorted, samples, count * sizeof *sorted);
    spread = percentile(sorted, count, 0.75) - percentile(sorted, count, 0.25);
    return (struct estimate){percentile(sorted, count, 0.5), 2 * spread / sqrt((double)count)};
}

struct estimate estimate_of_null(const double *samples, size_t count)
{
    struct estimate estimate = estimate_of(samples, count);

    estimate.noise += fabs(estimate.ratio - 1);
    return estimate;
}
