/* Copies, fills, uploads and downloads: every byte at its place, and host memory read and written
 * when the header says so. */
#include <string.h>

#include "conform.h"
#include "launch.h"

static void offsets(struct conform *c)
{
    static const struct {
        uint64_t to, from, size;
    } ranges[] = {{0, 0, 1000},  {1, 0, 1},   {3, 5, 7},     {4, 16, 84},
                  {255, 1, 257}, {0, 999, 1}, {500, 0, 500}, {17, 333, 129}};
    struct gantry_buffer *from = make_buffer(c, 1000), *to = make_buffer(c, 1000);
    uint8_t source[1000], expected[1000], found[1000];

    for (int i = 0; i < 1000; i++)
        source[i] = (uint8_t)(i * 13 + 1);
    write_buffer(c, from, 0, source, sizeof(source));
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        struct gantry_list *list = make_list(c);

        memset(expected, 0, sizeof(expected));
        memcpy(expected + ranges[i].to, source + ranges[i].from, ranges[i].size);
        RECORD(gantry_list_fill(list, to, 0, 1000, 0));
        RECORD(gantry_list_copy(list, to, ranges[i].to, from, ranges[i].from, ranges[i].size));
        RECORD(gantry_list_download(list, to, 0, found, sizeof(found)));
        submit_and_wait(c, list);
        CHECK(memcmp(found, expected, sizeof(found)) == 0, "%llu bytes from %llu to %llu",
              (unsigned long long)ranges[i].size, (unsigned long long)ranges[i].from,
              (unsigned long long)ranges[i].to);
    }
}

static void within_one_buffer(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 1024);
    struct gantry_list *list = make_list(c);
    uint32_t words[256], expected[256];

    for (uint32_t i = 0; i < 256; i++)
        words[i] = i;
    memcpy(expected, words, sizeof(words));
    memcpy(expected + 128, words, 512);
    write_buffer(c, buffer, 0, words, 1024);
    RECORD(gantry_list_copy(list, buffer, 512, buffer, 0, 512)); /* the ranges touch */
    submit_and_wait(c, list);
    read_buffer(c, buffer, 0, words, 1024);
    EQUAL(words, expected, 256);
    CHECK(gantry_list_copy(list, buffer, 511, buffer, 0, 512) == 0, "an overlapping copy");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
}

static void fills(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 4000);
    struct gantry_list *list = make_list(c);
    uint32_t found[1000], expected[1000];

    for (int i = 0; i < 1000; i++)
        expected[i] = i < 3 ? 0x01020304 : i < 998 ? 0xdeadbeef : i < 999 ? 7 : 0;
    RECORD(gantry_list_fill(list, buffer, 0, 12, 0x01020304));
    RECORD(gantry_list_fill(list, buffer, 12, 3980, 0xdeadbeef));
    RECORD(gantry_list_fill(list, buffer, 3992, 4, 7));
    RECORD(gantry_list_download(list, buffer, 0, found, sizeof(found)));
    submit_and_wait(c, list);
    EQUAL(found, expected, 1000);
}

static void nothing_to_move(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 16);
    struct gantry_list *list = make_list(c);
    uint32_t words[4] = {1, 2, 3, 4}, found[4];

    write_buffer(c, buffer, 0, words, 16);
    RECORD(gantry_list_copy(list, buffer, 16, buffer, 16, 0));
    RECORD(gantry_list_copy(list, buffer, 0, buffer, 0, 0));
    RECORD(gantry_list_fill(list, buffer, 16, 0, 9));
    RECORD(gantry_list_upload(list, buffer, 0, NULL, 0));
    RECORD(gantry_list_download(list, buffer, 16, NULL, 0));
    finish(c, list);
    submit_and_wait(c, list);
    submit_and_wait(c, list);
    read_buffer(c, buffer, 0, found, 16);
    EQUAL(found, words, 4);
}

static void ranges_past_the_end(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 64), *other = make_buffer(c, 64);
    uint32_t word;

#define REFUSED(status, call)                                               \
    do {                                                                    \
        struct gantry_list *list = make_list(c);                            \
        CHECK((call) == 0, #call " was recorded");                          \
        EXPECT(status, gantry_list_finish(list));                           \
        EXPECT(status, gantry_queue_submit(c->queue, list, NULL, 0, NULL)); \
    } while (0)
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_copy(list, buffer, 61, other, 0, 4));
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_copy(list, buffer, 0, other, 65, 0));
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_fill(list, buffer, 64, 4, 0));
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_fill(list, buffer, 2, 4, 0));
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_fill(list, buffer, 0, 6, 0));
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_upload(list, buffer, 64, &word, 4));
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_download(list, buffer, 63, &word, 2));
    REFUSED(GANTRY_E_INVALID_ARGUMENT, gantry_list_download(list, buffer, 0, NULL, 4));
    REFUSED(GANTRY_E_OVERFLOW, gantry_list_copy(list, buffer, UINT64_MAX - 1, other, 0, 4));
    REFUSED(GANTRY_E_OVERFLOW, gantry_list_upload(list, buffer, 4, &word, UINT64_MAX - 2));
