/* What the plugin costs beside the driver itself, in one process and by turns:
 *
 *     vulkan_plugin PLUGIN bench [case_*]
 *
 * Each line is one way of doing the same work. host: from the call to its return; wall: until the
 * counter was seen to have moved, by asking again and again. Medians, in ns a launch; the factors
 * are to the first line of the case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "raw.h"

enum {
    MIN_ROUNDS = 15,
    MAX_ROUNDS = 501,
    WARM_UP = 5,
    CASE_SECONDS = 3, /* after which no further round begins */
    MAX_LAUNCHES = 2048,
    BLOCKS = 8,
};

/* ---- Ways ----------------------------------------------------------------------------------- */

/* One way of doing a case's work. Exactly one of raw, built and once is set. */
struct way {
    const char *name;
    struct raw *raw;
    uint32_t extras; /* raw: recorded anew each time, with these */
    bool records, resets_pool;
    struct gantry_drv_plan *built;
    const struct gantry_plan *once;
    const void *patch; /* built: with these bytes at the table's start */
    uint64_t patch_size;
    double host[MAX_ROUNDS], wall[MAX_ROUNDS];
};

static struct bench {
    struct line line;
    struct gantry_drv_memory memory;
    struct gantry_drv_kernel *direct, *folded, *chained;
    struct step_args args;
    uint32_t launches, blocks; /* of the case that is measured */
    struct gantry_op *ops;
} bench;

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void submit_way(const struct way *way)
{
    if (way->raw) {
        if (way->resets_pool)
            raw_reset_pool(way->raw);
        if (way->records)
            raw_record(way->raw, &bench.args, bench.blocks, bench.launches, way->extras);
        raw_submit(way->raw);
    } else if (way->once) {
        line_once(&bench.line, way->once);
    } else if (way->patch_size > 0) {
        line_patch(&bench.line, way->built, 0, way->patch, way->patch_size);
    } else {
        line_submit(&bench.line, way->built);
    }
}

