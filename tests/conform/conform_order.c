/* Order: every command of a list sees what came before it, whatever lies between them. No layer
 * checks accesses through addresses, so results are the proof: each step below gives another value
 * when it runs too early, too late, or twice. */
#include <stdlib.h>
#include <string.h>

#include "conform.h"
#include "launch.h"

/* ---- Chains of launches --------------------------------------------------------------------- */

#define CELLS (1u << 16)

static void hop(uint32_t *to, const uint32_t *from, uint32_t mask, uint32_t add)
{
    for (uint32_t i = 0; i <= mask; i++)
        to[i] = from[(i * 5 + 12345) & mask] * 3 + add;
}

/* Between two buffers, over many blocks: without a barrier a block would read what its neighbours
 * have not written yet. */
static void chain_over_many_blocks(struct conform *c)
{
    enum { STEPS = 200 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "hop");
    struct gantry_buffer *buffers[2] = {make_buffer(c, 4 * CELLS), make_buffer(c, 4 * CELLS)};
    uint32_t *model[2] = {make_words(c, 4 * CELLS), make_words(c, 4 * CELLS)};
    uint32_t *found = make_words(c, 4 * CELLS);
    struct gantry_list *list = make_list(c);

    for (uint32_t s = 0; s < STEPS; s++) {
        struct hop_args args = {.from = gantry_buffer_address(buffers[s % 2]),
                                .to = gantry_buffer_address(buffers[(s + 1) % 2]),
                                .mask = CELLS - 1,
                                .add = s * 7919 + 1};

        LAUNCH(list, kernel, CELLS, &args);
    }
    finish(c, list);
    for (int round = 0; round < 3; round++) {
        submit_and_wait(c, list);
        for (uint32_t s = 0; s < STEPS; s++)
            hop(model[(s + 1) % 2], model[s % 2], CELLS - 1, s * 7919 + 1);
        read_buffer(c, buffers[0], 0, found, 4 * CELLS);
        EQUAL(found, model[0], CELLS);
    }
}

/* In place and in one block: short enough to overlap with the next one. */
static void chain_of_short_launches(struct conform *c)
{
    enum { STEPS = 2000, SOME = 64 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_buffer(c, 4 * SOME);
    struct gantry_list *list = make_list(c);
    uint32_t found[SOME], expected[SOME] = {0};

    for (uint32_t s = 0; s < STEPS; s++) {
        struct step_args args = {.cells = gantry_buffer_address(cells), .n = SOME, .add = s};

        LAUNCH(list, kernel, SOME, &args);
        for (uint32_t i = 0; i < SOME; i++)
            expected[i] = expected[i] * 3 + s;
    }
    submit_and_wait(c, list);
    read_buffer(c, cells, 0, found, sizeof(found));
    EQUAL(found, expected, SOME);
}

/* ---- Sections ------------------------------------------------------------------------------- */

enum { STRANDS = 12, LENGTH = 9 };

/* Strands of an ordered section, each on its own cells, between two launches over all of them. */
static void ordered_groups(struct conform *c)
{
    enum { EACH = 512, ALL = STRANDS * EACH };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_buffer(c, 4 * ALL);
    struct gantry_list *list = make_list(c);
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = ALL, .add = 17};
    uint32_t *found = make_words(c, 4 * ALL), *expected = make_words(c, 4 * ALL);

    LAUNCH(list, kernel, ALL, &args);
    OK(gantry_list_begin_concurrent(list));
    for (uint32_t k = 0; k < STRANDS; k++) {
        struct step_args part = {.cells = args.cells + 4 * EACH * k, .n = EACH};

        OK(gantry_list_begin_ordered(list));
        for (uint32_t s = 0; s < 1 + k % LENGTH; s++) {
            part.add = k * 100 + s;
            LAUNCH(list, kernel, EACH, &part);
        }
        OK(gantry_list_end_ordered(list));
    }
    OK(gantry_list_end_concurrent(list));
    args.add = 23;
    LAUNCH(list, kernel, ALL, &args);
    finish(c, list);
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t k = i / EACH;

        expected[i] = 17;
        for (uint32_t s = 0; s < 1 + k % LENGTH; s++)
            expected[i] = expected[i] * 3 + k * 100 + s;
        expected[i] = expected[i] * 3 + 23;
    }
    submit_and_wait(c, list);
    read_buffer(c, cells, 0, found, 4 * ALL);
    EQUAL(found, expected, ALL);
}

