/* A bit of everything with a driver that fails on purpose. */
#include "harness.h"

enum { THREADS = 32 };

/* A built plan is patched, with the bytes that its table has. */
static void submit_and_wait(struct bench *bench, struct gantry_drv_plan *built,
                            const struct gantry_plan *plan)
{
    struct gantry_backend_submission submission = {.value = bench->value + 1,
                                                   .patch = plan->table,
                                                   .patch_size = built ? plan->table_size : 0};
    enum gantry_status status = built ? bench->ops->submit(bench->queue, built, &submission)
                                      : bench->ops->submit_once(bench->queue, plan, &submission);

    if (status != GANTRY_OK)
        return;
    bench->value++;
    bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER);
}

static void wait_for_other_queue(struct bench *bench, const struct gantry_plan *plan)
{
    struct gantry_queue_stats stats = {0};
    struct gantry_backend_queue_params params = {.label = "other", .stats = &stats};
    struct gantry_backend_wait wait = {bench->queue, bench->value};
    struct gantry_backend_submission submission = {.waits = &wait, .wait_count = 1, .value = 1};
    struct gantry_drv_queue *other;

    if (bench->ops->queue_create(bench->device, &params, &other) != GANTRY_OK)
        return;
    if (bench->ops->submit_once(other, plan, &submission) == GANTRY_OK)
        bench->ops->queue_wait(other, 1, 1000000000);
    bench->ops->queue_destroy(other);
}

static struct gantry_op rows_op(struct gantry_drv_memory *y)
{
    struct gantry_op op = copy_op(y, 0, y, THREADS * 4, THREADS);

    op.copy.rows = 4;
    op.copy.to_pitch = THREADS;
    op.copy.from_pitch = THREADS + 4;
    return op;
}

static void use_registered(struct bench *bench)
{
    static unsigned char mine[256];
    struct gantry_drv_memory host;

    if (bench->ops->memory_register(bench->device, mine, sizeof(mine), &host) == GANTRY_OK)
        bench->ops->memory_free(bench->device, &host);
}

static void use_kernel(struct bench *bench, struct gantry_drv_kernel *kernel,
                       struct gantry_drv_memory *y)
{
    struct affine_args args = {y->address, THREADS, 3, 1};
    static unsigned char table[8192]; /* large enough to be copied to the device */
    struct gantry_op ops[] = {
        fill_op(y, 0, THREADS * 4, 1),
        launch_op(kernel, 1, THREADS, &args, sizeof(args)),
        launch_op(kernel, 1, THREADS, &args, sizeof(args)),
        rows_op(y),
        {.kind = GANTRY_OP_JOIN},
    };
    struct gantry_edge edges[] = {{0, 1, false}, {1, 2, true}, {2, 3, false}, {3, 4, false}};
    struct gantry_plan plan = {.ops = ops,
                               .op_count = 5,
                               .edges = edges,
                               .edge_count = 4,
                               .stage_count = 5,
                               .table = table,
                               .table_size = sizeof(table)};
    struct gantry_drv_plan *built;

    for (uint32_t i = 0; i < plan.op_count; i++)
        ops[i].stage = i;
    if (bench->ops->plan_build(bench->device, &plan, &built) == GANTRY_OK) {
        submit_and_wait(bench, built, &plan);
        submit_and_wait(bench, built, &plan);
        bench->ops->plan_destroy(built);
    }
    for (uint32_t i = 0; i < 4; i++) { /* the graph is made, and changed */
        args.b = i;
        submit_and_wait(bench, NULL, &plan);
    }
    if (bench->value > 0)
        wait_for_other_queue(bench, &plan);
}

static void use_device(struct bench *bench)
{
    struct gantry_drv_memory y, host;
    struct gantry_drv_kernel *kernel;
    struct gantry_backend_kernel_info info;
    uint64_t available, total;

    bench->ops->device_memory(bench->device, &available, &total);
    if (bench->ops->memory_allocate(bench->device, GANTRY_MEMORY_UPLOAD, 64, &host) == GANTRY_OK)
        bench->ops->memory_free(bench->device, &host);
    use_registered(bench);
    if (bench->ops->memory_allocate(bench->device, GANTRY_MEMORY_DEVICE, 4096, &y) != GANTRY_OK)
        return;
    if (try_kernel(bench, "affine", THREADS, 1024, &kernel, &info) == GANTRY_OK) {
        use_kernel(bench, kernel, &y);
        bench->ops->kernel_destroy(bench->device, kernel);
    }
    bench->ops->memory_free(bench->device, &y);
}

void test_torture(const char *plugin)
{
    struct bench bench;

    if (bench_try_open(&bench, plugin))
        use_device(&bench);
    printf("  the latest failure: %s\n", last_error());
    bench_try_close(&bench);
}
