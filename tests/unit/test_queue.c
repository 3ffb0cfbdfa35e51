/* Queues: values and what they stand for, what a submission waits for, when downloads are
 * delivered, and when memory that queued work uses is given back. */
#include "unit.h"

#include "core/buffer.h"
#include "core/list.h"
#include "core/queue.h"
#include "fake_device.h"

static struct gantry_list *finished_list(struct fake_device *fake)
{
    struct gantry_list *list = fake_list(fake);

    assert_int_not_equal(fake_launch(fake, list, 1), 0);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    return list;
}

static struct gantry_point submit(struct gantry_queue *queue, struct gantry_list *list)
{
    struct gantry_point point;

    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    return point;
}

/* ---- Values --------------------------------------------------------------------------------- */

static void values_count_submissions(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);
    struct gantry_queue_stats stats;

    for (uint64_t i = 1; i <= 5; i++) {
        struct gantry_point point = submit(queue, list);

        assert_ptr_equal(point.queue, queue);
        assert_int_equal(point.value, i);
        assert_int_equal(fake->value, i);
    }
    fake_complete(queue, 5);
    assert_int_equal(submit(other, list).value, 1);
    fake_complete(other, 1);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_int_equal(stats.submissions, 5);
    assert_int_equal(stats.replays, 5);
    assert_int_equal(stats.oneshots, 0);
    assert_int_equal(stats.launches, 5);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&other);
}

static void a_failed_submission_changes_nothing(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake), *marker = finished_list(fake);
    struct gantry_queue_stats stats;
    struct gantry_point point = {queue, 77};
    uint32_t word = 1;

    gantry_list_fill(list, buffer, 0, 4, 9);
    gantry_list_download(list, buffer, 0, &word, 4);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    fake->fail_submit = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_E_OUT_OF_MEMORY);
    assert_null(point.queue);
    assert_int_equal(queue->submitted, 0);
    assert_int_equal(queue->delivery_count, 0);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_int_equal(stats.submissions, 0);
    /* The value that it would have had is the next one's, and delivers nothing. */
    assert_int_equal(submit(queue, marker).value, 1);
    fake_complete(queue, 1);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 1}, 0), GANTRY_OK);
    assert_int_equal(word, 1);
    submit(queue, list);
    fake_complete(queue, 2);
    assert_int_equal(gantry_poll((struct gantry_point){queue, 2}), GANTRY_OK);
    assert_int_equal(word, 9);
    gantry_list_destroy(&list);
    gantry_list_destroy(&marker);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

static void points_are_checked(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);
    struct gantry_point point = submit(queue, list);

    assert_int_equal(gantry_poll(point), GANTRY_NOT_READY);
    point.value = 2;
    assert_int_equal(gantry_poll(point), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_wait(point, 0), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "never given out");
    assert_int_equal(gantry_queue_submit(queue, list, &point, 1, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 1, NULL), GANTRY_E_INVALID_ARGUMENT);
    point.value = 0;
    assert_int_equal(gantry_wait(point, 0), GANTRY_OK);
    assert_int_equal(gantry_wait((struct gantry_point){NULL, 5}, 0), GANTRY_OK);
    fake_complete(queue, 1);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