/* Many independent commands of every kind, section after section. */
static void concurrent_sections(struct conform *c)
{
    enum { PARTS = 40, EACH = 64, ALL = PARTS * EACH, ROUNDS = 6 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "hop");
    struct gantry_buffer *buffers[2] = {make_buffer(c, 4 * ALL), make_buffer(c, 4 * ALL)};
    uint32_t *model[2] = {make_words(c, 4 * ALL), make_words(c, 4 * ALL)};
    uint32_t *found = make_words(c, 4 * ALL);
    struct gantry_list *list = make_list(c);

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t from = round % 2, to = 1 - from;

        OK(gantry_list_begin_concurrent(list));
        for (uint32_t k = 0; k < PARTS; k++) {
            uint64_t offset = 4 * (uint64_t)EACH * k;
            struct hop_args args = {.from = gantry_buffer_address(buffers[from]) + offset,
                                    .to = gantry_buffer_address(buffers[to]) + offset,
                                    .mask = EACH - 1,
                                    .add = round * 1000 + k};

            if (k % 5 == 3) {
                RECORD(
                    gantry_list_copy(list, buffers[to], offset, buffers[from], offset, 4 * EACH));
                memcpy(model[to] + EACH * k, model[from] + EACH * k, 4 * EACH);
            } else if (k % 5 == 4 && round % 2 == 0) {
                RECORD(gantry_list_fill(list, buffers[to], offset, 4 * EACH, round * 77 + k));
                for (uint32_t i = 0; i < EACH; i++)
                    model[to][EACH * k + i] = round * 77 + k;
            } else {
                LAUNCH(list, kernel, EACH, &args);
                hop(model[to] + EACH * k, model[from] + EACH * k, EACH - 1, args.add);
            }
        }
        OK(gantry_list_end_concurrent(list));
    }
    finish(c, list);
    submit_and_wait(c, list);
    read_buffer(c, buffers[ROUNDS % 2], 0, found, 4 * ALL);
    EQUAL(found, model[ROUNDS % 2], ALL);
}

/* ---- Queues --------------------------------------------------------------------------------- */

/* Each submission waits for the other queue's last one; the host waits for none. */
static void two_queues_take_turns(struct conform *c)
{
    enum { TURNS = 60, SOME = 4096 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "hop");
    struct gantry_buffer *buffers[2] = {make_buffer(c, 4 * SOME), make_buffer(c, 4 * SOME)};
    struct gantry_queue *queues[2] = {make_queue(c), make_queue(c)};
    uint32_t *model[2] = {make_words(c, 4 * SOME), make_words(c, 4 * SOME)};
    uint32_t *found = make_words(c, 4 * SOME);
    struct gantry_point point = {0};

    for (uint32_t s = 0; s < TURNS; s++) {
        struct gantry_list *list = make_list(c);
        struct gantry_point before = point;
        struct hop_args args = {.from = gantry_buffer_address(buffers[s % 2]),
                                .to = gantry_buffer_address(buffers[(s + 1) % 2]),
                                .mask = SOME - 1,
                                .add = s};

        LAUNCH(list, kernel, SOME, &args);
        OK(gantry_queue_submit(queues[s % 2], list, &before, 1, &point));
        hop(model[(s + 1) % 2], model[s % 2], SOME - 1, s);
    }
    OK(gantry_wait(point, GANTRY_FOREVER));
    read_buffer(c, buffers[TURNS % 2], 0, found, 4 * SOME);
    EQUAL(found, model[TURNS % 2], SOME);
}

/* Nobody says anything about points: the submissions of one list are in order by themselves. */
static void one_list_on_two_queues(struct conform *c)
{
    enum { TURNS = 50 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_buffer(c, 4 * CELLS);
    struct gantry_queue *queues[2] = {make_queue(c), make_queue(c)};
    struct gantry_list *list = make_list(c);
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = CELLS, .add = 3};
    struct gantry_point point = {0};
    uint32_t *found = make_words(c, 4 * CELLS), expected = 0;

    LAUNCH(list, kernel, CELLS, &args);
    args.add = 4;
    LAUNCH(list, kernel, CELLS, &args);
    finish(c, list);
    for (uint32_t s = 0; s < TURNS; s++) {
        OK(gantry_queue_submit(queues[s % 2], list, NULL, 0, &point));
        expected = (expected * 3 + 3) * 3 + 4;
    }
    OK(gantry_wait(point, GANTRY_FOREVER));
    read_buffer(c, cells, 0, found, 4 * CELLS);
    for (uint32_t i = 0; i < CELLS; i++)
        CHECK(found[i] == expected, "cell %u is %u instead of %u", i, found[i], expected);
}

