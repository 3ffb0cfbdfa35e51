/* Plans: order along edges, replay, tables, the stream's way. */
#include "harness.h"

enum {
    STEPS = 64,
    BLOCKS = 32,
    THREADS = 256,
    ITEMS = BLOCKS * THREADS,
    REPLAYS = 5,
};

/* A chain of steps y = y * a + b whose result shows any change of order. */
struct chain {
    struct gantry_drv_kernel *kernel;
    struct gantry_drv_memory y;
    struct affine_args args[STEPS];
    struct gantry_op ops[STEPS];
    struct gantry_edge edges[STEPS - 1];
    struct gantry_plan plan;
};

static uint32_t step_a(uint32_t step)
{
    return 3 + step % 5 * 2;
}

static void chain_open(struct bench *bench, struct chain *chain, struct gantry_drv_kernel *kernel,
                       bool programmatic)
{
    chain->kernel = kernel;
    chain->y = allocate(bench, GANTRY_MEMORY_DEVICE, ITEMS * 4);
    for (uint32_t i = 0; i < STEPS; i++) {
        chain->args[i] = (struct affine_args){chain->y.address, ITEMS, step_a(i), i};
        chain->ops[i] = launch_op(kernel, BLOCKS, THREADS, &chain->args[i], sizeof(*chain->args));
        chain->ops[i].stage = i;
        if (i > 0)
            chain->edges[i - 1] = (struct gantry_edge){i - 1, i, programmatic};
    }
    chain->plan = (struct gantry_plan){.ops = chain->ops,
                                       .op_count = STEPS,
                                       .edges = chain->edges,
                                       .edge_count = STEPS - 1,
                                       .stage_count = STEPS,
                                       .label = "chain"};
}

static void chain_reset(struct bench *bench, struct chain *chain)
{
    uint32_t values[ITEMS];

    for (uint32_t i = 0; i < ITEMS; i++)
        values[i] = i;
    upload(bench, &chain->y, values, sizeof(values));
}

/* The number of items that are not what the chain makes of them in its order. */
static uint32_t chain_wrong(struct bench *bench, struct chain *chain, uint32_t runs)
{
    uint32_t values[ITEMS], wrong = 0;

    download(bench, &chain->y, values, sizeof(values));
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t wanted = i;

        for (uint32_t step = 0; step < runs * STEPS; step++)
            wanted = wanted * step_a(step % STEPS) + step % STEPS;
        wrong += values[i] != wanted;
    }
    return wrong;
}

static void chain_close(struct bench *bench, struct chain *chain)
{
    bench->ops->memory_free(bench->device, &chain->y);
    bench->ops->kernel_destroy(bench->device, chain->kernel);
}

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

        CHECK_OK(bench->ops->submit(bench->queue, built, &submission));
    }
    CHECK_OK(bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER));
    submits = bench->stats.driver_submits - submits;
    CHECK_EQUAL(submits, bench->graphs ? REPLAYS : REPLAYS * STEPS);
    CHECK_EQUAL(chain_wrong(bench, chain, REPLAYS), 0);
    bench->ops->plan_destroy(built);
}

static void test_chain(struct bench *bench)
{
    struct chain chain;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), false);
    test_replay(bench, &chain);
    chain_reset(bench, &chain);
    run_once(bench, &chain.plan);
    run_once(bench, &chain.plan);
    CHECK_EQUAL(chain_wrong(bench, &chain, 2), 0);
    chain_close(bench, &chain);
    CHECK_EQUAL(bench->stats.fallbacks[GANTRY_FALLBACK_NO_GRAPH], 0);
}

void test_unordered(struct bench *bench)
{
    struct gantry_drv_plan *built;
    struct chain chain;
    uint32_t wrong;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), false);
    chain_reset(bench, &chain);
    CHECK_OK(bench->ops->plan_build(bench->device, &chain.plan, &built));
    run_built(bench, built);
    wrong = chain_wrong(bench, &chain, 1);
    printf("  %u of %d items are wrong\n", wrong, ITEMS);
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

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), true);
    chain_reset(bench, &chain);
    CHECK_OK(bench->ops->plan_build(bench->device, &chain.plan, &built));
    run_built(bench, built);
    run_built(bench, built);
    refused = fallbacks[GANTRY_FALLBACK_NO_GRAPH];
    CHECK_EQUAL(fallbacks[GANTRY_FALLBACK_NO_PROGRAMMATIC], refused ? 0 : 2);
    CHECK(refused == 0 || refused == 2);
    CHECK_EQUAL(bench->stats.builds, refused ? 0 : 1);
    printf("  %llu submissions without a graph\n", (unsigned long long)refused);
    CHECK_EQUAL(chain_wrong(bench, &chain, 2), 0);
    bench->ops->plan_destroy(built);
    chain_close(bench, &chain);
}