static void transfer_queues_launch_nothing(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue_params params = {.kind = GANTRY_QUEUE_TRANSFER, .label = "copies"};
    struct gantry_list *list = finished_list(fake), *empty = fake_list(fake);
    struct gantry_queue *queue;

    assert_int_equal(gantry_queue_create(&fake->device, &params, &queue), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "\"copies\"");
    submit(queue, empty);
    fake_complete(queue, 1);
    params.kind = (enum gantry_queue_kind)7;
    gantry_list_destroy(&list);
    gantry_list_destroy(&empty);
    gantry_queue_destroy(&queue);
    assert_int_equal(gantry_queue_create(&fake->device, &params, &queue),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_null(queue);
}

/* ---- What a submission waits for ------------------------------------------------------------ */

static void only_what_is_open_is_waited_for(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = finished_list(fake), *others = finished_list(fake);
    struct gantry_point points[5] = {{NULL, 0}};

    points[1] = submit(queue, list); /* its own */
    points[2] = submit(other, others);
    points[3] = submit(other, others);
    fake_complete(other, 1);
    assert_int_equal(gantry_queue_submit(queue, list, points, 4, &points[4]), GANTRY_OK);
    assert_int_equal(fake->wait_count, 1);
    assert_ptr_equal(fake->waits[0].queue, other->drv);
    assert_int_equal(fake->waits[0].value, 2);
    fake_complete(other, 2);
    assert_int_equal(gantry_queue_submit(queue, list, points, 5, NULL), GANTRY_OK);
    assert_int_equal(fake->wait_count, 0);
    fake_complete(queue, 3);
    gantry_list_destroy(&list);
    gantry_list_destroy(&others);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&other);
}

static void a_point_may_be_waited_for_and_replaced(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = finished_list(fake), *others = finished_list(fake);
    struct gantry_point point = submit(other, others);

    assert_int_equal(gantry_queue_submit(queue, list, &point, 1, &point), GANTRY_OK);
    assert_int_equal(fake->wait_count, 1);
    assert_ptr_equal(fake->waits[0].queue, other->drv);
    assert_ptr_equal(point.queue, queue);
    fake_complete(other, 1);
    fake_complete(queue, 1);
    gantry_list_destroy(&list);
    gantry_list_destroy(&others);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&other);
}

static void many_points_are_all_waited_for(void **state)
{
    enum { QUEUES = 20 };
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *others[QUEUES];
    struct gantry_list *list = finished_list(fake), *lists[QUEUES];
    struct gantry_point points[QUEUES];

    for (int i = 0; i < QUEUES; i++) {
        others[i] = fake_queue(fake);
        lists[i] = finished_list(fake);
        points[i] = submit(others[i], lists[i]);
    }
    assert_int_equal(gantry_queue_submit(queue, list, points, QUEUES, NULL), GANTRY_OK);
    assert_int_equal(fake->wait_count, QUEUES);
    for (int i = 0; i < QUEUES; i++) {
        assert_ptr_equal(fake->waits[i].queue, others[i]->drv);
        fake_complete(others[i], 1);
    }
    fake_complete(queue, 1);
    for (int i = 0; i < QUEUES; i++) {
        gantry_list_destroy(&lists[i]);
        gantry_queue_destroy(&others[i]);
    }
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

static void submissions_of_a_list_follow_each_other(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);

    submit(queue, list);
    submit(queue, list);
    assert_int_equal(fake->wait_count, 0);
    submit(other, list);
    assert_int_equal(fake->wait_count, 1);
    assert_ptr_equal(fake->waits[0].queue, queue->drv);
    assert_int_equal(fake->waits[0].value, 2);
    fake_complete(queue, 2);
    submit(queue, list);
    assert_ptr_equal(fake->waits[0].queue, other->drv);
    fake_complete(other, 1);
    fake_complete(queue, 3);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&other);
}

static void a_list_outlives_its_queue(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4);
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    uint32_t word = 0;

    gantry_list_fill(list, buffer, 0, 4, 3);
    gantry_list_download(list, buffer, 0, &word, 4);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    submit(queue, list);
    fake->complete_in_wait = true;
    gantry_queue_destroy(&queue); /* waits, and delivers */
    assert_int_equal(fake->sleeps, 1);
    assert_int_equal(word, 3);
    word = 0;
    submit(other, list);
    assert_int_equal(fake->wait_count, 0);
    assert_int_equal(fake->builds, 1); /* the first instance is free */
    fake_complete(other, 1);
    assert_int_equal(gantry_poll((struct gantry_point){other, 1}), GANTRY_OK);
    assert_int_equal(word, 3);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&other);
    gantry_buffer_destroy(&buffer);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

