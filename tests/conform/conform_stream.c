/* Streaming: one command at a time, in batches whose cuts nobody may notice. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conform.h"
#include "launch.h"

/* ---- A device with a policy of its own ------------------------------------------------------ */

struct stream {
    struct gantry_device *device;
    struct gantry_module *module;
    struct gantry_queue *queue;
};

static struct stream open_stream(struct conform *c, const char *batch_size)
{
    struct gantry_module_params params = {0};
    struct stream stream = {.device = make_device(c, batch_size)};
    char file[4096];

    snprintf(file, sizeof(file), "%s/launch.gpk", c->options->packages);
    params.file = file;
    OK(gantry_module_load(stream.device, &params, &stream.module));
    OK(gantry_queue_create(stream.device, NULL, &stream.queue));
    return stream;
}

static struct gantry_kernel *kernel_of(struct conform *c, const struct stream *stream,
                                       const char *name)
{
    struct gantry_kernel *kernel;

    OK(gantry_kernel_create(stream->module, name, NULL, &kernel));
    return kernel;
}

static struct gantry_buffer *buffer_of(struct conform *c, const struct stream *stream,
                                       uint64_t size)
{
    struct gantry_buffer_params params = {.size = size, .zero = true};
    struct gantry_buffer *buffer;

    OK(gantry_buffer_create(stream->device, &params, &buffer));
    return buffer;
}

#define STREAM(queue, kernel, threads, args, point)                                   \
    OK(gantry_queue_launch(queue, kernel, (struct gantry_size){.x = (threads)}, args, \
                           sizeof(*(args)), point))

/* ---- Order across the cuts ------------------------------------------------------------------ */

static const char *const batch_sizes[] = {"1", "7", "64"};

#define CELLS 4096u

static void hop(uint32_t *to, const uint32_t *from, uint32_t add)
{
    for (uint32_t i = 0; i < CELLS; i++)
        to[i] = from[(i * 5 + 12345) & (CELLS - 1)] * 3 + add;
}

