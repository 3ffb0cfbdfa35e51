/* Patching: that each submission sees the values of its moment, whatever is still running. */
#include <string.h>

#include "conform.h"
#include "launch.h"

/* ---- Three in flight ------------------------------------------------------------------------ */

enum { MARKS = 8, ROUNDS = 60, CELLS = MARKS * ROUNDS };

/* A finished list of patchable launches, each of which marks a cell. Side by side, one behind the
 * other, and half of them so: in a fold, in a chain, and by themselves among others. */
static struct gantry_list *record_marks(struct conform *c, struct gantry_kernel *mark,
                                        struct gantry_buffer *cells, bool concurrent, uint32_t *ids)
{
    struct mark_args args = {.to = gantry_buffer_address(cells)};
    struct gantry_list *list = make_list(c);

    if (concurrent)
        OK(gantry_list_begin_concurrent(list));
    for (uint32_t i = 0; i < MARKS; i++)
        ids[i] =
            RECORD(gantry_list_launch_patchable(list, mark, (struct gantry_size){.x = 1},
                                                (struct gantry_size){.x = 1}, &args, sizeof(args)));
    if (concurrent)
        OK(gantry_list_end_concurrent(list));
    return list;
}

/* Every round marks cells of its own, from the part of the launches that its number picks; the
 * others mark again what they marked before, the first cell with 0 to begin with. */
static void patch_round(struct conform *c, struct gantry_list *list, struct gantry_buffer *cells,
                        const uint32_t *ids, uint32_t round, uint32_t *model)
{
    for (uint32_t i = round % 3; i < MARKS; i += 1 + round % 4) {
        struct mark_args args = {.to = gantry_buffer_address(cells),
                                 .index = round * MARKS + i,
                                 .value = 1000 * round + i};

        if (round % 2) {
            OK(gantry_list_set_args(list, ids[i], &args, sizeof(args)));
        } else {
            OK(gantry_list_set_arg(list, ids[i], offsetof(struct mark_args, index), &args.index,
                                   sizeof(args.index)));
            OK(gantry_list_set_arg(list, ids[i], offsetof(struct mark_args, value), &args.value,
                                   sizeof(args.value)));
        }
        model[args.index] = args.value;
    }
}

/* The queues take turns, and nothing waits on the host. */
static void mark_rounds(struct conform *c, struct gantry_list *list, struct gantry_buffer *cells,
                        const uint32_t *ids, struct gantry_queue *other)
{
    uint32_t *model = make_words(c, 4 * CELLS), *found = make_words(c, 4 * CELLS);
    struct gantry_queue *queues[2] = {c->queue, other ? other : c->queue};
    struct gantry_point point;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        patch_round(c, list, cells, ids, round, model);
        OK(gantry_queue_submit(queues[round / 3 % 2], list, NULL, 0, &point));
    }
    OK(gantry_wait(point, GANTRY_FOREVER));
    read_buffer(c, cells, 0, found, 4 * CELLS);
    EQUAL(found, model, CELLS);
}

static void three_in_flight(struct conform *c)
{
    struct gantry_kernel *mark = make_kernel(c, "launch", "mark");
    struct gantry_queue_stats before = stats_of(c, c->queue), after;

    for (int concurrent = 0; concurrent < 2; concurrent++) {
        struct gantry_buffer *cells = make_buffer(c, 4 * CELLS);
        uint32_t ids[MARKS];
        struct gantry_list *list = record_marks(c, mark, cells, concurrent, ids);

        finish(c, list);
        mark_rounds(c, list, cells, ids, NULL);
    }
    after = stats_of(c, c->queue);
    CHECK(after.patches == before.patches + 2 * ROUNDS, "%llu of %d submissions have a patch",
          (unsigned long long)(after.patches - before.patches), 2 * ROUNDS);
}

static void on_two_queues(struct conform *c)
{
    struct gantry_buffer *cells = make_buffer(c, 4 * CELLS);
    uint32_t ids[MARKS];
    struct gantry_list *list = record_marks(c, make_kernel(c, "launch", "mark"), cells, true, ids);

    finish(c, list);
    mark_rounds(c, list, cells, ids, make_queue(c));
}

/* A list with host transfers has a plan for each submission in flight. */
static void beside_transfers(struct conform *c)
{
    struct gantry_buffer *cells = make_buffer(c, 4 * CELLS);
    struct gantry_buffer *other = make_buffer(c, 4 * MARKS);
    uint32_t ids[MARKS], in[MARKS] = {0}, *out = make_words(c, 4 * MARKS);
    struct gantry_list *list = record_marks(c, make_kernel(c, "launch", "mark"), cells, false, ids);

    RECORD(gantry_list_upload(list, other, 0, in, sizeof(in)));
    RECORD(gantry_list_download(list, other, 0, out, 4 * MARKS));
    finish(c, list);
    mark_rounds(c, list, cells, ids, NULL);
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void add_grid(uint32_t *model, uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++)
        model[i] += i + 1;
}

/* Whole blocks run, so the kernel guards its index by an argument, which is patched alongside. */
static void set_width(struct conform *c, struct gantry_list *list, uint32_t id, uint32_t width)
{
    OK(gantry_list_set_arg(list, id, offsetof(struct grid_args, width), &width, sizeof(width)));
    OK(gantry_list_set_threads(list, id, (struct gantry_size){.x = width}));
}

