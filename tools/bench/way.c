#include "way.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../output.h"
#include "statistics.h"

enum { WARM_UP = 5 };

bool ways_add(struct ways *ways, struct way *way)
{
    if (way)
        ways->items[ways->count++] = way;
    return way != NULL;
}

void ways_destroy(struct ways *ways)
{
    for (size_t i = 0; i < ways->count; i++)
        ways->items[i]->destroy(ways->items[i]);
    ways->count = 0;
}

/* The times of one way, one for each repetition. */
struct samples {
    struct way *way;
    double *ns, *submit_ns;
    bool submits;
};

static bool samples_take(struct samples *samples, unsigned index)
{
    struct way *way = samples->way;
    struct timing timing = {0, -1};

    if (way->own_context && !way->run(way, &timing))
        return false;
    if (!way->run(way, &timing))
        return false;
    samples->ns[index] = timing.ns;
    samples->submit_ns[index] = timing.submit_ns;
    samples->submits = timing.submit_ns >= 0;
    return true;
}

/* Alternates, so that whatever drifts (clocks, heat, other programs) drifts for all. */
static bool take_all(struct samples *samples, size_t count, unsigned repetitions)
{
    unsigned warm_up = repetitions < WARM_UP ? repetitions : WARM_UP;

    for (unsigned i = 0; i < warm_up + repetitions; i++) {
        for (size_t w = 0; w < count; w++) {
            if (!samples_take(&samples[w], i < warm_up ? 0 : i - warm_up))
                return false;
        }
    }
    return true;
}

static void report_gantry(const struct samples *samples, uint32_t launches, unsigned repetitions,
                          struct row *row)
{
    row->gantry_ns = percentile(samples->ns, repetitions, 0.5) / launches;
    row->gantry_p95_ns = percentile(samples->ns, repetitions, 0.95) / launches;
    if (samples->submits)
        row_extra(row, "submit_ns", percentile(samples->submit_ns, repetitions, 0.5));
}

/* The fastest of the raw ways is what gantry has to hold against. */
static void report_raw(const struct samples *samples, size_t count, uint32_t launches,
                       unsigned repetitions, struct row *row)
{
    const struct samples *best = NULL;

    for (size_t i = 0; i < count; i++) {
        double ns = percentile(samples[i].ns, repetitions, 0.5) / launches;

        if (best && ns >= row->raw_ns)
            continue;
        best = &samples[i];
        row->raw_ns = ns;
    }
    if (!best)
        return;
    snprintf(row->raw_how, sizeof row->raw_how, "%s", best->way->how);
    if (best->submits)
        row_extra(row, "raw_submit_ns", percentile(best->submit_ns, repetitions, 0.5));
}

bool ways_measure(struct way *gantry, const struct ways *raw, uint32_t launches,
                  unsigned repetitions, struct row *row)
{
    struct samples samples[1 + WAY_COUNT];
    size_t count = 1 + raw->count;
    double *room = calloc(2 * count * repetitions, sizeof *room);
    bool done;

    if (!room) {
        output_error("bench: out of memory for %u repetitions", repetitions);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        double *ns = room + 2 * i * repetitions;

        samples[i] = (struct samples){i ? raw->items[i - 1] : gantry, ns, ns + repetitions, false};
    }
    done = take_all(samples, count, repetitions);
    if (done) {
        report_gantry(samples, launches, repetitions, row);
        report_raw(samples + 1, raw->count, launches, repetitions, row);
    }
    free(room);
    return done;
}
