/* core/stream.c, stream_commands.c, staging.c, meter.c, losses.c: when an open batch goes out, what
 * its points mean, and what becomes of one that the driver refuses. */
#include "unit.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/queue.h"
#include "fake_device.h"

static struct fake_device *fake;
static struct gantry_queue *queue;

static int open_queue(void **state)
{
    int result = fake_open(state);

    fake = *state;
    queue = fake_queue(fake);
    return result;
}

static int close_queue(void **state)
{
    fake->complete_in_wait = true;
    gantry_queue_destroy(&queue);
    return fake_close(state);
}

static enum gantry_status try_launch(struct gantry_queue *to, struct gantry_point *point)
{
    const uint32_t args = 0;

    return gantry_queue_launch(to, &fake->kernel, (struct gantry_size){.x = 1}, &args, sizeof(args),
                               point);
}

static struct gantry_point launch(struct gantry_queue *to)
{
    struct gantry_point point;

    assert_int_equal(try_launch(to, &point), GANTRY_OK);
    assert_ptr_equal(point.queue, to);
    return point;
}

/* As if the program had done something else since its latest command: or it would seem to be faster
 * than submitting, which a fake device makes a matter of luck. */
static void pause_program(void)
{
    queue->stream.hurried = false;
}

/* From here on the queue is busy, and its launches are known to take `ns` each. */
static void keep_busy(uint64_t ns)
{
    launch(queue);
    pause_program();
    assert_int_equal(fake->submissions, 1);
    atomic_store(&queue->stream.meter.launch, ns);
}

static enum gantry_status wait_for(struct gantry_point point)
{
    fake->complete_in_wait = true;
    return gantry_wait(point, GANTRY_FOREVER);
}

static struct gantry_queue_stats stats(void)
{
    struct gantry_queue_stats now;

    assert_int_equal(gantry_queue_stats(queue, &now), GANTRY_OK);
    return now;
}

static const struct fake_submission *last_submission(void)
{
    assert_in_range(fake->submissions, 1, FAKE_MAX_KEPT);
    return &fake->kept[fake->submissions - 1];
}

/* ---- When a batch goes out ------------------------------------------------------------------ */

static void test_idle(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(launch(queue).value, i);
        assert_int_equal(fake->submissions, i);
        fake_complete(queue, i);
        pause_program();
    }
    assert_int_equal(stats().batches[GANTRY_BATCH_IDLE], 3);
    assert_int_equal(stats().streamed, 3);
    assert_int_equal(stats().launches, 3);
    assert_int_equal(stats().oneshots, 3);
    assert_int_equal(stats().submissions, 3);
}

static void test_idle_at_a_later_call(void **state)
{
    (void)state;
    keep_busy(1);
    for (int i = 1; i <= 4; i++)
        launch(queue);
    assert_int_equal(fake->submissions, 1);
    fake_complete(queue, 1);
    for (int i = 5; i <= 7; i++)
        launch(queue);
    assert_int_equal(fake->submissions, 1);
    launch(queue);
    assert_int_equal(fake->submissions, 2);
    assert_int_equal(last_submission()->launches, 8);
    assert_int_equal(stats().batches[GANTRY_BATCH_IDLE], 2);
}

/* A program that is faster than submitting does not submit each launch by itself, although the
 * device is through with the one before. */
static void test_hurry(void **state)
{
    (void)state;
    fake->complete_in_submit = true;
    keep_busy(1);
    queue->stream.hurried = true;
    queue->stream.send_ns = UINT64_MAX;
    for (int i = 0; i < 16; i++)
        launch(queue);
    assert_int_equal(stats().batches[GANTRY_BATCH_FULL], 1);
    assert_int_equal(stats().batches[GANTRY_BATCH_IDLE], 1);
    queue->stream.send_ns = UINT64_MAX; /* goes on */
    for (int i = 0; i < 7; i++)
        launch(queue);
    assert_int_equal(fake->submissions, 2);
    queue->stream.send_ns = 0; /* the time is over */
    launch(queue);
    assert_int_equal(fake->submissions, 3);
    assert_int_equal(last_submission()->launches, 8);
    assert_int_equal(stats().batches[GANTRY_BATCH_IDLE], 2);
    launch(queue);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_false(queue->stream.hurried); /* a program that flushes waits for something */
}

