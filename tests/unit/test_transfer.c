/* core/rect.c, host_copy.c, record_memory.c, record_transfer.c, host_register.c: rectangles, memory
 * of the caller's, and device memory that the host writes. */
#include "unit.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/direct.h"
#include "core/host_copy.h"
#include "core/host_register.h"
#include "core/queue.h"
#include "core/rect.h"
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

static uint8_t *pattern(size_t size, uint32_t seed)
{
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((i * 2654435761u + seed) >> 13);
    return bytes;
}

static uint64_t allocations(void)
{
    struct gantry_queue_stats stats;

    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    return stats.allocations;
}

static uint8_t *contents(struct gantry_buffer *buffer)
{
    return (uint8_t *)(uintptr_t)gantry_buffer_address(buffer);
}

/* ---- What rectangles mean ------------------------------------------------------------------- */

static void test_reading(void **state)
{
    static const struct {
        struct gantry_rect given;
        struct rect expected;
    } rows[] = {
        {{0, 5, 1, 1}, {.rows = 1}},
        {{7, 0, 0, 0}, {.rows = 1}},
        {{7, 1, 0, 9}, {7, 1, 7, 9}},
        {{7, 3, 0, 9}, {7, 3, 7, 9}},
        {{7, 3, 8, 9}, {7, 3, 8, 9}},
        {{7, 3, 0, 0}, {.size = 21, .rows = 1}},
        {{7, 3, 7, 7}, {.size = 21, .rows = 1}},
        {{1, 2, UINT64_MAX - 1, 1}, {1, 2, UINT64_MAX - 1, 1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rect rect;

        assert_int_equal(rect_read(&rows[i].given, "test", &rect), GANTRY_OK);
        assert_memory_equal(&rect, &rows[i].expected, sizeof(rect));
    }
}

static void test_refusals(void **state)
{
    static const struct {
        struct gantry_rect given;
        enum gantry_status status;
        const char *text;
    } rows[] = {
        {{7, 2, 6, 0}, GANTRY_E_INVALID_ARGUMENT, "to_pitch must be 0 or at least width"},
        {{7, 2, 0, 1}, GANTRY_E_INVALID_ARGUMENT, "from_pitch must be 0 or at least width"},
        {{UINT64_MAX, 2, 0, 0}, GANTRY_E_OVERFLOW, "exceed 64 bits"},
        {{2, 2, UINT64_MAX - 1, 2}, GANTRY_E_OVERFLOW, "by to_pitch"},
        {{2, UINT64_MAX, 2, 3}, GANTRY_E_OVERFLOW, "exceed 64 bits"},
    };
    struct rect rect;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(rect_read(&rows[i].given, "test", &rect), rows[i].status);
        assert_contains(gantry_last_error(), rows[i].text);
    }
    assert_int_equal(rect_read(NULL, "test", &rect), GANTRY_E_INVALID_ARGUMENT);
}

static enum gantry_status copy_within(struct gantry_buffer *buffer, uint64_t to, uint64_t from,
                                      struct gantry_rect rect)
{
    struct gantry_list *list = fake_list(fake);
    uint32_t id = gantry_list_copy_rect(list, buffer, to, buffer, from, &rect);
    enum gantry_status status = gantry_list_finish(list);

    assert_int_equal(id != 0, status == GANTRY_OK);
    gantry_list_destroy(&list);
    return status;
}

/* Whether two sides of one buffer share a byte, asked byte by byte. */
static bool share(uint64_t to, uint64_t from, struct gantry_rect rect)
{
    uint8_t taken[256] = {0};

    for (uint64_t row = 0; row < rect.rows; row++)
        for (uint64_t i = 0; i < rect.width; i++)
            taken[from + row * rect.from_pitch + i] = 1;
    for (uint64_t row = 0; row < rect.rows; row++)
        for (uint64_t i = 0; i < rect.width; i++)
            if (taken[to + row * rect.to_pitch + i])
                return true;
    return false;
}

/* With one pitch exactly those are refused that share a byte; with two also some that don't. */
static void test_sides_within_one_buffer(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, 256);

    (void)state;
    for (uint64_t width = 1; width <= 5; width++) {
        for (uint64_t to = 0; to < 60; to++) {
            struct gantry_rect rect = {width, 4, 10, 10};
            bool fine = copy_within(buffer, to, 23, rect) == GANTRY_OK;

            assert_int_equal(fine, !share(to, 23, rect));
            rect.from_pitch = 9;
            assert_true(copy_within(buffer, to, 23, rect) != GANTRY_OK || !share(to, 23, rect));
        }
    }
    assert_int_equal(copy_within(buffer, 0, 40, (struct gantry_rect){4, 4, 12, 16}), GANTRY_OK);
    assert_int_equal(copy_within(buffer, 0, 39, (struct gantry_rect){4, 4, 12, 16}),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "overlap; copy through another buffer");
    gantry_buffer_destroy(&buffer);
}

