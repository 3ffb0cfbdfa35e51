/* The ring that tables and patches of submissions lie in, and the places of built plans' tables. */
#include "machine.h"

/* ---- The ring ------------------------------------------------------------------------------- */

static struct ring ring_of(uint64_t size)
{
    return (struct ring){.size = size, .place.span = {.address = 0x10000, .offset = 64}};
}

static void slices_follow_each_other(void **state)
{
    struct ring ring = ring_of(1024);
    struct slice slices[4], none;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(ring_take(&ring, 200 + i, &slices[i]));
        assert_int_equal(slices[i].span.address, 0x10000 + 256 * i);
        assert_int_equal(slices[i].span.offset, 64 + 256 * i);
    }
    assert_false(ring_take(&ring, 1, &none));
    ring_give(&ring, &slices[0]);
    assert_false(ring_take(&ring, 257, &none));
    assert_true(ring_take(&ring, 256, &slices[0]));
    assert_int_equal(slices[0].span.address, 0x10000);
}

static void no_slice_spans_the_end(void **state)
{
    struct ring ring = ring_of(1024);
    struct slice first, second, third;

    (void)state;
    assert_true(ring_take(&ring, 512, &first));
    assert_true(ring_take(&ring, 256, &second));
    assert_false(ring_take(&ring, 512, &third));
    ring_give(&ring, &first);
    assert_true(ring_take(&ring, 512, &third));
    assert_int_equal(third.span.address, 0x10000);
    ring_give(&ring, &second);
    ring_give(&ring, &third);
    assert_true(ring_take(&ring, 1024, &first)); /* all of it, wherever the last one ended */
}

