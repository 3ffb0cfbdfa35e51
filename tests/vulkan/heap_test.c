/* Which memory type a block gets, on machines with several (C23, C26). */
#include "machine.h"

static struct physical physical;
static struct gantry_drv_device device = {
    .services = &machine_services,
    .physical = &physical,
};

static int setup(void **state)
{
    machine_setup(state);
    machine_memory_calls(&device.vk);
    atomic_store(&device.lost, false);
    return 0;
}

/* The memory type that a block of this use and size gets, -1 when there is none. Host memory is
 * mapped, device memory where the host sees all of it. */
static int type_of(enum use use, uint64_t size, bool mapped)
{
    struct block block;
    int type;

    physical = machine_probe();
    if (block_create(&device, use, size, &block) != GANTRY_OK)
        return -1;
    assert_int_equal(block.address % BLOCK_ALIGNMENT, 0);
    assert_true(block.host == (mapped ? (char *)machine_mapping + block.shift : NULL));
    type = (int)(uintptr_t)block.memory - 100;
    block_destroy(&device, &block);
    return type;
}

static int device_type(uint64_t size)
{
    return type_of(USE_DEVICE, size, false);
}

static void set_types(uint32_t count, const VkMemoryType *types)
{
    machine.memory.memoryTypeCount = count;
    memcpy(machine.memory.memoryTypes, types, count * sizeof(*types));
}

#define LOCAL  VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define SEEN   VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define HOST   (SEEN | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT

/* ---- A window into device memory (C23) ------------------------------------------------------ */

static void memory_goes_where_it_belongs(void **state)
{
    (void)state;
    assert_int_equal(device_type(4096), 1);
    assert_int_equal(type_of(USE_UPLOAD, 4096, true), 2);
    assert_int_equal(type_of(USE_READBACK, 4096, true), 3);
    assert_int_equal(type_of(USE_TABLE, 4096, true), 4);
    assert_int_equal(type_of(USE_READBACK, 100, true), 3); /* padded to alignment */
}

static void next_type_is_taken_when_one_is_full(void **state)
{
    (void)state;
    machine.full_types = 1 << 1 | 1 << 3;
    assert_int_equal(device_type(4096), 4);
    assert_int_equal(type_of(USE_READBACK, 4096, true), 2);
    machine.full_types = 1 << 4;
    assert_int_equal(type_of(USE_TABLE, 4096, true), 2);
    machine.full_types = 0;
    assert_int_equal(type_of(USE_TABLE, GIB, true), 2); /* larger than the window */
}

/* More device memory than the window of 256 MiB holds, and none of it goes there. */
static void device_memory_stays_out_of_the_window(void **state)
{
    enum { COUNT = 300 };
    struct block blocks[COUNT];

    (void)state;
    physical = machine_probe();
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(block_create(&device, USE_DEVICE, 1 << 20, &blocks[i]), GANTRY_OK);
        assert_int_equal((uintptr_t)blocks[i].memory, 101);
        assert_null(blocks[i].host);
    }
    assert_int_equal(machine.blocks, COUNT);
    for (int i = 0; i < COUNT; i++)
        block_destroy(&device, &blocks[i]);
    assert_int_equal(machine.blocks, 0);
}

static void full_memory_is_reported(void **state)
{
    (void)state;
    machine.full_types = 1 << 1 | 1 << 4;
    assert_int_equal(device_type(4096), -1); /* never host memory */
    assert_string_equal(machine_error,
                        "out of device memory on fake: 4096 bytes were asked for (the driver "
                        "promises single blocks up to 4294967295)");
}

/* A limit on allocations is a kind of being full: core may give some back and try again. */
static void too_many_allocations_are_reported(void **state)
{
    (void)state;
    machine.max_allocations = 64;
    machine.blocks = 64;
    assert_int_equal(device_type(4096), -1);
    assert_string_equal(machine_error,
                        "out of device memory on fake: 4096 bytes were asked for, and all of the "
                        "64 allocations that the driver allows exist (destroy some, or raise "
                        "pool_block_mib)");
    assert_int_equal(result_status(VK_ERROR_TOO_MANY_OBJECTS), GANTRY_E_LIMIT);
}

