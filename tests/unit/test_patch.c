/* core/patch.c: what may be changed of a finished list, that every submission takes along exactly
 * the bytes that its plan lacks, and that no other submission sees them. */
#include "unit.h"

#include <stdlib.h>

#include "core/list.h"
#include "core/queue.h"
#include "core/status.h"

#include "fake_device.h"

#define MAX_PLANS  8
#define TABLE_SIZE 4096

static const struct gantry_size none = {0, 0, 0};

/* ---- A plugin that keeps tables -------------------------------------------------------------- */

/* A built plan's table, as the submissions so far have left it. */
struct kept_table {
    struct gantry_drv_plan *built;
    uint8_t bytes[TABLE_SIZE];
    uint64_t size;
    struct gantry_fold_args fold; /* of its first operation */
};

static struct kept_table tables[MAX_PLANS];
static uint32_t table_count;
static struct kept_table *submitted; /* of the latest submission */
static uint64_t patch_offset, patch_size;
static const struct gantry_backend_ops *fake_ops;
static struct gantry_backend_ops wrapped;

static enum gantry_status build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                                struct gantry_drv_plan **built)
{
    enum gantry_status status = fake_ops->plan_build(device, plan, built);
    struct kept_table *kept = &tables[table_count];

    if (status != GANTRY_OK)
        return status;
    assert_true(++table_count <= MAX_PLANS);
    assert_true(plan->patchable && plan->table_size <= TABLE_SIZE);
    *kept = (struct kept_table){.built = *built, .size = plan->table_size};
    for (uint32_t i = plan->op_count; i-- > 0;)
        if (plan->ops[i].folded)
            kept->fold = *(const struct gantry_fold_args *)plan->ops[i].launch.args;
    if (plan->table_size)
        memcpy(kept->bytes, plan->table, plan->table_size);
    return GANTRY_OK;
}

static enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                                 const struct gantry_backend_submission *submission)
{
    enum gantry_status status = fake_ops->submit(queue, built, submission);

    if (status != GANTRY_OK)
        return status;
    for (submitted = tables; submitted->built != built; submitted++)
        assert_true(submitted < tables + table_count);
    patch_offset = submission->patch_offset;
    patch_size = submission->patch_size;
    assert_true(patch_offset % 4 == 0 && patch_size % 4 == 0);
    assert_true(patch_offset + patch_size <= submitted->size);
    if (patch_size)
        memcpy(submitted->bytes + patch_offset, submission->patch, patch_size);
    return GANTRY_OK;
}

/* ---- Lists ---------------------------------------------------------------------------------- */

struct args {
    uint32_t a, b;
};

static struct fake_device *fake;
static struct gantry_queue *queue;

static int set_up(void **state)
{
    fake_open(state);
    fake = *state;
    fake->source.args_size = sizeof(struct args);
    fake->device.info.limits.compute_units = 4;
    fake->device.info.limits.threads_per_unit = 512;
    fake->complete_in_wait = true;
    fake_ops = fake->device.ops;
    wrapped = *fake_ops;
    wrapped.plan_build = build;
    wrapped.submit = submit;
    fake->device.ops = &wrapped;
    table_count = 0;
    queue = fake_queue(fake);
    return 0;
}

static int tear_down(void **state)
{
    fake_complete(queue, queue->submitted);
    gantry_queue_destroy(&queue);
    return fake_close(state);
}

static struct gantry_size threads(uint32_t x)
{
    return (struct gantry_size){.x = x};
}

static uint32_t record(struct gantry_list *list, uint32_t x, uint32_t max, uint32_t a)
{
    struct args args = {a, a};

    return gantry_list_launch_patchable(list, &fake->kernel, threads(x), threads(max), &args,
                                        sizeof(args));
}

/* A finished list of `count` independent launches, which share one operation, in a section. */
static struct gantry_list *make_list(uint32_t count)
{
    struct gantry_list *list = fake_list(fake);

    fake->device.policy.fold = true;
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    for (uint32_t i = 1; i <= count; i++)
        assert_int_equal(record(list, 32, 64, i), i);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    return list;
}

static void submit_list(struct gantry_list *list)
{
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
}

