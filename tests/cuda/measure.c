/* Prints what the plugin's choices rest on: medians over many runs. No figure is checked. */
#include "harness.h"

#include <time.h>

enum { THREADS = 256, BLOCKS = 8, STEPS = 512, MOST_ROWS = 2048, STRIDE = 32, MOST_RUNS = 300 };

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return values[count / 2];
}

static int run_count(const struct bench *bench)
{
    return bench->untimed ? 3 : MOST_RUNS;
}

/* ---- Submissions ---------------------------------------------------------------------------- */

/* What is submitted again and again. */
struct work {
    struct gantry_drv_plan *built;  /* NULL: … */
    const struct gantry_plan *once; /* … this one, without building it */
    struct chain *vary;             /* gets other arguments each time; may be NULL */
    const void *patch;
    uint64_t patch_size;
};

struct cost {
    double host, wall; /* ns of a submission */
};

static void submit_work(struct bench *bench, const struct work *work)
{
    struct gantry_backend_submission submission = {.value = ++bench->value,
                                                   .patch = work->patch,
                                                   .patch_size = work->patch_size};

    if (work->built)
        CHECK_OK(bench->ops->submit(bench->queue, work->built, &submission));
    else
        CHECK_OK(bench->ops->submit_once(bench->queue, work->once, &submission));
}

static void spin(struct bench *bench)
{
    uint64_t completed = 0;

    while (completed < bench->value)
        CHECK_OK(bench->ops->queue_completed(bench->queue, &completed));
}

static struct cost measure_work(struct bench *bench, const struct work *work)
{
    double host[MOST_RUNS], wall[MOST_RUNS];
    int runs = run_count(bench);

    for (int i = -runs / 10 - 1; i < runs; i++) { /* the first ones make graphs */
        double start, submitted;

        if (work->vary)
            chain_vary(work->vary, (uint32_t)i);
        start = now_ns();
        submit_work(bench, work);
        submitted = now_ns();
        spin(bench);
        if (i < 0)
            continue;
        host[i] = submitted - start;
        wall[i] = now_ns() - start;
    }
    return (struct cost){median(host, runs), median(wall, runs)};
}

static void print_cost(const char *what, uint32_t count, struct cost cost)
{
    printf("  %-44s n = %4u: host %8.1f, wall %8.1f ns a launch (%.2f us)\n", what, count,
           cost.host / count, cost.wall / count, cost.wall / 1e3);
}

/* ---- Chains --------------------------------------------------------------------------------- */

static void measure_replay(struct bench *bench, const char *what, struct gantry_drv_kernel *kernel,
                           bool programmatic)
{
    static const uint32_t lengths[] = {1, 2, 8, 64, STEPS};
    struct chain chain;

    chain_open(bench, &chain, kernel, STEPS, BLOCKS, programmatic);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct work work = {0};

        chain_cut(&chain, lengths[i]);
        CHECK_OK(bench->ops->plan_build(bench->device, &chain.plan, &work.built));
        print_cost(what, lengths[i], measure_work(bench, &work));
        bench->ops->plan_destroy(work.built);
    }
    chain_close(bench, &chain);
}

static void measure_replays(struct bench *bench)
{
    printf("replay of a chain of %d blocks\n", BLOCKS);
    measure_replay(bench, "full edges", make_kernel(bench, "affine", THREADS, 0), false);
    if (bench->info.programmatic) {
        measure_replay(bench, "programmatic edges, wait", make_early_kernel(bench, early_start_ptx),
                       true);
        measure_replay(bench, "programmatic edges, trigger and wait",
                       make_early_kernel(bench, early_trigger_ptx), true);
    }
}