static void test_ends_of_buffers(void **state)
{
    struct gantry_buffer *a = fake_buffer(fake, 100), *b = fake_buffer(fake, 100);
    struct gantry_rect rect = {10, 4, 30, 20};
    uint8_t host[200];

    (void)state;
    fake->complete_in_wait = true;
    assert_int_equal(gantry_queue_copy_rect(queue, a, 0, b, 30, &rect, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_copy_rect(queue, a, 1, b, 30, &rect, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_copy_rect(queue, a, 0, b, 31, &rect, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_copy_rect(queue, a, UINT64_MAX - 50, b, 30, &rect, NULL),
                     GANTRY_E_OVERFLOW);
    assert_int_equal(gantry_queue_copy_rect(queue, a, 0, b, 0, NULL, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_upload_rect(queue, a, 1, host, &rect, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_download_rect(queue, a, 41, host, &rect, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_queue_upload_rect(queue, a, 0, NULL, &rect, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    rect.rows = 0;
    assert_int_equal(gantry_queue_upload_rect(queue, a, 100, NULL, &rect, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_download_rect(queue, a, 100, NULL, &rect, NULL), GANTRY_OK);
    gantry_buffer_destroy(&a);
    gantry_buffer_destroy(&b);
}

/* ---- Moving them ---------------------------------------------------------------------------- */

static void check_rows(const uint8_t *to, const uint8_t *from, const struct gantry_rect *rect)
{
    for (uint64_t row = 0; row < rect->rows; row++)
        assert_memory_equal(to + row * rect->to_pitch, from + row * rect->from_pitch, rect->width);
}

static void check_gaps(const uint8_t *to, const struct gantry_rect *rect, uint8_t value)
{
    for (uint64_t row = 0; row + 1 < rect->rows; row++)
        for (uint64_t i = rect->width; i < rect->to_pitch; i++)
            assert_int_equal(to[row * rect->to_pitch + i], value);
}

enum { MIB = 1 << 20 };

/* Through a staging memory of 1 MiB: rows that are smaller than its pieces, as large, larger. */
static void test_streamed(void **state)
{
    static const struct gantry_rect rects[] = {{3, 5, 7, 4},
                                               {1, 300000, 2, 3},
                                               {1000, 3000, 1000, 1111},
                                               {MIB / 4, 9, MIB / 4 + 5, MIB / 4},
                                               {MIB / 4 + 1, 5, MIB / 4 + 1, MIB / 4 + 9},
                                               {3 * MIB, 2, 3 * MIB + 1, 3 * MIB + 2}};

    (void)state;
    fake->complete_in_wait = true;
    for (size_t i = 0; i < sizeof(rects) / sizeof(rects[0]); i++) {
        const struct gantry_rect up = rects[i];
        const struct gantry_rect down = {up.width, up.rows, up.from_pitch, up.to_pitch};
        size_t device = up.rows * up.to_pitch, host = up.rows * up.from_pitch;
        struct gantry_buffer *buffer = fake_buffer(fake, device);
        uint8_t *sent = pattern(host, (uint32_t)i), *back = malloc(host);
        struct gantry_point point;

        assert_non_null(back);
        memset(back, 0xee, host);
        memset(contents(buffer), 0xdd, device);
        assert_int_equal(gantry_queue_upload_rect(queue, buffer, 0, sent, &up, NULL), GANTRY_OK);
        assert_int_equal(gantry_queue_download_rect(queue, buffer, 0, back, &down, &point),
                         GANTRY_OK);
        assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
        check_rows(contents(buffer), sent, &up);
        check_gaps(contents(buffer), &up, 0xdd);
        check_rows(back, contents(buffer), &down);
        check_gaps(back, &down, 0xee);
        free(sent);
        free(back);
        gantry_buffer_destroy(&buffer);
    }
}

/* In lists rows lie densely in staging memory. */
static void test_listed(void **state)
{
    struct gantry_buffer *a = fake_buffer(fake, 1000), *b = fake_buffer(fake, 1000);
    struct gantry_rect up = {10, 20, 50, 12}, across = {10, 20, 33, 50}, down = {10, 20, 11, 33};
    uint8_t *sent = pattern(240, 1), back[220] = {0};
    struct gantry_list *list = fake_list(fake);
    struct gantry_point point;

    (void)state;
    fake->complete_in_wait = true;
    assert_int_not_equal(gantry_list_upload_rect(list, a, 3, sent, &up), 0);
    assert_int_not_equal(gantry_list_copy_rect(list, b, 5, a, 3, &across), 0);
    assert_int_not_equal(gantry_list_download_rect(list, b, 5, back, &down), 0);
    assert_int_equal(list->upload_size, 256);
    assert_int_equal(list->readback_size, 256);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    check_rows(contents(a) + 3, sent, &up);
    check_rows(contents(b) + 5, contents(a) + 3, &across);
    check_rows(back, contents(b) + 5, &down);
    gantry_list_destroy(&list);
    free(sent);
    gantry_buffer_destroy(&a);
    gantry_buffer_destroy(&b);
}

static void test_host_copy(void **state)
{
    static const size_t sizes[] = {0, 1, 4095, 262143, 262144, 262145, 300001, 32768 * 9 + 63};
    uint8_t *from = pattern(400000, 3), *to = malloc(400000);

    (void)state;
    assert_non_null(to);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t shift = 0; shift < 70; shift += 7) {
            struct host_copy copy = {.to = to + shift,
                                     .from = from + 3 * shift,
                                     .size = sizes[i],
                                     .rows = 1};

            memset(to, 0, 400000);
            host_copy(&copy);
            assert_memory_equal(to + shift, from + 3 * shift, sizes[i]);
            assert_int_equal(to[shift + sizes[i]], 0);
            assert_true(shift == 0 || to[shift - 1] == 0);
        }
    free(from);
    free(to);
}

/* ---- Pieces go out as they are staged ------------------------------------------------------- */

static void test_pieces_go_out_at_once(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, 2 * MIB);
    uint8_t *sent = pattern(2 * MIB, 9), word = 1;
    struct gantry_queue_stats stats;

    (void)state;
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, &word, 1, NULL), GANTRY_OK);
    atomic_store(&queue->stream.meter.launch, 1);
    queue->stream.hurried = true;
    queue->stream.send_ns = UINT64_MAX;
    /* Of the four pieces of staging memory the first is taken in part. */
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, sent, 3 * MIB / 4, NULL), GANTRY_OK);
    assert_int_equal(fake->submissions, 4);
    assert_int_equal(queue->stream.batch->command_count, 0);
    fake->complete_in_wait = true;
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, sent, 2 * MIB, NULL), GANTRY_OK);
    assert_int_equal(gantry_queue_stats(queue, &stats), GANTRY_OK);
    assert_in_range(stats.batches[GANTRY_BATCH_FULL], 11, 13);
    free(sent);
    gantry_buffer_destroy(&buffer);
}

/* The host copies the oldest piece of a download out while later ones are still on their way, and
 * leaves the later ones where they are. */
static void test_downloads_are_delivered_one_by_one(void **state)
{
    struct gantry_buffer *buffer = fake_buffer(fake, MIB);
    uint8_t *back = calloc(1, MIB);
    struct gantry_point point;

    (void)state;
    assert_non_null(back);
    memset(contents(buffer), 7, MIB);
    assert_int_equal(gantry_queue_download(queue, buffer, 0, back, MIB, &point), GANTRY_OK);
    assert_int_equal(fake->submissions, 4);
    assert_int_equal(point.value, 4);
    fake_complete(queue, 3);
    assert_int_equal(gantry_poll((struct gantry_point){queue, 1}), GANTRY_OK);
    assert_int_equal(back[MIB / 4 - 1], 7);
    assert_int_equal(back[MIB / 4], 0);
    assert_int_equal(gantry_poll(point), GANTRY_NOT_READY);
    fake_complete(queue, 4);
    assert_int_equal(gantry_poll(point), GANTRY_OK);
    assert_int_equal(back[MIB / 4], 7);
    assert_int_equal(back[MIB - 1], 7);
    free(back);
    gantry_buffer_destroy(&buffer);
}

/* ---- Registered memory ---------------------------------------------------------------------- */

static struct gantry_buffer *registered(void *pointer, uint64_t size)
{
    struct gantry_host_params params = {.pointer = pointer, .size = size, .label = "mine"};
    struct gantry_buffer *buffer;

    assert_int_equal(gantry_host_register(&fake->device, &params, &buffer), GANTRY_OK);
    return buffer;
}

static enum gantry_status try_register(void *pointer, uint64_t size)
{
    struct gantry_host_params params = {.pointer = pointer, .size = size};
    struct gantry_buffer *buffer = (struct gantry_buffer *)1;
    enum gantry_status status = gantry_host_register(&fake->device, &params, &buffer);

    assert_null(buffer);
    return status;
}

static void test_register(void **state)
{
    static uint8_t memory[4096];
    struct gantry_buffer *buffer = registered(memory + 1, 1001);

    (void)state;
    assert_int_equal(gantry_buffer_size(buffer), 1001);
    assert_ptr_equal(gantry_buffer_host(buffer), memory + 1);
    assert_int_equal(gantry_buffer_address(buffer), (uintptr_t)memory + 1);
    gantry_buffer_destroy(&buffer);
    assert_int_equal(try_register(NULL, 4), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(try_register(memory, 0), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(try_register(memory, UINT64_MAX), GANTRY_E_OVERFLOW);
    assert_int_equal(try_register(memory, (UINT64_C(1) << 30) + 1), GANTRY_E_LIMIT);
    assert_int_equal(gantry_host_register(&fake->device, NULL, &buffer), GANTRY_E_INVALID_ARGUMENT);
    fake->fail_register = GANTRY_E_UNSUPPORTED;
    assert_int_equal(try_register(memory, 4096), GANTRY_E_UNSUPPORTED);
    assert_contains(gantry_last_error(), "gantry_host_register: 4096 bytes at");
}

static void test_no_two_share_a_byte(void **state)
{
    static uint8_t memory[100];
    struct gantry_buffer *low = registered(memory + 10, 20), *high = registered(memory + 50, 20);
    struct gantry_buffer *between;

    (void)state;
    assert_int_equal(try_register(memory + 29, 1), GANTRY_E_INVALID_STATE);
    assert_contains(gantry_last_error(), "in the registered buffer \"mine\" already");
    assert_int_equal(try_register(memory, 11), GANTRY_E_INVALID_STATE);
    assert_int_equal(try_register(memory + 30, 21), GANTRY_E_INVALID_STATE);
    assert_int_equal(try_register(memory, 100), GANTRY_E_INVALID_STATE);
    between = registered(memory + 30, 20);
    gantry_buffer_destroy(&low);
    low = registered(memory, 30);
    gantry_buffer_destroy(&between);
    gantry_buffer_destroy(&low);
    gantry_buffer_destroy(&high);
}

static void test_found_by_address(void **state)
{
    enum { COUNT = 40 };
    static uint8_t memory[COUNT * 10];
    struct gantry_buffer *buffers[COUNT], *found;
    uint64_t offset;

    (void)state;
    for (int i = 0; i < COUNT; i++) /* in an order that is none */
        buffers[i * 7 % COUNT] = registered(memory + i * 7 % COUNT * 10, 9);
    for (int i = 0; i < COUNT * 10; i++) {
        found = registered_find(&fake->device, memory + i, 1, &offset);
        assert_ptr_equal(found, i % 10 < 9 ? buffers[i / 10] : NULL);
        if (found) {
            assert_int_equal(offset, i % 10);
            buffer_unref(found);
        }
        assert_null(registered_find(&fake->device, memory + i, 10, &offset));
    }
    for (int i = 0; i < COUNT; i++)
        gantry_buffer_destroy(&buffers[i * 11 % COUNT]);
    assert_null(registered_find(&fake->device, memory, 1, &offset));
}

/* Lists copy to and from it without staging, read it at each submission, and hold it. */
static void test_listed_without_staging(void **state)
{
    static uint32_t in[16], out[16];
    struct gantry_buffer *from = registered(in, sizeof(in)), *to = registered(out, sizeof(out));
    struct gantry_buffer *buffer = fake_buffer(fake, 64);
    struct gantry_rect rect = {8, 2, 16, 24};
    struct gantry_list *list = fake_list(fake);
    struct gantry_point point;

    (void)state;
    fake->complete_in_wait = true;
    gantry_list_upload(list, buffer, 0, in, 64);
    gantry_list_upload_rect(list, buffer, 0, in + 4, &rect);
    gantry_list_download(list, buffer, 4, out + 1, 60);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(list->upload_size + list->readback_size, 0);
    assert_int_equal(list->transfer_count, 0);
    for (uint32_t round = 1; round <= 3; round++) {
        for (uint32_t i = 0; i < 16; i++)
            in[i] = round * 100 + i;
        assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
        assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
        assert_int_equal(out[1], round * 100 + 5);
        assert_int_equal(out[2], round * 100 + 2);
        assert_int_equal(out[4], round * 100 + 10);
        assert_int_equal(out[15], round * 100 + 15);
    }
    gantry_buffer_destroy(&from);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_E_INVALID_STATE);
    assert_contains(gantry_last_error(), "buffer \"mine\", which was destroyed");
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&to);
    gantry_buffer_destroy(&buffer);
}

/* A buffer's own bytes go through staging, where sides may meet. */
static void test_onto_itself(void **state)
{
    static uint8_t memory[64];
    struct gantry_buffer *buffer = registered(memory, sizeof(memory));
    struct gantry_point point;

    (void)state;
    fake->complete_in_wait = true;
    for (int i = 0; i < 64; i++)
        memory[i] = (uint8_t)i;
    assert_int_equal(gantry_queue_upload(queue, buffer, 1, memory, 63, &point), GANTRY_OK);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    for (int i = 1; i < 64; i++)
        assert_int_equal(memory[i], i - 1);
    gantry_buffer_destroy(&buffer);
}

/* Downloads need no delivery; uploads are staged, or waited for when they are too large. */
static void test_streamed_without_staging(void **state)
{
    uint8_t *memory = pattern(2 * MIB, 5), *copy = pattern(2 * MIB, 5);
    struct gantry_buffer *host = registered(memory, 2 * MIB), *buffer = fake_buffer(fake, 2 * MIB);
    struct gantry_point point;

    (void)state;
    fake->complete_in_wait = true;
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, memory, 2 * MIB, NULL), GANTRY_OK);
    assert_int_equal(fake->submissions, 1);
    assert_int_equal(allocations(), 0);
    memset(memory, 0, 2 * MIB);
    assert_memory_equal(contents(buffer), copy, 2 * MIB);
    assert_int_equal(gantry_queue_download(queue, buffer, 1, memory, 2 * MIB - 1, &point),
                     GANTRY_OK);
    assert_int_equal(queue->delivery_count, 0);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    assert_memory_equal(memory, copy + 1, 2 * MIB - 1);
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, memory, 4, &point), GANTRY_OK);
    memset(memory, 0, 4);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    assert_memory_equal(contents(buffer), copy + 1, 4);
    gantry_buffer_destroy(&buffer);
    gantry_buffer_destroy(&host);
    free(memory);
    free(copy);
}

