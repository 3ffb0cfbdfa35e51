/* Blocks of memory, the caller's own memory, copies and fills. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static void addresses_are_aligned(void **state)
{
    static const uint64_t sizes[] = {1, 4, 255, 256, 4097, 1 << 20};

    (void)state;
    for (int kind = GANTRY_MEMORY_DEVICE; kind <= GANTRY_MEMORY_READBACK; kind++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct gantry_drv_memory memory = rig_memory(kind, sizes[i]);
            assert_true(memory.address != 0 && memory.address % 256 == 0);
            assert_true(memory.size >= sizes[i] && memory.size % 4 == 0);
            assert_int_equal(memory.kind, kind);
            assert_int_equal(memory.host != NULL, kind != GANTRY_MEMORY_DEVICE);
            assert_true(kind == GANTRY_MEMORY_DEVICE || !memory.direct);
            if (memory.direct)
                memset(memory.direct, 0xab, memory.size);
            if (memory.host)
                memset(memory.host, 0xab, memory.size);
            rig_free(&memory);
        }
}

/* C24: a request that can't be met says so with numbers, and nothing is broken afterwards. */
static void too_much_is_refused(void **state)
{
    uint64_t size = rig.info.limits.memory_size + 4096;
    struct gantry_drv_memory memory;
    long before = rig_live();

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_error(rig.ops->memory_allocate(rig.device, GANTRY_MEMORY_DEVICE, size, &memory),
                     GANTRY_E_OUT_OF_MEMORY, "bytes were asked for");
    assert_int_equal(rig_live(), before);
    memory = rig_memory(GANTRY_MEMORY_DEVICE, 1024);
    rig_free(&memory);
}

static void free_memory_is_told(void **state)
{
    uint64_t available = 0, total = 0;
    enum gantry_status status = rig.ops->device_memory(rig.device, &available, &total);

    (void)state;
    if (status == GANTRY_OK)
        assert_true(available <= total && total == rig.info.limits.memory_size);
    else
        assert_int_equal(status, GANTRY_E_UNSUPPORTED);
}

/* Up, across, filled in the middle, down; on the family for transfers. */
static void bytes_travel(void **state)
{
    enum { SIZE = 1000 };
    struct gantry_drv_memory up = rig_memory(GANTRY_MEMORY_UPLOAD, SIZE);
    struct gantry_drv_memory there = rig_memory(GANTRY_MEMORY_DEVICE, SIZE);
    struct gantry_drv_memory down = rig_memory(GANTRY_MEMORY_READBACK, SIZE);
    struct gantry_op ops[] = {
        op_copy(0, &there, &up, SIZE - 3),
        op_fill(1, &there, 100, 200, 0x01020304),
        op_copy(2, &down, &there, SIZE - 3),
    };
    struct gantry_plan plan = plan_of(ops, 3);
    uint8_t expected[SIZE];
    struct line line;

    (void)state;
    for (int i = 0; i < SIZE; i++)
        expected[i] = ((uint8_t *)up.host)[i] = (uint8_t)(i * 7);
    for (int i = 100; i < 300; i++)
        expected[i] = (uint8_t)(4 - i % 4);
    line_open(&line, GANTRY_QUEUE_TRANSFER);
    line_once(&line, &plan);
    line_wait(&line);
    assert_memory_equal(down.host, expected, SIZE - 3);
    line_close(&line);
    rig_free(&up);
    rig_free(&there);
    rig_free(&down);
}

/* C22: any offset is as good as any other, to kernels and to copies. */
static void kernels_reach_any_word(void **state)
{
    enum { WORDS = 64, SIZE = WORDS * 4 };
    static const uint32_t words[] = {0, 1, 4, 21, WORDS - 1};
    struct gantry_drv_memory memory = rig_memory(GANTRY_MEMORY_READBACK, SIZE);
    struct gantry_drv_kernel *kernel = rig_kernel(GANTRY_ENTRY_DIRECT);
    uint32_t expected[WORDS] = {0};
    struct line line;

    (void)state;
    memset(memory.host, 0, SIZE);
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        gantry_ptr word = memory.address + words[i] * 4;
        struct step_args args = {word, word, 1, i + 1, 1, 0};
        struct gantry_op op = op_step(0, kernel, &args);
        struct gantry_plan plan = plan_of(&op, 1);
        line_once(&line, &plan);
        expected[words[i]] = i + 1;
    }
    line_wait(&line);
    assert_memory_equal(memory.host, expected, SIZE);
    line_close(&line);
    rig.ops->kernel_destroy(rig.device, kernel);
    rig_free(&memory);
}

