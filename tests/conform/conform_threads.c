/* Threads: different objects from different threads, a queue from any. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "conform.h"
#include "launch.h"

#define THREADS 8

/* What a thread does; a check must not end the case from there, so it leaves a sentence. */
struct worker {
    pthread_t thread;
    struct conform *c;
    struct gantry_queue *queue;
    struct gantry_kernel *kernel;
    uint32_t number, rounds;
    char trouble[512]; /* "": all went well */
};

static bool fine(struct worker *w, enum gantry_status status, const char *what)
{
    if (status != GANTRY_OK)
        snprintf(w->trouble, sizeof(w->trouble), "thread %u: %s: %s: %s", w->number, what,
                 gantry_status_name(status), gantry_last_error());
    return status == GANTRY_OK;
}

static void run_workers(struct conform *c, void *(*work)(void *), struct gantry_queue *queues[2],
                        struct gantry_kernel *kernel, uint32_t rounds)
{
    struct worker workers[THREADS] = {0};
    int started = 0;

    for (; started < THREADS; started++) {
        workers[started] = (struct worker){.c = c,
                                           .queue = queues[started % 2],
                                           .kernel = kernel,
                                           .number = (uint32_t)started,
                                           .rounds = rounds};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]))
            break;
    }
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    CHECK(started == THREADS, "only %d threads could be started", started);
    for (int i = 0; i < THREADS; i++)
        CHECK(!workers[i].trouble[0], "%s", workers[i].trouble);
}

/* ---- Replays -------------------------------------------------------------------------------- */

/* A thread's own list over its own cell, replayed on a queue that others use as well. */
static bool replay(struct worker *w, struct gantry_buffer *cell, struct gantry_list *list)
{
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = w->number};
    struct gantry_point point = {0};
    uint32_t found, expected = 0;

    if (!gantry_list_launch(list, w->kernel, (struct gantry_size){.x = 1}, &args, sizeof(args)) ||
        !gantry_list_download(list, cell, 0, &found, 4) ||
        !fine(w, gantry_list_finish(list), "finish"))
        return fine(w, gantry_list_finish(list), "recording");
    for (uint32_t i = 0; i < w->rounds; i++) {
        if (!fine(w, gantry_queue_submit(w->queue, list, NULL, 0, &point), "submit"))
            return false;
        expected = expected * 3 + w->number;
        if (i % 7 == 0) {
            if (!fine(w, gantry_wait(point, GANTRY_FOREVER), "wait"))
                return false;
            if (found != expected)
                snprintf(w->trouble, sizeof(w->trouble), "thread %u, round %u: %u instead of %u",
                         w->number, i, found, expected);
        }
    }
    return fine(w, gantry_wait(point, GANTRY_FOREVER), "last wait") && found == expected;
}

static void *replay_and_check(void *context)
{
    struct worker *w = context;
    struct gantry_buffer_params params = {.size = 4, .zero = true};
    struct gantry_buffer *cell = NULL;
    struct gantry_list *list = NULL;

    if (fine(w, gantry_buffer_create(w->c->device, &params, &cell), "buffer") &&
        fine(w, gantry_list_create(w->c->device, NULL, &list), "list") && !replay(w, cell, list) &&
        !w->trouble[0])
        snprintf(w->trouble, sizeof(w->trouble), "thread %u: the last value is wrong", w->number);
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&cell);
    return NULL;
}

static void two_queues_eight_threads(struct conform *c)
{
    struct gantry_queue *queues[2] = {make_queue(c), make_queue(c)};

    run_workers(c, replay_and_check, queues, make_kernel(c, "launch", "step"), 500);
    CHECK(stats_of(c, queues[0]).submissions == THREADS / 2 * 500, "%llu submissions were counted",
          (unsigned long long)stats_of(c, queues[0]).submissions);
}

/* ---- Everything at once --------------------------------------------------------------------- */

/* Objects come and go, while others submit. */
static void *make_and_destroy(void *context)
{
    struct worker *w = context;
    struct gantry_buffer_params params = {.size = 4096, .zero = true};
    uint32_t seed = 99 + w->number;

    for (uint32_t i = 0; i < w->rounds && !w->trouble[0]; i++) {
        struct gantry_buffer *buffer = NULL;
        struct gantry_list *list = NULL;
        struct gantry_point point;
        uint32_t words[1024], value = next_random(&seed);

        if (fine(w, gantry_buffer_create(w->c->device, &params, &buffer), "buffer") &&
            fine(w, gantry_list_create(w->c->device, NULL, &list), "list") &&
            gantry_list_fill(list, buffer, 0, 4096, value) &&
            gantry_list_download(list, buffer, 0, words, sizeof(words)) &&
            fine(w, gantry_queue_submit(w->queue, list, NULL, 0, &point), "submit") &&
            fine(w, gantry_wait(point, GANTRY_FOREVER), "wait") &&
            (words[0] != value || words[1023] != value))
            snprintf(w->trouble, sizeof(w->trouble), "thread %u, round %u: 0x%x instead of 0x%x",
                     w->number, i, words[0], value);
        gantry_buffer_destroy(&buffer);
        gantry_list_destroy(&list);
    }
    return NULL;
}