/* The memory is the caller's alone when destroying it returns, be the batch open or the list alive.
 */
static void test_destroy_waits(void **state)
{
    uint8_t *memory = calloc(1, 64);
    struct gantry_buffer *host = registered(memory, 64), *buffer = fake_buffer(fake, 64);
    struct gantry_list *list = fake_list(fake);

    (void)state;
    assert_non_null(memory);
    memset(contents(buffer), 9, 64);
    gantry_list_download(list, buffer, 0, memory, 32);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), GANTRY_OK);
    gantry_list_download(list, buffer, 0, memory, 32);
    assert_int_equal(gantry_queue_download(queue, buffer, 0, memory + 32, 32, NULL), GANTRY_OK);
    assert_int_equal(memory[0], 0);
    fake->complete_after_looks = 3;
    gantry_buffer_destroy(&host);
    assert_int_equal(fake->memories, 1);
    assert_int_equal(memory[0], 9);
    assert_int_equal(memory[63], 9);
    free(memory);
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&buffer);
}

/* ---- Written by the host -------------------------------------------------------------------- */

static void test_direct(void **state)
{
    struct gantry_rect rect = {2, 3, 10, 3};
    uint8_t *sent = pattern(MIB, 4);
    struct gantry_buffer *buffer;
    struct gantry_point point;

    (void)state;
    fake->direct = true;
    buffer = fake_buffer(fake, MIB);
    memset(contents(buffer), 0, MIB);
    assert_int_equal(gantry_queue_upload(queue, buffer, 5, sent, 100, &point), GANTRY_OK);
    assert_int_equal(gantry_queue_upload_rect(queue, buffer, 200, sent, &rect, &point), GANTRY_OK);
    assert_int_equal(fake->submissions, 0);
    assert_int_equal(point.value, 0);
    assert_memory_equal(contents(buffer) + 5, sent, 100);
    assert_memory_equal(contents(buffer) + 220, sent + 6, 2);
    assert_int_equal(contents(buffer)[202], 0);

    /* More than DIRECT_MOST goes through staging, unless the host shares the memory. */
    fake->complete_in_wait = true;
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, sent, DIRECT_MOST + 1, &point),
                     GANTRY_OK);
    assert_int_equal(fake->submissions, 1);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    fake->device.info.type = GANTRY_DEVICE_INTEGRATED;
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, sent, MIB, &point), GANTRY_OK);
    assert_int_equal(fake->submissions, 1);
    assert_memory_equal(contents(buffer), sent, MIB);
    free(sent);
    gantry_buffer_destroy(&buffer);
}

