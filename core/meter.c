#include "meter.h"

/* Launches of a batch before any was timed: with a fifth of a second each they stay below the two
 * seconds after which drivers reset a device. */
#define UNTIMED 4

/* A longer time is believed by this part of the difference. */
#define SLOWNESS 8

void meter_begin(struct meter *meter, uint64_t value, uint32_t launches, uint64_t now)
{
    if (meter->value || launches == 0)
        return;
    meter->value = value;
    meter->launches = launches;
    meter->start = now;
}

static void learn(struct meter *meter, uint64_t took)
{
    uint64_t known = atomic_load_explicit(&meter->launch, memory_order_relaxed);

    if (known && took > known)
        took = known + (took - known + SLOWNESS - 1) / SLOWNESS;
    atomic_store_explicit(&meter->launch, took ? took : 1, memory_order_relaxed);
}

void meter_look(struct meter *meter, uint64_t completed, uint64_t now)
{
    if (!meter->value)
        return;
    if (completed >= meter->value) {
        learn(meter, (now - meter->start) / meter->launches);
        meter->value = 0;
    } else if (completed + 1 < meter->value) {
        meter->start = now;
    }
}

uint32_t meter_fit(const struct meter *meter, uint64_t max_ns, uint32_t most)
{
    uint64_t launch = atomic_load_explicit(&meter->launch, memory_order_relaxed);
    uint64_t fit = launch ? max_ns / launch : UNTIMED;

    if (fit == 0)
        fit = 1;
    return fit < most ? (uint32_t)fit : most;
}
