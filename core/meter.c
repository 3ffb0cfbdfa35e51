#include "meter.h"

/* Launches of a batch before any was timed: with a fifth of a second each they stay below the two
 * seconds after which drivers reset a device. */
#define UNTIMED 4

/* A longer time is believed by this part of the difference. */
#define SLOWNESS 8

void meter_begin(struct meter *meter, uint64_t value, uint32_t launches, uint64_t now)
{
    if (meter->count == METER_BATCHES)
        return;
    if (meter->count == 0)
        meter->start = meter->looked = now;
    meter->batches[(meter->first + meter->count++) % METER_BATCHES] =
        (struct meter_batch){value, launches};
}

static void learn(struct meter *meter, uint64_t took)
{
    uint64_t known = atomic_load_explicit(&meter->launch, memory_order_relaxed);

    if (known && took > known)
        took = known + (took - known + SLOWNESS - 1) / SLOWNESS;
    atomic_store_explicit(&meter->launch, took ? took : 1, memory_order_relaxed);
}

/* Takes out the batches that have completed; their launches. */
static uint32_t take_completed(struct meter *meter, uint64_t completed)
{
    uint32_t launches = 0;

    while (meter->count && meter->batches[meter->first].value <= completed) {
        launches += meter->batches[meter->first].launches;
        meter->first = (meter->first + 1) % METER_BATCHES;
        meter->count--;
    }
    return launches;
}

void meter_look(struct meter *meter, uint64_t completed, uint64_t now)
{
    uint32_t launches = take_completed(meter, completed);

    if (launches) {
        learn(meter, (now - meter->start) / launches);
        meter->start = meter->looked; /* the next one may have begun right after that look */
    } else if (meter->count && completed + 1 < meter->batches[meter->first].value) {
        meter->start = now; /* what comes before it still runs */
    }
    meter->looked = now;
}

uint32_t meter_fit(const struct meter *meter, uint64_t max_ns, uint32_t most)
{
    uint64_t launch = atomic_load_explicit(&meter->launch, memory_order_relaxed);
    uint64_t fit = launch ? max_ns / launch : UNTIMED;

    if (fit == 0)
        fit = 1;
    return fit < most ? (uint32_t)fit : most;
}