/* Its value is reached, but the driver may not have looked yet. */
static void a_queue_that_is_waited_for_stays(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = finished_list(fake), *others = finished_list(fake);
    struct gantry_point point = submit(other, others), later;

    assert_int_equal(gantry_queue_submit(queue, list, &point, 1, &later), GANTRY_OK);
    assert_int_equal(fake->wait_count, 1);
    fake_complete(other, point.value);
    gantry_queue_destroy(&other);
    assert_int_equal(fake->queues, 2);
    fake_complete(queue, later.value);
    assert_int_equal(gantry_wait(later, 0), GANTRY_OK);
    assert_int_equal(fake->queues, 1);
    gantry_list_destroy(&list);
    gantry_list_destroy(&others);
    gantry_queue_destroy(&queue);
    assert_int_equal(fake->queues, 0);
}

static void a_timeout_is_no_loss(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);
    struct gantry_point point = submit(queue, list);
    struct gantry_queue_stats stats;

    assert_int_equal(gantry_wait(point, 0), GANTRY_TIMEOUT);
    assert_int_equal(fake->sleeps, 0);
    fake->device.policy.spin_us = 1000;
    assert_int_equal(gantry_wait(point, 20000), GANTRY_TIMEOUT); /* within the spinning */
    assert_int_equal(fake->sleeps, 0);
    fake->device.policy.spin_us = 0;
    assert_int_equal(gantry_wait(point, 1000000000), GANTRY_TIMEOUT);
    assert_int_equal(fake->sleeps, 1);
    assert_true(fake->timeout_asked > 0 && fake->timeout_asked <= 1000000000);
    fake->complete_in_wait = true;
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    assert_true(fake->timeout_asked == GANTRY_FOREVER);
    assert_int_equal(gantry_wait(point, 0), GANTRY_OK);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_int_equal(stats.blocking_waits, 2);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* What the caller has seen reached is not asked for again. */
static void a_reached_point_asks_nobody(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);
    struct gantry_point point = submit(queue, list);
    unsigned looks;

    fake_complete(queue, 1);
    assert_int_equal(gantry_wait(point, 0), GANTRY_OK);
    looks = fake->looks;
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    assert_int_equal(gantry_poll(point), GANTRY_OK);
    assert_int_equal(fake->looks, looks);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* After the spin the plugin is asked once to sleep, and looked at no more. */
static void a_long_wait_sleeps(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);
    struct gantry_point point = submit(queue, list);
    struct gantry_queue_stats stats;

    fake->complete_in_wait = true;
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    assert_int_equal(fake->sleeps, 1);
    assert_in_range(fake->looks, 1, 64); /* spin_us is 0 */
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_int_equal(stats.blocking_waits, 1);
    assert_int_equal(stats.spins, 0);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

static void a_short_wait_spins(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);
    struct gantry_point point = submit(queue, list);
    struct gantry_queue_stats stats;

    fake->device.policy.spin_us = 1000000;
    fake->complete_after_looks = 100;
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    assert_int_equal(fake->looks, 100);
    assert_int_equal(fake->sleeps, 0);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_int_equal(stats.spins, 1);
    assert_int_equal(stats.blocking_waits, 0);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* What is asked for is delivered, in the order of submission, and no later downloads, be they
 * completed or not: a large one would keep the caller waiting. */
static void deliveries_follow_the_values(void **state)
{
    enum { COUNT = 6 };
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *lists[COUNT];
    uint32_t words[COUNT] = {0};

    for (uint32_t i = 0; i < COUNT; i++) {
        lists[i] = fake_list(fake);
        gantry_list_fill(lists[i], buffer, 0, 4, i + 1);
        gantry_list_download(lists[i], buffer, 0, &words[i], 4);
        submit(queue, lists[i]);
    }
    fake_complete(queue, 2);
    assert_int_equal(words[0], 0); /* nobody has looked */
    assert_int_equal(gantry_poll((struct gantry_point){queue, 1}), GANTRY_OK);
    assert_int_equal(words[0], 1);
    assert_int_equal(words[1], 0);
    assert_int_equal(gantry_poll((struct gantry_point){queue, 2}), GANTRY_OK);
    assert_int_equal(words[1], 2);
    assert_int_equal(words[2], 0);
    assert_int_equal(gantry_poll((struct gantry_point){queue, 3}), GANTRY_NOT_READY);
    fake_complete(queue, 5);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 4}, 0), GANTRY_OK);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(words[i], i < 4 ? i + 1 : 0);
    fake_complete(queue, 6);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 6}, 0), GANTRY_OK);
    assert_int_equal(words[4], 5);
    assert_int_equal(words[5], 6);
    for (uint32_t i = 0; i < COUNT; i++)
        gantry_list_destroy(&lists[i]);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

