/* Plans: order along edges, replay, tables, the stream's way. */
#include "harness.h"

enum {
    STEPS = 64,
    BLOCKS = 32,
    THREADS = 256,
    REPLAYS = 5,
};

/* C35: submissions of a plan that is still running queue up. */
static void test_replay(struct bench *bench, struct chain *chain)
{
    struct gantry_drv_plan *built;
    uint64_t submits;

    chain_reset(bench, chain);
    CHECK_OK(bench->ops->plan_build(bench->device, &chain->plan, &built));
    submits = bench->stats.driver_submits;
    for (int i = 0; i < REPLAYS; i++) {
        struct gantry_backend_submission submission = {.value = ++bench->value};

        chain_apply(chain);
        CHECK_OK(bench->ops->submit(bench->queue, built, &submission));
    }
    CHECK_OK(bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER));
    submits = bench->stats.driver_submits - submits;
    CHECK_EQUAL(submits, bench->graphs ? REPLAYS : REPLAYS * STEPS);
    CHECK_EQUAL(chain_wrong(bench, chain), 0);
    bench->ops->plan_destroy(built);
}

static void test_chain(struct bench *bench)
{
    struct chain chain;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), STEPS, BLOCKS, false);
    test_replay(bench, &chain);
    chain_close(bench, &chain);
    CHECK_EQUAL(bench->stats.fallbacks[GANTRY_FALLBACK_NO_GRAPH], 0);
}

/* A GPU starts the launches of a graph without edges in turn: they must be long enough to overlap.
 */
void test_unordered(struct bench *bench)
{
    const uint32_t blocks = bench->untimed ? BLOCKS : 64 * BLOCKS;
    struct gantry_drv_plan *built;
    struct chain chain;
    uint32_t wrong;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), STEPS, blocks, false);
    CHECK_OK(bench->ops->plan_build(bench->device, &chain.plan, &built));
    chain_apply(&chain);
    run_built(bench, built);
    wrong = chain_wrong(bench, &chain);
    printf("  %u of %u items are wrong\n", wrong, chain.items);
    CHECK(wrong > 0);
    bench->ops->plan_destroy(built);
    chain_close(bench, &chain);
}

void test_refused(struct bench *bench)
{
    uint64_t *fallbacks = bench->stats.fallbacks;
    struct gantry_drv_plan *built;
    struct chain chain;
    uint64_t refused;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), STEPS, BLOCKS, true);
    CHECK_OK(bench->ops->plan_build(bench->device, &chain.plan, &built));
    for (int i = 0; i < 2; i++) {
        chain_apply(&chain);
        run_built(bench, built);
    }
    refused = fallbacks[GANTRY_FALLBACK_NO_GRAPH];
    CHECK_EQUAL(fallbacks[GANTRY_FALLBACK_NO_PROGRAMMATIC], refused ? 0 : 2);
    CHECK(refused == 0 || refused == 2);
    CHECK_EQUAL(bench->stats.builds, refused ? 0 : 1);
    printf("  %llu submissions without a graph\n", (unsigned long long)refused);
    CHECK_EQUAL(chain_wrong(bench, &chain), 0);
    bench->ops->plan_destroy(built);
    chain_close(bench, &chain);
}

static void test_programmatic(struct bench *bench)
{
    struct chain chain;

    if (!bench->info.programmatic) {
        printf("  no programmatic edges on this device\n");
        return;
    }
    chain_open(bench, &chain, make_early_kernel(bench, early_start_ptx), STEPS, BLOCKS, true);
    test_replay(bench, &chain);
    chain_close(bench, &chain);
    CHECK_EQUAL(bench->stats.fallbacks[GANTRY_FALLBACK_NO_PROGRAMMATIC], 0);
}