static void test_full(void **state)
{
    (void)state;
    keep_busy(1);
    for (int i = 1; i <= 33; i++)
        assert_int_equal(launch(queue).value, 2 + (i - 1) / 16);
    assert_int_equal(fake->submissions, 3);
    assert_int_equal(last_submission()->launches, 16);
    assert_int_equal(stats().batches[GANTRY_BATCH_FULL], 2);
    assert_int_equal(stats().streamed, 33); /* the first one, and 32 */
}

/* A driver is asked at 1, 2, 4 and every 8th command. */
static void test_looks(void **state)
{
    (void)state;
    fake->device.policy.batch_size = 64;
    keep_busy(1);
    fake->looks = 0;
    for (int i = 0; i < 64; i++)
        launch(queue);
    assert_int_equal(fake->submissions, 2);
    assert_int_equal(fake->looks, 10);
}

static void test_time(void **state)
{
    (void)state;
    keep_busy(queue->stream.max_ns / 5);
    for (int i = 0; i < 5; i++)
        launch(queue);
    assert_int_equal(fake->submissions, 2);
    assert_int_equal(last_submission()->launches, 5);
    assert_int_equal(stats().batches[GANTRY_BATCH_TIME], 1);
    atomic_store(&queue->stream.meter.launch, 2 * queue->stream.max_ns);
    launch(queue);
    assert_int_equal(last_submission()->launches, 1);
    assert_int_equal(stats().batches[GANTRY_BATCH_TIME], 2);
}

/* Nobody knows what the kernels take. */
static void test_untimed(void **state)
{
    (void)state;
    launch(queue);
    for (int i = 0; i < 12; i++)
        launch(queue);
    assert_int_equal(stats().batches[GANTRY_BATCH_TIME], 3);
    assert_int_equal(last_submission()->launches, 4);
    fake_complete(queue, 4);
    pause_program();
    launch(queue); /* learns that they are fast */
    for (int i = 0; i < 16; i++)
        launch(queue);
    assert_int_equal(stats().batches[GANTRY_BATCH_FULL], 1);
}

static void test_flush(void **state)
{
    (void)state;
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(fake->submissions, 0);
    keep_busy(1);
    launch(queue);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(fake->submissions, 2);
    assert_int_equal(stats().batches[GANTRY_BATCH_FLUSH], 1);
    assert_int_equal(gantry_queue_flush(NULL), GANTRY_E_INVALID_ARGUMENT);
}

static void test_look(void **state)
{
    struct gantry_point point;

    (void)state;
    keep_busy(1);
    point = launch(queue);
    assert_int_equal(gantry_poll((struct gantry_point){queue, 1}), GANTRY_NOT_READY);
    assert_int_equal(fake->submissions, 1);
    assert_int_equal(gantry_poll(point), GANTRY_NOT_READY);
    assert_int_equal(fake->submissions, 2);
    fake_complete(queue, 2);
    assert_int_equal(gantry_poll(point), GANTRY_OK);
    launch(queue);
    launch(queue);
    point = launch(queue);
    assert_int_equal(gantry_wait(point, 0), GANTRY_TIMEOUT);
    assert_int_equal(stats().batches[GANTRY_BATCH_LOOK], 2);
    assert_int_equal(wait_for(point), GANTRY_OK);
}

