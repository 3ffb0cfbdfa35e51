/* Operations that run several launches over a table: of plans, patched, and of single submissions.
 */
#include "harness.h"

enum {
    THREADS = 256,
    STRIDE = 32,
    MOST = 2000,
    ROWS_AT = MOST * sizeof(struct gantry_fold_launch)
};

/* Launches y = y * a + b of one block: side by side, each on its own part of y, or one after the
 * other on one part. */
struct rows {
    bool chained;
    uint32_t count, items;
    struct gantry_drv_kernel *kernel;
    struct gantry_drv_memory y;
    unsigned char *table;
    uint32_t *wanted;
    struct gantry_fold_args fold;
    struct gantry_op op;
    struct gantry_plan plan;
};

static struct gantry_fold_launch *launch_of(const struct rows *rows, uint32_t i)
{
    return (struct gantry_fold_launch *)rows->table + i;
}

static struct affine_args *args_of(const struct rows *rows, uint32_t i)
{
    return (struct affine_args *)(rows->table + ROWS_AT + i * STRIDE);
}

static void rows_vary(struct rows *rows, uint32_t salt)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t part = rows->chained ? 0 : i * THREADS * 4;

        *args_of(rows, i) =
            (struct affine_args){rows->y.address + part, THREADS, 3 + (i + salt) % 5 * 2, i + salt};
    }
}

static void rows_open(struct bench *bench, struct rows *rows, bool chained, uint32_t count)
{
    memset(rows, 0, sizeof(*rows));
    rows->chained = chained;
    rows->count = count;
    rows->items = (chained ? 1 : count) * THREADS;
    rows->kernel = make_kernel(bench, chained ? "affine_chained" : "affine_folded", THREADS, 0);
    rows->y = allocate(bench, GANTRY_MEMORY_DEVICE, rows->items * 4);
    rows->table = calloc(1, ROWS_AT + MOST * STRIDE);
    rows->wanted = calloc(rows->items, 4);
    CHECK(rows->table && rows->wanted);
    rows->fold = (struct gantry_fold_args){0, ROWS_AT, count, count, STRIDE, 1, 0};
    rows->op =
        launch_op(rows->kernel, chained ? 1 : count + 3, THREADS, &rows->fold, sizeof(rows->fold));
    rows->op.folded = true;
    rows->plan = (struct gantry_plan){.ops = &rows->op,
                                      .op_count = 1,
                                      .stage_count = 1,
                                      .table = rows->table,
                                      .table_size = ROWS_AT + count * STRIDE,
                                      .patchable = true};
    for (uint32_t i = 0; i < count; i++)
        *launch_of(rows, i) = (struct gantry_fold_launch){i, 1, 1, 1, 0};
    rows_vary(rows, 0);
    upload(bench, &rows->y, rows->wanted, rows->items * 4);
}

/* Does to what is wanted what one run does to y. */
static void rows_apply(struct rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t *part = rows->wanted + (rows->chained ? 0 : i * THREADS);

        for (uint32_t k = 0; k < THREADS && launch_of(rows, i)->x > 0; k++)
            part[k] = part[k] * args_of(rows, i)->a + args_of(rows, i)->b;
    }
}

static void rows_check(struct bench *bench, struct rows *rows)
{
    uint32_t *values = calloc(rows->items, 4), wrong = 0;

    CHECK(values);
    download(bench, &rows->y, values, rows->items * 4);
    for (uint32_t i = 0; i < rows->items; i++)
        wrong += values[i] != rows->wanted[i];
    CHECK_EQUAL(wrong, 0);
    free(values);
}

static void rows_close(struct bench *bench, struct rows *rows)
{
    bench->ops->memory_free(bench->device, &rows->y);
    bench->ops->kernel_destroy(bench->device, rows->kernel);
    free(rows->table);
    free(rows->wanted);
}