/* The arguments and the blocks of the i-th launch in the table of the latest submission. */
static struct args args_at(uint32_t i)
{
    struct args args;

    memcpy(&args, submitted->bytes + submitted->fold.args + i * (uint64_t)submitted->fold.stride,
           sizeof(args));
    return args;
}

static uint32_t blocks_at(uint32_t i)
{
    struct gantry_fold_launch launch;

    memcpy(&launch, submitted->bytes + submitted->fold.launches + i * sizeof(launch),
           sizeof(launch));
    assert_true(launch.x == 0 ? launch.y == 0 && launch.z == 0 : launch.y == 1 && launch.z == 1);
    assert_int_equal(launch.first, 2 * i);
    return launch.x;
}

static void set_a(struct gantry_list *list, uint32_t id, uint32_t a)
{
    assert_int_equal(gantry_list_set_arg(list, id, offsetof(struct args, a), &a, sizeof(a)),
                     GANTRY_OK);
}

/* ---- What arrives --------------------------------------------------------------------------- */

static void patches_reach_the_table(void **state)
{
    struct gantry_list *list = make_list(3);
    struct args args = {70, 71};

    (void)state;
    submit_list(list);
    assert_int_equal(patch_size, 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(args_at(i).a, i + 1);
        assert_int_equal(blocks_at(i), 1);
    }
    set_a(list, 1, 50);
    assert_int_equal(gantry_list_set_args(list, 2, &args, sizeof(args)), GANTRY_OK);
    assert_int_equal(gantry_list_set_threads(list, 3, threads(33)), GANTRY_OK);
    submit_list(list);
    assert_int_equal(args_at(0).a, 50);
    assert_int_equal(args_at(0).b, 1);
    assert_int_equal(args_at(1).a, 70);
    assert_int_equal(args_at(1).b, 71);
    assert_int_equal(args_at(2).a, 3);
    assert_int_equal(blocks_at(2), 2);
    gantry_list_destroy(&list);
}

static void a_patch_is_what_was_changed(void **state)
{
    struct gantry_list *list = make_list(4);
    struct gantry_queue_stats stats;
    uint8_t byte = 9;

    (void)state;
    assert_int_equal(gantry_list_set_arg(list, 2, 5, &byte, 1), GANTRY_OK);
    submit_list(list);
    assert_int_equal(patch_offset, submitted->fold.args + submitted->fold.stride + 4);
    assert_int_equal(patch_size, 4);
    submit_list(list);
    assert_int_equal(patch_size, 0);
    set_a(list, 4, 6);
    set_a(list, 3, 7);
    submit_list(list);
    assert_int_equal(patch_offset, submitted->fold.args + 2 * submitted->fold.stride);
    assert_int_equal(patch_size, submitted->fold.stride + 4);
    assert_int_equal(gantry_list_set_arg(list, 1, 8, NULL, 0), GANTRY_OK);
    submit_list(list);
    assert_int_equal(patch_size, 0);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_int_equal(stats.patches, 2);
    assert_int_equal(stats.folded, 4 * 4);
    gantry_list_destroy(&list);
}

static void a_failed_submission_keeps_its_patch(void **state)
{
    struct gantry_list *list = make_list(2);

    (void)state;
    set_a(list, 1, 50);
    fake->fail_submit = GANTRY_E_DRIVER;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_DRIVER);
    set_a(list, 2, 51);
    submit_list(list);
    assert_int_equal(args_at(0).a, 50);
    assert_int_equal(args_at(1).a, 51);
    gantry_list_destroy(&list);
}

static void threads_shrink_grow_and_vanish(void **state)
{
    static const uint32_t x[] = {0, 1, 32, 33, 64, 0, 64};
    struct gantry_list *list = make_list(2);

    (void)state;
    for (uint32_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
        assert_int_equal(gantry_list_set_threads(list, 2, threads(x[i])), GANTRY_OK);
        submit_list(list);
        assert_int_equal(blocks_at(1), (x[i] + 31) / 32);
        assert_int_equal(blocks_at(0), 1);
    }
    gantry_list_destroy(&list);
}

/* ---- Instances ------------------------------------------------------------------------------ */