static void measure_once(struct bench *bench, const char *what)
{
    static const uint32_t lengths[] = {1, 2, 3, 4, 7, 8, 16, 61, 64, 256, STEPS};
    struct chain chain;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), STEPS, BLOCKS, false);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct work work = {.once = &chain.plan, .vary = &chain};

        chain_cut(&chain, lengths[i]);
        print_cost(what, lengths[i], measure_work(bench, &work));
        if (lengths[i] != 64)
            continue;
        work.vary = NULL;
        print_cost("… with the same arguments", lengths[i], measure_work(bench, &work));
    }
    chain_close(bench, &chain);
}

/* The host runs ahead of the device. */
static void measure_ahead(struct bench *bench)
{
    struct chain chain;
    struct work work = {.once = &chain.plan};
    uint64_t builds = bench->stats.builds;
    int runs = run_count(bench);
    double start, host;

    chain_open(bench, &chain, make_kernel(bench, "affine", THREADS, 0), 64, BLOCKS, false);
    start = now_ns();
    for (int i = 0; i < runs; i++) {
        chain_vary(&chain, (uint32_t)i);
        submit_work(bench, &work);
    }
    host = now_ns() - start;
    spin(bench);
    print_cost("once, without waits between", 64,
               (struct cost){host / runs, (now_ns() - start) / runs});
    printf("  graphs made on the way: %llu\n", (unsigned long long)(bench->stats.builds - builds));
    chain_close(bench, &chain);
}

/* ---- Tables --------------------------------------------------------------------------------- */

/* A table in two places, and an operation that takes absolute addresses. */
struct rows {
    struct gantry_drv_kernel *kernel;
    struct gantry_drv_memory y, pinned, device;
    struct gantry_fold_args fold;
    struct gantry_op ops[2];
    struct gantry_edge edge;
    uint32_t count;
    uint64_t size;
};

static void rows_open(struct bench *bench, struct rows *rows, bool chained, uint32_t count)
{
    uint64_t args_at = count * sizeof(struct gantry_fold_launch);

    args_at = (args_at + 15) & ~(uint64_t)15;
    memset(rows, 0, sizeof(*rows));
    rows->count = count;
    rows->size = args_at + count * STRIDE;
    rows->kernel = make_kernel(bench, chained ? "affine_chained" : "affine_folded", THREADS, 0);
    rows->y = allocate(bench, GANTRY_MEMORY_DEVICE, count * THREADS * 4);
    rows->pinned = allocate(bench, GANTRY_MEMORY_UPLOAD, rows->size);
    rows->device = allocate(bench, GANTRY_MEMORY_DEVICE, rows->size);
    rows->fold = (struct gantry_fold_args){0, args_at, count, count, STRIDE, 1, 0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t y = rows->y.address + (chained ? 0 : i * THREADS * 4);
        struct gantry_fold_launch launch = {i, 1, 1, 1, 0};
        struct affine_args args = {y, THREADS, 3, i};

        memcpy((char *)rows->pinned.host + i * sizeof(launch), &launch, sizeof(launch));
        memcpy((char *)rows->pinned.host + args_at + i * STRIDE, &args, sizeof(args));
    }
    upload(bench, &rows->device, rows->pinned.host, rows->size);
    rows->ops[0] = copy_op(&rows->device, 0, &rows->pinned, 0, rows->size);
    rows->ops[1] =
        launch_op(rows->kernel, chained ? 1 : count, THREADS, &rows->fold, sizeof(rows->fold));
    rows->ops[1].stage = 1;
    rows->edge = (struct gantry_edge){0, 1, false};
}

static void rows_close(struct bench *bench, struct rows *rows)
{
    bench->ops->memory_free(bench->device, &rows->y);
    bench->ops->memory_free(bench->device, &rows->pinned);
    bench->ops->memory_free(bench->device, &rows->device);
    bench->ops->kernel_destroy(bench->device, rows->kernel);
}

