#include "rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../output.h"

struct rate *rates_add(struct rates *rates, const char *test, uint64_t n, uint64_t bytes)
{
    struct rate *items = realloc(rates->items, (rates->count + 1) * sizeof *items);
    struct rate *rate;

    if (!items) {
        output_error("bench: out of memory for %zu results", rates->count + 1);
        return NULL;
    }
    rates->items = items;
    rate = &items[rates->count++];
    *rate = (struct rate){
        .row = {.test = test, .gantry_ns = NAN, .gantry_p95_ns = NAN, .raw_ns = NAN},
        .n = n,
        .bytes = bytes,
    };
    return rate;
}

void rates_skip(struct rates *rates, const char *test, const char *why)
{
    struct rate_skip *skip;

    if (rates->skip_count == MOST_SKIPS)
        return;
    skip = &rates->skips[rates->skip_count++];
    skip->test = test;
    snprintf(skip->why, sizeof skip->why, "%s", why);
}

void rates_free(struct rates *rates)
{
    free(rates->items);
    rates->items = NULL;
    rates->count = rates->skip_count = 0;
}

double rate_gbps(const struct rate *rate)
{
    return (double)rate->bytes / rate->row.gantry_ns;
}

double rate_p95_gbps(const struct rate *rate)
{
    return (double)rate->bytes / rate->row.gantry_p95_ns;
}

double rate_raw_gbps(const struct rate *rate)
{
    return (double)rate->raw_bytes / rate->row.raw_ns;
}

double rate_ratio(const struct rate *rate)
{
    return rate_gbps(rate) / rate_raw_gbps(rate);
}

void rates_describe(struct rates *rates, const struct gantry_side *side, const char *raw_missing,
                    const char *n_key)
{
    rates->device = side->info.name;
    rates->backend = side->info.chosen_backend;
    rates->driver_version = gantry_side_driver_version(side);
    rates->raw_missing = raw_missing;
    rates->n_key = n_key;
}