/* Never past work of the queue that may use the memory. */
static void test_direct_keeps_order(void **state)
{
    struct gantry_buffer *buffer;
    uint32_t word = 5;
    struct gantry_point point;

    (void)state;
    fake->direct = true;
    buffer = fake_buffer(fake, 64);
    assert_int_equal(gantry_queue_fill(queue, buffer, 0, 64, 1, NULL), GANTRY_OK); /* in flight */
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, &word, 4, NULL), GANTRY_OK);
    fake_complete(queue, 1);
    assert_int_equal(contents(buffer)[0], 1);
    word = 6;
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, &word, 4, &point), GANTRY_OK); /* open */
    assert_int_equal(contents(buffer)[0], 1);
    fake->complete_in_wait = true;
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    assert_int_equal(contents(buffer)[0], 6);
    gantry_buffer_destroy(&buffer);
}

static void test_zeros_by_the_host(void **state)
{
    struct gantry_buffer_params params = {.size = 1001, .zero = true};
    struct gantry_buffer *buffer;

    (void)state;
    fake->direct = true;
    assert_int_equal(gantry_buffer_create(&fake->device, &params, &buffer), GANTRY_OK);
    assert_int_equal(fake->submissions, 0);
    for (int i = 0; i < 1001; i++)
        assert_int_equal(contents(buffer)[i], 0);
    gantry_buffer_destroy(&buffer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_queue, close_queue)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reading),
        TEST(test_refusals),
        TEST(test_sides_within_one_buffer),
        TEST(test_ends_of_buffers),
        TEST(test_streamed),
        TEST(test_listed),
        TEST(test_host_copy),
        TEST(test_pieces_go_out_at_once),
        TEST(test_downloads_are_delivered_one_by_one),
        TEST(test_register),
        TEST(test_no_two_share_a_byte),
        TEST(test_found_by_address),
        TEST(test_listed_without_staging),
        TEST(test_onto_itself),
        TEST(test_streamed_without_staging),
        TEST(test_destroy_waits),
        TEST(test_direct),
        TEST(test_direct_keeps_order),
        TEST(test_zeros_by_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
