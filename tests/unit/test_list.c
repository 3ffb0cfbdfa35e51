/* Lists: numbering, failures that stay, sections, what finishing and submitting do to them, and
 * what they keep alive. */
#include "unit.h"

#include "core/buffer.h"
#include "core/list.h"
#include "core/queue.h"
#include "fake_device.h"

/* ---- Recording ------------------------------------------------------------------------------ */

static void commands_are_numbered(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_list *list = fake_list(fake);
    struct gantry_list_info info;
    uint32_t word = 0;

    assert_int_equal(fake_launch(fake, list, 1), 1);
    assert_int_equal(gantry_list_label(list, "a"), 2);
    assert_int_equal(fake_launch(fake, list, 0), 3); /* empty, and numbered all the same */
    assert_int_equal(gantry_list_fill(list, buffer, 0, 0, 1), 4);
    assert_int_equal(gantry_list_copy(list, buffer, 0, buffer, 32, 32), 5);
    assert_int_equal(gantry_list_upload(list, buffer, 0, &word, 4), 6);
    assert_int_equal(gantry_list_download(list, buffer, 60, &word, 4), 7);
    assert_int_equal(list->command_count, 4);
    assert_int_equal(list->transfer_count, 2);
    assert_int_equal(gantry_list_describe(list, &info), GANTRY_OK);
    assert_int_equal(info.commands, 7);
    assert_int_equal(info.launches, 1);
    assert_false(info.finished);
    gantry_list_destroy(&list);
    assert_null(list);
    gantry_buffer_destroy(&buffer);
}

static void threads_become_blocks(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_list *list = fake_list(fake);

    assert_int_equal(fake_launch(fake, list, 1), 1);
    assert_int_equal(fake_launch(fake, list, 32), 2);
    assert_int_equal(fake_launch(fake, list, 33), 3);
    assert_int_equal(fake_launch(fake, list, UINT32_MAX), 4); /* more than the device takes */
    assert_int_equal(list->commands[0].launch.blocks.x, 1);
    assert_int_equal(list->commands[1].launch.blocks.x, 1);
    assert_int_equal(list->commands[2].launch.blocks.x, 2);
    assert_int_equal(list->commands[2].launch.blocks.y, 1);
    assert_false(list->commands[2].launch.folded);
    assert_int_equal(list->commands[3].launch.blocks.x, 1 << 27);
    assert_true(list->commands[3].launch.folded);
    assert_int_equal(list->folded_grids, 1);
    assert_int_equal(list->folded_args, 0);
    gantry_list_destroy(&list);
}

static void grid_strides_take_fewer_blocks(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_list *list = fake_list(fake);

    fake->source.grid_stride = true;
    fake->device.info.limits.compute_units = 10;
    fake->device.policy.blocks_per_cu = 3;
    fake_launch(fake, list, UINT32_MAX);
    fake_launch(fake, list, 64);
    fake->device.policy.blocks_per_cu = 0;
    fake->kernel.info.blocks_per_unit = 7;
    fake_launch(fake, list, UINT32_MAX);
    fake->device.info.limits.compute_units = 0; /* unknown: as many as the device takes */
    fake_launch(fake, list, UINT32_MAX);
    fake->device.info.limits.compute_units = 10;
    fake->device.info.limits.threads_per_unit = 512;
    fake->kernel.info.blocks_per_unit = 0;
    fake_launch(fake, list, UINT32_MAX);
    assert_int_equal(list->command_count, 5);
    assert_int_equal(list->commands[0].launch.blocks.x, 30);
    assert_int_equal(list->commands[1].launch.blocks.x, 2);
    assert_int_equal(list->commands[2].launch.blocks.x, 70);
    assert_int_equal(list->commands[3].launch.blocks.x, 65535);
    assert_int_equal(list->commands[4].launch.blocks.x, 160);
    gantry_list_destroy(&list);
}

static void arguments_are_copied_at_once(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_list *list = fake_list(fake);
    uint32_t args = 0x11111111;
    char label[] = "before";

    assert_int_equal(gantry_list_label(list, label), 1);
    assert_int_equal(gantry_list_launch(list, &fake->kernel, (struct gantry_size){.x = 1}, &args,
                                        4),
                     2);
    args = 0x22222222;
    memset(label, 'x', sizeof(label) - 1);
    assert_int_equal(gantry_list_launch(list, &fake->kernel, (struct gantry_size){.x = 1}, &args,
                                        4),
                     3);
    memcpy(&args, list->bytes.data + list->commands[0].launch.args, 4);
    assert_int_equal(args, 0x11111111);
    memcpy(&args, list->bytes.data + list->commands[1].launch.args, 4);
    assert_int_equal(args, 0x22222222);
    assert_string_equal((char *)list->bytes.data + list->commands[1].label, "before");
    gantry_list_destroy(&list);
}

