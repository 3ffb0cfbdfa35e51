/* Queues: counters, waits between queues, several threads, shared hardware queues. */
#include <pthread.h>
#include <string.h>

#include "rig.h"

static void counter_follows_submissions(void **state)
{
    struct gantry_plan nothing = plan_of(NULL, 0);
    struct line line;
    uint64_t completed;

    (void)state;
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    assert_ok(rig.ops->queue_completed(line.queue, &completed));
    assert_int_equal(completed, 0);
    assert_int_equal(rig.ops->queue_wait(line.queue, 1, 1000000), GANTRY_TIMEOUT);
    assert_int_equal(rig.ops->queue_wait(line.queue, 1, 0), GANTRY_TIMEOUT);
    line_once(&line, &nothing);
    line_wait(&line);
    assert_ok(rig.ops->queue_completed(line.queue, &completed));
    assert_int_equal(completed, 1);
    line_close(&line);
}

static void native_handles_are_there(void **state)
{
    struct gantry_native_queue native = {0};
    struct line line;

    (void)state;
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    rig.ops->queue_native(line.queue, &native);
    assert_string_equal(native.backend, "vulkan");
    assert_true(native.vk_queue != NULL && native.vk_timeline != 0);
    assert_true(native.vk_family < rig.info.family_count);
    line_close(&line);
}

/* Submits `plan` to `to` after everything on the `from` lines. */
static void submit_after(struct line *to, struct gantry_drv_plan *plan, struct line *from,
                         uint32_t count)
{
    struct gantry_backend_wait waits[64];
    struct gantry_backend_submission submission = {
        .waits = waits,
        .wait_count = count,
        .value = to->value + 1,
    };

    for (uint32_t i = 0; i < count; i++)
        waits[i] = (struct gantry_backend_wait){from[i].queue, from[i].value};
    assert_ok(rig.ops->submit(to->queue, plan, &submission));
    to->value++;
}

/* One plan, on two queues in turn: y = 3 y + 1 and so on; the other queue doubles. */
static void queues_wait_for_each_other(void **state)
{
    enum { COUNT = 5000, ROUNDS = 20 };
    struct gantry_drv_memory memory = rig_memory(GANTRY_MEMORY_READBACK, COUNT * 4);
    struct gantry_drv_kernel *kernel = rig_kernel(GANTRY_ENTRY_DIRECT);
    struct step_args triple = {memory.address, memory.address, 3, 1, COUNT, 0};
    struct step_args twice = {memory.address, memory.address, 2, 0, COUNT, 0};
    struct gantry_op ops[] = {op_step(0, kernel, &triple), op_step(0, kernel, &twice)};
    struct gantry_drv_plan *plans[] = {built_of(&ops[0], 1), built_of(&ops[1], 1)};
    struct line lines[2];
    uint32_t expected = 7;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        ((uint32_t *)memory.host)[i] = 7;
    line_open(&lines[0], GANTRY_QUEUE_COMPUTE);
    line_open(&lines[1], GANTRY_QUEUE_COMPUTE);
    for (int i = 0; i < ROUNDS; i++) {
        submit_after(&lines[0], plans[0], &lines[1], 1);
        submit_after(&lines[1], plans[1], &lines[0], 1);
        expected = 2 * (3 * expected + 1);
    }
    line_wait(&lines[1]);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(((uint32_t *)memory.host)[i], expected);
    assert_int_equal(lines[0].stats.builds + lines[1].stats.builds, 2);
    line_close(&lines[0]);
    line_close(&lines[1]);
    rig.ops->plan_destroy(plans[0]);
    rig.ops->plan_destroy(plans[1]);
    rig.ops->kernel_destroy(rig.device, kernel);
    rig_free(&memory);
}

/* C28: more queues than the hardware has, of every kind and priority, and one that waits for all.
 */
static void many_queues_share(void **state)
{
    enum { MANY = 40 };
    struct gantry_drv_memory memory = rig_memory(GANTRY_MEMORY_READBACK, MANY * 4);
    struct line lines[MANY], last;
    struct gantry_drv_plan *nothing = built_of(NULL, 0);

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        struct gantry_backend_queue_params params = {
            .kind = i % 2 ? GANTRY_QUEUE_TRANSFER : GANTRY_QUEUE_COMPUTE,
            .priority = (int)(i % 3) - 1,
            .stats = &lines[i].stats,
        };
        struct gantry_op op = op_fill(0, &memory, i * 4, 4, i);
        struct gantry_plan plan = plan_of(&op, 1);
        memset(&lines[i], 0, sizeof(lines[i]));
        assert_ok(rig.ops->queue_create(rig.device, &params, &lines[i].queue));
        line_once(&lines[i], &plan);
    }
    line_open(&last, GANTRY_QUEUE_COMPUTE);
    submit_after(&last, nothing, lines, MANY);
    line_wait(&last);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(((uint32_t *)memory.host)[i], i);
    line_close(&last);
    for (uint32_t i = 0; i < MANY; i++)
        line_close(&lines[i]);
    rig.ops->plan_destroy(nothing);
    rig_free(&memory);
}

/* ---- Threads (C29) -------------------------------------------------------------------------- */

enum {
    THREADS = 8,
    SUBMITS = 200,
};

struct worker {
    pthread_t thread;
    struct line line;
    struct gantry_drv_plan *plan;
    bool failed;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct gantry_backend_submission submission = {0};

    for (int i = 0; i < SUBMITS; i++) {
        submission.value = ++worker->line.value;
        if (rig.ops->submit(worker->line.queue, worker->plan, &submission) != GANTRY_OK ||
            (i % 10 == 9 && rig.ops->queue_wait(worker->line.queue, submission.value,
                                                GANTRY_FOREVER) != GANTRY_OK))
            worker->failed = true;
    }
    return NULL;
}

/* Each thread counts a word of its own up, on a queue of its own. */
static void threads_share_hardware_queues(void **state)
{
    struct gantry_drv_memory memory = rig_memory(GANTRY_MEMORY_READBACK, THREADS * 4);
    struct gantry_drv_kernel *kernel = rig_kernel(GANTRY_ENTRY_DIRECT);
    struct worker workers[THREADS];

    (void)state;
    memset(memory.host, 0, THREADS * 4);
    for (uint32_t i = 0; i < THREADS; i++) {
        gantry_ptr word = memory.address + i * 4;
        struct step_args args = {word, word, 1, 1, 1, 0};
        struct gantry_op op = op_step(0, kernel, &args);
        line_open(&workers[i].line, GANTRY_QUEUE_COMPUTE);
        workers[i].plan = built_of(&op, 1);
        workers[i].failed = false;
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        line_close(&workers[i].line);
        rig.ops->plan_destroy(workers[i].plan);
        assert_false(workers[i].failed);
        assert_int_equal(((uint32_t *)memory.host)[i], SUBMITS);
    }
    rig.ops->kernel_destroy(rig.device, kernel);
    rig_free(&memory);
}

int run_queue_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_follows_submissions),   cmocka_unit_test(native_handles_are_there),
        cmocka_unit_test(queues_wait_for_each_other),    cmocka_unit_test(many_queues_share),
        cmocka_unit_test(threads_share_hardware_queues),
    };

    return cmocka_run_group_tests(tests, rig_setup_device, rig_teardown_device);
}