static void objects_come_and_go(struct conform *c)
{
    struct gantry_queue *queues[2] = {make_queue(c), make_queue(c)};

    run_workers(c, make_and_destroy, queues, NULL, 100);
}

/* ---- Queues -----------------------------------------------------------------------------------
 */

/* A buffer whose memory is still in use when its queue goes, and a request that makes gantry wait
 * for all such memory: both look at every queue of the device, other threads' as well. */
static bool live_and_die(struct worker *w, struct gantry_buffer *buffer, struct gantry_list *list)
{
    const struct gantry_limits *limits = &w->c->info.limits;
    struct gantry_buffer_params huge = {.size = limits->memory_size + (limits->memory_size >> 3)};
    struct gantry_queue *queue = NULL;
    struct gantry_buffer *none;
    struct gantry_point point;
    bool good = fine(w, gantry_queue_create(w->c->device, NULL, &queue), "queue") &&
                gantry_list_fill(list, buffer, 0, 4096, w->number) &&
                fine(w, gantry_queue_submit(queue, list, NULL, 0, &point), "submit");

    gantry_buffer_destroy(&buffer);
    if (gantry_buffer_create(w->c->device, &huge, &none) == GANTRY_OK)
        gantry_buffer_destroy(&none);
    good = good && fine(w, gantry_wait(point, GANTRY_FOREVER), "wait");
    gantry_queue_destroy(&queue);
    return good;
}

static void *make_and_destroy_queues(void *context)
{
    struct worker *w = context;
    struct gantry_buffer_params params = {.size = 4096};
    struct gantry_buffer *buffer = NULL;
    struct gantry_list *list = NULL;
    bool good = fine(w, gantry_list_create(w->c->device, NULL, &list), "list");

    for (uint32_t i = 0; i < w->rounds && good; i++)
        good = fine(w, gantry_buffer_create(w->c->device, &params, &buffer), "buffer") &&
               live_and_die(w, buffer, list);
    gantry_list_destroy(&list);
    return NULL;
}

static void queues_come_and_go(struct conform *c)
{
    struct gantry_queue *none[2] = {NULL, NULL};

    run_workers(c, make_and_destroy_queues, none, NULL, 200);
}

/* ---- One point, many waiters ---------------------------------------------------------------- */

struct watched {
    struct gantry_point point;
    const uint32_t *word;
    uint32_t expected;
    atomic_int wrong;
};

static void *watch(void *context)
{
    struct watched *watched = context;

    if (gantry_wait(watched->point, GANTRY_FOREVER) != GANTRY_OK ||
        *watched->word != watched->expected)
        atomic_fetch_add(&watched->wrong, 1);
    return NULL;
}

/* Whoever finds a point reached finds its downloads delivered, although another thread did it. */
static void many_waiters(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);

    for (uint32_t round = 1; round <= 30; round++) {
        struct gantry_list *list = make_list(c);
        uint32_t *word = make_words(c, 4);
        struct watched watched = {.word = word, .expected = round};
        pthread_t threads[THREADS];
        int started = 0;

        RECORD(gantry_list_fill(list, cell, 0, 4, round));
        RECORD(gantry_list_download(list, cell, 0, word, 4));
        watched.point = submit(c, list);
        while (started < THREADS && !pthread_create(&threads[started], NULL, watch, &watched))
            started++;
        for (int i = 0; i < started; i++)
            pthread_join(threads[i], NULL);
        CHECK(started == THREADS, "only %d threads could be started", started);
        CHECK(watched.wrong == 0, "round %u: %d of %d waiters did not find the download", round,
              watched.wrong, THREADS);
        drop_list(c, list);
    }
}

/* ---- Errors --------------------------------------------------------------------------------- */

static void *fail_alone(void *context)
{
    struct watched *watched = context;

    if (gantry_last_error()[0] || gantry_list_finish(NULL) != GANTRY_E_INVALID_ARGUMENT ||
        !gantry_last_error()[0])
        atomic_fetch_add(&watched->wrong, 1);
    return NULL;
}

static void sentences_are_a_threads_own(struct conform *c)
{
    struct watched watched = {0};
    char before[1024];
    pthread_t thread;

    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(NULL, NULL, NULL, 0, NULL));
    snprintf(before, sizeof(before), "%s", gantry_last_error());
    CHECK(pthread_create(&thread, NULL, fail_alone, &watched) == 0, "no thread could be started");
    pthread_join(thread, NULL);
    CHECK(watched.wrong == 0, "another thread saw this one's sentence, or none of its own");
    CHECK(strcmp(before, gantry_last_error()) == 0, "another thread changed the sentence");
}

const struct conform_case thread_cases[] = {
    {"threads/two-queues-eight-threads", "C29", two_queues_eight_threads},
    {"threads/objects-come-and-go", "C29 C34", objects_come_and_go},
    {"threads/queues-come-and-go", "C29", queues_come_and_go},
    {"threads/many-waiters", NULL, many_waiters},
    {"threads/sentences-are-a-threads-own", NULL, sentences_are_a_threads_own},
    {0},
};
