/* The cases: what each launches, and what is timed. */
#include <string.h>

#include "../output.h"
#include "bench.h"

struct bench_case {
    const char *name;

    /* The work for n launches; false: there is none for this n. */
    bool (*work)(uint32_t n, struct work *work);
    struct way *(*gantry)(struct gantry_side *side, const struct work *work);
    enum { RAW_NONE, RAW_REPLAY, RAW_ONESHOT, RAW_ROUNDTRIP } raw;

    /* The numbers of launches, up to a 0, where the options give none; NULL: `usual`. */
    const uint32_t *counts;
    bool fixed; /* the options don't change them */

    /* Instead of all that, for cases that are made otherwise; one block of memory is reserved. */
    bool (*run)(struct bench *bench);
};

static const uint32_t usual[] = {1, 8, 32, 128, 512, 2048, 0};
static const uint32_t with_64[] = {1, 8, 32, 64, 128, 512, 2048, 0};
static const uint32_t one[] = {1, 0};

enum {
    STAGES = 16,
    CHAIN_BLOCKS = 8,
    STREAM_CALLS = 16384,
};

/* ---- Works ---------------------------------------------------------------------------------- */

static bool chain_of_8_blocks(uint32_t n, struct work *work)
{
    *work = (struct work){.launches = n, .width = 1, .blocks = CHAIN_BLOCKS, .kernels = 1};
    return true;
}

static bool chain_of_1_block(uint32_t n, struct work *work)
{
    *work = (struct work){.launches = n, .width = 1, .blocks = 1, .kernels = 1};
    return true;
}

static bool independent(uint32_t n, struct work *work)
{
    *work = (struct work){.launches = n, .width = n, .blocks = 1, .kernels = 1};
    return true;
}

static bool mixed(uint32_t n, struct work *work)
{
    *work = (struct work){.launches = n, .width = n, .blocks = 1, .kernels = KERNEL_COUNT};
    return n >= KERNEL_COUNT;
}

static bool stages(uint32_t n, struct work *work)
{
    *work = (struct work){.launches = n, .width = n / STAGES, .blocks = 1, .kernels = 1};
    return n % STAGES == 0;
}

/* ---- The stream ----------------------------------------------------------------------------- */

static bool stream_run(struct bench *bench)
{
    struct row *row = results_add(&bench->results, "stream", STREAM_CALLS);

    return row &&
           gantry_stream_measure(&bench->side, STREAM_CALLS, bench->options.quick ? 1 : 5, row) &&
           gantry_side_check(&bench->side);
}

/* ---- All ------------------------------------------------------------------------------------ */

/* Host time: record, stream, oneshot, oneshot1, patch. Until all is complete: the others. */
static const struct bench_case cases[] = {
    {.name = "record", .work = chain_of_1_block, .gantry = gantry_way_record},
    {.name = "stream", .run = stream_run},
    {.name = "oneshot",
     .work = chain_of_8_blocks,
     .gantry = gantry_way_oneshot,
     .raw = RAW_ONESHOT,
     .counts = with_64},
    {.name = "oneshot1",
     .work = chain_of_1_block,
     .gantry = gantry_way_oneshot,
     .raw = RAW_ONESHOT,
     .counts = with_64},
    {.name = "chain", .work = chain_of_8_blocks, .gantry = gantry_way_replay, .raw = RAW_REPLAY},
    {.name = "chain1", .work = chain_of_1_block, .gantry = gantry_way_replay, .raw = RAW_REPLAY},
    {.name = "independent", .work = independent, .gantry = gantry_way_replay, .raw = RAW_REPLAY},
    {.name = "stages", .work = stages, .gantry = gantry_way_replay, .raw = RAW_REPLAY},
    {.name = "mixed", .work = mixed, .gantry = gantry_way_replay, .raw = RAW_REPLAY},
    {.name = "patch", .work = independent, .gantry = gantry_way_patch},
    {.name = "roundtrip",
     .work = chain_of_1_block,
     .gantry = gantry_way_replay,
     .raw = RAW_ROUNDTRIP,
     .counts = one,
     .fixed = true},
    {.name = "roundtrip-stream",
     .work = chain_of_1_block,
     .gantry = gantry_way_stream,
     .raw = RAW_ROUNDTRIP,
     .counts = one,
     .fixed = true},
    {.name = "sweep", .run = sweep_run},
};

const struct bench_case *case_at(size_t index)
{
    return index < sizeof cases / sizeof *cases ? &cases[index] : NULL;
}

const char *case_name(const struct bench_case *test)
{
    return test->name;
}

const struct bench_case *case_find(const char *name)
{
    const struct bench_case *test = NULL;

    for (size_t i = 0; (test = case_at(i)) && strcmp(test->name, name) != 0; i++)
        ;
    return test;
}

/* Up to a 0. */
static const uint32_t *counts_of(const struct bench *bench, const struct bench_case *test)
{
    if (bench->options.counts[0] && !test->fixed)
        return bench->options.counts;
    return test->counts ? test->counts : usual;
}

uint32_t case_blocks(const struct bench *bench, const struct bench_case *test)
{
    uint32_t most = 1;
    struct work work;

    for (const uint32_t *n = counts_of(bench, test); test->work && *n; n++) {
        if (test->work(*n, &work) && work_all_blocks(&work) > most)
            most = work_all_blocks(&work);
    }
    return most;
}

static bool add_raw_ways(const struct bench *bench, const struct bench_case *test,
                         const struct work *work, struct ways *ways)
{
    struct raw *raw = bench->raw;

    if (raw && test->raw == RAW_REPLAY)
        return raw->ops->replay(raw, work, ways);
    if (raw && test->raw == RAW_ONESHOT)
        return raw->ops->oneshot(raw, work, ways);
    if (raw && test->raw == RAW_ROUNDTRIP)
        return raw->ops->roundtrip(raw, work, ways);
    return true;
}

static bool run_work(struct bench *bench, const struct bench_case *test, const struct work *work)
{
    struct row *row = results_add(&bench->results, test->name, work->launches);
    struct ways gantry = {0}, raw = {0};
    bool right = row && ways_add(&gantry, test->gantry(&bench->side, work)) &&
                 add_raw_ways(bench, test, work, &raw) &&
                 ways_measure(gantry.items[0], &raw, work->launches, bench->repetitions, row);

    ways_destroy(&gantry);
    ways_destroy(&raw);
    return right && gantry_side_check(&bench->side) &&
           (!bench->raw || bench->raw->ops->check(bench->raw));
}

bool case_run(struct bench *bench, const struct bench_case *test)
{
    struct work work;

    if (test->run)
        return test->run(bench);
    for (const uint32_t *n = counts_of(bench, test); *n; n++) {
        if (test->work(*n, &work) && !run_work(bench, test, &work))
            return false;
    }
    return true;
}