static void finish_way(const struct way *way)
{
    if (!way->raw)
        line_spin(&bench.line);
    else
        while (!raw_reached(way->raw))
            ;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

static void time_way(struct way *way, double *host, double *wall)
{
    double start = now_ns();

    submit_way(way);
    *host = now_ns() - start;
    finish_way(way);
    *wall = now_ns() - start;
}

/* By turns, so that all ways see the same weather. */
static uint32_t run_rounds(struct way *ways, uint32_t count)
{
    double end = now_ns() + CASE_SECONDS * 1e9, ignored;
    uint32_t round = 0;

    for (uint32_t i = 0; i < count; i++)
        for (int warm_up = 0; warm_up < WARM_UP; warm_up++)
            time_way(&ways[i], &ignored, &ignored);
    for (; round < MIN_ROUNDS || (round < MAX_ROUNDS && now_ns() < end); round++)
        for (uint32_t i = 0; i < count; i++)
            time_way(&ways[i], &ways[i].host[round], &ways[i].wall[round]);
    return round;
}

static void measure(const char *name, struct way *ways, uint32_t count)
{
    uint32_t rounds = run_rounds(ways, count);
    double first_host = 0, first_wall = 0;

    printf("%s, n = %u, %u rounds\n", name, bench.launches, rounds);
    for (uint32_t i = 0; i < count; i++) {
        double host = median(ways[i].host, rounds), wall = median(ways[i].wall, rounds);
        if (i == 0) {
            first_host = host;
            first_wall = wall;
        }
        printf("  %-36s host %9.1f (x %.3f)  wall %9.1f (x %.3f)\n", ways[i].name,
               host / bench.launches, host / first_host, wall / bench.launches, wall / first_wall);
    }
}

/* ---- Work ----------------------------------------------------------------------------------- */

static void set_case(uint32_t launches, uint32_t blocks)
{
    bench.launches = launches;
    bench.blocks = blocks;
    bench.args.n = blocks * STEP_BLOCK;
}

/* Dependent launches. Everything is recorded by core as host_writes, since a kernel may write to
 * memory that the host reads. */
static struct gantry_plan chain_plan(void)
{
    for (uint32_t i = 0; i < bench.launches; i++) {
        bench.ops[i] = op_step(i, bench.direct, &bench.args);
        bench.ops[i].label = NULL;
    }
    return plan_of(bench.ops, bench.launches);
}

static struct gantry_drv_plan *build(const struct gantry_plan *plan)
{
    struct gantry_drv_plan *built;

    assert_ok(rig.ops->plan_build(rig.device, plan, &built));
    return built;
}

static void open_table(struct fold *fold)
{
    fold_open(fold, bench.launches);
    for (uint32_t i = 0; i < bench.launches; i++)
        fold_add(fold, &bench.args, bench.blocks);
    fold->inline_args.equal = bench.blocks;
}

/* ---- Cases ---------------------------------------------------------------------------------- */

static void raw_prerecorded(struct raw *raw, uint32_t extras)
{
    raw_open(raw, &bench.line);
    raw_record(raw, &bench.args, bench.blocks, bench.launches, extras);
}

static void case_roundtrip(void **state)
{
    static const struct {
        const char *name;
        uint32_t extras;
    } rows[] = {
        {"raw, no barrier", 0},
        {"raw, first barrier", RAW_FIRST},
        {"raw, first barrier by ALL_COMMANDS", RAW_FIRST_ALL},
        {"raw, barrier to the host", RAW_HOST},
        {"raw, both barriers", RAW_FIRST | RAW_HOST},
        {"raw, both, simultaneous use", RAW_FIRST | RAW_HOST | RAW_SIMULTANEOUS},
    };
    enum { RAWS = sizeof(rows) / sizeof(rows[0]) };
    struct raw raws[RAWS];
    static struct way ways[RAWS + 2];
    struct gantry_plan plan, quiet;

    (void)state;
    set_case(1, BLOCKS);
    for (int i = 0; i < RAWS; i++) {
        raw_prerecorded(&raws[i], rows[i].extras);
        ways[i] = (struct way){.name = rows[i].name, .raw = &raws[i]};
    }
    plan = quiet = chain_plan();
    quiet.host_writes = false;
    ways[RAWS] = (struct way){.name = "replay", .built = build(&plan)};
    ways[RAWS + 1] = (struct way){.name = "replay, no barrier to the host", .built = build(&quiet)};
    measure("roundtrip", ways, RAWS + 2);
    rig.ops->plan_destroy(ways[RAWS].built);
    rig.ops->plan_destroy(ways[RAWS + 1].built);
    for (int i = 0; i < RAWS; i++)
        raw_close(&raws[i]);
}

static void case_chain(void **state)
{
    static const uint32_t counts[] = {8, 32, 128, 512, MAX_LAUNCHES};
    static struct way ways[2];

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct gantry_plan plan;
        struct raw raw;
        set_case(counts[i], BLOCKS);
        raw_prerecorded(&raw, 0);
        plan = chain_plan();
        ways[0] = (struct way){.name = "raw, prerecorded", .raw = &raw};
        ways[1] = (struct way){.name = "replay", .built = build(&plan)};
        measure("chain", ways, 2);
        rig.ops->plan_destroy(ways[1].built);
        raw_close(&raw);
    }
}

static void case_oneshot(void **state)
{
    static const uint32_t counts[] = {1, 64, 512};
    static struct way ways[3];

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct gantry_plan plan;
        struct raw raws[2];
        set_case(counts[i], BLOCKS);
        raw_open(&raws[0], &bench.line);
        raw_open(&raws[1], &bench.line);
        plan = chain_plan();
        ways[0] = (struct way){.name = "raw, buffer reset", .raw = &raws[0], .records = true};
        ways[1] = (struct way){.name = "raw, pool reset",
                               .raw = &raws[1],
                               .records = true,
                               .resets_pool = true};
        ways[2] = (struct way){.name = "one-shot", .once = &plan};
        measure("oneshot", ways, 3);
        raw_close(&raws[0]);
        raw_close(&raws[1]);
    }
}

/* One operation over a table, against one launch of one block. */
static void case_folded(void **state)
{
    static struct way ways[5];
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold fold;
    struct raw raw;

    (void)state;
    set_case(512, 1);
    open_table(&fold);
    op = fold_op(&fold, bench.folded, fold.blocks);
    plan = fold_plan(&fold, &op);
    raw_open(&raw, &bench.line);
    raw_record(&raw, &bench.args, 1, 1, 0);
    ways[0] = (struct way){.name = "raw, one launch of one block", .raw = &raw};
    ways[1] = (struct way){.name = "folded replay", .built = build(&plan)};
    ways[2] = (struct way){.name = "folded replay, patch of one launch",
                           .built = ways[1].built,
                           .patch = fold.table,
                           .patch_size = FOLD_STRIDE};
    ways[3] = (struct way){.name = "folded replay, patch of all",
                           .built = ways[1].built,
                           .patch = fold.table,
                           .patch_size = fold.size};
    ways[4] = (struct way){.name = "folded one-shot", .once = &plan};
    measure("independent", ways, 5);
    rig.ops->plan_destroy(ways[1].built);
    raw_close(&raw);
    fold_close(&fold);
}

