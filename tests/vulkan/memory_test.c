/* Blocks of memory, copies and fills. */
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

int run_memory_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_aligned),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(free_memory_is_told),
        cmocka_unit_test(bytes_travel),
    };

    return cmocka_run_group_tests(tests, rig_setup_device, rig_teardown_device);
}