/* With the table at this address; `copied`: it is copied there first. */
static void measure_place(struct bench *bench, struct rows *rows, const char *what,
                          uint64_t address, bool copied)
{
    struct gantry_fold_args fold = rows->fold;
    struct gantry_plan plan = {.ops = rows->ops + !copied,
                               .op_count = 1 + copied,
                               .edges = &rows->edge,
                               .edge_count = copied,
                               .stage_count = 2};
    struct work work = {.once = &plan};

    rows->fold.launches += address;
    rows->fold.args += address;
    print_cost(what, rows->count, measure_work(bench, &work));
    rows->fold = fold;
}

static void measure_tables(struct bench *bench, bool chained)
{
    static const uint32_t counts[] = {2, 8, 32, 64, 128, 512, MOST_ROWS};

    printf("tables of %s launches of one block, single submissions\n",
           chained ? "chained" : "folded");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct rows rows;

        rows_open(bench, &rows, chained, counts[i]);
        printf("  %llu bytes\n", (unsigned long long)rows.size);
        measure_place(bench, &rows, "resident", rows.device.address, false);
        measure_place(bench, &rows, "pinned", rows.pinned.address, false);
        measure_place(bench, &rows, "copied", rows.device.address, true);
        rows_close(bench, &rows);
    }
}

/* ---- Patches -------------------------------------------------------------------------------- */

static void measure_patches(struct bench *bench)
{
    static const uint64_t sizes[] = {0, 32, 1024, 4096, 16384, 65536};
    static unsigned char bytes[65536];
    struct gantry_drv_kernel *kernel = make_kernel(bench, "nothing", THREADS, 0);
    struct gantry_op op = launch_op(kernel, 1, THREADS, NULL, 0);
    struct gantry_plan plan = {.ops = &op,
                               .op_count = 1,
                               .stage_count = 1,
                               .table = bytes,
                               .table_size = sizeof(bytes),
                               .patchable = true};
    struct work work = {.patch = bytes};

    printf("a patched replay of one launch\n");
    CHECK_OK(bench->ops->plan_build(bench->device, &plan, &work.built));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        work.patch_size = sizes[i];
        printf("  %llu bytes\n", (unsigned long long)sizes[i]);
        print_cost("patched", 1, measure_work(bench, &work));
    }
    bench->ops->plan_destroy(work.built);
    bench->ops->kernel_destroy(bench->device, kernel);
}

/* ---- Round trips ---------------------------------------------------------------------------- */

/* One launch and a spin on the queue's counter, however it is submitted. */
static void measure_round_trip(struct bench *bench, const char *what)
{
    struct gantry_drv_kernel *kernel = make_kernel(bench, "nothing", THREADS, 0);
    struct gantry_op op = launch_op(kernel, 1, THREADS, NULL, 0);
    struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};
    struct work work = {.once = &plan};
    char text[64];

    snprintf(text, sizeof(text), "%s, once", what);
    print_cost(text, 1, measure_work(bench, &work));
    snprintf(text, sizeof(text), "%s, built", what);
    CHECK_OK(bench->ops->plan_build(bench->device, &plan, &work.built));
    print_cost(text, 1, measure_work(bench, &work));
    bench->ops->plan_destroy(work.built);
    bench->ops->kernel_destroy(bench->device, kernel);
}

/* ---- Everything ----------------------------------------------------------------------------- */

void measure(struct bench *bench)
{
    static const struct {
        const char *name;
        enum gantry_submit_mode mode;
    } modes[] = {{"auto", GANTRY_SUBMIT_AUTO},
                 {"graph", GANTRY_SUBMIT_GRAPH},
                 {"stream", GANTRY_SUBMIT_STREAM}};

    measure_calls(bench);
    measure_replays(bench);
    measure_tables(bench, false);
    measure_tables(bench, true);
    measure_patches(bench);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        printf("submit = %s\n", modes[i].name);
        bench_switch(bench, modes[i].mode);
        measure_round_trip(bench, modes[i].name);
        measure_once(bench, modes[i].name);
        measure_ahead(bench);
    }
}