/* ---- Rectangles ----------------------------------------------------------------------------- */

struct rectangle {
    uint64_t to, from, size, rows, to_pitch, from_pitch;
};

static void copy_on_host(uint8_t *to, const uint8_t *from, const struct rectangle *r)
{
    for (uint64_t row = 0; row < r->rows; row++)
        memcpy(to + r->to + row * r->to_pitch, from + r->from + row * r->from_pitch, r->size);
}

/* Both ways of submitting, against a loop over memcpy. */
static void rectangles_travel(void **state)
{
    enum { SIZE = 100000 };
    static const struct rectangle rectangles[] = {
        {3, 5, 7, 11, 13, 17},    {0, 0, 64, 300, 64, 100}, {1, 0, 33, 1000, 70, 33},
        {10, 20, 50, 40, 50, 50}, {0, 9, 1, 50000, 2, 1},
    };
    struct gantry_drv_memory from = rig_memory(GANTRY_MEMORY_UPLOAD, SIZE);
    struct gantry_drv_memory to = rig_memory(GANTRY_MEMORY_READBACK, SIZE);
    uint8_t *expected = test_malloc(SIZE);
    struct line line;

    (void)state;
    for (uint32_t i = 0; i < SIZE; i++)
        ((uint8_t *)from.host)[i] = (uint8_t)(i * 7 + i / 256);
    line_open(&line, GANTRY_QUEUE_TRANSFER);
    for (size_t i = 0; i < 2 * sizeof(rectangles) / sizeof(rectangles[0]); i++) {
        const struct rectangle *r = &rectangles[i / 2];
        struct gantry_op op = op_copy(0, &to, &from, r->size);
        struct gantry_plan plan = plan_of(&op, 1);
        struct gantry_drv_plan *built = NULL;
        op.copy = (struct gantry_op_copy){&to,     &from,   r->to,       r->from,
                                          r->size, r->rows, r->to_pitch, r->from_pitch};
        memset(to.host, 0xcd, SIZE);
        memset(expected, 0xcd, SIZE);
        copy_on_host(expected, from.host, r);
        if (i % 2 == 0)
            line_once(&line, &plan);
        else
            line_submit(&line, built = built_of(&op, 1));
        line_wait(&line);
        assert_memory_equal(to.host, expected, SIZE);
        if (built)
            rig.ops->plan_destroy(built);
    }
    line_close(&line);
    test_free(expected);
    rig_free(&from);
    rig_free(&to);
}

/* ---- Memory that the host shares ------------------------------------------------------------ */

/* Written by the host where kernels read it, with nothing between but the submission. */
static void direct_writes_are_seen(void **state)
{
    enum { COUNT = 1000, ROUNDS = 10 };
    struct gantry_drv_memory from = rig_memory(GANTRY_MEMORY_DEVICE, COUNT * 4);
    struct gantry_drv_memory to = rig_memory(GANTRY_MEMORY_READBACK, COUNT * 4);
    struct gantry_op op = op_copy(0, &to, &from, COUNT * 4);
    struct gantry_drv_plan *built;
    uint32_t words[COUNT];
    struct line line;

    (void)state;
    if (!from.direct) {
        rig_free(&from);
        rig_free(&to);
        print_message("skipped: the host can't write the memory of %s\n", rig.info.name);
        skip();
    }
    built = built_of(&op, 1);
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            words[i] = i * round + 1;
        memcpy(from.direct, words, sizeof(words));
        line_submit(&line, built);
        line_wait(&line);
        assert_memory_equal(to.host, words, sizeof(words));
    }
    line_close(&line);
    rig.ops->plan_destroy(built);
    rig_free(&from);
    rig_free(&to);
}

