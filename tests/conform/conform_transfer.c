/* Transfers: registered memory, views at any offset, host memory that is the caller's again, and
 * copies beside launches. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"
#include "launch.h"

/* ---- Registered memory ---------------------------------------------------------------------- */

static struct gantry_buffer *try_register(struct conform *c, void *pointer, uint64_t size)
{
    struct gantry_host_params params = {.pointer = pointer, .size = size, .label = "mine"};
    struct gantry_buffer *buffer;
    enum gantry_status status = gantry_host_register(c->device, &params, &buffer);

    if (status == GANTRY_E_UNSUPPORTED) {
        CHECK(!buffer, "a refused registration left a handle");
        skip(c, "%s", gantry_last_error());
    }
    OK(status);
    return buffer;
}

/* The device works on it where it is. */
static void registered_in_place(struct conform *c)
{
    enum { WORDS = 5000, BEFORE = 3 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    uint32_t *words = make_words(c, 4 * (WORDS + 2 * BEFORE)), *mine = words + BEFORE;
    struct gantry_buffer *buffer = try_register(c, mine, 4 * WORDS);
    struct step_args args = {.cells = gantry_buffer_address(buffer), .n = WORDS, .add = 9};
    struct gantry_list *list = make_list(c);
    uint32_t expected = 0;

    CHECK(gantry_buffer_host(buffer) == mine, "its host address is not the caller's");
    CHECK(gantry_buffer_size(buffer) == 4 * WORDS, "its size is not the caller's");
    LAUNCH(list, kernel, WORDS, &args);
    finish(c, list);
    for (int round = 0; round < 10; round++) {
        submit_and_wait(c, list);
        expected = expected * 3 + 9;
        for (uint32_t i = 0; i < WORDS; i++)
            CHECK(mine[i] == expected, "word %u is %u instead of %u", i, mine[i], expected);
        mine[round] = expected; /* the host writes, too */
    }
    for (uint32_t i = 0; i < BEFORE; i++)
        CHECK(!words[i] && !mine[WORDS + i], "a word beside it was written");
    gantry_buffer_destroy(&buffer);
    mine[0] = 1; /* is ordinary memory again */
}

/* Copies from any byte to any byte of it, as a side of copies and as the host side of transfers. */
static void registered_transfers(struct conform *c)
{
    enum { SIZE = 70000 };
    uint8_t *mine = make_words(c, SIZE), *back = make_words(c, SIZE);
    struct gantry_buffer *host = try_register(c, mine + 1, SIZE - 2);
    struct gantry_buffer *buffer = make_buffer(c, SIZE);
    struct gantry_rect rect = {100, 50, 200, 300};
    struct gantry_list *list = make_list(c);
    struct gantry_point point;

    for (int i = 0; i < SIZE; i++)
        mine[i] = (uint8_t)(i * 37 >> 3);
    RECORD(gantry_list_upload(list, buffer, 3, mine + 5, 30001));
    RECORD(gantry_list_copy(list, buffer, 40001, host, 30000, 1999));
    RECORD(gantry_list_upload_rect(list, buffer, 50000, mine + 7, &rect));
    RECORD(gantry_list_download(list, buffer, 0, back, SIZE));
    submit_and_wait(c, list);
    CHECK(memcmp(back + 3, mine + 5, 30001) == 0, "an upload from registered memory");
    CHECK(memcmp(back + 40001, mine + 30001, 1999) == 0, "a copy from registered memory");
    for (int row = 0; row < 50; row++)
        CHECK(memcmp(back + 50000 + row * 200, mine + 7 + row * 300, 100) == 0,
              "row %d of a rectangle from registered memory", row);
    OK(gantry_queue_download(c->queue, buffer, 3, mine + 1001, 30001, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    CHECK(memcmp(back + 3, mine + 1001, 30001) == 0, "a download into registered memory");
    OK(gantry_queue_upload(c->queue, buffer, 11, mine + 2, 5000, NULL));
    memcpy(back, mine + 2, 5000);
    memset(mine + 2, 0, 5000); /* the upload has copied it */
    OK(gantry_queue_download(c->queue, buffer, 11, mine + 20000, 5000, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    CHECK(memcmp(mine + 20000, back, 5000) == 0, "an upload whose memory was changed at once");
    gantry_buffer_destroy(&host);
}

/* Lists see it anew at each replay, and are refused once it is gone. */
static void registered_replays(struct conform *c)
{
    enum { WORDS = 1024 };
    uint32_t *in = make_words(c, 4 * WORDS), *out = make_words(c, 4 * WORDS);
    struct gantry_buffer *from = try_register(c, in, 4 * WORDS), *to;
    struct gantry_buffer *buffer = make_buffer(c, 4 * WORDS);
    struct gantry_list *list = make_list(c);

    to = try_register(c, out, 4 * WORDS);
    RECORD(gantry_list_upload(list, buffer, 0, in, 4 * WORDS));
    RECORD(gantry_list_download(list, buffer, 0, out, 4 * WORDS));
    finish(c, list);
    for (uint32_t round = 1; round < 20; round++) {
        for (uint32_t i = 0; i < WORDS; i++)
            in[i] = i * round;
        submit_and_wait(c, list);
        EQUAL(out, in, WORDS);
    }
    gantry_buffer_destroy(&from);
    EXPECT(GANTRY_E_INVALID_STATE, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
    gantry_buffer_destroy(&to);
}

static void registered_refusals(struct conform *c)
{
    uint8_t *mine = make_words(c, 65536);
    struct gantry_buffer *first = try_register(c, mine + 100, 1000), *second;
    struct gantry_host_params params = {.pointer = mine, .size = 200};

    EXPECT(GANTRY_E_INVALID_STATE, gantry_host_register(c->device, &params, &second));
    CHECK(!second, "a failed registration left a handle");
    params.size = 0;
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_host_register(c->device, &params, &second));
    params.size = UINT64_MAX;
    EXPECT(GANTRY_E_OVERFLOW, gantry_host_register(c->device, &params, &second));
    params = (struct gantry_host_params){.size = 5};
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_host_register(c->device, &params, &second));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_host_register(c->device, NULL, &second));
    gantry_buffer_destroy(&first);
    first = try_register(c, mine + 100, 1000); /* is as it was */
    gantry_buffer_destroy(&first);
    first = try_register(c, mine + 101, 1000); /* fills are of whole words */
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_fill(c->queue, first, 0, 4, 0, NULL));
    gantry_buffer_destroy(&first);
}

/* ---- Views ---------------------------------------------------------------------------------- */

/* A view is an address inside a buffer, or an offset: at any multiple of the element's size for
 * kernels, at any byte for copies. */
static void views_at_any_offset(struct conform *c)
{
    enum { WORDS = 1000 };
    static const uint32_t offsets[] = {4, 16, 84, 4 * WORDS - 4};
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *buffer = make_buffer(c, 4 * WORDS), *bytes = make_buffer(c, 64);
    uint32_t found[WORDS], expected[WORDS] = {0};
    struct gantry_list *list;

    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        uint32_t first = offsets[i] / 4, count = WORDS - first < 10 ? WORDS - first : 10;
        struct step_args args = {.cells = gantry_buffer_address(buffer) + offsets[i],
                                 .n = count,
                                 .add = 5};

        list = make_list(c);
        LAUNCH(list, kernel, count, &args);
        RECORD(gantry_list_copy(list, bytes, 7 + i, buffer, offsets[i] + i % 4, 1));
        submit_and_wait(c, list);
        for (uint32_t k = first; k < first + count; k++)
            expected[k] = expected[k] * 3 + 5;
        read_buffer(c, bytes, 7 + i, found, 1);
        CHECK(memcmp(found, (uint8_t *)expected + offsets[i] + i % 4, 1) == 0,
              "byte %zu of the view at %u", i % 4, offsets[i]);
    }
    read_buffer(c, buffer, 0, found, 4 * WORDS);
    EQUAL(found, expected, WORDS);
    list = make_list(c);
    RECORD(gantry_list_copy(list, buffer, 4 * WORDS, buffer, 0, 0)); /* at the end: nothing */
    CHECK(gantry_list_copy(list, buffer, 4 * WORDS + 1, buffer, 0, 0) == 0, "past the end");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(list));
}