/* A poll never waits for a thread that is inside the queue: the batch can't be over anyway. */
static void test_poll_takes_no_lock(void **state)
{
    struct gantry_point point;

    (void)state;
    keep_busy(1);
    point = launch(queue);
    lock_take(&queue->lock);
    assert_int_equal(gantry_poll(point), GANTRY_NOT_READY);
    lock_release(&queue->lock);
    assert_int_equal(fake->submissions, 1);
}

/* ---- Order ---------------------------------------------------------------------------------- */

static struct gantry_list *one_launch(void)
{
    struct gantry_list *list = fake_list(fake);

    assert_int_not_equal(fake_launch(fake, list, 1), 0);
    return list;
}

static void test_list_behind_a_batch(void **state)
{
    struct gantry_list *list = one_launch();
    struct gantry_point streamed, point;

    (void)state;
    keep_busy(1);
    launch(queue);
    streamed = launch(queue);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    assert_int_equal(streamed.value, 2);
    assert_int_equal(point.value, 3);
    assert_int_equal(fake->submissions, 3);
    assert_int_equal(fake->kept[1].launches, 2);
    assert_int_equal(fake->kept[2].launches, 1);
    assert_int_equal(stats().batches[GANTRY_BATCH_ORDER], 1);
    assert_int_equal(launch(queue).value, 4);
    gantry_list_destroy(&list);
}

/* The other queue's batch reaches the driver before the work that waits for it. */
static void test_another_queues_batch(void **state)
{
    struct gantry_queue *other = fake_queue(fake);
    struct gantry_list *list = one_launch();
    struct gantry_point point;

    (void)state;
    keep_busy(1);
    point = launch(queue);
    assert_int_equal(gantry_queue_submit(other, list, &point, 1, NULL), GANTRY_OK);
    assert_int_equal(fake->submissions, 3);
    assert_ptr_equal(fake->kept[1].queue, queue->drv);
    assert_ptr_equal(fake->kept[2].queue, other->drv);
    assert_int_equal(fake->wait_count, 1);
    assert_ptr_equal(fake->waits[0].queue, queue->drv);
    assert_int_equal(fake->waits[0].value, point.value);
    fake_complete(other, 1);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&other);
}

struct crossing {
    struct gantry_queue *own, *other;
    struct gantry_list *list;
    bool fine;
};

static void *cross(void *context)
{
    struct crossing *crossing = context;
    struct gantry_point theirs, own;

    crossing->fine = true;
    for (int i = 0; i < 300 && crossing->fine; i++)
        crossing->fine =
            try_launch(crossing->other, &theirs) == GANTRY_OK &&
            try_launch(crossing->own, NULL) == GANTRY_OK &&
            gantry_queue_submit(crossing->own, crossing->list, &theirs, 1, &own) == GANTRY_OK &&
            gantry_wait(own, GANTRY_FOREVER) == GANTRY_OK;
    return NULL;
}

/* Two threads submit to their own queue what waits for the other's open batch. */
static void test_crosswise(void **state)
{
    struct gantry_queue *other = fake_queue(fake);
    struct crossing a = {queue, other, one_launch(), false};
    struct crossing b = {other, queue, one_launch(), false};
    pthread_t thread;

    (void)state;
    assert_int_equal(gantry_list_finish(a.list), GANTRY_OK);
    assert_int_equal(gantry_list_finish(b.list), GANTRY_OK);
    fake->complete_in_submit = true;
    assert_int_equal(pthread_create(&thread, NULL, cross, &a), 0);
    cross(&b);
    pthread_join(thread, NULL);
    assert_true(a.fine);
    assert_true(b.fine);
    gantry_list_destroy(&a.list);
    gantry_list_destroy(&b.list);
    gantry_queue_destroy(&other);
}

/* ---- Points --------------------------------------------------------------------------------- */

static void test_points_that_were_never_given_out(void **state)
{
    struct gantry_point point;

    (void)state;
    keep_busy(1);
    point = launch(queue);
    point.value++;
    assert_int_equal(gantry_wait(point, 0), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_poll(point), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "the last one is 2");
    assert_int_equal(fake->submissions, 1);
}