/* A list with a transfer has a plan for each of three submissions in flight. Each must find all
 * patches that were made before it, and those of the others must not be forgotten for it. */
static void every_instance_gets_every_patch(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_list *list = fake_list(fake);
    uint32_t expected[3] = {1, 2, 3}, seed = 7, word = 0;

    (void)state;
    gantry_list_upload(list, buffer, 0, &word, 4);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(record(list, 32, 64, expected[i]), i + 2);
    fake->device.policy.fold = false;
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    for (uint32_t round = 0; round < 200; round++) {
        for (seed = seed * 1664525 + 1013904223; seed >> 30; seed = seed * 1664525 + 1013904223) {
            uint32_t i = seed % 3;

            expected[i] = seed;
            set_a(list, i + 2, seed);
        }
        submit_list(list);
        for (uint32_t i = 0; i < 3; i++) {
            struct args args;

            memcpy(&args, submitted->bytes + list->patches.places[i].args, sizeof(args));
            assert_int_equal(args.a, expected[i]);
        }
        if (round % 7 == 0)
            fake_complete(queue, queue->submitted);
    }
    assert_int_equal(table_count, 3);
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&buffer);
}

/* ---- One-shot lists ------------------------------------------------------------------------- */

static void unfinished_lists_run_what_was_recorded(void **state)
{
    struct gantry_list *list = fake_list(fake);
    struct args args = {0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(record(list, 32, 64, 1), 1);
        assert_int_equal(gantry_list_set_args(list, 1, &args, sizeof(args)),
                         GANTRY_E_INVALID_STATE);
        assert_contains(gantry_last_error(), "gantry_list_finish");
        submit_list(list);
        assert_int_equal(fake->op_count, 1);
    }
    assert_int_equal(record(list, 32, 64, 1), 1);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    set_a(list, 1, 5);
    submit_list(list);
    gantry_list_destroy(&list);
}

static void finishing_can_be_tried_again(void **state)
{
    struct gantry_list *list = fake_list(fake);

    (void)state;
    assert_int_equal(record(list, 32, 64, 1), 1);
    fake->fail_build = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_list_finish(list), GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(record(list, 32, 64, 2), 2);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    set_a(list, 2, 60);
    submit_list(list);
    gantry_list_destroy(&list);
}

/* ---- Mistakes ------------------------------------------------------------------------------- */