/* ---- The caller's memory, at once ----------------------------------------------------------- */

struct sender {
    struct gantry_device *device;
    struct gantry_kernel *kernel;
    uint32_t number, rounds;
    uint64_t size;
    char trouble[512]; /* "": all went well */
};

static bool fine(struct sender *s, enum gantry_status status, const char *what)
{
    if (status != GANTRY_OK)
        snprintf(s->trouble, sizeof(s->trouble), "thread %u: %s: %s: %s", s->number, what,
                 gantry_status_name(status), gantry_last_error());
    return status == GANTRY_OK;
}

/* Uploads memory that is overwritten and freed as soon as the call has returned. */
static bool send_and_free(struct sender *s, struct gantry_queue *queue,
                          struct gantry_buffer *buffer, uint32_t round)
{
    uint32_t count = (uint32_t)(s->size / 4), *words = malloc(s->size);
    bool sent;

    if (!words)
        return fine(s, GANTRY_E_OUT_OF_HOST_MEMORY, "malloc");
    for (uint32_t i = 0; i < count; i++)
        words[i] = i * 7 + round + s->number;
    sent = fine(s, gantry_queue_upload(queue, buffer, 0, words, s->size, NULL), "upload");
    memset(words, 0xff, s->size);
    free(words);
    return sent;
}