static void test_nothing_to_do(void **state)
{
    const uint32_t args = 0;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_point point;

    (void)state;
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){0}, &args,
                                         sizeof(args), &point),
                     GANTRY_OK);
    assert_int_equal(point.value, 0);
    assert_int_equal(gantry_wait(point, 0), GANTRY_OK);
    keep_busy(1);
    assert_int_equal(gantry_queue_fill(queue, buffer, 0, 0, 1, &point), GANTRY_OK);
    assert_int_equal(point.value, 1);
    launch(queue);
    assert_int_equal(gantry_queue_copy(queue, buffer, 0, buffer, 32, 0, &point), GANTRY_OK);
    assert_int_equal(point.value, 2);
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, NULL, 0, &point), GANTRY_OK);
    assert_int_equal(gantry_queue_download(queue, buffer, 0, NULL, 0, &point), GANTRY_OK);
    assert_int_equal(point.value, 2);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(last_submission()->op_count, 1);
    gantry_buffer_destroy(&buffer);
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void test_a_refused_command_leaves_the_batch(void **state)
{
    const struct gantry_size one = {.x = 1};
    const uint32_t args = 0;
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_point point = {queue, 77};

    (void)state;
    keep_busy(1);
    launch(queue);
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, one, &args, 3, &point),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "gantry_queue_launch: kernel nothing takes 4 bytes");
    assert_null(point.queue);
    assert_int_equal(gantry_queue_launch(queue, NULL, one, &args, 4, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_launch(NULL, &fake->kernel, one, &args, 4, &point),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_fill(queue, buffer, 2, 4, 0, &point), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_copy(queue, buffer, 0, NULL, 0, 4, &point),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_upload(queue, buffer, 61, &args, 4, &point),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_download(queue, buffer, 0, NULL, 4, &point),
                     GANTRY_E_INVALID_ARGUMENT);
    launch(queue);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(last_submission()->launches, 2);
    gantry_buffer_destroy(&buffer);
}

static void test_transfer_queue(void **state)
{
    const struct gantry_queue_params params = {.kind = GANTRY_QUEUE_TRANSFER};
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_queue *transfers;

    (void)state;
    assert_int_equal(gantry_queue_create(&fake->device, &params, &transfers), GANTRY_OK);
    assert_int_equal(try_launch(transfers, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_fill(transfers, buffer, 0, 64, 1, NULL), GANTRY_OK);
    fake_complete(transfers, 1);
    gantry_buffer_destroy(&buffer);
    gantry_queue_destroy(&transfers);
}

/* The points of a lost batch keep its failure; earlier and later ones do not get it. */
static void test_a_lost_batch(void **state)
{
    struct gantry_point before = launch(queue), lost, after;

    (void)state;
    atomic_store(&queue->stream.meter.launch, 1);
    lost = launch(queue);
    fake->fail_submit = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_queue_flush(queue), GANTRY_E_OUT_OF_MEMORY);
    assert_contains(gantry_last_error(), "as planned");
    after = launch(queue);
    assert_int_equal(after.value, lost.value + 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wait_for(lost), GANTRY_E_OUT_OF_MEMORY);
        assert_contains(gantry_last_error(), "a batch of 1 commands streamed to queue \"queue 0\"");
        assert_int_equal(gantry_poll(lost), GANTRY_E_OUT_OF_MEMORY);
    }
    assert_int_equal(wait_for(before), GANTRY_OK);
    assert_int_equal(wait_for(after), GANTRY_OK);
    assert_int_equal(wait_for(lost), GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(last_submission()->value, after.value);
    assert_int_equal(stats().streamed, 2);
    assert_int_equal(stats().submissions, 2);
}

