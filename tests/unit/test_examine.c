/* core/examine.c: every image of a kernel tried by itself, on the host plugin. */
#include "unit.h"

#include <stdlib.h>

#include "gpk_builder.h"
#include "machine.h"

#define ALL UINT32_MAX

static struct gantry *g;
static struct gantry_device *device;
static struct gantry_module *module;

static const struct gantry_field_info fields[] = {
    {.name = "x", .type = GANTRY_SCALAR_POINTER, .size = 8, .count = 1, .pointee = "uint"},
    {.name = "value",
     .type = GANTRY_SCALAR_UINT32,
     .offset = 8,
     .size = 4,
     .count = 1,
     .pointee = ""},
    {.name = "n", .type = GANTRY_SCALAR_UINT32, .offset = 12, .size = 4, .count = 1, .pointee = ""},
};

#define KERNEL(text)                                                                            \
    .name = text, .args_name = "add_args", .args_size = 16, .field_count = 3, .fields = fields, \
    .dimensions = 1

/* The host image holds add and step. */
static const struct gantry_kernel_source kernels[] = {
    {KERNEL("add")},
    {KERNEL("step"), .features = GANTRY_FEATURE_DOUBLE},
    {KERNEL("nowhere")},
};

static uint8_t host_image[8 << 20];

static size_t read_host_image(void)
{
    FILE *file = fopen(machine_folder("tests/plugins/host/.libs/image.so"), "rb");
    size_t size;

    assert_non_null(file);
    size = fread(host_image, 1, sizeof(host_image), file);
    fclose(file);
    assert_in_range(size, 1, sizeof(host_image) - 1);
    return size;
}

static void load(const struct gpk_build_image *images, uint32_t count)
{
    struct gpk_build build = {.name = "adders",
                              .kernels = kernels,
                              .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                              .images = images,
                              .image_count = count};
    struct gantry_module_params params = {0};
    uint8_t *package = gpk_build(&build, &params.size);

    params.data = package;
    if (gantry_module_load(device, &params, &module) != GANTRY_OK)
        fail_msg("%s", gantry_last_error());
    free(package);
}

static void start(const char *machine)
{
    machine_set(machine, "none");
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
}

static void finish(void)
{
    gantry_module_unload(&module);
    gantry_device_close(&device);
    machine_close(&g, "cuda");
}

/* ---- What was told -------------------------------------------------------------------------- */

struct told {
    struct {
        enum gantry_image_kind kind;
        uint32_t features;
        bool used;
        char text[1024]; /* "": it can be used */
    } verdicts[8];
    unsigned count;
};

static void take(void *user, const struct gantry_image_verdict *verdict)
{
    struct told *told = user;

    assert_in_range(told->count, 0, 7);
    told->verdicts[told->count].kind = verdict->image.kind;
    told->verdicts[told->count].features = verdict->image.features;
    told->verdicts[told->count].used = verdict->used;
    snprintf(told->verdicts[told->count].text, sizeof(told->verdicts[0].text), "%s",
             verdict->text ? verdict->text : "");
    told->count++;
}

static struct told examine(const char *kernel, enum gantry_status expected)
{
    struct told told = {.count = 0};
    enum gantry_status status = gantry_module_examine(module, kernel, take, &told);

    if (status != expected)
        fail_msg("%s: %s", gantry_status_name(status), gantry_last_error());
    return told;
}

/* ---- The tests ------------------------------------------------------------------------------ */

/* Begins as a library does, and holds nothing. */
static const char not_code[64] = "\177ELF\2\1\1";

