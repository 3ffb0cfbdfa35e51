/* Plans: order, replay, one-shot submission, what they keep and what they leave. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum {
    COUNT = 1000, /* words in x and in y */
    SIZE = COUNT * sizeof(uint32_t),
};

/* Two arrays that take turns, and the kernel that does. */
static struct bench {
    struct gantry_drv_memory memory[2]; /* readback: the host sees them */
    struct gantry_drv_kernel *direct;
    struct line line;
} bench;

static int setup(void **state)
{
    if (rig_setup_device(state) != 0)
        return -1;
    bench.memory[0] = rig_memory(GANTRY_MEMORY_READBACK, SIZE);
    bench.memory[1] = rig_memory(GANTRY_MEMORY_READBACK, SIZE);
    bench.direct = rig_kernel(GANTRY_ENTRY_DIRECT);
    line_open(&bench.line, GANTRY_QUEUE_COMPUTE);
    return 0;
}

static int teardown(void **state)
{
    line_close(&bench.line);
    rig.ops->kernel_destroy(rig.device, bench.direct);
    rig_free(&bench.memory[0]);
    rig_free(&bench.memory[1]);
    return rig_teardown_device(state);
}

/* Every step reads other elements than it writes, from the other array: no two may swap. */
static struct step_args step_at(uint32_t i)
{
    return (struct step_args){
        .x = bench.memory[i % 2].address,
        .y = bench.memory[(i + 1) % 2].address,
        .a = i + 3,
        .b = i * i + 1,
        .n = COUNT,
        .shift = i * 37 + 1,
    };
}

static void step_on_host(uint32_t *x, uint32_t *y, const struct step_args *args)
{
    for (uint32_t i = 0; i < COUNT; i++)
        y[i] = args->a * x[(i + args->shift) % COUNT] + args->b;
}

static void fill_both(uint32_t arrays[2][COUNT])
{
    for (uint32_t i = 0; i < COUNT; i++) {
        arrays[0][i] = ((uint32_t *)bench.memory[0].host)[i] = i;
        arrays[1][i] = ((uint32_t *)bench.memory[1].host)[i] = ~i;
    }
}

static void check_both(uint32_t arrays[2][COUNT])
{
    assert_memory_equal(bench.memory[0].host, arrays[0], SIZE);
    assert_memory_equal(bench.memory[1].host, arrays[1], SIZE);
}

enum { STEPS = 10 };

/* C35: in order, with no wait between the replays; afterwards the host sees all writes. The plan
 * has copied what it needs. */
static void replays_are_in_order(void **state)
{
    struct step_args args[STEPS];
    struct gantry_op ops[STEPS];
    uint32_t arrays[2][COUNT];
    struct gantry_drv_plan *built;

    (void)state;
    fill_both(arrays);
    for (uint32_t i = 0; i < STEPS; i++) {
        args[i] = step_at(i);
        ops[i] = op_step(i, bench.direct, &args[i]);
    }
    for (int replay = 0; replay < 5; replay++)
        for (uint32_t i = 0; i < STEPS; i++)
            step_on_host(arrays[i % 2], arrays[(i + 1) % 2], &args[i]);
    built = built_of(ops, STEPS);
    memset(ops, 0xff, sizeof(ops));
    memset(args, 0xff, sizeof(args));
    for (int replay = 0; replay < 5; replay++)
        line_submit(&bench.line, built);
    line_wait(&bench.line);
    check_both(arrays);
    rig.ops->plan_destroy(built);
}

static void oneshots_are_in_order(void **state)
{
    uint32_t arrays[2][COUNT];

    (void)state;
    fill_both(arrays);
    for (uint32_t i = 0; i < 2 * STEPS; i += 2) {
        struct step_args args[2] = {step_at(i), step_at(i + 1)};
        struct gantry_op ops[2] = {
            op_step(0, bench.direct, &args[0]),
            op_step(1, bench.direct, &args[1]),
        };
        struct gantry_plan plan = plan_of(ops, 2);
        line_once(&bench.line, &plan);
        step_on_host(arrays[0], arrays[1], &args[0]);
        step_on_host(arrays[1], arrays[0], &args[1]);
    }
    line_wait(&bench.line);
    check_both(arrays);
}