static void test_many_lost_batches(void **state)
{
    struct gantry_point points[40];

    (void)state;
    for (int i = 0; i < 40; i++) {
        enum gantry_status status = i % 2 == 0 ? GANTRY_OK
                                    : i % 3    ? GANTRY_E_OUT_OF_MEMORY
                                               : GANTRY_E_DRIVER;

        pause_program();
        fake->fail_submit = status;
        fake_complete(queue, atomic_load(&queue->submitted));
        points[i] = (struct gantry_point){queue, atomic_load(&queue->given) + 1};
        assert_int_equal(try_launch(queue, NULL), status);
    }
    for (int i = 0; i < 40; i++)
        assert_int_equal(wait_for(points[i]), i % 2 == 0 ? GANTRY_OK
                                              : i % 3    ? GANTRY_E_OUT_OF_MEMORY
                                                         : GANTRY_E_DRIVER);
}

/* What waits for a lost batch is not submitted; neither is a list behind one that is being lost. */
static void test_work_behind_a_lost_batch(void **state)
{
    struct gantry_queue *other = fake_queue(fake);
    struct gantry_list *list = one_launch();
    struct gantry_point lost, point;

    (void)state;
    keep_busy(1);
    lost = launch(queue);
    fake->fail_submit = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_queue_submit(other, list, &lost, 1, &point), GANTRY_E_OUT_OF_MEMORY);
    assert_contains(gantry_last_error(), "wait 0 will never be reached");
    assert_null(point.queue);
    launch(queue);
    fake->fail_submit = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(fake->submissions, 1);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    assert_int_equal(point.value, 4);
    gantry_list_destroy(&list);
    gantry_queue_destroy(&other);
}

/* ---- Transfers ------------------------------------------------------------------------------ */

enum { MIB = 1 << 20 };

static uint8_t *pattern(size_t size, uint32_t seed)
{
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((i * 2654435761u + seed) >> 13);
    return bytes;
}

/* The host memory of an upload is the caller's again when the call returns. */
static void test_uploads_are_copied_at_once(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, 8);
    uint32_t word = 17, found[2] = {0};
    struct gantry_point point;

    (void)state;
    keep_busy(1);
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, &word, 4, NULL), GANTRY_OK);
    word = 18;
    assert_int_equal(gantry_queue_upload(queue, buffer, 4, &word, 4, NULL), GANTRY_OK);
    word = 0;
    assert_int_equal(gantry_queue_download(queue, buffer, 0, found, 8, &point), GANTRY_OK);
    assert_int_equal(fake->submissions, 1);
    assert_int_equal(found[0], 0);
    assert_int_equal(wait_for(point), GANTRY_OK);
    assert_int_equal(found[0], 17);
    assert_int_equal(found[1], 18);
    gantry_buffer_destroy(&buffer);
}

/* Many times the staging memory, in sizes that fit it badly. */
static void test_more_than_the_staging_memory(void **state)
{
    static const size_t sizes[] = {1, 3 * MIB + 5, 255, 257, MIB, MIB / 4, MIB / 4 + 1, 5 * MIB};

    (void)state;
    fake->complete_in_wait = true;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i];
        struct gantry_buffer *buffer = fake_buffer(fake, size + 3);
        uint8_t *sent = pattern(size, (uint32_t)i), *back = calloc(1, size);
        struct gantry_point point;

        assert_non_null(back);
        assert_int_equal(gantry_queue_upload(queue, buffer, 3, sent, size, NULL), GANTRY_OK);
        assert_int_equal(gantry_queue_download(queue, buffer, 3, back, size, &point), GANTRY_OK);
        assert_int_equal(wait_for(point), GANTRY_OK);
        assert_memory_equal(sent, back, size);
        free(sent);
        free(back);
        gantry_buffer_destroy(&buffer);
    }
    assert_int_equal(stats().allocations, 2);
}

