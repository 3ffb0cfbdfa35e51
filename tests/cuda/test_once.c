/* Single submissions: graphs that are recycled, whatever the length, and their limits. */
#include "harness.h"

#include <dlfcn.h>

enum { THREADS = 256, STEPS = 300 };

/* How often the plugin called the entry, where a stand-in counts; 0: nobody does. */
static uint64_t calls_of(const char *entry)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "standin_calls") : NULL;
    uint64_t (*calls)(const char *name);

    memcpy(&calls, &symbol, sizeof(calls));
    return calls ? calls(entry) : 0;
}

static void wait_for_all(struct bench *bench)
{
    CHECK_OK(bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER));
}

/* Submits the chain's first steps with other arguments than the last time, and does not wait. */
static void submit_part(struct bench *bench, struct chain *chain, uint32_t steps)
{
    struct gantry_backend_submission submission = {.value = ++bench->value};

    chain_vary(chain, (uint32_t)bench->value);
    chain_cut(chain, steps);
    chain_apply(chain);
    CHECK_OK(bench->ops->submit_once(bench->queue, &chain->plan, &submission));
}

static void test_lengths(struct bench *bench, struct chain *chain)
{
    static const uint32_t lengths[] = {1, 2, 3, 4, 7, 8, 37, 64, 255, 256, 257, STEPS};

    for (int round = 0; round < 3;
         round++) { /* the first makes graphs, the last waits in between */
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            uint64_t submits = bench->stats.driver_submits;

            submit_part(bench, chain, lengths[i]);
            submits = bench->stats.driver_submits - submits;
            CHECK(submits >= 1 && (bench->graphs ? submits <= 10 : submits == lengths[i]));
            if (round == 2)
                wait_for_all(bench);
        }
        CHECK_EQUAL(chain_wrong(bench, chain), 0);
    }
}

/* One graph serves all submissions of a shape that wait for each other, and sets what changed. */
static void test_recycled(struct bench *bench, struct chain *chain)
{
    uint64_t builds, allocations, changes;

    submit_part(bench, chain, 64);
    wait_for_all(bench);
    builds = bench->stats.builds;
    allocations = bench->stats.allocations;
    for (int i = 0; i < 20; i++) {
        submit_part(bench, chain, 64);
        wait_for_all(bench);
    }
    CHECK_EQUAL(bench->stats.builds, builds);
    CHECK_EQUAL(bench->stats.allocations, allocations);
    changes = calls_of("cuGraphExecKernelNodeSetParams");
    chain_apply(chain);
    run_once(bench, &chain->plan);
    CHECK_EQUAL(calls_of("cuGraphExecKernelNodeSetParams"), changes);
    chain->args[10].b++;
    chain_apply(chain);
    run_once(bench, &chain->plan);
    CHECK_EQUAL(calls_of("cuGraphExecKernelNodeSetParams"), changes ? changes + 1 : 0);
    CHECK_EQUAL(chain_wrong(bench, chain), 0);
}

/* More submissions in flight than the pool has graphs. */
static void test_in_flight(struct bench *bench, struct chain *chain)
{
    uint64_t builds = bench->stats.builds;

    for (int i = 0; i < 150; i++)
        submit_part(bench, chain, 16);
    CHECK(bench->stats.builds - builds <= 64);
    CHECK_EQUAL(chain_wrong(bench, chain), 0);
    builds = bench->stats.builds;
    for (int i = 0; i < 50; i++) {
        submit_part(bench, chain, 16);
        wait_for_all(bench);
    }
    CHECK_EQUAL(bench->stats.builds, builds);
    CHECK_EQUAL(chain_wrong(bench, chain), 0);
}

/* A length that comes again and again gets a graph of its own. */
static void test_comes_again(struct bench *bench, struct chain *chain)
{
    uint64_t submits;

    for (int i = 0; i < 8; i++) {
        submit_part(bench, chain, 61);
        wait_for_all(bench);
    }
    submits = bench->stats.driver_submits;
    submit_part(bench, chain, 61);
    CHECK_EQUAL(bench->stats.driver_submits - submits, bench->graphs ? 1 : 61);
    CHECK_EQUAL(chain_wrong(bench, chain), 0);
}

/* Other lengths and edges than any before, so that graphs must make place for each other. */
static void test_many_shapes(struct bench *bench, struct chain *chain)
{
    for (uint32_t i = 0; i < 400; i++) {
        submit_part(bench, chain, 5 + i % 90);
        if (i % 3 == 0)
            wait_for_all(bench);
    }
    CHECK_EQUAL(chain_wrong(bench, chain), 0);
}

/* Kernels whose images come and go, while graphs that ran them stay. */
static void test_kernels_go(struct bench *bench)
{
    for (int i = 0; i < 12; i++) {
        bool early = i % 2 && bench->info.programmatic;
        struct chain chain;

        chain_open(bench, &chain,
                   early ? make_early_kernel(bench, early_start_ptx)
                         : make_kernel(bench, "affine", THREADS, 0),
                   16, 2, false);
        submit_part(bench, &chain, 16);
        CHECK_EQUAL(chain_wrong(bench, &chain), 0);
        chain_close(bench, &chain);
    }
}

static void test_programmatic(struct bench *bench)
{
    struct chain chain;

    if (!bench->info.programmatic)
        return;
    chain_open(bench, &chain, make_early_kernel(bench, early_start_ptx), STEPS, 4, true);
    for (int i = 0; i < 10; i++)
        submit_part(bench, &chain, STEPS - 20 * i);
    CHECK_EQUAL(chain_wrong(bench, &chain), 0);
    chain_close(bench, &chain);
}

