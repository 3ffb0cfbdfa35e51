/* The choice of an image, and what is refused before a driver sees it. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static enum gantry_status create(const struct gantry_backend_image *images, uint32_t count,
                                 struct gantry_backend_kernel_info *info)
{
    struct gantry_backend_kernel_params params = {
        .source = &step_source,
        .entry = GANTRY_ENTRY_DIRECT,
        .symbol = "step",
        .block = {STEP_BLOCK, 1, 1},
        .images = images,
        .image_count = count,
    };
    struct gantry_drv_kernel *kernel = NULL;
    long before = rig_live();
    enum gantry_status status;

    status = rig.ops->kernel_create(rig.device, &params, &kernel, info);
    if (status == GANTRY_OK)
        rig.ops->kernel_destroy(rig.device, kernel);
    else
        assert_null(kernel);
    assert_int_equal(rig_live(), before);
    return status;
}

static void kernel_is_described(void **state)
{
    struct gantry_backend_kernel_info info;

    (void)state;
    assert_ok(create(step_images, 2, &info));
    assert_string_equal(info.image, "spirv 1.5");
    assert_int_equal(info.max_threads, rig.info.limits.max_threads_per_block);
    assert_false(info.waits);
}

static void first_image_that_fits_is_taken(void **state)
{
    struct gantry_backend_image images[] = {step_images[0], step_images[0], step_images[0]};
    struct gantry_backend_kernel_info info;

    (void)state;
    images[0].features = UINT32_C(1) << 31; /* nobody has it */
    images[1].features = GANTRY_FEATURE_INT64;
    assert_ok(create(images, 3, &info));
    assert_string_equal(info.image, "spirv 1.5 with INT64");
}

/* C11, C14: every image is named with the reason. */
static void refusals_are_listed(void **state)
{
    static const uint32_t ptx[] = {0};
    struct gantry_backend_image images[] = {
        step_images[1], /* the other entry */
        {.kind = GANTRY_IMAGE_PTX, .entry = GANTRY_ENTRY_ALL, .data = ptx, .size = 4},
    };
    struct gantry_backend_kernel_info info;

    (void)state;
    assert_error(create(images, 2, &info), GANTRY_E_NO_IMAGE, "no SPIR-V image for it");
    assert_non_null(strstr(rig_error(), "1 images are for other backends"));
}

/* Core runs such launches one by one instead. */
static void missing_chained_entry_is_named(void **state)
{
    struct gantry_backend_kernel_params params = {
        .source = &step_source,
        .entry = GANTRY_ENTRY_CHAINED,
        .symbol = "step_chained",
        .block = {STEP_BLOCK, 1, 1},
        .images = step_images,
        .image_count = 2,
    };
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;

    (void)state;
    assert_error(rig.ops->kernel_create(rig.device, &params, &kernel, &info), GANTRY_E_NO_IMAGE,
                 "no image of kernel step (chained entry) runs on the Vulkan device");
    assert_non_null(strstr(rig_error(), "there is no SPIR-V image for it"));
}

/* A changed copy of the direct image. */
static void assert_refused(size_t word, uint32_t value, size_t size, const char *reason)
{
    struct gantry_backend_image image = step_images[0];
    struct gantry_backend_kernel_info info;
    uint32_t *words = test_malloc(image.size);

    memcpy(words, image.data, image.size);
    words[word] = value;
    image.data = words;
    image.size = size;
    assert_error(create(&image, 1, &info), GANTRY_E_NO_IMAGE, reason);
    test_free(words);
}

/* The index of the first instruction with this opcode. */
static size_t find_word(uint32_t opcode)
{
    const uint32_t *words = step_images[0].data;
    size_t i = 5;

    while ((words[i] & 0xffff) != opcode)
        i += words[i] >> 16;
    return i;
}

static void damaged_modules_are_refused(void **state)
{
    const uint32_t *words = step_images[0].data;
    size_t size = step_images[0].size;
    size_t capability = find_word(17);
    size_t entry = find_word(15);

    (void)state;
    assert_refused(0, 0x03022307, size, "not a SPIR-V module");
    assert_refused(0, words[0], size - 1, "not a SPIR-V module");
    assert_refused(0, words[0], 16, "not a SPIR-V module");
    assert_refused(1, 0x00010600, size, "SPIR-V 1.6");
    assert_refused(capability, 17, size, "damaged at word 5"); /* length 0 */
    assert_refused(capability, 0xffff0011, size, "damaged at word 5");
    assert_refused(capability + 1, 6, size, "the SPIR-V capability 6"); /* OpenCL's Kernel */
    assert_refused(entry + 3, 0x6e69616e, size, "no compute entry named main");
    assert_refused(entry + 1, 4, size, "no compute entry named main"); /* a fragment shader */
}

/* C14: a capability that gantry knows and this device lacks is named. */
static void missing_capability_is_named(void **state)
{
    static const struct {
        uint32_t feature, capability;
        const char *name;
    } rows[] = {
        {GANTRY_FEATURE_HALF, 9, "Float16"},
        {GANTRY_FEATURE_DOUBLE, 10, "Float64"},
        {GANTRY_FEATURE_INT8, 39, "Int8"},
        {GANTRY_FEATURE_MEMORY_MODEL, 5345, "VulkanMemoryModel"},
        {GANTRY_FEATURE_ATOMIC_FLOAT_ADD, 6033, "AtomicFloat32AddEXT"},
    };
    uint32_t missing = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rig.info.features & rows[i].feature)
            continue;
        assert_refused(find_word(17) + 1, rows[i].capability, step_images[0].size, rows[i].name);
        missing++;
    }
    if (missing == 0) {
        print_message("skipped: this device has every optional capability\n");
        skip();
    }
}

int run_kernel_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_is_described),
        cmocka_unit_test(first_image_that_fits_is_taken),
        cmocka_unit_test(refusals_are_listed),
        cmocka_unit_test(missing_chained_entry_is_named),
        cmocka_unit_test(damaged_modules_are_refused),
        cmocka_unit_test(missing_capability_is_named),
    };

    return cmocka_run_group_tests(tests, rig_setup_device, rig_teardown_device);
}
