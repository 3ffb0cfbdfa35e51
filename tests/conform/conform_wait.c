/* Points: when they are reached, how long a wait takes, and what the queue counts. */
#include <inttypes.h>
#include <time.h>

#include "conform.h"
#include "launch.h"

#define MS UINT64_C(1000000)

/* A loop of more rounds is cut short by Mesa's software rasteriser (it stops any loop after 65536),
 * so that a long work is many launches. */
#define ROUNDS        50000
#define MOST_LAUNCHES (1 << 15)

/* A finished list that keeps the device busy for at least `wanted` nanoseconds; *took says how
 * long. The fills between the launches keep these from sharing an operation. */
static struct gantry_list *make_slow_list(struct conform *c, uint64_t wanted, uint64_t *took)
{
    struct gantry_kernel *spin = make_kernel(c, "launch", "spin");
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct spin_args args = {.cell = gantry_buffer_address(cell), .rounds = ROUNDS};

    for (int launches = 32; launches <= MOST_LAUNCHES; launches *= 2) {
        struct gantry_list *list = make_list(c);
        uint64_t start;

        for (int i = 0; i < launches; i++) {
            LAUNCH(list, spin, 1, &args);
            RECORD(gantry_list_fill(list, cell, 0, 4, 1));
        }
        finish(c, list);
        submit_and_wait(c, list); /* the first time may build something */
        start = now_ns();
        submit_and_wait(c, list);
        *took = now_ns() - start;
        if (*took >= wanted)
            return list;
        drop_list(c, list);
    }
    skip(c, "%d launches of a long loop take no %" PRIu64 " ns", MOST_LAUNCHES, wanted);
}

static void no_queue_is_always_reached(struct conform *c)
{
    struct gantry_point none = {0};

    OK(gantry_wait(none, 0));
    OK(gantry_wait(none, GANTRY_FOREVER));
    OK(gantry_poll(none));
    (void)c;
}

static void points_that_were_never_given_out(struct conform *c)
{
    struct gantry_list *list = make_list(c);
    struct gantry_point point = submit(c, list);

    OK(gantry_wait(point, GANTRY_FOREVER));
    OK(gantry_wait(point, 0));
    point.value++;
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_wait(point, 0));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_poll(point));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(c->queue, list, &point, 1, NULL));
    point.value = UINT64_MAX;
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_wait(point, GANTRY_FOREVER));
}

static void earlier_points_are_reached_first(struct conform *c)
{
    struct gantry_list *list = make_list(c);
    struct gantry_point points[20];

    for (int i = 0; i < 20; i++)
        points[i] = submit(c, list);
    OK(gantry_wait(points[19], GANTRY_FOREVER));
    for (int i = 0; i < 20; i++) {
        CHECK(points[i].value == points[0].value + (uint64_t)i, "point %d has the value %" PRIu64,
              i, points[i].value);
        OK(gantry_poll(points[i]));
    }
}

/* Looks at a point whose work takes long: it must say that it is too early. On a device that runs
 * work on the thread that waits, or only while something is submitted, it never is. */
static void look_early(struct conform *c, struct gantry_point point, uint64_t timeout)
{
    uint64_t start = now_ns(), spent;
    enum gantry_status status = gantry_wait(point, timeout);

    spent = now_ns() - start;
    if (status == GANTRY_OK)
        skip(c, "the work was over when a wait of %" PRIu64 " ns returned: no wait can time out",
             timeout);
    EXPECT(GANTRY_TIMEOUT, status);
    CHECK(spent >= timeout, "a wait of %" PRIu64 " ns was over after %" PRIu64, timeout, spent);
}

/* A timeout is no loss: the wait can be repeated. */
static void timeouts(struct conform *c)
{
    uint64_t took;
    struct gantry_list *list = make_slow_list(c, 200 * MS, &took);
    struct gantry_point point = submit(c, list);

    look_early(c, point, 0);
    look_early(c, point, 1000);
    look_early(c, point, 20 * MS);
    OK(gantry_wait(point, 3600 * UINT64_C(1000) * MS));
    OK(gantry_poll(point));
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS))}, NULL);
}

