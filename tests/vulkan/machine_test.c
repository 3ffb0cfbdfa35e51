/* What the plugin makes of machines that are not here: devices it can't use, limits, compute units,
 * queue families. */
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

/* ---- Compute units and blocks --------------------------------------------------------------- */

static struct physical probe_with(const char *const *extensions, uint32_t count)
{
    machine.extensions = extensions;
    machine.extension_count = count;
    return machine_probe();
}

static void assert_units(const char *const *extensions, uint32_t count, uint32_t units,
                         uint32_t threads)
{
    struct physical physical = probe_with(extensions, count);
    const char *source = physical.info.occupancy_source;

    assert_int_equal(physical.info.limits.compute_units, units);
    assert_int_equal(physical.info.limits.threads_per_unit, threads);
    if (count == 0)
        assert_string_equal(source, "the driver tells no compute units, block sizes are from its "
                                    "limits");
    else
        assert_non_null(strstr(source, extensions[count - 1]));
}

static void vendors_tell_compute_units(void **state)
{
    static const char *const nvidia[] = {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME};
    static const char *const arm[] = {VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME};
    static const char *const amd[] = {VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME,
                                      VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME};

    (void)state;
    machine.nv.shaderSMCount = 132;
    machine.nv.shaderWarpsPerSM = 64;
    assert_units(nvidia, 1, 132, 2048);
    machine.subgroup_size = 16;
    machine.arm.shaderCoreCount = 10;
    machine.arm.shaderWarpsPerCore = 64;
    assert_units(arm, 1, 10, 1024);
    machine.amd.shaderEngineCount = 6;
    machine.amd.shaderArraysPerEngineCount = 2;
    machine.amd.computeUnitsPerShaderArray = 9;
    machine.amd.simdPerComputeUnit = 2;
    machine.amd.wavefrontsPerSimd = 16;
    machine.amd.wavefrontSize = 64;
    machine.amd2.activeComputeUnitCount = 96; /* some are switched off */
    assert_units(amd, 1, 108, 2048);
    assert_units(amd, 2, 96, 2048);
    assert_units(NULL, 0, 0, 0);
}

/* The block that is proposed for a kernel on the machine. */
static uint32_t proposed(uint32_t shared_bytes, uint32_t shared_per_thread)
{
    static const char *const nvidia[] = {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME};
    struct physical physical = probe_with(nvidia, machine.nv.shaderSMCount ? 1 : 0);
    struct gantry_drv_device device = {.physical = &physical};
    struct gantry_kernel_source source = {.shared_bytes = shared_bytes,
                                          .shared_per_thread = shared_per_thread};
    struct gantry_backend_kernel_params params = {.source = &source};
    uint32_t threads = 0;

    assert_int_equal(kernel_block(&device, &params, &threads), GANTRY_OK);
    return threads;
}

static void blocks_follow_limits(void **state)
{
    (void)state;
    assert_int_equal(proposed(0, 0), 256);
    assert_int_equal(proposed(49152, 0), 256);
    assert_int_equal(proposed(0, 300), 128);    /* 163 would fit; 160 leave a part empty */
    assert_int_equal(proposed(16384, 512), 64); /* exactly */
    machine.limits.maxComputeWorkGroupInvocations = 128;
    assert_int_equal(proposed(0, 0), 128);
    machine.subgroup_size = 256; /* nothing is right; core refuses what a kernel can't take */
    assert_int_equal(proposed(0, 0), 128);
}

static void blocks_fill_compute_units(void **state)
{
    (void)state;
    machine.nv.shaderSMCount = 4;
    machine.nv.shaderWarpsPerSM = 48;
    assert_int_equal(proposed(0, 0), 256); /* 1536 = 6 * 256 */
    machine.nv.shaderWarpsPerSM = 20;
    assert_int_equal(proposed(0, 0), 320); /* 640 = 2 * 320, but 512 of them by 256 */
    machine.nv.shaderWarpsPerSM = 5;
    assert_int_equal(proposed(0, 0), 160);
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
        TEST(vendors_tell_compute_units),
        TEST(blocks_follow_limits),
        TEST(blocks_fill_compute_units),
        TEST(families_of_a_large_gpu),
        TEST(families_of_a_small_gpu),
        TEST(slots_follow_priority_and_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + run_heap_tests() + run_register_tests() +
           run_ring_tests() + run_lost_tests();
}
