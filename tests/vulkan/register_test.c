/* The caller's memory, with drivers that take it, take it otherwise, or don't. */
#include "machine.h"

static struct physical physical;
static struct gantry_drv_device device = {
    .services = &machine_services,
    .physical = &physical,
};
static _Alignas(4096) char pages[4 * 4096];

static int setup(void **state)
{
    machine_setup(state);
    physical = machine_probe();
    machine_memory_calls(&device.vk);
    atomic_store(&device.lost, false);
    return 0;
}

static void assert_refused(enum gantry_status expected, const char *sentence)
{
    struct gantry_drv_memory memory = {.size = 7};

    physical = machine_probe();
    assert_int_equal(memory_register(&device, pages + 5, 100, &memory), expected);
    assert_string_equal(machine_error, sentence);
    assert_int_equal(machine.blocks, 0);
    assert_int_equal(memory.size, 7); /* nothing was stored */
}

/* From the page of its first byte to that of its last one. */
static void whole_pages_are_imported(void **state)
{
    static const struct {
        uint64_t offset, size, pages;
    } rows[] = {
        {0, 1, 1},    {0, 4096, 1},    {0, 4097, 2},    {4095, 1, 1},
        {4095, 2, 2}, {4097, 4095, 1}, {4097, 4096, 2}, {5, 3 * 4096 - 5, 3},
    };
    struct gantry_drv_memory memory;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *pointer = pages + rows[i].offset;
        uint64_t shift = rows[i].offset % 4096;
        assert_int_equal(memory_register(&device, pointer, rows[i].size, &memory), GANTRY_OK);
        assert_ptr_equal(machine.imported, pointer - shift);
        assert_int_equal(machine.imported_size, rows[i].pages * 4096);
        assert_int_equal(memory.address, 0x10000 + shift);
        assert_int_equal(((struct block *)memory.driver)->shift, shift);
        assert_ptr_equal(memory.host, pointer);
        assert_null(memory.direct);
        assert_int_equal(memory.size, rows[i].size);
        assert_int_equal(memory.kind, GANTRY_MEMORY_REGISTERED);
        memory_free(&device, &memory);
        assert_int_equal(machine.blocks, 0);
    }
}

/* Cached and coherent, whatever comes first, and even if the heap is said to be empty. */
static void best_type_is_taken(void **state)
{
    struct gantry_drv_memory memory;

    (void)state;
    machine.memory.memoryHeaps[1].size = 0;
    physical = machine_probe();
    assert_int_equal(memory_register(&device, pages, 100, &memory), GANTRY_OK);
    assert_int_equal((uintptr_t)((struct block *)memory.driver)->memory, 103);
    memory_free(&device, &memory);
    machine.pointer_types = 1 << 2;
    assert_int_equal(memory_register(&device, pages, 100, &memory), GANTRY_OK);
    assert_int_equal((uintptr_t)((struct block *)memory.driver)->memory, 102);
    memory_free(&device, &memory);
}

#define REFUSED "the Vulkan device fake can't take memory of the program: "
#define REMEDY  " (upload and download copy it instead)"

static void drivers_that_cannot_are_named(void **state)
{
    (void)state;
    machine.host_import = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
    assert_refused(GANTRY_E_UNSUPPORTED,
                   REFUSED "its driver does not import it for buffers that kernels use" REMEDY);
    machine.host_import =
        VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    assert_refused(GANTRY_E_UNSUPPORTED,
                   REFUSED "its driver does not import it for buffers that kernels use" REMEDY);
    machine.extension_count = 1;
    assert_refused(GANTRY_E_UNSUPPORTED,
                   REFUSED "its driver lacks VK_EXT_external_memory_host" REMEDY);
}

static void pointers_that_do_not_suit_are_refused(void **state)
{
    (void)state;
    machine.pointer_types = 1 << 1; /* device memory alone */
    assert_refused(GANTRY_E_UNSUPPORTED,
                   REFUSED "its driver offers only memory types that are not coherent" REMEDY);
    machine.pointer_types = 0;
    assert_refused(GANTRY_E_UNSUPPORTED,
                   REFUSED "its driver has no memory type for a buffer over it" REMEDY);
    machine.pointer_result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    assert_refused(GANTRY_E_UNSUPPORTED, REFUSED
                   "vkGetMemoryHostPointerPropertiesEXT gave "
                   "VK_ERROR_INVALID_EXTERNAL_HANDLE: an external handle is not valid" REMEDY);
}

static void failed_imports_are_told_apart(void **state)
{
    (void)state;
    machine.import_result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    assert_refused(GANTRY_E_UNSUPPORTED,
                   REFUSED "vkAllocateMemory gave VK_ERROR_INVALID_EXTERNAL_HANDLE: an external "
                           "handle is not valid" REMEDY);
    machine.import_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    assert_refused(GANTRY_E_OUT_OF_MEMORY, "vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY (-2): "
                                           "no device memory is left");
    machine.import_result = VK_ERROR_DEVICE_LOST;
    assert_refused(GANTRY_E_DEVICE_LOST,
                   "vkAllocateMemory: VK_ERROR_DEVICE_LOST (-4): the device was lost");
    machine.import_result = VK_SUCCESS;
    assert_refused(GANTRY_E_DEVICE_LOST, "the Vulkan device fake was lost by an earlier failure; "
                                         "close it and open it again");
}

int run_register_tests(void)
{
#define TEST(function) cmocka_unit_test_setup(function, setup)
    const struct CMUnitTest tests[] = {
        TEST(whole_pages_are_imported),      TEST(best_type_is_taken),
        TEST(drivers_that_cannot_are_named), TEST(pointers_that_do_not_suit_are_refused),
        TEST(failed_imports_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
