/* The descriptor, the devices, and the choice of queue families. */
#include <string.h>

#include "rig.h"

static void descriptor_is_complete(void **state)
{
    const struct gantry_backend *backend = rig.backend;

    (void)state;
    assert_int_equal(backend->magic, GANTRY_BACKEND_MAGIC);
    assert_int_equal(backend->abi_major, GANTRY_BACKEND_ABI_MAJOR);
    assert_int_equal(backend->size, sizeof(*backend));
    assert_string_equal(backend->name, "vulkan");
    assert_int_equal(backend->ops->size, sizeof(*backend->ops));
    assert_non_null(backend->ops->kernel_block);
    assert_non_null(backend->ops->memory_register);
    assert_non_null(backend->ops->device_memory);
}

static void description_makes_sense(void **state)
{
    const struct gantry_limits *limits = &rig.info.limits;

    (void)state;
    assert_true(rig.info.name[0] && rig.info.driver_version[0]);
    assert_true(rig.info.features & GANTRY_FEATURE_INT64);
    assert_true(rig.info.memory_alignment >= 256);
    assert_true(rig.info.family_count >= 1);
    assert_true(limits->max_buffer_size > 0 && limits->max_buffer_size % 4 == 0);
    assert_true(limits->max_buffer_size <= limits->memory_size);
    assert_true(limits->max_threads_per_block >= 128);
    assert_true(limits->max_blocks.x >= 65535 && limits->max_blocks.z >= 65535);
    assert_true(limits->inline_args_bytes >= 128);
    assert_true(limits->max_args_bytes >= limits->inline_args_bytes);
    assert_true(limits->subgroup_min <= limits->subgroup_size);
    assert_true(limits->subgroup_size <= limits->subgroup_max);
    assert_true(rig.info.max_memory_blocks >= 4096 - 4096 / 8); /* Vulkan promises 4096 */
    assert_true(rig.info.occupancy_source[0]);
    assert_int_equal(limits->compute_units > 0, limits->threads_per_unit > 0);
    if (rig.info.type == GANTRY_DEVICE_CPU)
        assert_int_equal(limits->compute_units, 0);
}

static enum gantry_status open_with(int32_t queue_family, int32_t transfer_family)
{
    struct gantry_backend_device_params params = {
        .size = sizeof(params),
        .queue_family = queue_family,
        .transfer_family = transfer_family,
    };
    struct gantry_drv_device *device = NULL;
    enum gantry_status status;

    status = rig.ops->device_open(rig.instance, rig.device_index, &params, &device);
    if (status == GANTRY_OK)
        rig.ops->device_close(device);
    else
        assert_null(device);
    return status;
}

/* C28 */
static void families_are_chosen(void **state)
{
    (void)state;
    assert_ok(open_with(GANTRY_FAMILY_AUTO, GANTRY_FAMILY_AUTO));
    assert_ok(open_with(GANTRY_FAMILY_COMPUTE, GANTRY_FAMILY_COMPUTE));
    assert_ok(open_with(GANTRY_FAMILY_AUTO, 0));
}

/* C28 */
static void bad_families_are_refused(void **state)
{
    long before = rig_live();

    (void)state;
    assert_error(open_with(99, GANTRY_FAMILY_AUTO), GANTRY_E_CONFIG, "queue family 99");
    assert_non_null(strstr(rig_error(), "has the families 0 ("));
    assert_error(open_with(GANTRY_FAMILY_AUTO, 99), GANTRY_E_CONFIG, "does not exist");
    assert_int_equal(rig_live(), before);
}

/* Every allocation of opening and closing fails once. */
static void opening_survives_lack_of_memory(void **state)
{
    long before = rig_live();
    enum gantry_status status = GANTRY_E_OUT_OF_HOST_MEMORY;

    (void)state;
    for (long i = 0; i < 100 && status != GANTRY_OK; i++) {
        rig_fail_after(i);
        status = open_with(GANTRY_FAMILY_AUTO, GANTRY_FAMILY_AUTO);
        rig_fail_after(-1);
        assert_true(status == GANTRY_OK || status == GANTRY_E_OUT_OF_HOST_MEMORY);
        assert_int_equal(rig_live(), before);
    }
    assert_int_equal(status, GANTRY_OK);
}

static void native_handles_are_there(void **state)
{
    struct gantry_native_device native = {0};

    (void)state;
    assert_int_equal(rig_setup_device(NULL), 0);
    rig.ops->device_native(rig.device, &native);
    assert_string_equal(native.backend, "vulkan");
    assert_true(native.vk_instance && native.vk_physical_device && native.vk_device);
    rig_teardown_device(NULL);
}

int run_device_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptor_is_complete),
        cmocka_unit_test(description_makes_sense),
        cmocka_unit_test(families_are_chosen),
        cmocka_unit_test(bad_families_are_refused),
        cmocka_unit_test(opening_survives_lack_of_memory),
        cmocka_unit_test(native_handles_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