#undef REFUSED
}

/* An upload reads its host memory anew at each submission, a download writes its own at each. */
static void replays_move_anew(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 4096);
    struct gantry_list *list = make_list(c);
    uint32_t in[1024], out[1024];

    RECORD(gantry_list_upload(list, buffer, 0, in, sizeof(in)));
    RECORD(gantry_list_download(list, buffer, 0, out, sizeof(out)));
    finish(c, list);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 1024; i++)
            in[i] = i * round + round;
        submit_and_wait(c, list);
        EQUAL(out, in, 1024);
    }
}

/* Host memory may be changed as soon as the submission's point is reached. */
static void memory_reused_at_once(struct conform *c)
{
    const size_t size = 1 << 20, count = size / 4;
    struct gantry_buffer *buffer = make_buffer(c, size), *copy = make_buffer(c, size);
    uint32_t *in = make_words(c, size), *out = make_words(c, size);
    struct gantry_list *list = make_list(c);

    for (uint32_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < count; i++)
            in[i] = (uint32_t)i ^ round;
        RECORD(gantry_list_upload(list, buffer, 0, in, size));
        submit_and_wait(c, list);
        memset(in, 0xff, size);
        RECORD(gantry_list_copy(list, copy, 0, buffer, 0, size));
        RECORD(gantry_list_download(list, copy, 0, out, size));
        submit_and_wait(c, list);
        for (size_t i = 0; i < count; i++)
            CHECK(out[i] == ((uint32_t)i ^ round), "round %u: word %zu is 0x%x", round, i, out[i]);
        memset(out, 0xff, size);
    }
}

/* A download is in host memory once its point is found reached, and not one moment later. */
static void deliveries_by_poll(struct conform *c)
{
    struct gantry_buffer *buffer = make_buffer(c, 4);

    for (uint32_t round = 1; round <= 50; round++) {
        struct gantry_list *list = make_list(c);
        uint32_t *word = make_words(c, 4);
        struct gantry_point point;
        enum gantry_status status;

        RECORD(gantry_list_fill(list, buffer, 0, 4, round));
        RECORD(gantry_list_download(list, buffer, 0, word, 4));
        point = submit(c, list);
        do {
            status = gantry_poll(point);
        } while (status == GANTRY_NOT_READY);
        CHECK(status == GANTRY_OK, "poll: %s: %s", gantry_status_name(status), gantry_last_error());
        CHECK(*word == round, "the point is reached, but the download holds %u instead of %u",
              *word, round);
        drop_list(c, list);
    }
}

/* More submissions of one list with transfers than it has staging memory for. */
static void many_in_flight(struct conform *c)
{
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    struct gantry_buffer *added = make_buffer(c, 4), *sums = make_buffer(c, 8);
    struct gantry_list *list = make_list(c);
    struct step_args args = {.cells = gantry_buffer_address(sums), .n = 1, .add = 5};
    struct gantry_point points[40];
    uint32_t in = 77, out[2] = {0}, expected[2] = {0, 77};

    RECORD(gantry_list_upload(list, added, 0, &in, 4));
    LAUNCH(list, step, 1, &args);
    RECORD(gantry_list_copy(list, sums, 4, added, 0, 4));
    RECORD(gantry_list_download(list, sums, 0, out, 8));
    finish(c, list);
    for (int i = 0; i < 40; i++) {
        points[i] = submit(c, list);
        expected[0] = expected[0] * 3 + 5;
    }
    for (int i = 0; i < 40; i += 3)
        OK(gantry_wait(points[i], GANTRY_FOREVER));
    EQUAL(out, expected, 2);
}

const struct conform_case copy_cases[] = {
    {"copy/offsets", "C22", offsets},
    {"copy/within-one-buffer", NULL, within_one_buffer},
    {"copy/fills", NULL, fills},
    {"copy/nothing-to-move", "C21", nothing_to_move},
    {"copy/ranges-past-the-end", "C20", ranges_past_the_end},
    {"copy/replays-move-anew", NULL, replays_move_anew},
    {"copy/memory-reused-at-once", "C37", memory_reused_at_once},
    {"copy/deliveries-by-poll", "C37", deliveries_by_poll},
    {"copy/many-in-flight", "C35", many_in_flight},
    {0},
};
