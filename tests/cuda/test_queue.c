/* Points, waits between queues, time limits, threads, and the caller's context. */
#include "harness.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

enum { MS = 1000000 };

struct lane {
    struct bench *bench;
    struct gantry_drv_queue *queue;
    struct gantry_queue_stats stats;
    uint64_t value;
};

static void lane_open(struct bench *bench, struct lane *lane, int priority)
{
    struct gantry_backend_queue_params params = {.priority = priority,
                                                 .label = "lane",
                                                 .stats = &lane->stats};

    memset(lane, 0, sizeof(*lane));
    lane->bench = bench;
    CHECK_OK(bench->ops->queue_create(bench->device, &params, &lane->queue));
}

static void lane_submit(struct lane *lane, struct gantry_op *ops, uint32_t count,
                        const struct gantry_backend_wait *wait)
{
    struct gantry_plan plan = {.ops = ops, .op_count = count, .stage_count = count};
    struct gantry_backend_submission submission = {.waits = wait,
                                                   .wait_count = wait ? 1 : 0,
                                                   .value = ++lane->value};

    CHECK_OK(lane->bench->ops->submit_once(lane->queue, &plan, &submission));
}

static void lane_wait(struct lane *lane, uint64_t value)
{
    uint64_t completed;

    CHECK_OK(lane->bench->ops->queue_wait(lane->queue, value, GANTRY_FOREVER));
    CHECK_OK(lane->bench->ops->queue_completed(lane->queue, &completed));
    CHECK(completed >= value && completed <= lane->value);
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A time limit passes while the work runs; the wait can be repeated. */
static void test_timeout(struct bench *bench)
{
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, 4);
    struct gantry_drv_kernel *spin = make_kernel(bench, "spin", 1, 0);
    struct spin_args args = {y.address, 200ull * MS, 7};
    struct gantry_op op = launch_op(spin, 1, 1, &args, sizeof(args));
    struct lane lane;
    uint64_t completed;
    double start = now_ms();

    lane_open(bench, &lane, 1);
    *(uint32_t *)y.host = 0;
    lane_submit(&lane, &op, 1, NULL);
    CHECK_OK(bench->ops->queue_completed(lane.queue, &completed));
    CHECK_EQUAL(completed, 0);
    CHECK(bench->ops->queue_wait(lane.queue, 1, 0) == GANTRY_TIMEOUT);
    CHECK(bench->ops->queue_wait(lane.queue, 1, 20 * MS) == GANTRY_TIMEOUT);
    CHECK(now_ms() - start >= 20);
    CHECK_OK(bench->ops->queue_wait(lane.queue, 1, 10000ull * MS));
    CHECK(now_ms() - start >= 200);
    CHECK_EQUAL(*(uint32_t *)y.host, 7);
    bench->ops->queue_destroy(lane.queue);
    bench->ops->kernel_destroy(bench->device, spin);
    bench->ops->memory_free(bench->device, &y);
}

/* An earlier point is reached while a later submission still runs. */
static void test_earlier_point(struct bench *bench)
{
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, 4);
    struct gantry_drv_kernel *spin = make_kernel(bench, "spin", 1, 0);
    struct spin_args quick = {y.address, 1, 1}, slow = {y.address, 200ull * MS, 2};
    struct gantry_op ops[] = {launch_op(spin, 1, 1, &quick, sizeof(quick)),
                              launch_op(spin, 1, 1, &slow, sizeof(slow))};
    struct lane lane;

    lane_open(bench, &lane, 0);
    for (int i = 0; i < 2; i++) { /* the second time with a mark behind each submission */
        lane_submit(&lane, &ops[0], 1, NULL);
        lane_submit(&lane, &ops[1], 1, NULL);
        lane_wait(&lane, lane.value - 1);
        CHECK_EQUAL(*(volatile uint32_t *)y.host, 1);
        lane_wait(&lane, lane.value);
        CHECK_EQUAL(*(volatile uint32_t *)y.host, 2);
    }
    bench->ops->queue_destroy(lane.queue);
    bench->ops->kernel_destroy(bench->device, spin);
    bench->ops->memory_free(bench->device, &y);
}

/* Ping-pong: each submission waits for the other queue's latest one. */
static void test_ping_pong(struct bench *bench)
{
    enum { TURNS = 200 };
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, 4);
    struct gantry_drv_kernel *affine = make_kernel(bench, "affine", 32, 0);
    struct lane lanes[2];
    uint32_t wanted = 1;

    lane_open(bench, &lanes[0], 0);
    lane_open(bench, &lanes[1], -1);
    *(uint32_t *)y.host = 1;
    for (uint32_t i = 0; i < TURNS; i++) {
        struct lane *mine = &lanes[i % 2], *other = &lanes[(i + 1) % 2];
        struct gantry_backend_wait wait = {other->queue, other->value};
        struct affine_args args = {y.address, 1, 3, i};
        struct gantry_op op = launch_op(affine, 1, 32, &args, sizeof(args));

        lane_submit(mine, &op, 1, &wait);
        wanted = wanted * 3 + i;
    }
    lane_wait(&lanes[(TURNS - 1) % 2], lanes[(TURNS - 1) % 2].value);
    CHECK_EQUAL(*(volatile uint32_t *)y.host, wanted);
    bench->ops->queue_destroy(lanes[0].queue);
    bench->ops->queue_destroy(lanes[1].queue);
    bench->ops->kernel_destroy(bench->device, affine);
    bench->ops->memory_free(bench->device, &y);
}

