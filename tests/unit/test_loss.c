/* core/flight.c, core/loss.c, core/launch_text.c: what is told of a lost device. */
#include "unit.h"

#include <string.h>

#include "core/flight.h"
#include "core/queue.h"
#include "fake_device.h"

/* The fake device's kernel with arguments of every kind. */
struct all_args {
    uint64_t good, none, bad, inner;
    float f;
    int32_t i[3];
    uint16_t half;
    int8_t small;
};

static const struct gantry_field_info fields[] = {
    {.name = "good", .type = GANTRY_SCALAR_POINTER, .offset = 0, .size = 8, .count = 1},
    {.name = "none",
     .type = GANTRY_SCALAR_POINTER,
     .offset = 8,
     .size = 8,
     .count = 1,
     .may_be_null = true},
    {.name = "bad", .type = GANTRY_SCALAR_POINTER, .offset = 16, .size = 8, .count = 1},
    {.name = "inner", .type = GANTRY_SCALAR_POINTER, .offset = 24, .size = 8, .count = 1},
    {.name = "f", .type = GANTRY_SCALAR_FLOAT, .offset = 32, .size = 4, .count = 1},
    {.name = "i", .type = GANTRY_SCALAR_INT32, .offset = 36, .size = 12, .count = 3},
    {.name = "half", .type = GANTRY_SCALAR_HALF, .offset = 48, .size = 2, .count = 1},
    {.name = "small", .type = GANTRY_SCALAR_INT8, .offset = 50, .size = 1, .count = 1},
};

static enum gantry_status lose(struct fake_device *fake, struct gantry_point point)
{
    fake->lost = true;
    return gantry_wait(point, GANTRY_FOREVER);
}

static struct gantry_point submit(struct gantry_queue *queue, struct gantry_list *list)
{
    struct gantry_point point;

    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    return point;
}

static void arguments_are_decoded(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    uint64_t address = gantry_buffer_address(buffer);
    struct all_args args = {address, 0, 8, address + 63, 1.5f, {1, -2, 3}, 0x3c00, -7};
    char line[64];

    fake->source.args_size = fake->kernel.plain.args_size = sizeof(args);
    fake->source.fields = fields;
    fake->source.field_count = sizeof(fields) / sizeof(fields[0]);
    assert_int_not_equal(gantry_list_launch(list, &fake->kernel, (struct gantry_size){.x = 33},
                                            &args, sizeof(args)),
                         0);
    assert_int_equal(lose(fake, submit(queue, list)), GANTRY_E_DEVICE_LOST);
    assert_contains(gantry_last_error(), "command 1 (kernel nothing, whose bad points to no live "
                                         "buffer)");
    assert_contains(gantry_device_loss(&fake->device), ", this launch:\n  * command 1: kernel "
                                                       "nothing, 2 x 1 x 1 blocks of 32 x 1 x 1 "
                                                       "threads: good = 0x");
    snprintf(line, sizeof(line), "(buffer \"buffer\" + 63)");
    assert_contains(gantry_device_loss(&fake->device), line);
    assert_contains(gantry_device_loss(&fake->device),
                    "none = NULL, bad = 0x8 (in no live buffer), inner = ");
    assert_contains(gantry_device_loss(&fake->device),
                    "f = 1.5, i = {1, -2, 3}, half = half 0x3c00, small = -7\n");
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

static void replays_are_one(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    struct gantry_point point = {0};

    assert_null(gantry_device_loss(&fake->device));
    assert_null(gantry_device_loss(NULL));
    fake_launch(fake, list, 1);
    fake_launch(fake, list, 1);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    for (int i = 0; i < 5; i++)
        point = submit(queue, list);
    fake_complete(queue, 2);
    assert_int_equal(gantry_poll((struct gantry_point){queue, 2}), GANTRY_OK);
    assert_int_equal(lose(fake, point), GANTRY_E_DEVICE_LOST);
    assert_contains(gantry_device_loss(&fake->device), "points up to 2 were reached:\n  points 3 "
                                                       "to 5, each: finished list \"list\", one of "
                                                       "these 2 launches");
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* Recorded anew, the list has other commands; those that are in flight are told all the same. */
static void commands_in_flight_are_kept(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *idle = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    struct gantry_point point;

    gantry_list_label(list, "first");
    fake_launch(fake, list, 32 * 7);
    submit(queue, list);
    gantry_list_label(list, "second");
    fake_launch(fake, list, 32 * 9);
    point = submit(queue, list);
    gantry_list_label(list, "third");
    fake_launch(fake, list, 1);
    assert_int_equal(lose(fake, point), GANTRY_E_DEVICE_LOST);
    assert_contains(gantry_device_loss(&fake->device),
                    "command 2: kernel nothing \"first\", 7 x 1");
    assert_contains(gantry_device_loss(&fake->device), "command 2: kernel nothing \"second\", 9 x");
    assert_null(strstr(gantry_device_loss(&fake->device), "third"));
    assert_contains(gantry_device_loss(&fake->device), "nothing in flight");
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&idle);
}

static void what_was_not_kept_is_said(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);

    for (uint32_t i = 0; i < FLIGHT_KEPT + 10; i++)
        fake_launch(fake, list, 1);
    assert_int_equal(lose(fake, submit(queue, list)), GANTRY_E_DEVICE_LOST);
    assert_contains(gantry_device_loss(&fake->device), "one of these 2048 launches");
    assert_contains(gantry_device_loss(&fake->device), "and 1984 launches more");
    assert_contains(gantry_device_loss(&fake->device),
                    "of its 2058 commands only the first 2048 were kept");
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* A submission that fails otherwise was never in flight; one that finds the loss may be. */
static void refused_submissions_are_not_in_flight(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);

    fake_launch(fake, list, 1);
    fake->fail_submit = GANTRY_E_DRIVER;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_DRIVER);
    assert_int_equal(queue->flights.count, 0);
    fake->fail_submit = GANTRY_E_DEVICE_LOST;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_DEVICE_LOST);
    assert_contains(gantry_last_error(), "queue \"queue 0\" had list \"list\" in flight, with "
                                         "command 1 (kernel nothing)");
    assert_contains(gantry_device_loss(&fake->device),
                    "one-shot list \"list\", which was just being submitted, this launch:");
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* Destroying things leaves the sentence of the call that found the loss. */
static void streamed_batches_are_told(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_point point;
    uint32_t args = 0;

    for (int i = 0; i < 20; i++)
        assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){.x = 1},
                                             &args, sizeof(args), &point),
                         GANTRY_OK);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(lose(fake, point), GANTRY_E_DEVICE_LOST);
    assert_contains(gantry_last_error(), "queue \"queue 0\" had a streamed batch in flight");
    assert_contains(gantry_device_loss(&fake->device), "streamed batch, ");
    gantry_queue_destroy(&queue);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, fake_open, fake_close)
    const struct CMUnitTest tests[] = {
        TEST(arguments_are_decoded),
        TEST(replays_are_one),
        TEST(commands_in_flight_are_kept),
        TEST(what_was_not_kept_is_said),
        TEST(refused_submissions_are_not_in_flight),
        TEST(streamed_batches_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