/* ---- Giving back ---------------------------------------------------------------------------- */

/* The device's own memory goes back after everything that any queue was given before. */
static void memory_waits_for_every_queue(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4), *idle = fake_buffer(fake, 4);
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = finished_list(fake), *others = finished_list(fake);

    gantry_buffer_destroy(&idle);
    assert_int_equal(fake->memories, 1); /* at once: nothing is running */
    submit(queue, list);
    submit(other, others);
    gantry_buffer_destroy(&buffer);
    submit(queue, list); /* later than the destroy */
    fake_complete(queue, 1);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 1}, 0), GANTRY_OK);
    assert_int_equal(fake->memories, 1);
    fake_complete(other, 1);
    assert_int_equal(gantry_wait((struct gantry_point){other, 1}, 0), GANTRY_OK);
    assert_int_equal(fake->memories, 0);
    fake_complete(queue, 2);
    gantry_list_destroy(&list);
    gantry_list_destroy(&others);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&other);
}

static void memory_goes_with_the_queue(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);

    submit(queue, list);
    gantry_buffer_destroy(&buffer);
    assert_int_equal(fake->memories, 1);
    fake->complete_in_wait = true;
    gantry_queue_destroy(&queue);
    assert_int_equal(fake->memories, 0);
    gantry_list_destroy(&list);
}

/* A driver that fails to tell what has completed has not said that it is over. */
static void a_refused_look_frees_nothing(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4);
    struct gantry_queue *queue = fake_queue(fake), *other = fake_queue(fake);
    struct gantry_list *list = finished_list(fake), *others = finished_list(fake);
    struct gantry_point point = submit(queue, list);

    fake->fail_completed = GANTRY_E_DRIVER;
    gantry_buffer_destroy(&buffer);
    assert_int_equal(fake->fail_completed, GANTRY_OK); /* it was asked */
    assert_int_equal(fake->memories, 1);
    fake->fail_completed = GANTRY_E_DRIVER;
    assert_int_equal(gantry_queue_submit(other, others, &point, 1, NULL), GANTRY_OK);
    assert_int_equal(fake->wait_count, 1);
    fake_complete(queue, 1);
    fake_complete(other, 1);
    assert_int_equal(gantry_wait(point, 0), GANTRY_OK);
    assert_int_equal(fake->memories, 0);
    gantry_list_destroy(&list);
    gantry_list_destroy(&others);
    gantry_queue_destroy(&queue);
    gantry_queue_destroy(&other);
}

/* … and the end of a queue asks again, in another way. */
static void a_refused_wait_is_repeated_at_the_end(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);

    submit(queue, list);
    fake->complete_in_wait = true;
    fake->fail_completed = GANTRY_E_DRIVER;
    gantry_queue_destroy(&queue);
    assert_int_equal(fake->sleeps, 1);
    gantry_list_destroy(&list);
}

/* When there seems to be no memory left, what is only waiting for its work is freed first. */
static void memory_is_collected_before_giving_up(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4), *next;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);
    struct gantry_buffer_params params = {.size = 4};

    submit(queue, list);
    gantry_buffer_destroy(&buffer);
    fake->complete_after_looks = 5;
    fake->fail_allocate = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_buffer_create(&fake->device, &params, &next), GANTRY_OK);
    assert_int_equal(fake->memories, 1);
    gantry_buffer_destroy(&next);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* ---- Loss ----------------------------------------------------------------------------------- */