static bool check_words(struct sender *s, const uint32_t *words, uint32_t round)
{
    for (uint32_t i = 0; i < s->size / 4; i++) {
        uint32_t expected = (i * 7 + round + s->number) * 3 + round;

        if (words[i] != expected) {
            snprintf(s->trouble, sizeof(s->trouble),
                     "thread %u, round %u: word %u is %u instead of %u", s->number, round, i,
                     words[i], expected);
            return false;
        }
    }
    return true;
}

static bool run_round(struct sender *s, struct gantry_queue *queue, struct gantry_buffer *buffer,
                      uint32_t round)
{
    uint32_t count = (uint32_t)(s->size / 4), *back = malloc(s->size);
    struct step_args args = {.cells = gantry_buffer_address(buffer), .n = count, .add = round};
    struct gantry_point point = {0};
    bool right =
        back && send_and_free(s, queue, buffer, round) &&
        fine(s,
             gantry_queue_launch(queue, s->kernel, (struct gantry_size){.x = count}, &args,
                                 sizeof(args), NULL),
             "launch") &&
        fine(s, gantry_queue_download(queue, buffer, 0, back, s->size, &point), "download") &&
        fine(s, gantry_wait(point, GANTRY_FOREVER), "wait") && check_words(s, back, round);

    free(back);
    return right;
}

static void *send(void *context)
{
    struct sender *s = context;
    struct gantry_buffer_params params = {.size = s->size};
    struct gantry_buffer *buffer = NULL;
    struct gantry_queue *queue = NULL;

    if (fine(s, gantry_queue_create(s->device, NULL, &queue), "queue") &&
        fine(s, gantry_buffer_create(s->device, &params, &buffer), "buffer"))
        for (uint32_t round = 0; round < s->rounds; round++)
            if (!run_round(s, queue, buffer, round))
                break;
    gantry_buffer_destroy(&buffer);
    gantry_queue_destroy(&queue);
    return NULL;
}

