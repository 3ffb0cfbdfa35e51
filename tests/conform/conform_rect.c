/* Rectangles: every byte of every row at its place, and none between the rows. */
#include <inttypes.h>
#include <string.h>

#include "conform.h"

#define GIB (UINT64_C(1) << 30)

/* One side of a rectangle in host memory. */
struct side {
    uint8_t *bytes;
    uint64_t offset, pitch;
};

/* What gantry is asked for, in plain C. */
static void move(const struct side *to, const struct side *from, const struct gantry_rect *rect)
{
    for (uint64_t row = 0; row < rect->rows; row++)
        memcpy(to->bytes + to->offset + row * to->pitch,
               from->bytes + from->offset + row * from->pitch, rect->width);
}

static uint64_t extent(const struct gantry_rect *rect, uint64_t pitch)
{
    return rect->rows && rect->width ? (rect->rows - 1) * pitch + rect->width : 0;
}

static void fill_random(uint8_t *bytes, uint64_t size, uint32_t *seed)
{
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)next_random(seed);
}

static void check_bytes(struct conform *c, const uint8_t *found, const uint8_t *expected,
                        uint64_t size, const char *what)
{
    for (uint64_t i = 0; i < size; i++)
        CHECK(found[i] == expected[i], "%s: byte %" PRIu64 " is %u instead of %u", what, i,
              found[i], expected[i]);
}

/* ---- Through two buffers and back ----------------------------------------------------------- */

enum { SIZE = 40000 };

/* The same four memories twice: those that gantry moves between, and what must come out. */
struct route {
    struct gantry_buffer *first, *second; /* SIZE bytes each */
    uint8_t *sent, *back;                 /* host memory, SIZE bytes each */
    uint8_t *in_first, *in_second, *expected;
    struct gantry_rect up, across, down;
    uint64_t offsets[4]; /* in sent, first, second, back */
};

static struct route make_route(struct conform *c)
{
    return (struct route){.first = make_buffer(c, SIZE),
                          .second = make_buffer(c, SIZE),
                          .sent = make_words(c, SIZE),
                          .back = make_words(c, SIZE),
                          .in_first = make_words(c, SIZE),
                          .in_second = make_words(c, SIZE),
                          .expected = make_words(c, SIZE)};
}

/* A rectangle that fits SIZE bytes in all four, each with a pitch and an offset of its own. */
static void choose_rect(struct route *r, uint32_t *seed)
{
    uint64_t width = 1 + next_random(seed) % 300, rows = 1 + next_random(seed) % 40, pitches[4];

    for (int i = 0; i < 4; i++) {
        uint64_t taken;

        pitches[i] = width + (next_random(seed) % 3 ? next_random(seed) % 500 : 0);
        taken = (rows - 1) * pitches[i] + width;
        r->offsets[i] = next_random(seed) % (SIZE - taken + 1);
    }
    r->up = (struct gantry_rect){width, rows, pitches[1], pitches[0]};
    r->across = (struct gantry_rect){width, rows, pitches[2], pitches[1]};
    r->down = (struct gantry_rect){width, rows, pitches[3], pitches[2]};
}

static void expect(struct route *r)
{
    const struct side sent = {r->sent, r->offsets[0], r->up.from_pitch};
    const struct side first = {r->in_first, r->offsets[1], r->up.to_pitch};
    const struct side second = {r->in_second, r->offsets[2], r->across.to_pitch};
    const struct side back = {r->expected, r->offsets[3], r->down.to_pitch};

    move(&first, &sent, &r->up);
    move(&second, &first, &r->across);
    move(&back, &second, &r->down);
}

static void check_route(struct conform *c, struct route *r)
{
    uint8_t *found = make_words(c, SIZE);

    check_bytes(c, r->back, r->expected, SIZE, "host memory");
    read_buffer(c, r->first, 0, found, SIZE);
    check_bytes(c, found, r->in_first, SIZE, "the first buffer");
    read_buffer(c, r->second, 0, found, SIZE);
    check_bytes(c, found, r->in_second, SIZE, "the second buffer");
}