/* More points than one call usually has, several of one queue among them. */
static void many_points(struct conform *c)
{
    enum { QUEUES = 12 };
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_buffer(c, 4 * QUEUES);
    struct gantry_point points[2 * QUEUES + 1] = {{0}};
    struct gantry_list *gather = make_list(c);
    uint32_t found[QUEUES], expected[QUEUES];

    for (uint32_t k = 0; k < QUEUES; k++) {
        struct gantry_queue *queue = make_queue(c);
        struct step_args args = {.cells = gantry_buffer_address(cells) + 4 * k, .n = 1, .add = k};

        for (int i = 0; i < 2; i++) {
            struct gantry_list *list = make_list(c);

            LAUNCH(list, kernel, 1, &args);
            OK(gantry_queue_submit(queue, list, NULL, 0, &points[2 * k + i]));
        }
        expected[k] = 4 * k;
    }
    RECORD(gantry_list_download(gather, cells, 0, found, sizeof(found)));
    OK(gantry_queue_submit(c->queue, gather, points, 2 * QUEUES + 1, &points[0]));
    OK(gantry_wait(points[0], GANTRY_FOREVER));
    EQUAL(found, expected, QUEUES);
}

/* Copies on a transfer queue between launches on a compute queue. */
static void transfer_queue(struct conform *c)
{
    struct gantry_queue_params params = {.kind = GANTRY_QUEUE_TRANSFER};
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_buffer(c, 4 * CELLS), *copy = make_buffer(c, 4 * CELLS);
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = CELLS, .add = 11};
    struct gantry_list *compute = make_list(c), *transfer = make_list(c);
    uint32_t *found = make_words(c, 4 * CELLS), expected = 0;
    struct gantry_queue *queue;
    struct gantry_point point;

    OK(gantry_queue_create(c->device, &params, &queue));
    LAUNCH(compute, kernel, CELLS, &args);
    finish(c, compute);
    RECORD(gantry_list_copy(transfer, copy, 0, cells, 0, 4 * CELLS));
    RECORD(gantry_list_download(transfer, copy, 0, found, 4 * CELLS));
    finish(c, transfer);
    for (int round = 0; round < 10; round++) {
        point = submit(c, compute);
        expected = expected * 3 + 11;
        OK(gantry_queue_submit(queue, transfer, &point, 1, &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
        for (uint32_t i = 0; i < CELLS; i++)
            CHECK(found[i] == expected, "cell %u is %u instead of %u", i, found[i], expected);
    }
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(queue, compute, NULL, 0, NULL));
    gantry_queue_destroy(&queue);
}

/* ---- Host memory ---------------------------------------------------------------------------- */

/* A kernel that writes to readback memory through its address: nobody but the kernel knows. */
static void writes_to_readback_memory(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_memory(c, GANTRY_MEMORY_READBACK, 4 * 1024);
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = 1024, .add = 2};
    const uint32_t *found = gantry_buffer_host(cells);
    struct gantry_list *list = make_list(c);
    uint32_t expected = 0;

    LAUNCH(list, kernel, 1024, &args);
    finish(c, list);
    for (int round = 0; round < 20; round++) {
        submit_and_wait(c, list);
        expected = expected * 3 + 2;
        for (uint32_t i = 0; i < 1024; i++)
            CHECK(found[i] == expected, "round %d: cell %u is %u instead of %u", round, i, found[i],
                  expected);
    }
}