/* Each step reads what the one before it wrote, and writes what that one read. */
static void chain_of(struct conform *c, const char *batch_size)
{
    enum { STEPS = 1000 };
    struct stream stream = open_stream(c, batch_size);
    struct gantry_kernel *kernel = kernel_of(c, &stream, "hop");
    struct gantry_buffer *buffers[2] = {buffer_of(c, &stream, 4 * CELLS),
                                        buffer_of(c, &stream, 4 * CELLS)};
    uint32_t *model[2] = {make_words(c, 4 * CELLS), make_words(c, 4 * CELLS)};
    uint32_t *found = make_words(c, 4 * CELLS);
    struct gantry_point point;

    for (uint32_t s = 0; s < STEPS; s++) {
        struct hop_args args = {.from = gantry_buffer_address(buffers[s % 2]),
                                .to = gantry_buffer_address(buffers[(s + 1) % 2]),
                                .mask = CELLS - 1,
                                .add = s * 7919 + 1};

        STREAM(stream.queue, kernel, CELLS, &args, NULL);
        hop(model[(s + 1) % 2], model[s % 2], s * 7919 + 1);
    }
    OK(gantry_queue_download(stream.queue, buffers[0], 0, found, 4 * CELLS, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    EQUAL(found, model[0], CELLS);
}

static void chains_across_cuts(struct conform *c)
{
    for (size_t i = 0; i < sizeof(batch_sizes) / sizeof(batch_sizes[0]); i++)
        chain_of(c, batch_sizes[i]);
}

/* One block each: chains that a batch may fold into one operation. */
static void short_chain_of(struct conform *c, const char *batch_size)
{
    enum { STEPS = 1000, SOME = 16 };
    struct stream stream = open_stream(c, batch_size);
    struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
    struct gantry_buffer *cells = buffer_of(c, &stream, 4 * SOME);
    uint32_t found[SOME], expected[SOME] = {0};
    struct gantry_point point;

    for (uint32_t s = 0; s < STEPS; s++) {
        struct step_args args = {.cells = gantry_buffer_address(cells), .n = SOME, .add = s};

        STREAM(stream.queue, kernel, SOME, &args, s % 97 ? NULL : &point);
        for (uint32_t i = 0; i < SOME; i++)
            expected[i] = expected[i] * 3 + s;
        if (s % 97 == 0)
            OK(gantry_wait(point, GANTRY_FOREVER));
    }
    OK(gantry_queue_download(stream.queue, cells, 0, found, sizeof(found), &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    EQUAL(found, expected, SOME);
}

static void chains_of_single_blocks(struct conform *c)
{
    for (size_t i = 0; i < sizeof(batch_sizes) / sizeof(batch_sizes[0]); i++)
        short_chain_of(c, batch_sizes[i]);
}

/* Copies, fills, transfers and launches in turn. */
static void everything_in_turn(struct conform *c)
{
    enum { ROUNDS = 100 };
    struct stream stream = open_stream(c, "7");
    struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
    struct gantry_buffer *cell = buffer_of(c, &stream, 8);
    uint32_t found[ROUNDS] = {0}, expected[ROUNDS];
    struct gantry_point point = {0};

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct step_args args = {.cells = gantry_buffer_address(cell) + 4, .n = 1, .add = i};
        uint32_t word = i * 2654435761u;

        if (i % 3)
            OK(gantry_queue_upload(stream.queue, cell, 0, &word, 4, NULL));
        else
            OK(gantry_queue_fill(stream.queue, cell, 0, 4, word, NULL));
        OK(gantry_queue_copy(stream.queue, cell, 4, cell, 0, 4, NULL));
        STREAM(stream.queue, kernel, 1, &args, NULL);
        OK(gantry_queue_download(stream.queue, cell, 4, &found[i], 4, &point));
        expected[i] = word * 3 + i;
        word = 0; /* the upload has copied it */
    }
    OK(gantry_wait(point, GANTRY_FOREVER));
    EQUAL(found, expected, ROUNDS);
}

/* Several times staging_mib, which is 1 here, each way. */
static void large_transfers(struct conform *c)
{
    static const uint64_t sizes[] = {4, (1 << 20) - 4, 1 << 20, (5 << 20) + 12};
    struct stream stream = open_stream(c, "16");

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct gantry_buffer *buffer = buffer_of(c, &stream, sizes[i]);
        uint32_t *sent = make_words(c, sizes[i]), *expected = make_words(c, sizes[i]);
        uint32_t *back = make_words(c, sizes[i]), seed = 1 + (uint32_t)i;
        struct gantry_point point;

        for (uint64_t k = 0; k < sizes[i] / 4; k++)
            sent[k] = expected[k] = next_random(&seed);
        OK(gantry_queue_upload(stream.queue, buffer, 0, sent, sizes[i], NULL));
        memset(sent, 0, sizes[i]);
        OK(gantry_queue_download(stream.queue, buffer, 0, back, sizes[i], &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
        EQUAL(back, expected, sizes[i] / 4);
        gantry_buffer_destroy(&buffer);
    }
}

/* ---- Points and lists ----------------------------------------------------------------------- */

static void flush_and_poll(struct conform *c)
{
    struct stream stream = open_stream(c, "64");
    struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
    struct gantry_buffer *cell = buffer_of(c, &stream, 4);
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};
    struct gantry_point point;
    enum gantry_status status;

    OK(gantry_queue_flush(stream.queue));
    for (int i = 0; i < 10; i++)
        STREAM(stream.queue, kernel, 1, &args, &point);
    OK(gantry_queue_flush(stream.queue));
    do
        status = gantry_poll(point);
    while (status == GANTRY_NOT_READY);
    OK(status);
    point.value++;
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_poll(point));
}

/* A list sees what was streamed before it, and what is streamed after it sees the list. */
static void lists_between(struct conform *c)
{
    struct stream stream = open_stream(c, "64");
    struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
    struct gantry_buffer *cell = buffer_of(c, &stream, 4);
    uint32_t found = 0, expected = 0;
    struct gantry_point point;
    struct gantry_list *list;

    OK(gantry_list_create(stream.device, NULL, &list));
    for (uint32_t i = 0; i < 200; i++) {
        struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = i};

        if (i % 5) {
            STREAM(stream.queue, kernel, 1, &args, NULL);
        } else {
            LAUNCH(list, kernel, 1, &args);
            OK(gantry_queue_submit(stream.queue, list, NULL, 0, NULL));
        }
        expected = expected * 3 + i;
    }
    OK(gantry_queue_download(stream.queue, cell, 0, &found, 4, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    EQUAL(&found, &expected, 1);
}

/* What a batch uses is destroyed while the batch is open. */
static void destroyed_while_open(struct conform *c)
{
    struct stream stream = open_stream(c, "64");
    struct gantry_buffer *sum = buffer_of(c, &stream, 4);
    uint32_t found = 0, expected = 0;
    struct gantry_point point;

    for (uint32_t i = 0; i < 50; i++) {
        struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
        struct gantry_buffer *cell = buffer_of(c, &stream, 4);
        struct step_args args = {.cells = gantry_buffer_address(sum), .n = 1, .add = i};

        OK(gantry_queue_copy(stream.queue, cell, 0, sum, 0, 4, NULL));
        STREAM(stream.queue, kernel, 1, &args, NULL);
        gantry_kernel_destroy(&kernel);
        gantry_buffer_destroy(&cell);
        expected = expected * 3 + i;
    }
    OK(gantry_queue_download(stream.queue, sum, 0, &found, 4, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    EQUAL(&found, &expected, 1);
}

/* ---- Threads -------------------------------------------------------------------------------- */

enum { THREADS = 8, LAUNCHES = 250, WIDTH = 64 };

struct worker {
    pthread_t thread;
    struct gantry_device *device;
    struct gantry_queue *queue, *other;
    struct gantry_kernel *kernel;
    struct gantry_buffer *cells;
    uint32_t number;
    char trouble[512]; /* "": all went well */
};

static bool fine(struct worker *w, enum gantry_status status, const char *what)
{
    if (status != GANTRY_OK)
        snprintf(w->trouble, sizeof(w->trouble), "thread %u: %s: %s: %s", w->number, what,
                 gantry_status_name(status), gantry_last_error());
    return status == GANTRY_OK;
}

static void run_workers(struct conform *c, const struct stream *stream, void *(*work)(void *),
                        const struct worker *like)
{
    struct worker workers[THREADS];
    struct gantry_queue *second;
    int started = 0;

    OK(gantry_queue_create(stream->device, NULL, &second));
    for (; started < THREADS; started++) {
        workers[started] = *like;
        workers[started].number = (uint32_t)started;
        workers[started].queue = started % 2 ? stream->queue : second;
        workers[started].other = started % 2 ? second : stream->queue;
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]))
            break;
    }
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    OK(gantry_queue_flush(second));
    CHECK(started == THREADS, "only %d threads could be started", started);
    for (int i = 0; i < THREADS; i++)
        CHECK(!workers[i].trouble[0], "%s", workers[i].trouble);
}

/* Adds to cells that all threads share. */
static void *add(void *context)
{
    struct worker *w = context;
    struct grid_args args = {.cells = gantry_buffer_address(w->cells), .width = WIDTH};
    struct gantry_point point = {0};

    for (uint32_t i = 0; i < LAUNCHES; i++)
        if (!fine(w,
                  gantry_queue_launch(w->queue, w->kernel, (struct gantry_size){.x = WIDTH}, &args,
                                      sizeof(args), &point),
                  "launch") ||
            (i % 50 == 0 && !fine(w, gantry_wait(point, GANTRY_FOREVER), "wait")))
            return NULL;
    fine(w, gantry_wait(point, GANTRY_FOREVER), "last wait");
    return NULL;
}

static void eight_threads_add(struct conform *c)
{
    struct stream stream = open_stream(c, "16");
    struct worker like = {.kernel = kernel_of(c, &stream, "grid_1"),
                          .cells = buffer_of(c, &stream, 4 * WIDTH)};
    uint32_t found[WIDTH], expected[WIDTH];
    struct gantry_point point;

    run_workers(c, &stream, add, &like);
    for (uint32_t i = 0; i < WIDTH; i++)
        expected[i] = THREADS * LAUNCHES * (i + 1);
    OK(gantry_queue_download(stream.queue, like.cells, 0, found, sizeof(found), &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    EQUAL(found, expected, WIDTH);
}

/* Each thread's own chain, on a queue that others use as well, with transfers between. */
static void *chain_alone(void *context)
{
    struct worker *w = context;
    uint64_t offset = 4 * w->number;
    struct step_args args = {.cells = gantry_buffer_address(w->cells) + offset, .n = 1};
    uint32_t found = 0, expected = 0;
    struct gantry_point point;

    for (uint32_t i = 0; i < LAUNCHES; i++) {
        args.add = i * w->number + 1;
        if (!fine(w,
                  gantry_queue_launch(w->queue, w->kernel, (struct gantry_size){.x = 1}, &args,
                                      sizeof(args), NULL),
                  "launch"))
            return NULL;
        expected = expected * 3 + args.add;
        if (i % 10)
            continue;
        if (!fine(w, gantry_queue_download(w->queue, w->cells, offset, &found, 4, &point),
                  "download") ||
            !fine(w, gantry_wait(point, GANTRY_FOREVER), "wait"))
            return NULL;
        if (found != expected) {
            snprintf(w->trouble, sizeof(w->trouble), "thread %u, step %u: %u instead of %u",
                     w->number, i, found, expected);
            return NULL;
        }
        found += i;
        expected += i;
        if (!fine(w, gantry_queue_upload(w->queue, w->cells, offset, &found, 4, NULL), "upload"))
            return NULL;
    }
    return NULL;
}

static void eight_threads_alone(struct conform *c)
{
    struct stream stream = open_stream(c, "7");
    struct worker like = {.kernel = kernel_of(c, &stream, "step"),
                          .cells = buffer_of(c, &stream, 4 * THREADS)};

    run_workers(c, &stream, chain_alone, &like);
}

/* A list on one queue waits for what was just put into the open batch of the other, while threads
 * of that one do the same the other way round. */
static void *cross(void *context)
{
    struct worker *w = context;
    struct mark_args args = {.to = gantry_buffer_address(w->cells), .index = w->number};
    struct gantry_list *list;
    uint32_t found;

    if (!fine(w, gantry_list_create(w->device, NULL, &list), "list"))
        return NULL;
    for (uint32_t i = 1; i <= LAUNCHES && !w->trouble[0]; i++) {
        struct gantry_point theirs, own;

        args.value = i * THREADS + w->number;
        gantry_list_download(list, w->cells, 4 * w->number, &found, 4);
        if (fine(w,
                 gantry_queue_launch(w->other, w->kernel, (struct gantry_size){.x = 1}, &args,
                                     sizeof(args), &theirs),
                 "launch") &&
            fine(w, gantry_queue_submit(w->queue, list, &theirs, 1, &own), "submit") &&
            fine(w, gantry_wait(own, GANTRY_FOREVER), "wait") && found != args.value)
            snprintf(w->trouble, sizeof(w->trouble), "thread %u, round %u: %u instead of %u",
                     w->number, i, found, args.value);
    }
    gantry_list_destroy(&list);
    return NULL;
}

static void waits_crosswise(struct conform *c)
{
    struct stream stream = open_stream(c, "64");
    struct worker like = {.device = stream.device,
                          .kernel = kernel_of(c, &stream, "mark"),
                          .cells = buffer_of(c, &stream, 4 * THREADS)};

    run_workers(c, &stream, cross, &like);
}

/* ---- Batches -------------------------------------------------------------------------------- */

#define ROUNDS 50000 /* of a loop; more are cut short by Mesa's software rasteriser */

/* Something long, whose parts can't be folded; its point. */
static struct gantry_point keep_busy(struct conform *c, const struct stream *stream)
{
    struct gantry_kernel *spin = kernel_of(c, stream, "spin");
    struct gantry_buffer *cell = buffer_of(c, stream, 4);
    struct spin_args args = {.cell = gantry_buffer_address(cell), .rounds = ROUNDS};
    struct gantry_point point;
    struct gantry_list *list;

    OK(gantry_list_create(stream->device, NULL, &list));
    for (uint32_t i = 0; i < 400; i++) {
        LAUNCH(list, spin, 1, &args);
        RECORD(gantry_list_fill(list, cell, 0, 4, i));
    }
    OK(gantry_queue_submit(stream->queue, list, NULL, 0, &point));
    return point;
}

/* A device that is busy gets full batches, and as few as there can be. */
static void batches_of_a_busy_device(struct conform *c)
{
    enum { COUNT = 1000, SIZE = 64 };
    struct stream stream = open_stream(c, "64");
    struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
    struct gantry_buffer *cell = buffer_of(c, &stream, 4);
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};
    uint32_t found = 0, expected = 0;
    struct gantry_queue_stats before, after;
    struct gantry_point point, busy;
    bool was_busy;

    STREAM(stream.queue, kernel, 1, &args, &point); /* times the kernel */
    OK(gantry_wait(point, GANTRY_FOREVER));
    busy = keep_busy(c, &stream);
    before = stats_of(c, stream.queue);
    for (int i = 0; i < COUNT; i++)
        STREAM(stream.queue, kernel, 1, &args, NULL);
    was_busy = gantry_poll(busy) == GANTRY_NOT_READY;
    OK(gantry_queue_flush(stream.queue));
    after = stats_of(c, stream.queue);
    OK(gantry_queue_download(stream.queue, cell, 0, &found, 4, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    for (int i = 0; i <= COUNT; i++)
        expected = expected * 3 + 1;
    EQUAL(&found, &expected, 1);
    if (!was_busy)
        skip(c, "the device was not busy while %d launches were recorded", COUNT);
    CHECK(after.submissions - before.submissions == (COUNT + SIZE - 1) / SIZE,
          "%d launches in batches of %d took %llu submissions", COUNT, SIZE,
          (unsigned long long)(after.submissions - before.submissions));
    CHECK(after.batches[GANTRY_BATCH_FULL] - before.batches[GANTRY_BATCH_FULL] == COUNT / SIZE &&
              after.batches[GANTRY_BATCH_FLUSH] - before.batches[GANTRY_BATCH_FLUSH] == 1,
          "%llu batches were full, %llu flushed",
          (unsigned long long)(after.batches[GANTRY_BATCH_FULL] -
                               before.batches[GANTRY_BATCH_FULL]),
          (unsigned long long)(after.batches[GANTRY_BATCH_FLUSH] -
                               before.batches[GANTRY_BATCH_FLUSH]));
}

static void counters_add_up(struct conform *c)
{
    struct stream stream = open_stream(c, "16");
    struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
    struct gantry_buffer *cell = buffer_of(c, &stream, 4);
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};
    struct gantry_queue_stats stats;
    struct gantry_point point;
    uint64_t batches = 0;

    for (int i = 0; i < 100; i++)
        STREAM(stream.queue, kernel, 1, &args, &point);
    OK(gantry_wait(point, GANTRY_FOREVER));
    stats = stats_of(c, stream.queue);
    for (int i = 0; i < GANTRY_BATCH_COUNT; i++)
        batches += stats.batches[i];
    CHECK(stats.streamed == 100 && stats.launches == 100, "%llu launches streamed, %llu in all",
          (unsigned long long)stats.streamed, (unsigned long long)stats.launches);
    CHECK(batches == stats.submissions && batches == stats.oneshots && stats.replays == 0,
          "%llu batches, %llu submissions, %llu one-shots, %llu replays",
          (unsigned long long)batches, (unsigned long long)stats.submissions,
          (unsigned long long)stats.oneshots, (unsigned long long)stats.replays);
}

/* ---- Resources ------------------------------------------------------------------------------ */

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int open_files(void)
{
    int lowest = dup(0);

    if (lowest >= 0)
        close(lowest);
    return lowest;
}

static void submit_many(struct conform *c, const struct stream *stream,
                        struct gantry_kernel *kernel, const struct step_args *args, int count)
{
    struct gantry_point point = {0};

    for (int i = 1; i <= count; i++) {
        STREAM(stream->queue, kernel, 1, args, &point);
        if (i % 100 == 0)
            OK(gantry_wait(point, GANTRY_FOREVER));
    }
}

static void submissions_take_nothing(struct conform *c)
{
    enum { COUNT = 20000, ALLOWED_KIB = 2048 };
    struct stream stream = open_stream(c, "1");
    struct gantry_kernel *kernel = kernel_of(c, &stream, "step");
    struct gantry_buffer *cell = buffer_of(c, &stream, 4);
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};
    int files = open_files();
    long before, after;

    submit_many(c, &stream, kernel, &args, COUNT / 10);
    before = resident_kib();
    if (before == 0)
        skip(c, "/proc/self/statm does not tell how much memory is in use");
    submit_many(c, &stream, kernel, &args, COUNT);
    after = resident_kib();
    CHECK(stats_of(c, stream.queue).submissions == COUNT + COUNT / 10, "%llu submissions",
          (unsigned long long)stats_of(c, stream.queue).submissions);
    CHECK(after - before <= ALLOWED_KIB, "%d submissions took %ld KiB", COUNT, after - before);
    CHECK(open_files() == files, "the lowest free file descriptor was %d, it is %d", files,
          open_files());
}

const struct conform_case stream_cases[] = {
    {"stream/chains-across-cuts", "C31", chains_across_cuts},
    {"stream/chains-of-single-blocks", "C31", chains_of_single_blocks},
    {"stream/everything-in-turn", "C37", everything_in_turn},
    {"stream/large-transfers", NULL, large_transfers},
    {"stream/flush-and-poll", NULL, flush_and_poll},
    {"stream/lists-between", NULL, lists_between},
    {"stream/destroyed-while-open", NULL, destroyed_while_open},
    {"stream/eight-threads-add", "C29", eight_threads_add},
    {"stream/eight-threads-alone", "C29", eight_threads_alone},
    {"stream/waits-crosswise", NULL, waits_crosswise},
    {"stream/batches-of-a-busy-device", "C31", batches_of_a_busy_device},
    {"stream/counters-add-up", NULL, counters_add_up},
    {"stream/submissions-take-nothing", "C25", submissions_take_nothing},
    {0},
};
