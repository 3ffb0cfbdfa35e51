#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../output.h"
#include "statistics.h"
#include "stopwatch.h"

/* ---- One size ------------------------------------------------------------------------------- */

enum { MOST_REPETITIONS = 31 };

/* A turn is long enough for reading the clock not to count. */
static const struct plan {
    unsigned repetitions, rounds, raw_rounds;
} usual = {MOST_REPETITIONS, 2000, 50}, quick_plan = {3, 100, 2};

static bool come_and_go(struct gantry_side *side, uint64_t size, unsigned rounds)
{
    const struct gantry_buffer_params params = {.size = size};
    struct gantry_buffer *buffer;

    for (unsigned i = 0; i < rounds; i++) {
        if (gantry_buffer_create(side->device, &params, &buffer) != GANTRY_OK)
            return gantry_side_failed();
        gantry_buffer_destroy(&buffer);
    }
    return true;
}

/* The first time is not counted: it may fetch memory from the driver. */
bool memory_measure_row(struct gantry_side *side, struct raw *raw, bool quick,
                        struct memory_row *row)
{
    const struct plan *plan = quick ? &quick_plan : &usual;
    double gantry_ns[MOST_REPETITIONS], raw_ns[MOST_REPETITIONS];

    if (!come_and_go(side, row->size, 1) || (raw && !raw->ops->come_and_go(raw, row->size, 1)))
        return false;
    for (unsigned i = 0; i < plan->repetitions; i++) {
        uint64_t start = stopwatch_read();

        if (!come_and_go(side, row->size, plan->rounds))
            return false;
        gantry_ns[i] = stopwatch_between(start, stopwatch_read()) / plan->rounds;
        start = stopwatch_read();
        if (raw && !raw->ops->come_and_go(raw, row->size, plan->raw_rounds))
            return false;
        raw_ns[i] = stopwatch_between(start, stopwatch_read()) / plan->raw_rounds;
    }
    row->gantry_ns = percentile(gantry_ns, plan->repetitions, 0.5);
    row->gantry_p95_ns = percentile(gantry_ns, plan->repetitions, 0.95);
    row->raw_ns = raw ? percentile(raw_ns, plan->repetitions, 0.5) : NAN;
    return true;
}

/* ---- Many sizes ----------------------------------------------------------------------------- */

enum { SAMPLES = 100 };

/* Marsaglia's xorshift: the same sizes in every run. */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Many small ones, some of middle size, few of up to 1 MiB. */
static uint64_t next_size(uint32_t *state)
{
    uint32_t kind = next_random(state) % 100, size = next_random(state);

    if (kind < 70)
        return 1 + size % 4096;
    return kind < 95 ? 4096 + size % 61440 : 65536 + size % 983040;
}

static uint64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (file) {
        if (fscanf(file, "%*u %lu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

double memory_unused(const struct gantry_memory_info *info)
{
    return info->reserved ? (double)(info->reserved - info->used) / (double)info->reserved : 0;
}

/* Replaces so many buffers by new ones. */
static bool replace(struct gantry_side *side, struct gantry_buffer **buffers, uint32_t live,
                    uint32_t count, uint32_t *state)
{
    for (uint32_t i = 0; i < count; i++) {
        struct gantry_buffer **buffer = &buffers[next_random(state) % live];
        const struct gantry_buffer_params params = {.size = next_size(state)};

        gantry_buffer_destroy(buffer);
        if (gantry_buffer_create(side->device, &params, buffer) != GANTRY_OK)
            return gantry_side_failed();
    }
    return true;
}

/* Resident memory and what is unused count from the time on when all buffers have been made. */
static bool run_churn(struct gantry_side *side, struct gantry_buffer **buffers,
                      struct memory_churn *churn)
{
    uint32_t state = 88172645, step = churn->creates / SAMPLES;
    double ns = 0;

    for (int sample = 0; sample < SAMPLES; sample++) {
        uint64_t start = stopwatch_read();

        if (!replace(side, buffers, churn->live, step, &state))
            return false;
        ns += stopwatch_between(start, stopwatch_read());
        if (gantry_device_memory(side->device, &churn->info) != GANTRY_OK)
            return gantry_side_failed();
        if (sample < SAMPLES / 10)
            continue;
        if (sample == SAMPLES / 10)
            churn->resident_early = resident_bytes();
        churn->worst_unused = fmax(churn->worst_unused, memory_unused(&churn->info));
    }
    churn->ns = ns / churn->creates;
    churn->resident_late = resident_bytes();
    return true;
}

/* When all is destroyed, nothing is in use. */
static bool check_empty(struct gantry_side *side, uint64_t used_before)
{
    struct gantry_memory_info info;

    if (gantry_device_memory(side->device, &info) != GANTRY_OK)
        return gantry_side_failed();
    if (info.used == used_before)
        return true;
    output_error("bench: memory: %llu bytes are still in use after all buffers were destroyed",
                 (unsigned long long)(info.used - used_before));
    return false;
}

bool memory_measure_churn(struct gantry_side *side, bool quick, struct memory_churn *churn)
{
    struct gantry_memory_info before;
    struct gantry_buffer **buffers;
    bool done;

    *churn = (struct memory_churn){.creates = quick ? 10000 : 1000000, .live = quick ? 256 : 4096};
    /* What the sizes before have left would count as unused. */
    if (gantry_device_trim(side->device) != GANTRY_OK ||
        gantry_device_memory(side->device, &before) != GANTRY_OK)
        return gantry_side_failed();
    buffers = calloc(churn->live, sizeof *buffers);
    if (!buffers) {
        output_error("bench: out of memory");
        return false;
    }
    done = run_churn(side, buffers, churn);
    for (uint32_t i = 0; i < churn->live; i++)
        gantry_buffer_destroy(&buffers[i]);
    free(buffers);
    return done && check_empty(side, before.used);
}
