/* What the plugin makes of machines that are not here: devices it can't use, limits, queue
 * families. */
#include "machine.h"

/* ---- Devices that can't be used ------------------------------------------------------------- */

static void good_device_is_not_skipped(void **state)
{
    struct physical physical = machine_probe();

    (void)state;
    assert_string_equal(physical.info.skipped, "");
    assert_string_equal(physical.info.name, "fake");
    assert_int_equal(physical.info.type, GANTRY_DEVICE_DISCRETE);
    assert_int_equal(physical.info.features, GANTRY_FEATURE_INT64);
    assert_true(physical.info.has_uuid);
    assert_false(physical.info.has_pci);
}

static void old_driver_is_skipped(void **state)
{
    (void)state;
    machine.version = VK_API_VERSION_1_1;
    assert_string_equal(machine_probe().info.skipped,
                        "gantry needs Vulkan 1.2, the driver has 1.1");
}

static void missing_features_are_named(void **state)
{
    (void)state;
    machine.v12.scalarBlockLayout = VK_FALSE;
    assert_string_equal(machine_probe().info.skipped, "lacks scalarBlockLayout");
    machine.v12.bufferDeviceAddress = VK_FALSE;
    machine.v12.timelineSemaphore = VK_FALSE;
    machine.core.shaderInt64 = VK_FALSE;
    assert_string_equal(machine_probe().info.skipped,
                        "lacks bufferDeviceAddress, lacks scalarBlockLayout, "
                        "lacks timelineSemaphore, lacks shaderInt64");
}

/* C08 */
static void failing_driver_is_skipped(void **state)
{
    (void)state;
    machine.extensions_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_string_equal(machine_probe().info.skipped,
                        "its extensions can't be listed: VK_ERROR_OUT_OF_HOST_MEMORY");
}

static void device_that_only_copies_is_skipped(void **state)
{
    (void)state;
    machine.families[0] = machine.families[1];
    machine.family_count = 1;
    assert_string_equal(machine_probe().info.skipped, "has no queue family that computes");
}

/* C03, C04: zeros mean unknown. */
static void empty_uuid_is_unknown(void **state)
{
    (void)state;
    memset(machine.uuid, 0, sizeof(machine.uuid));
    assert_false(machine_probe().info.has_uuid);
}

/* C20: no limit of 4 GiB where the driver has none. */
static void buffer_limit_follows_the_driver(void **state)
{
    (void)state;
    assert_int_equal(machine_probe().info.limits.max_buffer_size, 12 * GIB);
    assert_int_equal(machine_probe().info.limits.memory_size, 12 * GIB);
    machine.max_buffer = 5 * GIB + 2;
    assert_int_equal(machine_probe().info.limits.max_buffer_size, 5 * GIB);
    machine.extension_count = 0;
    assert_int_equal(machine_probe().info.limits.max_buffer_size, 4 * GIB - 4);
}

/* ---- Families (C28) ------------------------------------------------------------------------- */

static enum gantry_status choose(int32_t wish, uint32_t compute, uint32_t *index)
{
    struct physical physical = {0};
    enum gantry_status status;

    physical_probe(&machine_services, (VkPhysicalDevice)&machine, &physical);
    status = family_choose(&machine_services, &physical, wish, compute, index);
    physical_free(&machine_services, &physical);
    return status;
}

static void assert_family(int32_t wish, uint32_t compute, uint32_t expected)
{
    uint32_t index;

    assert_int_equal(choose(wish, compute, &index), GANTRY_OK);
    assert_int_equal(index, expected);
}

static void families_of_a_large_gpu(void **state)
{
    uint32_t index;

    (void)state;
    assert_family(GANTRY_FAMILY_AUTO, UINT32_MAX, 2);
    assert_family(GANTRY_FAMILY_COMPUTE, UINT32_MAX, 2);
    assert_family(GANTRY_FAMILY_GRAPHICS, UINT32_MAX, 0);
    assert_family(0, UINT32_MAX, 0);
    assert_family(GANTRY_FAMILY_AUTO, 2, 1);
    assert_family(GANTRY_FAMILY_COMPUTE, 0, 2);
    assert_family(3, 2, 3);
    assert_int_equal(choose(1, UINT32_MAX, &index), GANTRY_E_CONFIG);
    assert_string_equal(machine_error,
                        "queue family 1 can't compute; the Vulkan device fake has the families "
                        "0 (graphics, compute, transfer; queues: 16), 1 (transfer; queues: 2), "
                        "2 (compute, transfer; queues: 8), 3 (transfer; queues: 1)");
    assert_int_equal(choose(4, 2, &index), GANTRY_E_CONFIG);
    assert_non_null(strstr(machine_error, "queue family 4 does not exist"));
}

static void families_of_a_small_gpu(void **state)
{
    uint32_t index;

    (void)state;
    machine.family_count = 1;
    assert_family(GANTRY_FAMILY_AUTO, UINT32_MAX, 0);
    assert_family(GANTRY_FAMILY_COMPUTE, UINT32_MAX, 0);
    assert_family(GANTRY_FAMILY_AUTO, 0, 0);
    machine.families[0].queueFlags = VK_QUEUE_COMPUTE_BIT;
    assert_family(0, 0, 0); /* computing implies copying */
    assert_int_equal(choose(GANTRY_FAMILY_GRAPHICS, UINT32_MAX, &index), GANTRY_E_CONFIG);
    assert_non_null(strstr(machine_error, "queue family graphics was asked for and there is none"));
}

static void slots_follow_priority_and_use(void **state)
{
    struct gantry_drv_device device = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct family *family = &device.families[0];
    struct slot *slot;

    (void)state;
    family->slot_count = 4;
    assert_true(slot_take(&device, family, 0) == &family->slots[0]);
    assert_true(slot_take(&device, family, 0) == &family->slots[1]);
    assert_true(slot_take(&device, family, 0) == &family->slots[0]);
    assert_true(slot_take(&device, family, 1) == &family->slots[3]);
    slot = slot_take(&device, family, -1);
    assert_true(slot == &family->slots[2]);
    assert_true(slot_priority(4, 3) > slot_priority(4, 0));
    assert_true(slot_priority(4, 2) < slot_priority(4, 0));
    slot_return(&device, slot);
    assert_int_equal(slot->users, 0);
    family = &device.families[1];
    family->slot_count = 1;
    assert_true(slot_take(&device, family, 5) == &family->slots[0]);
    assert_true(slot_take(&device, family, -5) == &family->slots[0]);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup(function, machine_setup)
    const struct CMUnitTest tests[] = {
        TEST(good_device_is_not_skipped),
        TEST(old_driver_is_skipped),
        TEST(missing_features_are_named),
        TEST(failing_driver_is_skipped),
        TEST(device_that_only_copies_is_skipped),
        TEST(empty_uuid_is_unknown),
        TEST(buffer_limit_follows_the_driver),
        TEST(families_of_a_large_gpu),
        TEST(families_of_a_small_gpu),
        TEST(slots_follow_priority_and_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + run_heap_tests() + run_ring_tests() +
           run_lost_tests();
}
