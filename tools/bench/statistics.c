#include "statistics.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double percentile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof *values, compare);
    return values[(size_t)(share * (double)(count - 1) + 0.5)];
}