/* A kernel that reads what the host has just written to upload memory. */
static void reads_of_upload_memory(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "hop");
    struct gantry_buffer *from = make_memory(c, GANTRY_MEMORY_UPLOAD, 4 * 1024);
    struct gantry_buffer *to = make_memory(c, GANTRY_MEMORY_READBACK, 4 * 1024);
    struct hop_args args = {.from = gantry_buffer_address(from),
                            .to = gantry_buffer_address(to),
                            .mask = 1023,
                            .add = 1};
    uint32_t *in = gantry_buffer_host(from), expected[1024];
    struct gantry_list *list = make_list(c);

    LAUNCH(list, kernel, 1024, &args);
    finish(c, list);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 1024; i++)
            in[i] = i * (round + 3);
        hop(expected, in, 1023, 1);
        submit_and_wait(c, list);
        EQUAL((const uint32_t *)gantry_buffer_host(to), expected, 1024);
    }
}

/* ---- Destroying while work is pending ------------------------------------------------------- */

static void record_long_chain(struct conform *c, struct gantry_list *list,
                              struct gantry_buffer *cells)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = CELLS, .add = 1};

    for (int i = 0; i < 200; i++)
        LAUNCH(list, kernel, CELLS, &args);
    drop_kernel(c, kernel);
}

/* The memory of a buffer that queued work still writes is not given out again. */
static void destroyed_while_pending(struct conform *c)
{
    uint32_t *found = make_words(c, 4 * CELLS);

    for (int round = 0; round < 5; round++) {
        struct gantry_buffer *cells = make_buffer(c, 4 * CELLS), *fresh;
        struct gantry_list *list = make_list(c);

        record_long_chain(c, list, cells);
        if (round % 2)
            finish(c, list);
        submit(c, list);
        drop_list(c, list);
        drop_buffer(c, cells);
        fresh = make_buffer(c, 4 * CELLS);
        read_buffer(c, fresh, 0, found, 4 * CELLS);
        for (uint32_t i = 0; i < CELLS; i++)
            CHECK(found[i] == 0, "word %u of a fresh buffer is %u", i, found[i]);
        drop_buffer(c, fresh);
    }
}

static void queue_destroyed_while_pending(struct conform *c)
{
    struct gantry_queue *queue = make_queue(c);
    struct gantry_buffer *cells = make_buffer(c, 4 * CELLS);
    struct gantry_list *list = make_list(c);
    uint32_t *found = make_words(c, 4 * CELLS), expected = 0;

    record_long_chain(c, list, cells);
    RECORD(gantry_list_download(list, cells, 0, found, 4 * CELLS));
    finish(c, list);
    OK(gantry_queue_submit(queue, list, NULL, 0, NULL));
    drop_queue(c, queue); /* waits */
    for (int i = 0; i < 200; i++)
        expected = expected * 3 + 1;
    CHECK(found[0] == expected && found[CELLS - 1] == expected, "the download holds %u, not %u",
          found[0], expected);
    submit_and_wait(c, list); /* the list remembers a queue that is gone */
    for (int i = 0; i < 200; i++)
        expected = expected * 3 + 1;
    CHECK(found[0] == expected, "the download holds %u, not %u", found[0], expected);
}

/* A copy names its buffers, so a list that holds a destroyed one is refused. */
static void destroyed_buffers_of_copies(struct conform *c)
{
    struct gantry_buffer *from = make_buffer(c, 64), *to = make_buffer(c, 64);
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_copy(list, to, 0, from, 0, 64));
    finish(c, list);
    submit_and_wait(c, list);
    drop_buffer(c, from);
    EXPECT(GANTRY_E_INVALID_STATE, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
}

const struct conform_case order_cases[] = {
    {"order/chain-over-many-blocks", NULL, chain_over_many_blocks},
    {"order/chain-of-short-launches", NULL, chain_of_short_launches},
    {"order/ordered-groups", NULL, ordered_groups},
    {"order/concurrent-sections", NULL, concurrent_sections},
    {"order/two-queues-take-turns", NULL, two_queues_take_turns},
    {"order/one-list-on-two-queues", NULL, one_list_on_two_queues},
    {"order/many-points", NULL, many_points},
    {"order/transfer-queue", "C28", transfer_queue},
    {"order/writes-to-readback-memory", NULL, writes_to_readback_memory},
    {"order/reads-of-upload-memory", NULL, reads_of_upload_memory},
    {"order/destroyed-while-pending", NULL, destroyed_while_pending},
    {"order/queue-destroyed-while-pending", NULL, queue_destroyed_while_pending},
    {"order/destroyed-buffers-of-copies", NULL, destroyed_buffers_of_copies},
    {0},
};