/* More submissions than there are marks, waits for old ones among them. */
static void test_many(struct bench *bench)
{
    enum { COUNT = 300 };
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, COUNT * 4);
    struct gantry_drv_memory sum = allocate(bench, GANTRY_MEMORY_READBACK, COUNT * 4);
    struct lane lanes[2];

    lane_open(bench, &lanes[0], 0);
    lane_open(bench, &lanes[1], 0);
    memset(y.host, 0, COUNT * 4);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct gantry_op op = fill_op(&y, i * 4, 4, i + 1);

        lane_submit(&lanes[0], &op, 1, NULL);
    }
    for (uint32_t i = 0; i < COUNT; i += 7) {
        struct gantry_backend_wait wait = {lanes[0].queue, i + 1};
        struct gantry_op op = copy_op(&sum, i * 4, &y, i * 4, 4);

        lane_submit(&lanes[1], &op, 1, &wait);
        lane_wait(&lanes[0], i + 1);
    }
    lane_wait(&lanes[1], lanes[1].value);
    for (uint32_t i = 0; i < COUNT; i += 7)
        CHECK_EQUAL(((volatile uint32_t *)sum.host)[i], i + 1);
    lane_wait(&lanes[0], COUNT);
    bench->ops->queue_destroy(lanes[0].queue);
    bench->ops->queue_destroy(lanes[1].queue);
    bench->ops->memory_free(bench->device, &y);
    bench->ops->memory_free(bench->device, &sum);
}

static void *thread_main(void *argument)
{
    struct lane *lane = argument;
    struct bench *bench = lane->bench;
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, 4);
    struct gantry_drv_kernel *affine = make_kernel(bench, "affine", 32, 0);
    struct affine_args args = {y.address, 1, 1, 1};
    struct gantry_op op = launch_op(affine, 1, 32, &args, sizeof(args));

    *(uint32_t *)y.host = 0;
    for (int i = 0; i < 500; i++) {
        lane_submit(lane, &op, 1, NULL);
        if (i % 50 == 0)
            lane_wait(lane, lane->value - (i > 10 ? 5 : 0));
    }
    lane_wait(lane, lane->value);
    CHECK_EQUAL(*(volatile uint32_t *)y.host, 500);
    bench->ops->kernel_destroy(bench->device, affine);
    bench->ops->memory_free(bench->device, &y);
    return NULL;
}

/* C30: any thread, several at once. */
static void test_threads(struct bench *bench)
{
    enum { THREADS = 4 };
    struct lane lanes[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        lane_open(bench, &lanes[i], 0);
        CHECK(pthread_create(&threads[i], NULL, thread_main, &lanes[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        bench->ops->queue_destroy(lanes[i].queue);
    }
}

struct driver {
    int (*get_current)(void **context);
    int (*set_current)(void *context);
};

static struct driver open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *get = library ? dlsym(library, "cuCtxGetCurrent") : NULL;
    void *set = library ? dlsym(library, "cuCtxSetCurrent") : NULL;
    struct driver driver;

    CHECK(get && set);
    memcpy(&driver.get_current, &get, sizeof(get));
    memcpy(&driver.set_current, &set, sizeof(set));
    return driver;
}

static void use_everything(struct bench *bench)
{
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_DEVICE, 4);
    struct gantry_drv_kernel *affine = make_kernel(bench, "affine", 32, 0);
    struct affine_args args = {y.address, 1, 1, 1};
    struct gantry_op op = launch_op(affine, 1, 32, &args, sizeof(args));
    struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};
    struct gantry_drv_plan *built;

    CHECK_OK(bench->ops->plan_build(bench->device, &plan, &built));
    run_built(bench, built);
    run_once(bench, &plan);
    bench->ops->plan_destroy(built);
    bench->ops->kernel_destroy(bench->device, affine);
    bench->ops->memory_free(bench->device, &y);
}

/* C30: what was current before is current afterwards, be it nothing or the very context. */
static void test_callers_context(struct bench *bench)
{
    struct driver driver = open_driver();
    struct gantry_native_device native = {0};
    void *contexts[] = {NULL, NULL};
    void *current = &current;

    bench->ops->device_native(bench->device, &native);
    CHECK(native.cuda_context);
    contexts[1] = native.cuda_context;
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(driver.set_current(contexts[i]), 0);
        use_everything(bench);
        CHECK_EQUAL(driver.get_current(&current), 0);
        CHECK(current == contexts[i]);
    }
    CHECK_EQUAL(driver.set_current(NULL), 0);
}

void test_queue(struct bench *bench)
{
    if (bench->untimed) {
        printf("  the driver keeps no time: time limits not tried\n");
    } else {
        test_timeout(bench);
        test_earlier_point(bench);
    }
    test_ping_pong(bench);
    test_many(bench);
    test_threads(bench);
    test_callers_context(bench);
}