/* A replay is one driver call and allocates nothing, on either side. */
static void replay_allocates_nothing(void **state)
{
    struct step_args args = step_at(0);
    struct gantry_op op = op_step(0, bench.direct, &args);
    struct gantry_drv_plan *built = built_of(&op, 1);
    struct gantry_queue_stats before, after;
    long live;

    (void)state;
    line_submit(&bench.line, built);
    before = bench.line.stats;
    live = rig_live();
    rig_fail_after(0);
    for (int i = 0; i < 100; i++)
        line_submit(&bench.line, built);
    rig_fail_after(-1);
    after = bench.line.stats;
    assert_int_equal(after.builds, before.builds);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.driver_submits, before.driver_submits + 100);
    assert_int_equal(rig_live(), live);
    line_wait(&bench.line);
    rig.ops->plan_destroy(built);
}

/* ---- Odd shapes ----------------------------------------------------------------------------- */

static void empty_plans_only_signal(void **state)
{
    struct gantry_op join = {.kind = GANTRY_OP_JOIN};
    struct gantry_plan nothing = plan_of(NULL, 0);
    struct gantry_plan joins = plan_of(&join, 1);
    struct gantry_drv_plan *built;
    uint64_t completed;

    (void)state;
    line_once(&bench.line, &nothing);
    line_once(&bench.line, &joins);
    assert_ok(rig.ops->plan_build(rig.device, &nothing, &built));
    line_submit(&bench.line, built);
    line_wait(&bench.line);
    assert_ok(rig.ops->queue_completed(bench.line.queue, &completed));
    assert_int_equal(completed, bench.line.value);
    rig.ops->plan_destroy(built);
}

/* C36: each launch has arguments of its own and writes one word. */
static void long_plans_lose_nothing(void **state)
{
    enum { LONG = 20000 };
    struct gantry_drv_memory memory = rig_memory(GANTRY_MEMORY_READBACK, LONG * 4);
    struct step_args *args = test_calloc(LONG, sizeof(*args));
    struct gantry_op *ops = test_calloc(LONG, sizeof(*ops));
    struct gantry_drv_plan *built;

    (void)state;
    for (uint32_t i = 0; i < LONG; i++) {
        gantry_ptr word = memory.address + i * sizeof(uint32_t);
        args[i] = (struct step_args){word, word, 0, i + 1, 1, 0};
        ops[i] = op_step(i / 100, bench.direct, &args[i]);
    }
    built = built_of(ops, LONG);
    line_submit(&bench.line, built);
    line_wait(&bench.line);
    for (uint32_t i = 0; i < LONG; i++)
        assert_int_equal(((uint32_t *)memory.host)[i], i + 1);
    rig.ops->plan_destroy(built);
    test_free(ops);
    test_free(args);
    rig_free(&memory);
}

/* Each host allocation of building and of submitting fails once; the queue goes on. */
static void lack_of_memory_leaves_nothing(void **state)
{
    struct step_args args = step_at(0);
    struct gantry_op op = op_step(0, bench.direct, &args);
    struct gantry_plan plan = plan_of(&op, 1);
    struct gantry_backend_submission submission = {.value = 1};
    struct gantry_drv_plan *built;
    struct line line;
    long live = rig_live();

    (void)state;
    rig_fail_after(0);
    assert_error(rig.ops->plan_build(rig.device, &plan, &built), GANTRY_E_OUT_OF_HOST_MEMORY,
                 "a plan");
    rig_fail_after(-1);
    assert_int_equal(rig_live(), live);
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    live = rig_live();
    rig_fail_after(0);
    assert_error(rig.ops->submit_once(line.queue, &plan, &submission), GANTRY_E_OUT_OF_HOST_MEMORY,
                 "a submission");
    rig_fail_after(-1);
    assert_int_equal(rig_live(), live);
    line_once(&line, &plan);
    line_close(&line);
}

int run_plan_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_are_in_order),     cmocka_unit_test(oneshots_are_in_order),
        cmocka_unit_test(replay_allocates_nothing), cmocka_unit_test(empty_plans_only_signal),
        cmocka_unit_test(long_plans_lose_nothing),  cmocka_unit_test(lack_of_memory_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
