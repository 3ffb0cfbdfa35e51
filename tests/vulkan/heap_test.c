/* C23: which memory type a block gets. */
#include "machine.h"

/* The memory type that a block of this use and size gets, -1 when there is none. */
static int type_of(enum use use, uint64_t size)
{
    static struct physical physical;
    static struct gantry_drv_device device = {
        .services = &machine_services,
        .physical = &physical,
    };
    struct block block;

    physical = machine_probe();
    machine_memory_calls(&device.vk);
    if (block_create(&device, use, size, &block) != GANTRY_OK)
        return -1;
    assert_int_equal(block.address % BLOCK_ALIGNMENT, 0);
    if (use != USE_DEVICE)
        assert_true(block.host == (char *)machine_mapping + block.shift);
    return (int)(uintptr_t)block.memory - 100;
}

static void memory_goes_where_it_belongs(void **state)
{
    (void)state;
    assert_int_equal(type_of(USE_DEVICE, 4096), 1);
    assert_int_equal(type_of(USE_UPLOAD, 4096), 2);
    assert_int_equal(type_of(USE_READBACK, 4096), 3);
    assert_int_equal(type_of(USE_TABLE, 4096), 4);
    assert_int_equal(type_of(USE_READBACK, 100), 3); /* padded to alignment */
}

static void next_type_is_taken_when_one_is_full(void **state)
{
    (void)state;
    machine.full_types = 1 << 1 | 1 << 3;
    assert_int_equal(type_of(USE_DEVICE, 4096), 4);
    assert_int_equal(type_of(USE_READBACK, 4096), 2);
    machine.full_types = 1 << 4;
    assert_int_equal(type_of(USE_TABLE, 4096), 2);
    machine.full_types = 0;
    assert_int_equal(type_of(USE_TABLE, GIB), 2); /* larger than the window into device memory */
}

static void full_memory_is_reported(void **state)
{
    (void)state;
    machine.full_types = 1 << 1 | 1 << 4;
    assert_int_equal(type_of(USE_DEVICE, 4096), -1); /* never host memory */
    assert_string_equal(machine_error,
                        "out of device memory on fake: 4096 bytes were asked for (the driver "
                        "promises single blocks up to 4294967295)");
}

/* --------------------------------------------------------------------------------------------- */

int run_heap_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(memory_goes_where_it_belongs, machine_setup),
        cmocka_unit_test_setup(next_type_is_taken_when_one_is_full, machine_setup),
        cmocka_unit_test_setup(full_memory_is_reported, machine_setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