/* ---- Device memory that the host sees ------------------------------------------------------- */

/* The window is as large as the memory: a desktop with a resizable BAR. */
static void whole_windows_are_used(void **state)
{
    struct gantry_drv_memory memory;

    (void)state;
    machine.memory.memoryTypes[4].heapIndex = 0;
    assert_int_equal(type_of(USE_DEVICE, 4096, true), 4);
    assert_int_equal(memory_allocate(&device, GANTRY_MEMORY_DEVICE, 4096, &memory), GANTRY_OK);
    assert_ptr_equal(memory.direct, machine_mapping);
    assert_null(memory.host);
    memory_free(&device, &memory);
    machine.full_types = 1 << 4;
    assert_int_equal(device_type(4096), 1);
}

static void device_memory_need_not_be_mapped(void **state)
{
    struct gantry_drv_memory memory;

    (void)state;
    machine.memory.memoryTypes[4].heapIndex = 0;
    machine.map_result = VK_ERROR_MEMORY_MAP_FAILED;
    assert_int_equal(type_of(USE_DEVICE, 4096, false), 4);
    assert_int_equal(memory_allocate(&device, GANTRY_MEMORY_UPLOAD, 4096, &memory),
                     GANTRY_E_OUT_OF_HOST_MEMORY);
    assert_int_equal(machine.blocks, 0);
}

/* All memory is the host's: with and without its caches, as on CPUs and on integrated GPUs. */
static void shared_memory_is_used(void **state)
{
    static const VkMemoryType types[] = {{0, 0},
                                         {LOCAL | SEEN | CACHED, 0},
                                         {LOCAL | HOST | CACHED, 0},
                                         {LOCAL | HOST, 0}};

    (void)state;
    set_types(3, types);
    assert_int_equal(type_of(USE_DEVICE, 4096, true), 2);
    assert_int_equal(type_of(USE_READBACK, 4096, true), 2);
    set_types(4, types);
    assert_int_equal(type_of(USE_DEVICE, 4096, true), 3);
    assert_int_equal(type_of(USE_UPLOAD, 4096, true), 3);
    assert_int_equal(type_of(USE_READBACK, 4096, true), 2);
}

/* ---- Memory that is not coherent (C26) ------------------------------------------------------ */

/* Types that would need flushes are listed first, and look better but for that. */
static void only_coherent_memory_is_mapped(void **state)
{
    static const VkMemoryType types[] = {
        {0, 1}, {SEEN | CACHED, 1}, {LOCAL | SEEN, 2}, {HOST, 1}, {LOCAL, 0}};

    (void)state;
    set_types(5, types);
    assert_int_equal(type_of(USE_UPLOAD, 4096, true), 3);
    assert_int_equal(type_of(USE_READBACK, 4096, true), 3); /* coherent matters more than cached */
    assert_int_equal(type_of(USE_TABLE, 4096, true), 3);
    assert_int_equal(device_type(4096), 4);
    machine.full_types = 1 << 4; /* a window that is not coherent is memory, but is not mapped */
    assert_int_equal(device_type(4096), 2);
    machine.full_types = 1 << 3;
    assert_int_equal(type_of(USE_READBACK, 4096, true), -1);
    assert_non_null(strstr(machine_error, "out of readback memory on fake"));
}

/* --------------------------------------------------------------------------------------------- */

int run_heap_tests(void)
{
#define TEST(function) cmocka_unit_test_setup(function, setup)
    const struct CMUnitTest tests[] = {
        TEST(memory_goes_where_it_belongs),          TEST(next_type_is_taken_when_one_is_full),
        TEST(device_memory_stays_out_of_the_window), TEST(full_memory_is_reported),
        TEST(too_many_allocations_are_reported),     TEST(whole_windows_are_used),
        TEST(device_memory_need_not_be_mapped),      TEST(shared_memory_is_used),
        TEST(only_coherent_memory_is_mapped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
