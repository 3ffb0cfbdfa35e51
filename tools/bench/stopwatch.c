#include "stopwatch.h"

#include <time.h>

#include "statistics.h"

enum { READINGS = 1001 };

uint64_t stopwatch_read(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double measure_cost(void)
{
    double costs[READINGS];

    for (int i = 0; i < READINGS; i++) {
        uint64_t start = stopwatch_read();

        costs[i] = (double)(stopwatch_read() - start);
    }
    return percentile(costs, READINGS, 0.5);
}

double stopwatch_between(uint64_t start, uint64_t end)
{
    static double cost = -1;
    double ns = (double)(end - start);

    if (cost < 0)
        cost = measure_cost();
    return ns > cost ? ns - cost : 0;
}