/* More batches in flight than staging memory keeps apart. */
static void test_many_batches_with_uploads(void **state)
{
    enum { WORDS = 3 * STAGING_BATCHES };
    struct gantry_buffer *buffer = fake_buffer(fake, 4 * WORDS);
    uint32_t found[WORDS];
    struct gantry_point point;

    (void)state;
    fake->device.policy.batch_size = 1;
    fake->complete_in_wait = true;
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(gantry_queue_upload(queue, buffer, 4 * i, &i, 4, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_download(queue, buffer, 0, found, sizeof(found), &point),
                     GANTRY_OK);
    assert_int_equal(wait_for(point), GANTRY_OK);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(found[i], i);
    gantry_buffer_destroy(&buffer);
}

/* Nobody gets the downloads of a lost batch, and its staging memory is used again. */
static void test_transfers_of_a_lost_batch(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, MIB);
    uint8_t *sent = pattern(MIB, 5), *back = calloc(1, MIB);
    uint32_t word = 7;
    struct gantry_point point;

    (void)state;
    assert_non_null(back);
    keep_busy(1);
    assert_int_equal(gantry_queue_download(queue, buffer, 0, &word, 4, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, sent, 1000, NULL), GANTRY_OK);
    fake->fail_submit = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_queue_flush(queue), GANTRY_E_OUT_OF_MEMORY);
    fake->complete_in_wait = true;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(gantry_queue_upload(queue, buffer, 0, sent, MIB, NULL), GANTRY_OK);
        assert_int_equal(gantry_queue_download(queue, buffer, 0, back, MIB, &point), GANTRY_OK);
    }
    assert_int_equal(wait_for(point), GANTRY_OK);
    assert_memory_equal(sent, back, MIB);
    assert_int_equal(word, 7);
    free(sent);
    free(back);
    gantry_buffer_destroy(&buffer);
}

/* ---- Lifetimes ------------------------------------------------------------------------------ */

/* What an open batch uses lives until the batch has completed. */
static void test_destroyed_in_an_open_batch(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_point point;

    (void)state;
    keep_busy(1);
    launch(queue);
    assert_int_equal(gantry_queue_fill(queue, buffer, 0, 64, 9, &point), GANTRY_OK);
    gantry_buffer_destroy(&buffer);
    fake_complete(queue, 1);
    assert_int_equal(gantry_wait((struct gantry_point){queue, 1}, 0), GANTRY_OK);
    assert_int_equal(fake->memories, 1);
    assert_int_equal(wait_for(point), GANTRY_OK);
    assert_int_equal(last_submission()->op_count, 2);
    assert_int_equal(fake->memories, 0);
}

static void test_destroyed_in_a_lost_batch(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, 64);

    (void)state;
    keep_busy(1);
    assert_int_equal(gantry_queue_fill(queue, buffer, 0, 64, 9, NULL), GANTRY_OK);
    gantry_buffer_destroy(&buffer);
    assert_int_equal(fake->memories, 1);
    fake->fail_submit = GANTRY_E_OUT_OF_MEMORY;
    assert_int_equal(gantry_queue_flush(queue), GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(wait_for((struct gantry_point){queue, 1}), GANTRY_OK);
    assert_int_equal(fake->memories, 0);
}

static void test_end_of_the_queue(void **state)
{
    struct gantry_queue *other = fake_queue(fake);

    (void)state;
    launch(other);
    launch(other);
    assert_int_equal(fake->submissions, 1);
    fake->complete_in_wait = true;
    gantry_queue_destroy(&other);
    assert_int_equal(fake->submissions, 2);
    assert_int_equal(last_submission()->launches, 1);
}

/* Memory that is wanted for something else: everything open goes out first. */
static void test_idle_all(void **state)
{
    struct gantry_queue *other = fake_queue(fake);

    (void)state;
    for (int i = 0; i < 2; i++) {
        launch(queue);
        launch(other);
    }
    assert_int_equal(fake->submissions, 2);
    fake->complete_in_submit = true;
    queue_idle_all(&fake->device);
    assert_int_equal(fake->submissions, 4);
    gantry_queue_destroy(&other);
}

