/* Lists: what may be recorded when, and that replaying, forgetting and destroying them leaves
 * nothing behind. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conform.h"
#include "launch.h"

/* Adds 1 to three times a cell, at each submission. */
static struct gantry_list *record_step(struct conform *c, struct gantry_buffer *cell)
{
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};
    struct gantry_list *list = make_list(c);

    LAUNCH(list, make_kernel(c, "launch", "step"), 1, &args);
    return list;
}

static uint32_t step_times(uint32_t times)
{
    uint32_t value = 0;

    while (times--)
        value = value * 3 + 1;
    return value;
}

static void check_cell(struct conform *c, struct gantry_buffer *cell, uint32_t steps)
{
    uint32_t found, expected = step_times(steps);

    read_buffer(c, cell, 0, &found, 4);
    CHECK(found == expected, "after %u steps the cell is %u instead of %u", steps, found, expected);
}

/* ---- States --------------------------------------------------------------------------------- */

static void replays_without_waiting(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct gantry_list *list = record_step(c, cell);

    finish(c, list);
    for (int i = 0; i < 5; i++)
        submit(c, list);
    check_cell(c, cell, 5);
    for (int i = 0; i < 95; i++)
        submit(c, list);
    check_cell(c, cell, 100);
}

static void finished_lists_stay_as_they_are(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct gantry_list *list = record_step(c, cell);
    struct gantry_list_info info;
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 5};

    finish(c, list);
    CHECK(gantry_list_launch(list, make_kernel(c, "launch", "step"), (struct gantry_size){.x = 1},
                             &args, sizeof(args)) == 0,
          "a finished list recorded a launch");
    CHECK(gantry_list_fill(list, cell, 0, 4, 9) == 0, "a finished list recorded a fill");
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_finish(list));
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_begin_concurrent(list));
    OK(gantry_list_describe(list, &info));
    CHECK(info.finished && info.commands == 1 && info.launches == 1 && info.operations == 1 &&
              info.stages == 1 && info.edges == 0,
          "%u commands, %u launches, %u operations, %u stages, %u edges", info.commands,
          info.launches, info.operations, info.stages, info.edges);
    submit(c, list);
    check_cell(c, cell, 1);
}

static void one_shot_lists_are_empty_afterwards(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};
    struct gantry_list *list = make_list(c);
    struct gantry_list_info info;

    for (uint32_t round = 0; round < 30; round++) {
        CHECK(LAUNCH(list, step, 1, &args) == 1, "the first command is not number 1");
        if (round % 3 == 0)
            CHECK(LAUNCH(list, step, 1, &args) == 2, "the second command is not number 2");
        submit(c, list);
        OK(gantry_list_describe(list, &info));
        CHECK(!info.finished && info.commands == 0, "%u commands are left", info.commands);
    }
    check_cell(c, cell, 40);
    submit(c, list); /* nothing */
    LAUNCH(list, step, 1, &args);
    finish(c, list);
    submit(c, list);
    check_cell(c, cell, 41);
}

static void empty_lists(struct conform *c)
{
    struct gantry_list *list = make_list(c);
    struct gantry_queue_stats before = stats_of(c, c->queue), after;

    submit_and_wait(c, list);
    finish(c, list);
    submit_and_wait(c, list);
    submit_and_wait(c, list);
    after = stats_of(c, c->queue);
    CHECK(after.submissions == before.submissions + 3 && after.launches == before.launches,
          "three empty lists are %llu submissions",
          (unsigned long long)(after.submissions - before.submissions));
}

static void failures_stay(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct gantry_list *list = record_step(c, cell);
    char first[512];

    CHECK(gantry_list_fill(list, cell, 2, 4, 0) == 0, "a fill at offset 2 was recorded");
    snprintf(first, sizeof(first), "%s", gantry_last_error());
    CHECK(gantry_list_fill(list, cell, 0, 4, 0) == 0, "a failed list recorded a fill");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(list));
    CHECK(strstr(gantry_last_error(), first), "finish says \"%s\" instead of \"%s\"",
          gantry_last_error(), first);
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
    check_cell(c, cell, 0);
}

static void sections(struct conform *c)
{
    struct gantry_list *list;

    list = make_list(c);
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_end_concurrent(list));
    list = make_list(c);
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_begin_ordered(list));
    list = make_list(c);
    OK(gantry_list_begin_concurrent(list));
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_begin_concurrent(list));
    list = make_list(c);
    OK(gantry_list_begin_concurrent(list));
    OK(gantry_list_begin_ordered(list));
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_end_concurrent(list));
    list = make_list(c);
    OK(gantry_list_begin_concurrent(list));
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_finish(list));
    EXPECT(GANTRY_E_INVALID_STATE, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
    OK(gantry_list_end_concurrent(list)); /* an open section is no failure: it can be closed */
    finish(c, list);
    submit_and_wait(c, list);
}