/* A stage of more operations than a graph of the pool holds, on chains, with a fill in its middle
 * and a launch behind it. */
static void test_wide_stage(struct bench *bench)
{
    enum { WIDTH = 600, CHAINS = 8, MIDDLE = 300 };
    struct gantry_drv_kernel *kernel = make_kernel(bench, "affine", 32, 0);
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, (WIDTH + 1) * 4);
    static struct affine_args args[WIDTH + 1];
    static struct gantry_op ops[WIDTH + 2];
    static struct gantry_edge edges[2 * WIDTH];
    struct gantry_plan plan = {.ops = ops, .op_count = WIDTH + 2, .edges = edges, .stage_count = 3};
    uint32_t edge = 0;

    for (uint32_t i = 0; i < WIDTH; i++) {
        args[i] = (struct affine_args){y.address + i * 4, 1, 3, i};
        ops[i] = i == MIDDLE ? fill_op(&y, i * 4, 4, 7)
                             : launch_op(kernel, 1, 32, &args[i], sizeof(args[i]));
        if (i >= CHAINS)
            edges[edge++] = (struct gantry_edge){i - CHAINS, i, false};
    }
    for (uint32_t i = WIDTH - CHAINS; i < WIDTH; i++)
        edges[edge++] = (struct gantry_edge){i, WIDTH, false};
    ops[WIDTH] = (struct gantry_op){.kind = GANTRY_OP_JOIN, .stage = 1};
    args[WIDTH] = (struct affine_args){y.address, WIDTH, 5, 1};
    ops[WIDTH + 1] = launch_op(kernel, (WIDTH + 31) / 32, 32, &args[WIDTH], sizeof(args[WIDTH]));
    ops[WIDTH + 1].stage = 2;
    edges[edge++] = (struct gantry_edge){WIDTH, WIDTH + 1, false};
    plan.edge_count = edge;
    for (int run = 0; run < 6; run++) {
        for (uint32_t i = 0; i < WIDTH; i++)
            ((uint32_t *)y.host)[i] = i;
        run_once(bench, &plan);
        for (uint32_t i = 0; i < WIDTH; i++)
            CHECK_EQUAL(((uint32_t *)y.host)[i], 5 * (i == MIDDLE ? 7 : 4 * i) + 1);
    }
    bench->ops->memory_free(bench->device, &y);
    bench->ops->kernel_destroy(bench->device, kernel);
}

/* Every allocation of a new queue's first submission fails in turn; then it works. */
static void test_no_host_memory(struct bench *bench, struct chain *chain)
{
    struct gantry_queue_stats stats = {0};
    struct gantry_backend_queue_params params = {.label = "new", .stats = &stats};
    struct gantry_backend_submission submission = {.value = 1};
    enum gantry_status status = GANTRY_E_OUT_OF_HOST_MEMORY;
    struct gantry_drv_queue *queue;

    CHECK_OK(bench->ops->queue_create(bench->device, &params, &queue));
    chain_cut(chain, 128);
    for (long n = 1; status != GANTRY_OK; n++) {
        fail_allocation(n);
        status = bench->ops->submit_once(queue, &chain->plan, &submission);
        fail_allocation(0);
        CHECK(status == GANTRY_OK || status == GANTRY_E_OUT_OF_HOST_MEMORY);
    }
    CHECK_OK(bench->ops->queue_wait(queue, 1, GANTRY_FOREVER));
    bench->ops->queue_destroy(queue);
    chain_apply(chain);
    CHECK_EQUAL(chain_wrong(bench, chain), 0);
}

void test_once(struct bench *bench)
{
    struct chain chain;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), STEPS, 2, false);
    test_lengths(bench, &chain);
    test_recycled(bench, &chain);
    test_in_flight(bench, &chain);
    test_comes_again(bench, &chain);
    test_many_shapes(bench, &chain);
    test_no_host_memory(bench, &chain);
    chain_close(bench, &chain);
    test_kernels_go(bench);
    test_programmatic(bench);
    test_wide_stage(bench);
    CHECK_EQUAL(bench->stats.rebuilds, 0);
    CHECK_EQUAL(bench->stats.fallbacks[GANTRY_FALLBACK_GRAPH_REBUILT], 0);
}

/* C33: one new graph, then single launches. */
void test_rebuilt(struct bench *bench)
{
    enum { RUNS = 10 };
    uint64_t *fallbacks = bench->stats.fallbacks;
    uint64_t changes, given_up;
    struct chain chain;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), 16, 2, false);
    for (int i = 0; i < RUNS; i++) {
        submit_part(bench, &chain, 16);
        wait_for_all(bench);
    }
    CHECK_EQUAL(chain_wrong(bench, &chain), 0);
    changes = calls_of("cuGraphExecKernelNodeSetParams");
    given_up = fallbacks[GANTRY_FALLBACK_NO_GRAPH];
    printf("  %llu updates tried, %llu submissions without a graph\n", (unsigned long long)changes,
           (unsigned long long)given_up);
    CHECK_EQUAL(bench->stats.rebuilds, 1);
    CHECK_EQUAL(fallbacks[GANTRY_FALLBACK_GRAPH_REBUILT], 1);
    CHECK_EQUAL(bench->stats.builds, 2);
    CHECK(given_up == 0 || (given_up == RUNS - 2 && changes == 2));
    chain_close(bench, &chain);
}