/* Registers or skips; what can't be had says why, and leaves nothing. */
static struct gantry_drv_memory register_or_skip(void *pointer, uint64_t size)
{
    struct gantry_drv_memory memory;
    long before = rig_live();
    enum gantry_status status = rig.ops->memory_register(rig.device, pointer, size, &memory);

    if (status != GANTRY_OK) {
        assert_int_equal(status, GANTRY_E_UNSUPPORTED);
        assert_non_null(strstr(rig_error(), "can't take memory of the program: "));
        assert_int_equal(rig_live(), before);
        print_message("skipped: %s\n", rig_error());
        skip();
    }
    assert_ptr_equal(memory.host, pointer);
    assert_int_equal(memory.kind, GANTRY_MEMORY_REGISTERED);
    assert_true(memory.size >= size && memory.address != 0);
    return memory;
}

/* At any place in its pages, which hold other things too: read by a copy, written by a copy and by
 * a kernel. */
static void callers_memory_is_used_in_place(void **state)
{
    enum { PAGES = 5 * 4096, COUNT = 1000, SIZE = COUNT * 4 };
    static const uint32_t offsets[] = {0, 4, 4092, 4096, 5000};
    struct gantry_drv_memory there = rig_memory(GANTRY_MEMORY_DEVICE, SIZE);
    struct gantry_drv_kernel *kernel = rig_kernel(GANTRY_ENTRY_DIRECT);
    uint8_t *pages = aligned_alloc(4096, PAGES);
    struct line line;

    (void)state;
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        uint32_t *words = (uint32_t *)(void *)(pages + offsets[i]);
        struct gantry_drv_memory own = register_or_skip(words, SIZE);
        struct step_args args = {there.address, own.address, 3, 1, COUNT - 1, 0};
        struct gantry_op ops[] = {op_copy(0, &there, &own, SIZE), op_step(1, kernel, &args),
                                  op_copy(2, &own, &there, 4)};
        struct gantry_plan plan = plan_of(ops, 3);
        ops[2].copy.to_offset = SIZE - 4;
        memset(pages, 0xee, PAGES);
        for (uint32_t word = 0; word < COUNT; word++)
            words[word] = word + 7;
        line_once(&line, &plan);
        line_wait(&line);
        for (uint32_t word = 0; word < COUNT - 1; word++)
            assert_int_equal(words[word], 3 * (word + 7) + 1);
        assert_int_equal(words[COUNT - 1], 7);
        for (uint32_t byte = 0; byte < PAGES; byte++)
            assert_true(pages[byte] == 0xee || (byte >= offsets[i] && byte - offsets[i] < SIZE));
        rig_free(&own);
    }
    line_close(&line);
    free(pages);
    rig.ops->kernel_destroy(rig.device, kernel);
    rig_free(&there);
}

/* Bytes of any number at any place; two ranges may share a page. */
static void odd_ranges_are_registered(void **state)
{
    uint8_t *pages = aligned_alloc(4096, 2 * 4096);
    struct gantry_drv_memory first = register_or_skip(pages + 1, 4093);
    struct gantry_drv_memory second = register_or_skip(pages + 4095, 3);
    struct gantry_op op = op_copy(0, &second, &first, 3);
    struct gantry_plan plan = plan_of(&op, 1);
    struct line line;

    (void)state;
    memset(pages, 0, 2 * 4096);
    memcpy(pages + 1 + 4090, "abc", 3);
    op.copy.from_offset = 4090;
    line_open(&line, GANTRY_QUEUE_TRANSFER);
    line_once(&line, &plan);
    line_close(&line);
    assert_memory_equal(pages + 4091, "abc\0abc\0", 8);
    rig_free(&first);
    rig_free(&second);
    free(pages);
}

int run_memory_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_aligned),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(free_memory_is_told),
        cmocka_unit_test(bytes_travel),
        cmocka_unit_test(kernels_reach_any_word),
        cmocka_unit_test(rectangles_travel),
        cmocka_unit_test(direct_writes_are_seen),
        cmocka_unit_test(callers_memory_is_used_in_place),
        cmocka_unit_test(odd_ranges_are_registered),
    };

    return cmocka_run_group_tests(tests, rig_setup_device, rig_teardown_device);
}
