/* C23: which memory type a block gets. The device table is answered by this file. */
#include "machine.h"

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks,
                                                    VkBuffer *buffer)
{
    (void)device;
    (void)callbacks;
    *buffer = (VkBuffer)(uintptr_t)info->size;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                                 const VkAllocationCallbacks *callbacks)
{
    (void)device;
    (void)buffer;
    (void)callbacks;
}

static VKAPI_ATTR void VKAPI_CALL get_requirements(VkDevice device, VkBuffer buffer,
                                                   VkMemoryRequirements *needs)
{
    (void)device;
    *needs = (VkMemoryRequirements){(uintptr_t)buffer, 256, 0x3e}; /* not type 0 */
}

/* The handle says which type it was. */
static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *callbacks,
                                                      VkDeviceMemory *memory)
{
    (void)device;
    (void)callbacks;
    if (machine.full_types >> info->memoryTypeIndex & 1)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    *memory = (VkDeviceMemory)(uintptr_t)(info->memoryTypeIndex + 100);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *callbacks)
{
    (void)device;
    (void)memory;
    (void)callbacks;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                           VkDeviceSize offset)
{
    (void)device;
    (void)buffer;
    (void)memory;
    (void)offset;
    return VK_SUCCESS;
}

/* Aligned only for whole pages, like a CPU device. */
static VKAPI_ATTR VkDeviceAddress VKAPI_CALL get_address(VkDevice device,
                                                         const VkBufferDeviceAddressInfo *info)
{
    uint64_t size = (uintptr_t)info->buffer;

    (void)device;
    return size % 4096 == 0 ? 0x10000 : 0x10040;
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **host)
{
    (void)device;
    (void)memory;
    (void)offset;
    (void)size;
    (void)flags;
    *host = &machine;
    return VK_SUCCESS;
}

/* The memory type that a block of this use and size gets, -1 when there is none. */
static int type_of(enum use use, uint64_t size)
{
    static struct physical physical;
    static struct gantry_drv_device device = {
        .services = &machine_services,
        .physical = &physical,
        .vk = {.vkCreateBuffer = create_buffer,
               .vkDestroyBuffer = destroy_buffer,
               .vkGetBufferMemoryRequirements = get_requirements,
               .vkAllocateMemory = allocate_memory,
               .vkFreeMemory = free_memory,
               .vkBindBufferMemory = bind,
               .vkGetBufferDeviceAddress = get_address,
               .vkMapMemory = map},
    };
    struct block block;

    physical = machine_probe();
    if (block_create(&device, use, size, &block) != GANTRY_OK)
        return -1;
    assert_int_equal(block.address % BLOCK_ALIGNMENT, 0);
    if (use != USE_DEVICE)
        assert_true(block.host == (char *)&machine + block.shift);
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