static void record_route(struct conform *c, struct gantry_list *list, struct route *r)
{
    RECORD(gantry_list_upload_rect(list, r->first, r->offsets[1], r->sent + r->offsets[0], &r->up));
    RECORD(
        gantry_list_copy_rect(list, r->second, r->offsets[2], r->first, r->offsets[1], &r->across));
    RECORD(gantry_list_download_rect(list, r->second, r->offsets[2], r->back + r->offsets[3],
                                     &r->down));
}

static void in_lists(struct conform *c)
{
    struct route r = make_route(c);
    uint32_t seed = 7;

    for (int round = 0; round < 60; round++) {
        struct gantry_list *list = make_list(c);

        choose_rect(&r, &seed);
        record_route(c, list, &r);
        if (round % 2)
            finish(c, list);
        for (int again = 0; again <= round % 2; again++) {
            fill_random(r.sent, SIZE, &seed);
            expect(&r);
            submit_and_wait(c, list);
        }
        drop_list(c, list);
        check_bytes(c, r.back, r.expected, SIZE, "host memory");
    }
    check_route(c, &r);
}

/* Independent of each other: rows between rows, all of one section. */
static void side_by_side(struct conform *c)
{
    enum { WIDTH = 24, ROWS = 50, ALL = 10 };
    struct gantry_buffer *buffer = make_buffer(c, WIDTH * ROWS * ALL);
    uint8_t *sent = make_words(c, WIDTH * ROWS * ALL), *back = make_words(c, WIDTH * ROWS * ALL);
    struct gantry_rect rect = {WIDTH, ROWS, WIDTH * ALL, WIDTH * ALL};
    struct gantry_list *list = make_list(c);
    uint32_t seed = 3;

    fill_random(sent, WIDTH * ROWS * ALL, &seed);
    for (int part = 0; part < 2; part++) {
        OK(gantry_list_begin_concurrent(list));
        for (uint64_t i = 0; i < ALL; i++) {
            uint64_t at = i * WIDTH;

            if (part == 0)
                RECORD(gantry_list_upload_rect(list, buffer, at, sent + at, &rect));
            else
                RECORD(gantry_list_download_rect(list, buffer, at, back + at, &rect));
        }
        OK(gantry_list_end_concurrent(list));
    }
    finish(c, list);
    submit_and_wait(c, list);
    check_bytes(c, back, sent, WIDTH * ROWS * ALL, "what came back");
}