static void test_each_image_by_itself(void **state)
{
    const struct gpk_build_image images[] = {
        {.kernel = ALL,
         .kind = GANTRY_IMAGE_HOST,
         .entry = GANTRY_ENTRY_ALL,
         .data = host_image,
         .size = read_host_image()},
        {.kernel = ALL,
         .kind = GANTRY_IMAGE_HOST,
         .entry = GANTRY_ENTRY_ALL,
         .data = not_code,
         .size = sizeof(not_code)},
        {.kernel = 1,
         .kind = GANTRY_IMAGE_HOST,
         .entry = GANTRY_ENTRY_ALL,
         .data = host_image,
         .size = read_host_image()},
    };
    struct told told;

    (void)state;
    start("name=Card,type=discrete");
    load(images, 3);
    assert_int_equal(gantry_module_examine(NULL, "add", take, &told), GANTRY_E_INVALID_ARGUMENT);
    told = examine("add", GANTRY_OK);
    assert_int_equal(told.count, 2); /* the third is another kernel's */
    assert_true(told.verdicts[0].used);
    assert_string_equal(told.verdicts[0].text, "");
    assert_false(told.verdicts[1].used);
    assert_contains(told.verdicts[1].text, "kernel add");
    assert_contains(gantry_last_error(), "the module is NULL"); /* success leaves it as it was */
    finish();
}

/* An image that needs what the device lacks is not even tried; the one that is used comes first. */
static void test_a_feature_that_is_missing(void **state)
{
    const struct gpk_build_image images[] = {
        {.kernel = ALL,
         .kind = GANTRY_IMAGE_HOST,
         .entry = GANTRY_ENTRY_ALL,
         .data = host_image,
         .size = read_host_image()},
        {.kernel = ALL,
         .kind = GANTRY_IMAGE_HOST,
         .entry = GANTRY_ENTRY_ALL,
         .features = GANTRY_FEATURE_ATOMIC_INT64,
         .data = host_image,
         .size = read_host_image()},
    };
    struct told told;

    (void)state;
    start("name=Card,type=discrete,features=0");
    load(images, 2);
    told = examine("add", GANTRY_OK);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.verdicts[0].features, 0);
    assert_true(told.verdicts[0].used);
    assert_contains(told.verdicts[1].text, "64-bit integer atomics");
    told = examine("step", GANTRY_E_UNSUPPORTED);
    assert_int_equal(told.count, 2);
    assert_contains(told.verdicts[0].text, "needs 64-bit float arithmetic");
    assert_contains(told.verdicts[1].text, "needs 64-bit float arithmetic");
    finish();
}

static void test_nothing_can_be_used(void **state)
{
    const struct gpk_build_image image = {.kernel = ALL,
                                          .kind = GANTRY_IMAGE_HOST,
                                          .entry = GANTRY_ENTRY_ALL,
                                          .data = host_image,
                                          .size = read_host_image()};
    struct told told;

    (void)state;
    start("name=Card,type=discrete");
    load(&image, 1);
    told = examine("nowhere", GANTRY_E_NO_IMAGE);
    assert_int_equal(told.count, 1);
    assert_false(told.verdicts[0].used);
    assert_contains(told.verdicts[0].text, "nowhere");
    assert_contains(gantry_last_error(), "gantry_module_examine: ");
    told = examine("never", GANTRY_E_NOT_FOUND);
    assert_int_equal(told.count, 0);
    assert_contains(gantry_last_error(), "it has add, step, nowhere");
    assert_int_equal(gantry_module_examine(module, NULL, take, &told), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_module_examine(module, "add", NULL, &told), GANTRY_E_INVALID_ARGUMENT);
    finish();
}

/* A failure that is not the images' gives no verdict. */
static void test_memory_that_runs_out(void **state)
{
    const struct gpk_build_image image = {.kernel = ALL,
                                          .kind = GANTRY_IMAGE_HOST,
                                          .entry = GANTRY_ENTRY_ALL,
                                          .data = host_image,
                                          .size = read_host_image()};
    struct told told;

    (void)state;
    setenv("GANTRY_HOST_FAIL_CUDA", "kernel_create:1:E_OUT_OF_MEMORY", 1);
    start("name=Card,type=discrete");
    load(&image, 1);
    told = examine("add", GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(told.count, 0);
    told = examine("add", GANTRY_OK);
    assert_int_equal(told.count, 1);
    finish();
    unsetenv("GANTRY_HOST_FAIL_CUDA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_image_by_itself, machine_reset),
        cmocka_unit_test_setup(test_a_feature_that_is_missing, machine_reset),
        cmocka_unit_test_setup(test_nothing_can_be_used, machine_reset),
        cmocka_unit_test_setup(test_memory_that_runs_out, machine_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