static void the_first_failure_stays(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    struct gantry_point point = {queue, 99};

    assert_int_equal(gantry_list_fill(list, buffer, 64, 4, 0), 0);
    assert_contains(gantry_last_error(), "past the end");
    assert_int_equal(gantry_list_copy(list, NULL, 0, buffer, 0, 4), 0);
    assert_contains(gantry_last_error(), "past the end");
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_list_finish(list), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "past the end");
    assert_null(point.queue);
    assert_int_equal(fake->submits + fake->submits_once, 0);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

static void sections_number_their_strands(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_list *list = fake_list(fake);
    static const uint32_t sections[] = {0, 1, 1, 1, 1, 1, 2, 3};
    static const uint32_t strands[] = {0, 0, 1, 1, 2, 3, 0, 0};

    fake_launch(fake, list, 1);
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    fake_launch(fake, list, 1);
    assert_int_equal(gantry_list_begin_ordered(list), GANTRY_OK);
    fake_launch(fake, list, 1);
    fake_launch(fake, list, 1);
    assert_int_equal(gantry_list_end_ordered(list), GANTRY_OK);
    fake_launch(fake, list, 1);
    fake_launch(fake, list, 1);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    fake_launch(fake, list, 1);
    fake_launch(fake, list, 1);
    assert_int_equal(list->command_count, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(list->commands[i].section, sections[i]);
        assert_int_equal(list->commands[i].strand, strands[i]);
    }
    gantry_list_destroy(&list);
}

static void mistakes_of_nesting_stay(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_list *list = fake_list(fake);

    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    assert_int_equal(gantry_list_finish(list), GANTRY_E_INVALID_STATE);
    assert_contains(gantry_last_error(), "open concurrent section");
    assert_int_equal(gantry_list_begin_ordered(list), GANTRY_OK);
    assert_int_equal(gantry_list_finish(list), GANTRY_E_INVALID_STATE);
    assert_contains(gantry_last_error(), "open ordered group");
    /* Neither was a mistake of recording. */
    assert_int_equal(fake_launch(fake, list, 1), 1);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_E_INVALID_STATE);
    assert_int_equal(fake_launch(fake, list, 1), 0);
    assert_contains(gantry_last_error(), "end it first");
    gantry_list_destroy(&list);
}

/* ---- Finishing ------------------------------------------------------------------------------ */

static void finishing_builds_once(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    struct gantry_list_info info;

    fake_launch(fake, list, 1);
    fake_launch(fake, list, 1);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(fake->builds, 1);
    assert_int_equal(gantry_list_describe(list, &info), GANTRY_OK);
    assert_true(info.finished);
    assert_int_equal(info.operations, 2);
    assert_int_equal(info.stages, 2);
    assert_int_equal(info.edges, 1);
    assert_int_equal(gantry_list_finish(list), GANTRY_E_INVALID_STATE);
    assert_int_equal(fake_launch(fake, list, 1), 0);
    assert_contains(gantry_last_error(), "was finished");
    for (int i = 0; i < 10; i++)
        assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    assert_int_equal(fake->builds, 1);
    assert_int_equal(fake->submits, 10);
    assert_int_equal(fake->sleeps, 0);
    fake_complete(queue, 10);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

static void a_failed_build_can_be_tried_again(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_list *list = fake_list(fake);

    fake_launch(fake, list, 1);
    fake->fail_build = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_list_finish(list), GANTRY_E_OUT_OF_MEMORY);
    assert_contains(gantry_last_error(), "can't be finished: as planned");
    assert_int_equal(fake_launch(fake, list, 1), 2);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    gantry_list_destroy(&list);
}

static void destroyed_buffers_are_refused(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *kept = fake_buffer(fake, 64), *gone = fake_buffer(fake, 64);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *early = fake_list(fake), *late = fake_list(fake);

    gantry_list_copy(early, kept, 0, gone, 0, 64);
    gantry_list_copy(late, kept, 0, gone, 0, 64);
    assert_int_equal(gantry_list_finish(late), GANTRY_OK);
    assert_int_equal(fake->memories, 2);
    gantry_buffer_destroy(&gone);
    assert_int_equal(fake->memories, 2); /* the lists hold it */
    assert_int_equal(gantry_list_finish(early), GANTRY_E_INVALID_STATE);
    assert_int_equal(gantry_queue_submit(queue, late, NULL, 0, NULL), GANTRY_E_INVALID_STATE);
    assert_contains(gantry_last_error(), "was destroyed");
    gantry_list_destroy(&early);
    gantry_list_destroy(&late);
    assert_int_equal(fake->memories, 1);
    gantry_buffer_destroy(&kept);
    gantry_queue_destroy(&queue);
}

/* ---- Submitting ----------------------------------------------------------------------------- */