/* ---- The meter ------------------------------------------------------------------------------ */

static void test_meter(void **state)
{
    struct meter meter = {0};

    (void)state;
    assert_int_equal(meter_fit(&meter, 1000, 64), 4);
    assert_int_equal(meter_fit(&meter, 1000, 3), 3);
    meter_begin(&meter, 5, 10, 1000);
    meter_look(&meter, 3, 2000); /* what came before it still runs */
    meter_look(&meter, 4, 2100); /* now it does */
    meter_look(&meter, 5, 3000);
    assert_false(meter_watches(&meter));
    assert_int_equal(meter.launch, 100);
    assert_int_equal(meter_fit(&meter, 1000, 64), 10);
    assert_int_equal(meter_fit(&meter, 99, 64), 1);
    meter_begin(&meter, 7, 10, 4000); /* a look long after: believed by an eighth */
    meter_look(&meter, 9, 12000);
    assert_int_equal(meter.launch, 188);
    meter_begin(&meter, 10, 10, 20000); /* faster: believed at once */
    meter_look(&meter, 10, 20500);
    assert_int_equal(meter.launch, 50);
    meter_begin(&meter, 11, 1000, 30000);
    meter_look(&meter, 11, 30000);
    assert_int_equal(meter.launch, 1);
    assert_int_equal(meter_fit(&meter, UINT64_MAX, 64), 64);
}

/* A program far ahead of the device: what the oldest batches take is learnt, not how long the
 * newest one waits for its turn. */
static void test_meter_of_a_long_queue(void **state)
{
    struct meter meter = {0};

    (void)state;
    for (uint64_t value = 1; value <= 1000; value++)
        meter_begin(&meter, value, 4, value);
    meter_look(&meter, 1, 100000); /* the first one was slow */
    assert_int_equal(meter.launch, 24999);
    meter_look(&meter, 2, 100400);
    meter_look(&meter, 3, 100800);
    assert_int_equal(meter.launch, 200); /* from the look before, at which it can have begun */
    meter_look(&meter, METER_BATCHES, 103000);
    assert_false(meter_watches(&meter));
    assert_int_equal(meter.launch, 50);
    meter_begin(&meter, 1001, 4, 104000);
    meter_look(&meter, 999, 200000);
    meter_look(&meter, 1000, 200020);
    meter_look(&meter, 1001, 200040);
    assert_int_equal(meter.launch, 10); /* since 999 was over, and 1000 not yet */
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_queue, close_queue)
    const struct CMUnitTest tests[] = {
        TEST(test_idle),
        TEST(test_idle_at_a_later_call),
        TEST(test_hurry),
        TEST(test_full),
        TEST(test_looks),
        TEST(test_time),
        TEST(test_untimed),
        TEST(test_flush),
        TEST(test_look),
        TEST(test_poll_takes_no_lock),
        TEST(test_list_behind_a_batch),
        TEST(test_another_queues_batch),
        TEST(test_crosswise),
        TEST(test_points_that_were_never_given_out),
        TEST(test_nothing_to_do),
        TEST(test_a_refused_command_leaves_the_batch),
        TEST(test_transfer_queue),
        TEST(test_a_lost_batch),
        TEST(test_many_lost_batches),
        TEST(test_work_behind_a_lost_batch),
        TEST(test_uploads_are_copied_at_once),
        TEST(test_more_than_the_staging_memory),
        TEST(test_many_batches_with_uploads),
        TEST(test_transfers_of_a_lost_batch),
        TEST(test_destroyed_in_an_open_batch),
        TEST(test_destroyed_in_a_lost_batch),
        TEST(test_end_of_the_queue),
        TEST(test_idle_all),
        cmocka_unit_test(test_meter),
        cmocka_unit_test(test_meter_of_a_long_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