static void ids_are_checked(void **state)
{
    struct gantry_list *list = fake_list(fake);
    uint32_t a = 0;

    (void)state;
    assert_int_equal(record(list, 32, 64, 1), 1);
    assert_int_equal(gantry_list_label(list, "name"), 2);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(gantry_list_set_arg(NULL, 1, 0, &a, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_set_args(NULL, 1, &a, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_set_threads(NULL, 1, none), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_set_arg(list, 0, 0, &a, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_set_arg(list, 3, 0, &a, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "no command 3");
    assert_int_equal(gantry_list_set_threads(list, 2, none), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "gantry_list_launch_patchable");
    gantry_list_destroy(&list);
}

/* A list without patchable launches has no table to look into. */
static void plain_launches_can_not_be_changed(void **state)
{
    struct gantry_list *list = fake_list(fake);
    struct args args = {0};

    (void)state;
    fake->device.ops = fake_ops; /* the plan is not patchable */
    assert_int_equal(gantry_list_launch(list, &fake->kernel, threads(4), &args, sizeof(args)), 1);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(gantry_list_set_args(list, 1, &args, sizeof(args)), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "command 1");
    gantry_list_destroy(&list);
}

static void ranges_are_checked(void **state)
{
    struct gantry_list *list = make_list(1);
    struct args args = {1, 2};

    (void)state;
    assert_int_equal(gantry_list_set_arg(list, 1, 0, NULL, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_set_arg(list, 1, 5, &args, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "4 bytes from offset 5");
    assert_int_equal(gantry_list_set_arg(list, 1, 9, &args, 0), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_set_arg(list, 1, 4, &args, SIZE_MAX), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_set_args(list, 1, &args, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "8 bytes");
    assert_int_equal(gantry_list_set_args(list, 1, NULL, 8), GANTRY_E_INVALID_ARGUMENT);
    submit_list(list);
    assert_int_equal(patch_size, 0);
    gantry_list_destroy(&list);
}

static void threads_are_checked(void **state)
{
    struct gantry_list *list = make_list(1);

    (void)state;
    assert_int_equal(gantry_list_set_threads(list, 1, threads(65)), GANTRY_E_LIMIT);
    assert_contains(gantry_last_error(), "65 x 1 x 1");
    assert_contains(gantry_last_error(), "64 x 1 x 1");
    assert_int_equal(gantry_list_set_threads(list, 1, (struct gantry_size){1, 2, 1}),
                     GANTRY_E_INVALID_ARGUMENT);
    submit_list(list);
    assert_int_equal(patch_size, 0);
    gantry_list_destroy(&list);
    list = fake_list(fake);
    assert_int_equal(record(list, 65, 64, 1), 0);
    assert_int_equal(gantry_list_finish(list), GANTRY_E_LIMIT);
    gantry_list_destroy(&list);
}

/* y and z: not stated at all, they count 1; stated as the largest, 0 runs nothing. */
static void axes_that_are_not_stated_count_1(void **state)
{
    struct gantry_list *list = fake_list(fake);
    struct args args = {0};

    (void)state;
    fake->source.dimensions = 2;
    assert_int_equal(gantry_list_launch_patchable(list, &fake->kernel, threads(32), threads(64),
                                                  &args, sizeof(args)),
                     1);
    assert_int_equal(gantry_list_launch_patchable(list, &fake->kernel, threads(32),
                                                  (struct gantry_size){64, 2, 0}, &args,
                                                  sizeof(args)),
                     2);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_true(list->commands[0].launch.blocks.y == 1 && list->patchables[0].grid.x == 2);
    assert_true(list->commands[1].launch.blocks.x == 0 && list->patchables[1].grid.y == 2);
    assert_int_equal(gantry_list_set_threads(list, 1, (struct gantry_size){4, 1, 1}), GANTRY_OK);
    assert_int_equal(gantry_list_set_threads(list, 1, (struct gantry_size){4, 2, 1}),
                     GANTRY_E_LIMIT);
    gantry_list_destroy(&list);
}

/* A launch of no more than 0 threads succeeds and does nothing; so do its patches. */
static void launches_that_never_run_can_be_patched(void **state)
{
    struct gantry_list *list = fake_list(fake);

    (void)state;
    assert_int_equal(record(list, 0, 0, 1), 1);
    assert_int_equal(record(list, 32, 64, 2), 2);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    set_a(list, 1, 40);
    assert_int_equal(gantry_list_set_threads(list, 1, none), GANTRY_OK);
    assert_int_equal(gantry_list_set_threads(list, 1, threads(1)), GANTRY_E_LIMIT);
    submit_list(list);
    assert_int_equal(patch_size, 0);
    assert_int_equal(fake->op_count, 1);
    set_a(list, 2, 41);
    submit_list(list);
    assert_int_equal(args_at(0).a, 41);
    gantry_list_destroy(&list);
}

static void grids_that_can_not_be_laid_out_are_refused(void **state)
{
    struct gantry_list *list = fake_list(fake);
    struct args args = {0};

    (void)state;
    fake->source.dimensions = 3;
    assert_int_equal(gantry_list_launch_patchable(list, &fake->kernel, none,
                                                  (struct gantry_size){32 * 65535, 65535, 65535},
                                                  &args, sizeof(args)),
                     0);
    assert_int_equal(gantry_list_finish(list), GANTRY_E_LIMIT);
    gantry_list_destroy(&list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(patches_reach_the_table),
        TEST(a_patch_is_what_was_changed),
        TEST(a_failed_submission_keeps_its_patch),
        TEST(threads_shrink_grow_and_vanish),
        TEST(every_instance_gets_every_patch),
        TEST(unfinished_lists_run_what_was_recorded),
        TEST(finishing_can_be_tried_again),
        TEST(ids_are_checked),
        TEST(plain_launches_can_not_be_changed),
        TEST(ranges_are_checked),
        TEST(threads_are_checked),
        TEST(axes_that_are_not_stated_count_1),
        TEST(launches_that_never_run_can_be_patched),
        TEST(grids_that_can_not_be_laid_out_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