static void overwritten_and_freed(struct conform *c)
{
    enum { THREADS = 2 };
    struct sender senders[THREADS];
    pthread_t threads[THREADS];
    int started = 0;

    for (; started < THREADS; started++) {
        senders[started] = (struct sender){.device = c->device,
                                           .kernel = make_kernel(c, "launch", "step"),
                                           .number = (uint32_t)started,
                                           .rounds = 200,
                                           .size = 1 << 20};
        if (pthread_create(&threads[started], NULL, send, &senders[started]))
            break;
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    CHECK(started == THREADS, "only %d threads could be started", started);
    for (int i = 0; i < THREADS; i++)
        CHECK(!senders[i].trouble[0], "%s", senders[i].trouble);
}

/* ---- Beside launches ------------------------------------------------------------------------ */

static struct gantry_queue *transfer_queue(struct conform *c)
{
    struct gantry_queue_params params = {.kind = GANTRY_QUEUE_TRANSFER};
    struct gantry_queue *queue;

    OK(gantry_queue_create(c->device, &params, &queue));
    return queue;
}

/* Bytes that nobody else uses go up and down on a transfer queue while a kernel runs. */
static void beside_a_kernel(struct conform *c)
{
    enum { SIZE = 300001 };
    struct gantry_kernel *spin = make_kernel(c, "launch", "spin");
    struct gantry_buffer *cell = make_buffer(c, 4), *buffer = make_buffer(c, SIZE);
    struct spin_args args = {.cell = gantry_buffer_address(cell), .rounds = 200000};
    uint8_t *sent = make_words(c, SIZE), *back = make_words(c, SIZE);
    struct gantry_queue *transfers = transfer_queue(c);
    struct gantry_list *list = make_list(c);
    struct gantry_point running, point;

    for (int i = 0; i < 20; i++)
        LAUNCH(list, spin, 1, &args);
    running = submit(c, list);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < SIZE; i++)
            sent[i] = (uint8_t)(i * round + i);
        OK(gantry_queue_upload(transfers, buffer, 0, sent, SIZE, NULL));
        OK(gantry_queue_download(transfers, buffer, 0, back, SIZE, &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
        CHECK(memcmp(sent, back, SIZE) == 0, "round %d: what came back differs", round);
    }
    OK(gantry_wait(running, GANTRY_FOREVER));
    gantry_queue_destroy(&transfers);
}

/* The pattern of docs/transfers.md: frames go up on one queue, through a kernel on another, down on
 * a third, three in flight, with points between; each slot is used again when its frame is down. */
static void frames_three_deep(struct conform *c)
{
    enum { FRAMES = 40, DEEP = 3, WORDS = 20000 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_queue *up = transfer_queue(c), *down = transfer_queue(c);
    struct gantry_list *uploads[DEEP], *filters[DEEP], *downloads[DEEP];
    struct gantry_point uploaded[DEEP] = {{0}}, filtered[DEEP] = {{0}}, fetched[DEEP] = {{0}};
    uint32_t *in[DEEP], *out[DEEP];

    for (int i = 0; i < DEEP; i++) {
        struct gantry_buffer *buffer = make_buffer(c, 4 * WORDS);
        struct step_args args = {.cells = gantry_buffer_address(buffer), .n = WORDS, .add = 1};

        in[i] = make_words(c, 4 * WORDS);
        out[i] = make_words(c, 4 * WORDS);
        uploads[i] = make_list(c);
        filters[i] = make_list(c);
        downloads[i] = make_list(c);
        RECORD(gantry_list_upload(uploads[i], buffer, 0, in[i], 4 * WORDS));
        LAUNCH(filters[i], kernel, WORDS, &args);
        RECORD(gantry_list_download(downloads[i], buffer, 0, out[i], 4 * WORDS));
        finish(c, uploads[i]);
        finish(c, filters[i]);
        finish(c, downloads[i]);
    }
    for (uint32_t frame = 0; frame < FRAMES + DEEP; frame++) {
        uint32_t i = frame % DEEP;

        OK(gantry_wait(fetched[i], GANTRY_FOREVER));
        for (uint32_t k = 0; frame >= DEEP && k < WORDS; k++)
            CHECK(out[i][k] == (frame - DEEP) * k * 3 + 1, "frame %u: word %u is %u", frame - DEEP,
                  k, out[i][k]);
        if (frame >= FRAMES)
            continue;
        for (uint32_t k = 0; k < WORDS; k++)
            in[i][k] = frame * k;
        OK(gantry_queue_submit(up, uploads[i], &fetched[i], 1, &uploaded[i]));
        OK(gantry_queue_submit(c->queue, filters[i], &uploaded[i], 1, &filtered[i]));
        OK(gantry_queue_submit(down, downloads[i], &filtered[i], 1, &fetched[i]));
    }
    gantry_queue_destroy(&up);
    gantry_queue_destroy(&down);
}

const struct conform_case transfer_cases[] = {
    {"transfer/registered-in-place", NULL, registered_in_place},
    {"transfer/registered-transfers", NULL, registered_transfers},
    {"transfer/registered-replays", NULL, registered_replays},
    {"transfer/registered-refusals", NULL, registered_refusals},
    {"transfer/views-at-any-offset", "C22", views_at_any_offset},
    {"transfer/overwritten-and-freed", "C37", overwritten_and_freed},
    {"transfer/beside-a-kernel", NULL, beside_a_kernel},
    {"transfer/frames-three-deep", NULL, frames_three_deep},
    {0},
};