/* Wide stages joined by empty nodes, with a fill before and a copy behind. */
static void test_stages(struct bench *bench)
{
    enum { WIDTH = 8, OPS = 2 * WIDTH + 4 };
    struct gantry_drv_kernel *kernel = make_kernel(bench, "affine", THREADS, 0);
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_DEVICE, WIDTH * THREADS * 4);
    struct gantry_drv_memory back = allocate(bench, GANTRY_MEMORY_READBACK, WIDTH * THREADS * 4);
    struct affine_args args[2][WIDTH];
    struct gantry_op ops[OPS] = {fill_op(&y, 0, WIDTH * THREADS * 4, 1)};
    struct gantry_edge edges[4 * WIDTH + 1];
    uint32_t op = 1, edge = 0;
    struct gantry_plan plan = {.ops = ops, .edges = edges, .stage_count = 6};
    struct gantry_drv_plan *built;

    for (uint32_t stage = 0; stage < 2; stage++) {
        uint32_t before = op - 1, join = op + WIDTH;

        for (uint32_t i = 0; i < WIDTH; i++, op++) {
            args[stage][i] =
                (struct affine_args){y.address + i * THREADS * 4, THREADS, 3 + stage, i};
            ops[op] = launch_op(kernel, 1, THREADS, &args[stage][i], sizeof(args[stage][i]));
            ops[op].stage = 2 * stage + 1;
            edges[edge++] = (struct gantry_edge){before, op, false};
        }
        for (uint32_t i = 0; i < WIDTH; i++)
            edges[edge++] = (struct gantry_edge){join - WIDTH + i, join, false};
        ops[op++] = (struct gantry_op){.kind = GANTRY_OP_JOIN, .stage = 2 * stage + 2};
    }
    ops[op] = copy_op(&back, 0, &y, 0, WIDTH * THREADS * 4);
    ops[op].stage = 5;
    edges[edge++] = (struct gantry_edge){op - 1, op, false};
    plan.op_count = op + 1;
    plan.edge_count = edge;
    CHECK_OK(bench->ops->plan_build(bench->device, &plan, &built));
    for (int i = 0; i < 10; i++) {
        memset(back.host, 0, WIDTH * THREADS * 4);
        if (i % 2)
            run_built(bench, built);
        else
            run_once(bench, &plan);
        for (uint32_t k = 0; k < WIDTH * THREADS; k++)
            CHECK_EQUAL(((uint32_t *)back.host)[k], (3 + k / THREADS) * 4 + k / THREADS);
    }
    bench->ops->plan_destroy(built);
    bench->ops->memory_free(bench->device, &y);
    bench->ops->memory_free(bench->device, &back);
    bench->ops->kernel_destroy(bench->device, kernel);
}

static void test_empty(struct bench *bench)
{
    struct gantry_plan plan = {0};
    struct gantry_drv_plan *built;
    uint64_t before = bench->stats.driver_submits;

    CHECK_OK(bench->ops->plan_build(bench->device, &plan, &built));
    run_built(bench, built);
    run_once(bench, &plan);
    CHECK_EQUAL(bench->stats.driver_submits, before);
    bench->ops->plan_destroy(built);
}

/* Every allocation of building fails in turn. */
static void test_no_host_memory(struct bench *bench)
{
    enum gantry_status status = GANTRY_E_OUT_OF_HOST_MEMORY;
    struct gantry_drv_plan *built;
    struct chain chain;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), STEPS, BLOCKS, false);
    for (long n = 1; status != GANTRY_OK; n++) {
        long before = allocations();

        fail_allocation(n);
        status = bench->ops->plan_build(bench->device, &chain.plan, &built);
        fail_allocation(0);
        CHECK(status == GANTRY_OK || status == GANTRY_E_OUT_OF_HOST_MEMORY);
        CHECK(status == GANTRY_OK || allocations() == before);
    }
    chain_apply(&chain);
    run_built(bench, built);
    CHECK_EQUAL(chain_wrong(bench, &chain), 0);
    bench->ops->plan_destroy(built);
    chain_close(bench, &chain);
}

void test_plan(struct bench *bench)
{
    test_empty(bench);
    test_chain(bench);
    test_programmatic(bench);
    test_stages(bench);
    test_no_host_memory(bench);
}