/* Submits without waiting; size 0: no patch. */
static void submit_patched(struct bench *bench, struct rows *rows, struct gantry_drv_plan *built,
                           uint64_t offset, uint64_t size)
{
    unsigned char bytes[MOST * STRIDE];
    struct gantry_backend_submission submission = {.value = ++bench->value,
                                                   .patch = bytes,
                                                   .patch_offset = offset,
                                                   .patch_size = size};

    CHECK(size <= sizeof(bytes));
    memcpy(bytes, rows->table + offset, size);
    rows_apply(rows);
    CHECK_OK(bench->ops->submit(bench->queue, built, &submission));
    memset(bytes, 0xee, size); /* it was copied at once */
}

static void patch_in_turn(struct bench *bench, struct rows *rows, struct gantry_drv_plan *built)
{
    for (uint32_t i = 0; i < rows->count; i += 7) {
        args_of(rows, i)->b += 1000;
        submit_patched(bench, rows, built, ROWS_AT + i * STRIDE, sizeof(struct affine_args));
        submit_patched(bench, rows, built, 0, 0);
    }
    rows_vary(rows, 5);
    submit_patched(bench, rows, built, ROWS_AT, rows->count * STRIDE);
}

/* Patches between submissions that are all still running: each sees the values of its moment. */
static void test_patches(struct bench *bench, bool chained)
{
    struct gantry_drv_plan *built;
    struct rows rows;
    uint64_t allocations;

    rows_open(bench, &rows, chained, 40);
    CHECK_OK(bench->ops->plan_build(bench->device, &rows.plan, &built));
    submit_patched(bench, &rows, built, 0, 0);
    patch_in_turn(bench, &rows, built);
    if (chained) { /* a launch can be patched away */
        launch_of(&rows, 3)->x = 0;
        submit_patched(bench, &rows, built, 3 * sizeof(struct gantry_fold_launch),
                       sizeof(struct gantry_fold_launch));
    }
    rows_check(bench, &rows);
    allocations = bench->stats.allocations;
    for (int i = 0; i < 50; i++) {
        patch_in_turn(bench, &rows, built);
        CHECK_OK(bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER));
    }
    CHECK_EQUAL(bench->stats.allocations, allocations);
    rows_check(bench, &rows);
    bench->ops->plan_destroy(built);
    rows_close(bench, &rows);
}

/* Tables that travel with each submission, at most four of them in flight: two pieces of staging
 * memory hold the largest, each with its twin on the device. */
static void test_single(struct bench *bench, bool chained, uint32_t count)
{
    struct rows rows;
    uint64_t allocations = bench->stats.allocations;

    rows_open(bench, &rows, chained, count);
    for (uint32_t i = 0; i < 20; i++) {
        struct gantry_backend_submission submission = {.value = ++bench->value};

        rows_vary(&rows, i);
        rows_apply(&rows);
        CHECK_OK(bench->ops->submit_once(bench->queue, &rows.plan, &submission));
        if (i % 4 == 3)
            CHECK_OK(bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER));
    }
    CHECK(bench->stats.allocations - allocations <= 4);
    rows_check(bench, &rows);
    rows_close(bench, &rows);
}

/* Two folded operations of a plan, one behind the other, over one table. */
static void test_two_over_one(struct bench *bench)
{
    struct rows rows;
    struct gantry_op ops[2];
    struct gantry_edge edge = {0, 1, false};
    struct gantry_drv_plan *built;

    rows_open(bench, &rows, false, 100);
    ops[0] = ops[1] = rows.op;
    ops[1].stage = 1;
    rows.plan.ops = ops;
    rows.plan.op_count = rows.plan.stage_count = 2;
    rows.plan.edges = &edge;
    rows.plan.edge_count = 1;
    CHECK_OK(bench->ops->plan_build(bench->device, &rows.plan, &built));
    run_built(bench, built);
    run_once(bench, &rows.plan);
    for (int i = 0; i < 4; i++)
        rows_apply(&rows);
    rows_check(bench, &rows);
    bench->ops->plan_destroy(built);
    rows_close(bench, &rows);
}

void test_table(struct bench *bench)
{
    test_two_over_one(bench);
    for (int chained = 0; chained < 2; chained++) {
        test_patches(bench, chained);
        test_single(bench, chained, 5);
        test_single(bench, chained, MOST);
    }
}