static void one_shot_lists_begin_anew(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    uint32_t in = 7, out = 0;

    for (uint64_t round = 1; round <= 5; round++) {
        in = (uint32_t)round * 3;
        assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
        assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
        assert_int_equal(gantry_list_upload(list, buffer, 0, &in, 4), 1);
        assert_int_equal(gantry_list_download(list, buffer, 0, &out, 4), 2);
        assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
        assert_int_equal(list->command_count, 0);
        assert_int_equal(list->buffer_count, 0);
        fake_complete(queue, round);
        assert_int_equal(gantry_poll((struct gantry_point){queue, round}), GANTRY_OK);
        assert_int_equal(out, round * 3);
    }
    assert_int_equal(fake->submits_once, 5);
    assert_int_equal(fake->builds, 0);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

/* A failed submission leaves a one-shot list as it was recorded. */
static void failed_one_shots_keep_their_commands(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);

    fake_launch(fake, list, 1);
    fake->fail_submit = GANTRY_E_DRIVER;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_DRIVER);
    assert_contains(gantry_last_error(), "can't be submitted");
    assert_int_equal(list->command_count, 1);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    assert_int_equal(fake->op_count, 1);
    assert_int_equal(list->command_count, 0);
    fake_complete(queue, 1);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

static void an_instance_per_submission_with_transfers(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    struct gantry_queue_stats stats;
    uint32_t out = 0;

    gantry_list_fill(list, buffer, 0, 4, 5);
    gantry_list_download(list, buffer, 0, &out, 4);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    for (unsigned i = 1; i <= LIST_INSTANCES; i++) {
        assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
        assert_int_equal(fake->builds, i);
    }
    assert_int_equal(fake->sleeps, 0);
    /* The fourth waits for the first, and for no more. */
    fake->complete_in_wait = true;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    assert_int_equal(fake->sleeps, 1);
    assert_int_equal(queue->drv->completed, 1);
    assert_int_equal(fake->builds, LIST_INSTANCES);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_int_equal(stats.fallbacks[GANTRY_FALLBACK_LIST_BUSY], 1);
    assert_int_equal(out, 5);
    /* Two have completed: two more need no wait. */
    fake_complete(queue, 3);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    assert_int_equal(fake->sleeps, 1);
    fake_complete(queue, 6);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

static void uploads_are_read_at_submission(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 8);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    uint32_t in[2] = {1, 2}, *found = (uint32_t *)(uintptr_t)gantry_buffer_address(buffer);

    gantry_list_upload(list, buffer, 4, &in[0], 4);
    gantry_list_upload(list, buffer, 0, &in[1], 4);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    in[0] = 10;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    fake_complete(queue, 1);
    assert_int_equal(found[0], 2);
    assert_int_equal(found[1], 10);
    in[1] = 20;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    fake_complete(queue, 2);
    assert_int_equal(found[0], 20);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

static void staging_that_fails_leaves_the_list_usable(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 8);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    uint32_t in = 3;

    gantry_list_upload(list, buffer, 0, &in, 4);
    fake->fail_allocate = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_OUT_OF_MEMORY);
    assert_contains(gantry_last_error(), "staging");
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    fake_complete(queue, 1);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

/* ---- Lifetimes ------------------------------------------------------------------------------ */

static void a_list_goes_when_its_work_is_over(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    uint32_t in = 1;
    struct gantry_point point;

    fake_launch(fake, list, 1);
    gantry_list_upload(list, buffer, 0, &in, 4);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&buffer);
    assert_int_equal(fake->plans, 1);
    assert_int_equal(fake->memories, 2);
    assert_int_equal(fake->kernel.refs, 2);
    fake_complete(queue, 1);
    assert_int_equal(gantry_wait(point, 0), GANTRY_OK);
    assert_int_equal(fake->plans, 0);
    assert_int_equal(fake->memories, 0);
    assert_int_equal(fake->kernel.refs, 1);
    gantry_queue_destroy(&queue);
}

static void held_objects_are_counted_once(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_list *list = fake_list(fake);

    for (int i = 0; i < 20; i++) {
        fake_launch(fake, list, 1);
        gantry_list_fill(list, buffer, 0, 4, 0);
    }
    assert_int_equal(fake->kernel.refs, 2);
    assert_int_equal(buffer->refs, 2);
    gantry_list_destroy(&list);
    assert_int_equal(fake->kernel.refs, 1);
    assert_int_equal(buffer->refs, 1);
    gantry_buffer_destroy(&buffer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_open, fake_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commands_are_numbered),
        TEST(threads_become_blocks),
        TEST(grid_strides_take_fewer_blocks),
        TEST(arguments_are_copied_at_once),
        TEST(the_first_failure_stays),
        TEST(sections_number_their_strands),
        TEST(mistakes_of_nesting_stay),
        TEST(finishing_builds_once),
        TEST(a_failed_build_can_be_tried_again),
        TEST(destroyed_buffers_are_refused),
        TEST(one_shot_lists_begin_anew),
        TEST(failed_one_shots_keep_their_commands),
        TEST(an_instance_per_submission_with_transfers),
        TEST(uploads_are_read_at_submission),
        TEST(staging_that_fails_leaves_the_list_usable),
        TEST(a_list_goes_when_its_work_is_over),
        TEST(held_objects_are_counted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