static void threads_shrink_grow_and_vanish(struct conform *c)
{
    enum { MOST = 5000, LAUNCHES = 3 };
    static const uint32_t widths[] = {1, 0, 257, 5000, 64, 0, 4999, 1};
    struct gantry_kernel *grid = make_kernel(c, "launch", "grid_1");
    struct gantry_buffer *cells[LAUNCHES];
    struct gantry_list *list = make_list(c);
    uint32_t *model = make_words(c, 4 * MOST), *found = make_words(c, 4 * MOST);
    uint32_t ids[LAUNCHES];

    OK(gantry_list_begin_concurrent(list));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        struct grid_args args = {.width = 100};

        cells[i] = make_buffer(c, 4 * MOST);
        args.cells = gantry_buffer_address(cells[i]);
        ids[i] = RECORD(gantry_list_launch_patchable(list, grid, (struct gantry_size){.x = 100},
                                                     (struct gantry_size){.x = MOST}, &args,
                                                     sizeof(args)));
    }
    OK(gantry_list_end_concurrent(list));
    finish(c, list);
    submit(c, list);
    for (uint32_t k = 0; k < sizeof(widths) / sizeof(widths[0]); k++) {
        set_width(c, list, ids[1], widths[k]);
        submit(c, list);
        add_grid(model, widths[k]);
    }
    add_grid(model, 100);
    read_buffer(c, cells[1], 0, found, 4 * MOST);
    EQUAL(found, model, MOST);
    memset(model, 0, 4 * MOST);
    for (uint32_t k = 0; k < 1 + sizeof(widths) / sizeof(widths[0]); k++)
        add_grid(model, 100);
    for (uint32_t i = 0; i < LAUNCHES; i += 2) {
        read_buffer(c, cells[i], 0, found, 4 * MOST);
        EQUAL(found, model, MOST);
    }
}

/* Blocks in excess leave although the kernel does not look at its index. */
static void excess_blocks_leave(struct conform *c)
{
    struct gantry_kernel *blocks = make_kernel(c, "launch", "blocks");
    struct gantry_buffer *cells = make_buffer(c, 4 * (6 * 5 * 4 + 1));
    struct grid_args args = {.cells = gantry_buffer_address(cells), 2, 3, 4};
    struct gantry_list *list = make_list(c);
    uint32_t model[6 * 5 * 4 + 1] = {0}, found[6 * 5 * 4 + 1], id;

    id = RECORD(gantry_list_launch_patchable(list, blocks, (struct gantry_size){2, 3, 4},
                                             (struct gantry_size){6, 5, 4}, &args, sizeof(args)));
    finish(c, list);
    submit(c, list);
    add_grid(model, 2 * 3 * 4);
    args = (struct grid_args){.cells = args.cells, 6, 5, 1};
    OK(gantry_list_set_args(list, id, &args, sizeof(args)));
    OK(gantry_list_set_threads(list, id, (struct gantry_size){6, 5, 1}));
    submit(c, list);
    OK(gantry_list_set_threads(list, id, (struct gantry_size){6, 5, 0}));
    submit(c, list);
    /* The stray cell of this grid is the first that it leaves alone. */
    add_grid(model, 6 * 5);
    read_buffer(c, cells, 0, found, sizeof(found));
    EQUAL(found, model, 6 * 5 * 4 + 1);
}

/* ---- One-shot lists and mistakes ------------------------------------------------------------ */

static void only_finished_lists(struct conform *c)
{
    struct gantry_buffer *cells = make_buffer(c, 4 * CELLS);
    struct gantry_kernel *mark = make_kernel(c, "launch", "mark");
    struct mark_args args = {.to = gantry_buffer_address(cells), .index = 3, .value = 9};
    struct gantry_list *list = make_list(c);
    uint32_t id, found[4], expected[4] = {0, 0, 0, 9};

    id = RECORD(gantry_list_launch_patchable(list, mark, (struct gantry_size){.x = 1},
                                             (struct gantry_size){.x = 1}, &args, sizeof(args)));
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_set_args(list, id, &args, sizeof(args)));
    EXPECT(GANTRY_E_INVALID_STATE, gantry_list_set_threads(list, id, (struct gantry_size){.x = 1}));
    submit(c, list);
    read_buffer(c, cells, 0, found, sizeof(found));
    EQUAL(found, expected, 4);
}

static void mistakes(struct conform *c)
{
    struct gantry_buffer *cells = make_buffer(c, 4 * CELLS);
    uint32_t ids[MARKS], value = 1;
    struct gantry_kernel *mark = make_kernel(c, "launch", "mark");
    struct gantry_list *list = record_marks(c, mark, cells, true, ids);
    struct mark_args args = {.to = gantry_buffer_address(cells)};
    uint32_t plain = LAUNCH(list, mark, 1, &args);

    finish(c, list);
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_set_arg(NULL, ids[0], 0, &value, 4));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_set_arg(list, 0, 0, &value, 4));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_set_arg(list, plain + 1, 0, &value, 4));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_set_arg(list, plain, 0, &value, 4));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_set_arg(list, ids[0], 0, NULL, 4));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_set_arg(list, ids[0], sizeof(args), &value, 4));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_set_args(list, ids[0], &args, 4));
    EXPECT(GANTRY_E_LIMIT, gantry_list_set_threads(list, ids[0], (struct gantry_size){.x = 2}));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_list_set_threads(list, ids[0], (struct gantry_size){1, 2, 1}));
}

const struct conform_case patch_cases[] = {
    {"patch/three-in-flight", NULL, three_in_flight},
    {"patch/on-two-queues", NULL, on_two_queues},
    {"patch/beside-transfers", NULL, beside_transfers},
    {"patch/threads-shrink-grow-and-vanish", NULL, threads_shrink_grow_and_vanish},
    {"patch/excess-blocks-leave", NULL, excess_blocks_leave},
    {"patch/only-finished-lists", NULL, only_finished_lists},
    {"patch/mistakes", NULL, mistakes},
    {0},
};