/* A long wait leaves the processor to others. */
static void waiting_sleeps(struct conform *c)
{
    uint64_t took, computed;
    struct gantry_list *list = make_slow_list(c, 200 * MS, &took);
    struct gantry_queue_stats before, after;
    struct gantry_point point = submit(c, list);

    sleep_ns(2 * took);
    if (gantry_poll(point) == GANTRY_NOT_READY) {
        OK(gantry_wait(point, GANTRY_FOREVER));
        skip(c, "this device does its work on the thread that waits");
    }
    before = stats_of(c, c->queue);
    point = submit(c, list);
    computed = thread_cpu_ns();
    OK(gantry_wait(point, GANTRY_FOREVER));
    computed = thread_cpu_ns() - computed;
    after = stats_of(c, c->queue);
    CHECK(after.blocking_waits == before.blocking_waits + 1,
          "a wait of %" PRIu64 " ns did not sleep", took);
    CHECK(computed < took / 4, "a wait of %" PRIu64 " ns computed for %" PRIu64, took, computed);
}

static void submitting_does_not_wait(struct conform *c)
{
    uint64_t took;
    struct gantry_list *list = make_slow_list(c, 100 * MS, &took);
    struct gantry_point point = {0};
    enum gantry_status status;

    for (int i = 0; i < 5; i++)
        point = submit(c, list);
    status = gantry_poll(point);
    OK(gantry_wait(point, GANTRY_FOREVER));
    if (status == GANTRY_OK)
        skip(c, "the work was over when submitting it returned: this device, or what watches it, "
                "runs a list while it is being submitted");
    EXPECT(GANTRY_NOT_READY, status);
}

/* ---- Counters ------------------------------------------------------------------------------- */

static void counters_of_replays(struct conform *c)
{
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_buffer(c, 4);
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = 1, .add = 1};
    struct gantry_queue *queue = make_queue(c);
    struct gantry_list *list = make_list(c);
    struct gantry_queue_stats first, last;
    struct gantry_point point;
    uint32_t in = 5, out;

    RECORD(gantry_list_upload(list, cells, 0, &in, 4));
    for (int i = 0; i < 50; i++)
        LAUNCH(list, step, 1, &args);
    RECORD(gantry_list_download(list, cells, 0, &out, 4));
    finish(c, list);
    OK(gantry_queue_submit(queue, list, NULL, 0, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    first = stats_of(c, queue);
    for (int i = 0; i < 10; i++) {
        OK(gantry_queue_submit(queue, list, NULL, 0, &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
    }
    last = stats_of(c, queue);
    CHECK(last.submissions == first.submissions + 10 && last.replays == first.replays + 10 &&
              last.oneshots == 0,
          "%" PRIu64 " submissions, %" PRIu64 " replays, %" PRIu64 " one-shots", last.submissions,
          last.replays, last.oneshots);
    CHECK(last.launches == 11 * 50, "%" PRIu64 " launches instead of 550", last.launches);
    CHECK(last.builds == first.builds, "ten replays built %" PRIu64 " times",
          last.builds - first.builds);
    CHECK(last.allocations == first.allocations, "ten replays allocated %" PRIu64 " times",
          last.allocations - first.allocations);
    if (last.fallbacks[GANTRY_FALLBACK_NO_GRAPH])
        skip(c, "the driver refused a graph: a replay is a call a launch");
    CHECK(last.driver_submits == first.driver_submits + 10,
          "ten replays asked the driver %" PRIu64 " times",
          last.driver_submits - first.driver_submits);
}

static void counters_of_one_shots(struct conform *c)
{
    struct gantry_queue *queue = make_queue(c);
    struct gantry_buffer *cells = make_buffer(c, 64);
    struct gantry_list *list = make_list(c);
    struct gantry_queue_stats stats;
    struct gantry_point point;

    for (int i = 0; i < 3; i++) {
        RECORD(gantry_list_fill(list, cells, 0, 64, 1));
        OK(gantry_queue_submit(queue, list, NULL, 0, &point));
    }
    OK(gantry_wait(point, GANTRY_FOREVER));
    stats = stats_of(c, queue);
    CHECK(stats.submissions == 3 && stats.oneshots == 3 && stats.replays == 0 &&
              stats.launches == 0,
          "%" PRIu64 " submissions, %" PRIu64 " one-shots, %" PRIu64 " replays, %" PRIu64
          " launches",
          stats.submissions, stats.oneshots, stats.replays, stats.launches);
}

const struct conform_case wait_cases[] = {
    {"wait/no-queue-is-always-reached", NULL, no_queue_is_always_reached},
    {"wait/points-that-were-never-given-out", NULL, points_that_were_never_given_out},
    {"wait/earlier-points-are-reached-first", NULL, earlier_points_are_reached_first},
    {"wait/timeouts", NULL, timeouts},
    {"wait/waiting-sleeps", NULL, waiting_sleeps},
    {"wait/submitting-does-not-wait", NULL, submitting_does_not_wait},
    {"wait/counters-of-replays", NULL, counters_of_replays},
    {"wait/counters-of-one-shots", NULL, counters_of_one_shots},
    {0},
};