static void untaken_slices_leave_no_trace(void **state)
{
    struct ring ring = ring_of(1024);
    struct slice first, second;

    (void)state;
    assert_true(ring_take(&ring, 256, &first));
    assert_true(ring_take(&ring, 768, &second));
    ring_untake(&ring, &second);
    assert_true(ring_take(&ring, 768, &second));
    assert_int_equal(second.span.address, 0x10100);
    assert_false(ring_take(&ring, 2000, &second));
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Any order of sizes: live slices are apart, and inside the ring. */
static void live_slices_are_apart(void **state)
{
    enum { LIVE = 16, SIZE = 4096 };
    struct ring ring = ring_of(SIZE);
    struct slice slices[LIVE];
    bool used[SIZE / BLOCK_ALIGNMENT] = {0};
    uint64_t units[LIVE];
    uint32_t first = 0, live = 0, seed = 1, taken = 0;

    (void)state;
    for (int step = 0; step < 20000; step++) {
        uint64_t size = 1 + next_random(&seed) % 1500;
        struct slice *slice = &slices[(first + live) % LIVE];
        uint64_t unit;
        if (live == LIVE || !ring_take(&ring, size, slice)) {
            slice = &slices[first];
            assert_true(live > 0); /* an empty ring has room */
            unit = (slice->span.address - 0x10000) / BLOCK_ALIGNMENT;
            memset(&used[unit], false, units[first]);
            ring_give(&ring, slice);
            first = (first + 1) % LIVE;
            live--;
            continue;
        }
        unit = (slice->span.address - 0x10000) / BLOCK_ALIGNMENT;
        units[(first + live) % LIVE] = (size + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT;
        assert_true(slice->span.address + size <= 0x10000 + SIZE);
        for (uint64_t i = 0; i < units[(first + live) % LIVE]; i++) {
            assert_false(used[unit + i]);
            used[unit + i] = true;
        }
        live++;
        taken++;
    }
    assert_true(taken > 1000);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static struct physical physical;
static struct gantry_drv_device device;

static int setup(void **state)
{
    machine_setup(state);
    physical = machine_probe();
    device = (struct gantry_drv_device){
        .services = &machine_services,
        .physical = &physical,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    machine_memory_calls(&device.vk);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tables_close(&device);
    return machine.blocks == 0 ? 0 : -1;
}

static void growing_keeps_what_is_used(void **state)
{
    struct ring ring = {0};
    struct slice before, after, last;
    struct table old;

    (void)state;
    assert_false(ring_take(&ring, 1, &before));
    assert_int_equal(ring_grow(&device, &ring, 1, &old), GANTRY_OK);
    assert_null(old.chunk);
    assert_true(ring_take(&ring, 1000, &before));
    assert_int_equal(ring_grow(&device, &ring, 1000000, &old), GANTRY_OK);
    assert_int_equal(machine.blocks, 2);
    assert_true(before.span.address == old.span.address);
    assert_true(ring_take(&ring, 1000000, &after));
    assert_true(after.span.buffer == ring.place.span.buffer);
    ring_give(&ring, &before); /* of the old place: frees nothing here */
    assert_false(ring_take(&ring, 1000000, &last));
    table_give(&device, &old);
    table_give(&device, &ring.place);
}

static void tables_share_blocks(void **state)
{
    struct table tables[3], again;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(table_take(&device, 700, &tables[i]), GANTRY_OK);
    assert_int_equal(machine.blocks, 1);
    assert_int_equal(tables[1].span.address - tables[0].span.address, 1024);
    again = tables[1];
    table_give(&device, &tables[1]);
    table_give(&device, &tables[1]); /* nothing: it is empty now */
    assert_int_equal(table_take(&device, 1025, &tables[1]), GANTRY_OK);
    assert_int_equal(tables[1].span.address - tables[0].span.address, 3 * 1024);
    table_give(&device, &tables[1]);
    assert_int_equal(table_take(&device, 1024, &tables[1]), GANTRY_OK);
    assert_true(tables[1].span.address == again.span.address);
    for (int i = 0; i < 3; i++)
        table_give(&device, &tables[i]);
    assert_int_equal(machine.blocks, 1); /* kept for the next one */
}

static void large_tables_get_blocks_of_their_own(void **state)
{
    struct table small, large;

    (void)state;
    assert_int_equal(table_take(&device, 16, &small), GANTRY_OK);
    assert_int_equal(table_take(&device, 1 << 20, &large), GANTRY_OK);
    assert_int_equal(machine.blocks, 2);
    table_give(&device, &large);
    assert_int_equal(machine.blocks, 1);
    machine.full_types = UINT32_MAX;
    assert_int_equal(table_take(&device, 1 << 20, &large), GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(table_take(&device, UINT64_C(1) << 50, &large), GANTRY_E_OUT_OF_MEMORY);
    assert_non_null(strstr(machine_error, "1125899906842624 bytes is too large"));
    table_give(&device, &small);
}

/* C23: the driver allows few blocks, and they are core's but for an eighth. Half of the lists come
 * and go. */
static void many_tables_need_few_blocks(void **state)
{
    enum { MANY = 10000 };
    static struct table tables[MANY];

    (void)state;
    machine.max_allocations = 64;
    physical = machine_probe();
    assert_int_equal(physical.info.max_memory_blocks, 56);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        table_give(&device, &tables[i % MANY]);
        assert_int_equal(table_take(&device, 1000 + i % 5000, &tables[i % MANY]), GANTRY_OK);
    }
    assert_in_range(machine.blocks, 1, 8);
    for (uint32_t i = 0; i < MANY; i++)
        table_give(&device, &tables[i]);
    assert_int_equal(machine.blocks, 1);
}

/* The next block would be as large as all before; there is less left, and the table is small. */
static void smaller_blocks_do_when_memory_is_short(void **state)
{
    struct table tables[3];

    (void)state;
    machine.largest_allocation = 1 << 20;
    assert_int_equal(table_take(&device, 1 << 20, &tables[0]), GANTRY_OK);
    assert_int_equal(table_take(&device, 1 << 20, &tables[1]), GANTRY_OK);
    assert_int_equal(table_take(&device, 1 << 19, &tables[2]), GANTRY_OK);
    assert_int_equal(machine.blocks, 3);
    for (int i = 0; i < 3; i++)
        table_give(&device, &tables[i]);
}

int run_ring_tests(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_follow_each_other),
        cmocka_unit_test(no_slice_spans_the_end),
        cmocka_unit_test(untaken_slices_leave_no_trace),
        cmocka_unit_test(live_slices_are_apart),
        TEST(growing_keeps_what_is_used),
        TEST(tables_share_blocks),
        TEST(large_tables_get_blocks_of_their_own),
        TEST(many_tables_need_few_blocks),
        TEST(smaller_blocks_do_when_memory_is_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