static void streamed(struct conform *c)
{
    struct route r = make_route(c);
    uint32_t seed = 11;

    for (int round = 0; round < 60; round++) {
        struct gantry_point point;

        choose_rect(&r, &seed);
        fill_random(r.sent, SIZE, &seed);
        expect(&r);
        OK(gantry_queue_upload_rect(c->queue, r.first, r.offsets[1], r.sent + r.offsets[0], &r.up,
                                    NULL));
        memset(r.sent, 0, SIZE); /* the upload has copied it */
        OK(gantry_queue_copy_rect(c->queue, r.second, r.offsets[2], r.first, r.offsets[1],
                                  &r.across, NULL));
        OK(gantry_queue_download_rect(c->queue, r.second, r.offsets[2], r.back + r.offsets[3],
                                      &r.down, &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
        check_bytes(c, r.back, r.expected, SIZE, "host memory");
    }
    check_route(c, &r);
}

/* Several times staging_mib, which is 1 here; rows smaller and larger than a piece of it. */
static void larger_than_staging(struct conform *c)
{
    static const struct gantry_rect rects[] = {{5, 700001, 6, 7},
                                               {1000, 3000, 1001, 1100},
                                               {(1 << 20) + 3, 3, (1 << 20) + 3, (1 << 20) + 100}};
    struct gantry_device *device = make_device(c, "16");
    struct gantry_queue *queue;
    uint32_t seed = 5;

    OK(gantry_queue_create(device, NULL, &queue));
    for (size_t i = 0; i < sizeof(rects) / sizeof(rects[0]); i++) {
        const struct gantry_rect up = rects[i];
        const struct gantry_rect down = {up.width, up.rows, up.from_pitch, up.to_pitch};
        uint64_t host = extent(&up, up.from_pitch);
        uint8_t *sent = make_words(c, host), *back = make_words(c, host);
        uint8_t *expected = make_words(c, host);
        const struct side from = {sent, 0, up.from_pitch}, to = {expected, 0, up.from_pitch};
        struct gantry_buffer_params params = {.size = extent(&up, up.to_pitch)};
        struct gantry_buffer *buffer;
        struct gantry_point point;

        OK(gantry_buffer_create(device, &params, &buffer));
        fill_random(sent, host, &seed);
        move(&to, &from, &up);
        OK(gantry_queue_upload_rect(queue, buffer, 0, sent, &up, NULL));
        memset(sent, 0, host);
        OK(gantry_queue_download_rect(queue, buffer, 0, back, &down, &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
        check_bytes(c, back, expected, host, "what came back");
        gantry_buffer_destroy(&buffer);
    }
}

/* ---- Within one buffer ---------------------------------------------------------------------- */

static void within_one_buffer(struct conform *c)
{
    enum { WIDTH = 10, ROWS = 30, PITCH = 32 };
    struct gantry_rect rect = {WIDTH, ROWS, PITCH, PITCH};
    struct gantry_buffer *buffer = make_buffer(c, PITCH * ROWS);
    uint8_t *bytes = make_words(c, PITCH * ROWS), *expected = make_words(c, PITCH * ROWS);
    struct side to = {expected, 17, PITCH}, from = {bytes, 2, PITCH};
    struct gantry_list *list = make_list(c);
    uint32_t seed = 2;

    fill_random(bytes, PITCH * ROWS, &seed);
    memcpy(expected, bytes, PITCH * ROWS);
    move(&to, &from, &rect);
    write_buffer(c, buffer, 0, bytes, PITCH * ROWS);
    RECORD(gantry_list_copy_rect(list, buffer, 17, buffer, 2, &rect));
    submit_and_wait(c, list);
    read_buffer(c, buffer, 0, bytes, PITCH * ROWS);
    check_bytes(c, bytes, expected, PITCH * ROWS, "columns side by side");
    CHECK(gantry_list_copy_rect(list, buffer, 11, buffer, 2, &rect) == 0, "columns that meet");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
}

/* ---- Nothing, and too much ------------------------------------------------------------------ */

static void nothing_to_move(struct conform *c)
{
    static const struct gantry_rect none[] = {{0, 5, 0, 0}, {5, 0, 0, 0}, {0, 0, 3, 3}};
    struct gantry_buffer *buffer = make_buffer(c, 16);
    uint32_t words[4] = {1, 2, 3, 4}, found[4];

    write_buffer(c, buffer, 0, words, 16);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct gantry_list *list = make_list(c);
        struct gantry_point point = {0};

        RECORD(gantry_list_copy_rect(list, buffer, 16, buffer, 16, &none[i]));
        RECORD(gantry_list_upload_rect(list, buffer, 16, NULL, &none[i]));
        RECORD(gantry_list_download_rect(list, buffer, 0, NULL, &none[i]));
        submit_and_wait(c, list);
        OK(gantry_queue_copy_rect(c->queue, buffer, 0, buffer, 0, &none[i], NULL));
        OK(gantry_queue_upload_rect(c->queue, buffer, 16, NULL, &none[i], NULL));
        OK(gantry_queue_download_rect(c->queue, buffer, 16, NULL, &none[i], &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
    }
    read_buffer(c, buffer, 0, found, 16);
    EQUAL(found, words, 4);
}

static void refused(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 64), *other = make_buffer(c, 64);
    static const struct {
        enum gantry_status status;
        uint64_t offset;
        struct gantry_rect rect;
    } rows[] = {
        {GANTRY_E_INVALID_ARGUMENT, 1, {4, 4, 20, 0}},
        {GANTRY_E_INVALID_ARGUMENT, 0, {4, 4, 21, 0}},
        {GANTRY_E_INVALID_ARGUMENT, 0, {4, 4, 0, 21}},
        {GANTRY_E_INVALID_ARGUMENT, 0, {4, 2, 3, 0}},
        {GANTRY_E_INVALID_ARGUMENT, 0, {4, 2, 0, 3}},
        {GANTRY_E_INVALID_ARGUMENT, 65, {0, 1, 0, 0}},
        {GANTRY_E_OVERFLOW, UINT64_MAX - 30, {4, 4, 20, 0}},
        {GANTRY_E_OVERFLOW, 0, {4, UINT64_MAX / 2, 4, 5}},
        {GANTRY_E_OVERFLOW, 0, {UINT64_MAX, 2, 0, 0}},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gantry_list *list = make_list(c);

        CHECK(gantry_list_copy_rect(list, buffer, rows[i].offset, other, 0, &rows[i].rect) == 0,
              "rectangle %zu was recorded", i);
        EXPECT(rows[i].status, gantry_list_finish(list));
        EXPECT(rows[i].status, gantry_queue_copy_rect(c->queue, buffer, rows[i].offset, other, 0,
                                                      &rows[i].rect, NULL));
    }
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_queue_upload_rect(c->queue, buffer, 0, NULL, &rows[0].rect, NULL));
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_queue_download_rect(c->queue, buffer, 0, NULL, NULL, NULL));
}

/* ---- 64 bits -------------------------------------------------------------------------------- */

/* Rows that are further apart than the 2^31 bytes that some drivers take, and offsets past 2^32. */
static void past_4_gib(struct conform *c)
{
    enum { WIDTH = 1000, ROWS = 3 };
    const struct gantry_rect up = {WIDTH, ROWS, 5 * GIB / 2 + 3, WIDTH};
    const struct gantry_rect across = {WIDTH, ROWS, WIDTH + 7, 5 * GIB / 2 + 3};
    const struct gantry_rect down = {WIDTH, ROWS, 0, WIDTH + 7};
    struct gantry_buffer_params params = {.size = 6 * GIB};
    uint8_t *sent = make_words(c, ROWS * WIDTH), *back = make_words(c, ROWS * WIDTH);
    struct gantry_buffer *buffer, *near = make_buffer(c, 8000);
    struct gantry_list *list = make_list(c);
    enum gantry_status status;
    uint32_t seed = 9;

    if (!c->options->big)
        skip(c, "takes a buffer of %" PRIu64 " bytes; run with --big", params.size);
    if (params.size > c->info.limits.max_buffer_size)
        skip(c, "takes a buffer of %" PRIu64 " bytes, the device's largest has %" PRIu64,
             params.size, c->info.limits.max_buffer_size);
    status = gantry_buffer_create(c->device, &params, &buffer);
    if (status == GANTRY_E_OUT_OF_MEMORY)
        skip(c, "%s", gantry_last_error());
    OK(status);
    fill_random(sent, ROWS * WIDTH, &seed);
    RECORD(gantry_list_upload_rect(list, buffer, 99, sent, &up));
    RECORD(gantry_list_copy_rect(list, near, 1, buffer, 99, &across));
    RECORD(gantry_list_download_rect(list, near, 1, back, &down));
    finish(c, list);
    submit_and_wait(c, list);
    check_bytes(c, back, sent, ROWS * WIDTH, "what came back");
    read_buffer(c, buffer, 99 + 2 * up.to_pitch, back, WIDTH);
    check_bytes(c, back, sent + 2 * WIDTH, WIDTH, "the row past 4 GiB");
    gantry_buffer_destroy(&buffer);
}

const struct conform_case rect_cases[] = {
    {"rect/in-lists", NULL, in_lists},
    {"rect/side-by-side", NULL, side_by_side},
    {"rect/streamed", NULL, streamed},
    {"rect/larger-than-staging", NULL, larger_than_staging},
    {"rect/within-one-buffer", NULL, within_one_buffer},
    {"rect/nothing-to-move", "C21", nothing_to_move},
    {"rect/refused", "C20", refused},
    {"rect/past-4-gib", "C20", past_4_gib},
    {0},
};