static void a_lost_device_ends_every_wait(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_buffer *buffer = fake_buffer(fake, 4);
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = fake_list(fake);
    struct gantry_point point;
    uint32_t word = 5;

    gantry_list_download(list, buffer, 0, &word, 4);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    point = submit(queue, list);
    fake->lost = true;
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_E_DEVICE_LOST);
    assert_true(fake->device.lost);
    assert_int_equal(gantry_poll(point), GANTRY_E_DEVICE_LOST);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_DEVICE_LOST);
    assert_int_equal(fake_launch(fake, list, 1), 0);
    assert_contains(gantry_last_error(), "was lost");
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&buffer);
    gantry_queue_destroy(&queue);
    assert_int_equal(word, 5);
    assert_int_equal(fake->sleeps, 0);
}

static void a_loss_while_submitting_is_remembered(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake);
    struct gantry_list *list = finished_list(fake);

    fake->fail_submit = GANTRY_E_DEVICE_LOST;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_DEVICE_LOST);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_DEVICE_LOST);
    assert_int_equal(fake->submits, 0);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
}

/* ---- Another process ------------------------------------------------------------------------ */

static void a_forked_child_is_told(void **state)
{
    struct fake_device *fake = *state;
    struct gantry_queue *queue = fake_queue(fake), *mine = queue;
    struct gantry_list *list = finished_list(fake), *own = list;
    struct gantry_queue_stats stats;

    fake->device.process++; /* as if another process had opened it */
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_FORKED);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 0}, 0), GANTRY_E_FORKED);
    assert_int_equal(gantry_poll((struct gantry_point){queue, 0}), GANTRY_E_FORKED);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_E_FORKED);
    assert_int_equal(gantry_list_finish(list), GANTRY_E_FORKED);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    assert_null(list);
    assert_null(queue);
    assert_int_equal(fake->queues, 1);
    fake->device.process--;
    gantry_list_destroy(&own);
    gantry_queue_destroy(&mine);
}

/* ---- The lock ------------------------------------------------------------------------------- */

enum { COUNTERS = 4, ROUNDS = 20000 };

struct counting {
    struct lock lock;
    uint64_t count;
};

static void *count(void *context)
{
    struct counting *counting = context;

    for (int i = 0; i < ROUNDS; i++) {
        lock_take(&counting->lock);
        counting->count++;
        lock_release(&counting->lock);
    }
    return NULL;
}

static void the_lock_lets_in_one_at_a_time(void **state)
{
    struct counting counting = {0};
    pthread_t threads[COUNTERS];

    (void)state;
    assert_true(lock_try(&counting.lock));
    assert_false(lock_try(&counting.lock));
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, &counting), 0);
    lock_release(&counting.lock);
    for (int i = 0; i < COUNTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counting.count, COUNTERS * ROUNDS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_open, fake_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_count_submissions),
        TEST(a_failed_submission_changes_nothing),
        TEST(points_are_checked),
        TEST(transfer_queues_launch_nothing),
        TEST(only_what_is_open_is_waited_for),
        TEST(a_point_may_be_waited_for_and_replaced),
        TEST(many_points_are_all_waited_for),
        TEST(submissions_of_a_list_follow_each_other),
        TEST(a_list_outlives_its_queue),
        TEST(a_queue_that_is_waited_for_stays),
        TEST(a_timeout_is_no_loss),
        TEST(a_reached_point_asks_nobody),
        TEST(a_long_wait_sleeps),
        TEST(a_short_wait_spins),
        TEST(deliveries_follow_the_values),
        TEST(memory_waits_for_every_queue),
        TEST(memory_goes_with_the_queue),
        TEST(a_refused_look_frees_nothing),
        TEST(a_refused_wait_is_repeated_at_the_end),
        TEST(memory_is_collected_before_giving_up),
        TEST(a_lost_device_ends_every_wait),
        TEST(a_loss_while_submitting_is_remembered),
        TEST(a_forked_child_is_told),
        cmocka_unit_test(the_lock_lets_in_one_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