static void test_programmatic(struct bench *bench)
{
    struct gantry_kernel_source source = {.name = "affine",
                                          .args_size = sizeof(struct affine_args)};
    struct gantry_backend_image image = {.kind = GANTRY_IMAGE_PTX,
                                         .entry = GANTRY_ENTRY_ALL,
                                         .arch = 90,
                                         .isa_version = 78,
                                         .name = "",
                                         .data = early_start_ptx,
                                         .size = strlen(early_start_ptx),
                                         .packaged = true};
    struct gantry_backend_kernel_params params = {.source = &source,
                                                  .symbol = "affine",
                                                  .block = {THREADS, 1, 1},
                                                  .images = &image,
                                                  .image_count = 1};
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;
    struct chain chain;

    if (!bench->info.programmatic) {
        printf("  no programmatic edges on this device\n");
        return;
    }
    CHECK_OK(bench->ops->kernel_create(bench->device, &params, &kernel, &info));
    chain_open(bench, &chain, kernel, true);
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
    for (int i = 0; i < 3; i++) {
        memset(back.host, 0, WIDTH * THREADS * 4);
        run_built(bench, built);
        for (uint32_t k = 0; k < WIDTH * THREADS; k++)
            CHECK_EQUAL(((uint32_t *)back.host)[k], (3 + k / THREADS) * 4 + k / THREADS);
    }
    bench->ops->plan_destroy(built);
    bench->ops->memory_free(bench->device, &y);
    bench->ops->memory_free(bench->device, &back);
    bench->ops->kernel_destroy(bench->device, kernel);
}

/* Two folded operations, one behind the other, over one table. */
static void test_table(struct bench *bench)
{
    enum { COUNT = 100, STRIDE = 32, ARGS = COUNT * sizeof(struct gantry_fold_launch) };
    struct gantry_drv_kernel *kernel = make_kernel(bench, "affine_folded", THREADS, 0);
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_DEVICE, COUNT * 300 * 4);
    static unsigned char table[ARGS + COUNT * STRIDE];
    static uint32_t values[COUNT * 300];
    struct gantry_fold_args fold = {0, ARGS, 2 * COUNT, COUNT, STRIDE, 2, 0};
    struct gantry_op ops[] = {
        launch_op(kernel, 2 * COUNT + 3, THREADS, &fold, sizeof(fold)),
        launch_op(kernel, 2 * COUNT, THREADS, &fold, sizeof(fold)),
    };
    struct gantry_edge edge = {0, 1, false};
    struct gantry_plan plan = {.ops = ops,
                               .op_count = 2,
                               .edges = &edge,
                               .edge_count = 1,
                               .stage_count = 2,
                               .table = table,
                               .table_size = sizeof(table)};
    struct gantry_drv_plan *built;

    ops[0].folded = ops[1].folded = true;
    ops[1].stage = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        struct affine_args args = {y.address + i * 300 * 4, 300, 3, i};

        memcpy(table + ARGS + i * STRIDE, &args, sizeof(args));
    }
    memset(values, 0, sizeof(values));
    upload(bench, &y, values, sizeof(values));
    CHECK_OK(bench->ops->plan_build(bench->device, &plan, &built));
    run_built(bench, built);
    run_built(bench, built);
    run_once(bench, &plan);
    run_once(bench, &plan);
    CHECK_EQUAL(bench->stats.allocations, 2);
    download(bench, &y, values, sizeof(values));
    for (uint32_t i = 0; i < COUNT * 300; i++)
        CHECK_EQUAL(values[i], i / 300 * ((6561 - 1) / 2)); /* 8 times v = 3 v + launch */
    bench->ops->plan_destroy(built);
    bench->ops->memory_free(bench->device, &y);
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

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), false);
    chain_reset(bench, &chain);
    for (long n = 1; status != GANTRY_OK; n++) {
        long before = allocations();

        fail_allocation(n);
        status = bench->ops->plan_build(bench->device, &chain.plan, &built);
        fail_allocation(0);
        CHECK(status == GANTRY_OK || status == GANTRY_E_OUT_OF_HOST_MEMORY);
        CHECK(status == GANTRY_OK || allocations() == before);
    }
    run_built(bench, built);
    CHECK_EQUAL(chain_wrong(bench, &chain, 1), 0);
    bench->ops->plan_destroy(built);
    chain_close(bench, &chain);
}

void test_plan(struct bench *bench)
{
    test_empty(bench);
    test_chain(bench);
    test_programmatic(bench);
    test_stages(bench);
    test_table(bench);
    test_no_host_memory(bench);
}