static void case_chained(void **state)
{
    static struct way ways[3];
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold fold;
    struct raw raw;

    (void)state;
    if (!bench.chained) {
        print_message("skipped: %s lacks the Vulkan memory model\n", rig.info.name);
        skip();
    }
    set_case(512, 1);
    open_table(&fold);
    op = fold_op(&fold, bench.chained, 1);
    plan = fold_plan(&fold, &op);
    raw_prerecorded(&raw, 0);
    ways[0] = (struct way){.name = "raw, prerecorded", .raw = &raw};
    ways[1] = (struct way){.name = "chained replay", .built = build(&plan)};
    ways[2] = (struct way){.name = "chained one-shot", .once = &plan};
    measure("chain1", ways, 3);
    rig.ops->plan_destroy(ways[1].built);
    raw_close(&raw);
    fold_close(&fold);
}

/* The rows of a frame of 3840 by 2160 pixels, packed on one side, against as many bytes in one
 * piece; n counts rows. */
static void case_rectangle(void **state)
{
    enum { ROWS = 2160, WIDTH = 3840 * 4, PITCH = 4096 * 4 };
    static struct way ways[3];
    struct gantry_drv_memory to = rig_memory(GANTRY_MEMORY_DEVICE, (uint64_t)ROWS * PITCH);
    struct gantry_drv_memory from = rig_memory(GANTRY_MEMORY_DEVICE, (uint64_t)ROWS * PITCH);
    struct gantry_op whole = op_copy(0, &to, &from, (uint64_t)ROWS * WIDTH), rows = whole;
    struct gantry_plan whole_plan = plan_of(&whole, 1), rows_plan = plan_of(&rows, 1);

    (void)state;
    rows.copy.size = WIDTH;
    rows.copy.rows = ROWS;
    rows.copy.to_pitch = PITCH;
    rows.copy.from_pitch = WIDTH;
    bench.launches = ROWS;
    ways[0] = (struct way){.name = "one piece, replay", .built = build(&whole_plan)};
    ways[1] = (struct way){.name = "rows, replay", .built = build(&rows_plan)};
    ways[2] = (struct way){.name = "rows, one-shot", .once = &rows_plan};
    measure("rectangle", ways, 3);
    rig.ops->plan_destroy(ways[0].built);
    rig.ops->plan_destroy(ways[1].built);
    rig_free(&to);
    rig_free(&from);
}

/* ---- All ------------------------------------------------------------------------------------ */

static int setup(void **state)
{
    if (rig_setup_device(state) != 0)
        return -1;
    line_open(&bench.line, GANTRY_QUEUE_COMPUTE);
    bench.memory = rig_memory(GANTRY_MEMORY_DEVICE, BLOCKS * STEP_BLOCK * sizeof(uint32_t));
    bench.direct = rig_kernel(GANTRY_ENTRY_DIRECT);
    bench.folded = rig_kernel(GANTRY_ENTRY_FOLDED);
    if (rig.info.features & GANTRY_FEATURE_MEMORY_MODEL)
        bench.chained = rig_kernel(GANTRY_ENTRY_CHAINED);
    bench.args = (struct step_args){bench.memory.address, bench.memory.address, 3, 1, 0, 0};
    bench.ops = calloc(MAX_LAUNCHES, sizeof(*bench.ops));
    return bench.ops ? 0 : -1;
}

static int teardown(void **state)
{
    free(bench.ops);
    line_close(&bench.line);
    rig.ops->kernel_destroy(rig.device, bench.direct);
    rig.ops->kernel_destroy(rig.device, bench.folded);
    if (bench.chained)
        rig.ops->kernel_destroy(rig.device, bench.chained);
    rig_free(&bench.memory);
    memset(&bench, 0, sizeof(bench));
    return rig_teardown_device(state);
}

int run_bench(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_roundtrip), cmocka_unit_test(case_chain),
        cmocka_unit_test(case_oneshot),   cmocka_unit_test(case_folded),
        cmocka_unit_test(case_chained),   cmocka_unit_test(case_rectangle),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