static void labels(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct gantry_list *list = record_step(c, cell);
    char text[32] = "second";

    RECORD(gantry_list_label(list, text));
    memset(text, 'x', sizeof(text));
    RECORD(gantry_list_fill(list, cell, 0, 4, 0));
    RECORD(gantry_list_label(list, NULL));
    RECORD(gantry_list_label(list, ""));
    finish(c, list);
    submit_and_wait(c, list);
    check_cell(c, cell, 0);
}

/* ---- Lengths -------------------------------------------------------------------------------- */

static void run_long_list(struct conform *c, uint32_t count)
{
    struct gantry_kernel *mark = make_kernel(c, "launch", "mark");
    struct gantry_buffer *to = make_buffer(c, 4 * (uint64_t)count);
    struct gantry_list *list = make_list(c);
    struct mark_args args = {.to = gantry_buffer_address(to)};
    uint32_t *found = make_words(c, 4 * (size_t)count);

    for (uint32_t i = 0; i < count; i++) {
        args.index = i;
        args.value = i ^ 0x5a5a5a5a;
        CHECK(LAUNCH(list, mark, 1, &args) == i + 1, "command %u has another number", i + 1);
    }
    finish(c, list);
    submit(c, list);
    read_buffer(c, to, 0, found, 4 * (uint64_t)count);
    for (uint32_t i = 0; i < count; i++)
        CHECK(found[i] == (i ^ 0x5a5a5a5a), "slot %u of %u is 0x%x", i, count, found[i]);
    drop_list(c, list);
    drop_buffer(c, to);
}

static void long_lists(struct conform *c)
{
    run_long_list(c, 8191);
    run_long_list(c, 8192);
    run_long_list(c, 8193);
    run_long_list(c, 20000);
    if (c->options->big)
        run_long_list(c, 100000);
}

/* ---- Leaks ---------------------------------------------------------------------------------- */

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Memory that a driver keeps for good is taken in the first rounds: what counts is that twice as
 * many rounds take no more. */
static void check_growth(struct conform *c, void (*round)(struct conform *), int rounds,
                         long allowed_kib)
{
    long before, after;

    for (int i = 0; i < rounds / 2; i++)
        round(c);
    before = resident_kib();
    if (before == 0)
        skip(c, "/proc/self/statm does not tell how much memory is in use");
    for (int i = 0; i < rounds; i++)
        round(c);
    after = resident_kib();
    CHECK(after - before <= allowed_kib, "%d rounds took %ld KiB that they did not give back",
          rounds, after - before);
}

static void make_and_destroy_list(struct conform *c)
{
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};
    struct gantry_list *list = make_list(c);

    for (int i = 0; i < 10; i++)
        LAUNCH(list, step, 1, &args);
    finish(c, list);
    submit_and_wait(c, list);
    drop_list(c, list);
    drop_buffer(c, cell);
    drop_kernel(c, step);
}

static void lists_give_everything_back(struct conform *c)
{
    check_growth(c, make_and_destroy_list, 1000, 2048);
}

static void queue_of_their_own(struct conform *c)
{
    struct gantry_queue *queue = make_queue(c);
    struct gantry_list *list = make_list(c);
    struct gantry_point point;

    OK(gantry_queue_submit(queue, list, NULL, 0, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    drop_queue(c, queue);
    drop_list(c, list);
}

static void queues_give_everything_back(struct conform *c)
{
    check_growth(c, queue_of_their_own, 200, 2048);
}

static struct gantry_list *replayed;

static void replay_some(struct conform *c)
{
    struct gantry_point point = {0};

    for (int i = 0; i < 20; i++)
        point = submit(c, replayed);
    OK(gantry_wait(point, GANTRY_FOREVER));
}

static void replays_take_nothing(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 1};

    replayed = record_step(c, cell);
    LAUNCH(replayed, make_kernel(c, "launch", "step"), 1, &args);
    finish(c, replayed);
    check_growth(c, replay_some, c->options->big ? 1000 : 100, 1024);
}

const struct conform_case list_cases[] = {
    {"list/replays-without-waiting", "C35", replays_without_waiting},
    {"list/finished-lists-stay-as-they-are", "C35", finished_lists_stay_as_they_are},
    {"list/one-shot-lists-are-empty-afterwards", NULL, one_shot_lists_are_empty_afterwards},
    {"list/empty", "C16", empty_lists},
    {"list/failures-stay", NULL, failures_stay},
    {"list/sections", NULL, sections},
    {"list/labels", NULL, labels},
    {"list/long", "C36", long_lists},
    {"list/lists-give-everything-back", "C25", lists_give_everything_back},
    {"list/queues-give-everything-back", "C25", queues_give_everything_back},
    {"list/replays-take-nothing", "C25", replays_take_nothing},
    {0},
};
