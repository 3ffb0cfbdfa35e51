/* C32: a kernel writes where nothing is. Everything afterwards ends at once, and closing works. */
#include "harness.h"

#include <time.h>

static enum gantry_status poll_until_error(struct bench *bench)
{
    enum gantry_status status = GANTRY_OK;
    time_t end = time(NULL) + 10;
    uint64_t value;

    while (status == GANTRY_OK && time(NULL) < end)
        status = bench->ops->queue_completed(bench->queue, &value);
    return status;
}

void test_lost(struct bench *bench)
{
    struct gantry_drv_memory memory = allocate(bench, GANTRY_MEMORY_DEVICE, 4096), more;
    struct gantry_drv_kernel *affine = make_kernel(bench, "affine", 32, 0), *kernel;
    struct affine_args args = {8, bench->untimed ? 0 : 1, 1, 1}; /* or the driver just says so */
    struct gantry_op op = launch_op(affine, 1, 32, &args, sizeof(args));
    struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};
    struct gantry_backend_submission submission = {.value = ++bench->value};
    struct gantry_kernel_source source = {.name = "affine",
                                          .args_size = sizeof(struct affine_args)};
    struct gantry_backend_kernel_params params = {.source = &source,
                                                  .symbol = "affine",
                                                  .block = {32, 1, 1}};
    struct gantry_backend_kernel_info info;
    struct gantry_drv_plan *built, *other;

    CHECK_OK(bench->ops->plan_build(bench->device, &plan, &built));
    CHECK_OK(bench->ops->submit(bench->queue, built, &submission));
    CHECK(poll_until_error(bench) == GANTRY_E_DEVICE_LOST);
    printf("  %s\n", last_error());
    submission.value++;
    CHECK(bench->ops->submit(bench->queue, built, &submission) == GANTRY_E_DEVICE_LOST);
    CHECK(bench->ops->submit_once(bench->queue, &plan, &submission) == GANTRY_E_DEVICE_LOST);
    CHECK(bench->ops->queue_wait(bench->queue, 1, GANTRY_FOREVER) == GANTRY_E_DEVICE_LOST);
    CHECK(bench->ops->queue_wait(bench->queue, 1, 1000000000) == GANTRY_E_DEVICE_LOST);
    CHECK(bench->ops->plan_build(bench->device, &plan, &other) == GANTRY_E_DEVICE_LOST);
    CHECK(bench->ops->memory_allocate(bench->device, GANTRY_MEMORY_DEVICE, 64, &more) ==
          GANTRY_E_DEVICE_LOST);
    CHECK(bench->ops->kernel_create(bench->device, &params, &kernel, &info) ==
          GANTRY_E_DEVICE_LOST);
    bench->ops->plan_destroy(built);
    bench->ops->kernel_destroy(bench->device, affine);
    bench->ops->memory_free(bench->device, &memory);
}
