/* core/module.c, core/kernel.c, core/entry.c, core/wish.c: kernels of a package on the host plugin,
 * the choice of their blocks, and what refuses them. */
#include "unit.h"

#include <stdlib.h>

#include "core/module.h"

#include "gpk_builder.h"
#include "machine.h"
#include "scratch.h"

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

/* The host image holds add, step, sum, lanes, count and overrun. The rules are this test's. */
static const struct gantry_kernel_source kernels[] = {
    {KERNEL("add"), .grid_stride = true},
    {KERNEL("sum"), .block_pow2 = true, .block_max = 256, .shared_per_thread = 64},
    {KERNEL("step"), .block = {64, 1, 1}},
    {KERNEL("lanes"), .features = GANTRY_FEATURE_DOUBLE | GANTRY_FEATURE_INT64},
    {KERNEL("count"), .block_multiple = 2048},
    {KERNEL("nowhere")},
};

/* ---- A machine with the package loaded ----------------------------------------------------- */

static size_t read_image(uint8_t *bytes, size_t size)
{
    FILE *file = fopen(machine_folder("tests/plugins/host/.libs/image.so"), "rb");
    size_t read;

    assert_non_null(file);
    read = fread(bytes, 1, size, file);
    fclose(file);
    assert_in_range(read, 1, size - 1);
    return read;
}

static void load(uint32_t features)
{
    static uint8_t bytes[8 << 20];
    struct gpk_build_image image = {.kernel = ALL,
                                    .kind = GANTRY_IMAGE_HOST,
                                    .entry = GANTRY_ENTRY_ALL,
                                    .features = features,
                                    .data = bytes,
                                    .size = read_image(bytes, sizeof(bytes))};
    struct gpk_build build = {.name = "adders",
                              .kernels = kernels,
                              .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                              .images = &image,
                              .image_count = 1};
    struct gantry_module_params params = {0};
    uint8_t *package = gpk_build(&build, &params.size);

    params.data = package;
    assert_int_equal(gantry_module_load(device, &params, &module), GANTRY_OK);
    free(package);
}

static void start_as(const char *machine)
{
    machine_set(machine, "none");
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
    load(0);
}

static void start(void)
{
    start_as("name=Card,type=discrete");
}

static void finish(void)
{
    gantry_module_unload(&module);
    gantry_device_close(&device);
    machine_close(&g, "cuda");
}

static int open_files(void **state)
{
    return machine_reset(state) || scratch_open(state);
}

static void use_config(const char *text)
{
    char list[600];

    snprintf(list, sizeof(list), "none:%s", scratch_write("test.ini", text));
    setenv("GANTRY_CONFIG", list, 1);
}

static void check_block(const char *name, const struct gantry_kernel_params *params,
                        struct gantry_size block, const char *origin)
{
    struct gantry_kernel_info info;
    struct gantry_kernel *kernel;
    enum gantry_status status = gantry_kernel_create(module, name, params, &kernel);

    if (status != GANTRY_OK)
        print_error("%s\n", gantry_last_error());
    assert_int_equal(status, GANTRY_OK);
    assert_int_equal(gantry_kernel_describe(kernel, &info), GANTRY_OK);
    assert_string_equal(info.name, name);
    assert_int_equal(info.block.x, block.x);
    assert_int_equal(info.block.y, block.y);
    assert_int_equal(info.block.z, block.z);
    assert_contains(info.block_origin, origin);
    gantry_kernel_destroy(&kernel);
    assert_null(kernel);
}

static void check_refused(const char *name, const struct gantry_kernel_params *params,
                          enum gantry_status status, const char *part)
{
    struct gantry_kernel *kernel = (void *)1;

    assert_int_equal(gantry_kernel_create(module, name, params, &kernel), status);
    assert_null(kernel);
    assert_contains(gantry_last_error(), part);
}

#define BLOCK(x, y, z) ((struct gantry_size){x, y, z})

/* ---- Blocks -------------------------------------------------------------------------------- */

static void test_block_of_source(void **state)
{
    struct gantry_kernel_params params = {.block = {64, 0, 0}};

    (void)state;
    use_config("[policy]\nblock_size = 128\n");
    start();
    check_block("step", NULL, BLOCK(64, 1, 1), "BLOCK() in the source");
    check_block("step", &params, BLOCK(64, 1, 1), "BLOCK() in the source");
    params.block.x = 32;
    check_refused("step", &params, GANTRY_E_INVALID_ARGUMENT, "fixes 64");
    finish();
}

static void test_block_of_caller(void **state)
{
    struct gantry_kernel_params params = {.block = {96, 0, 0}};

    (void)state;
    use_config("[policy]\nblock_size = 128\n");
    start();
    check_block("add", &params, BLOCK(96, 1, 1), "caller");
    check_refused("sum", &params, GANTRY_E_LIMIT, "BLOCK_POW2");
    params.block.x = 512;
    check_refused("sum", &params, GANTRY_E_LIMIT, "BLOCK_MAX 256");
    params.block = BLOCK(64, 64, 0);
    check_refused("add", &params, GANTRY_E_LIMIT, "block 64x64 (caller) has 4096 threads");
    params.block = BLOCK(1, 1, 65);
    check_refused("add", &params, GANTRY_E_LIMIT, "65 threads along z");
    finish();
}

/* C17: a policy's block that a kernel can't have is said once, with file and line, and not used. */
static void test_block_of_policy(void **state)
{
    (void)state;
    use_config("[policy]\nblock_size = 128\nblock_size.sum = 96\n"
               "block_size.adders/add = 192\nblock_size.lanes = 1024x2\n");
    start();
    check_block("add", NULL, BLOCK(192, 1, 1), "test.ini:4");
    check_block("sum", NULL, BLOCK(64, 1, 1), "device occupancy");
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, "test.ini:3: block_size 96"), 1);
    check_block("lanes", NULL, BLOCK(64, 1, 1), "device occupancy");
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, "test.ini:5: block_size 1024x2"), 1);
    finish();
}

static void test_block_of_device(void **state)
{
    (void)state;
    start();
    check_block("add", NULL, BLOCK(64, 1, 1), "device occupancy");
    check_refused("count", NULL, GANTRY_E_LIMIT, "no block of at most 1024 threads");
    finish();
    start_as("name=Small,type=discrete,max_threads_per_block=40,max_shared_bytes=2K");
    check_block("add", NULL, BLOCK(40, 1, 1), "device occupancy");
    check_block("sum", NULL, BLOCK(32, 1, 1), "device occupancy");
    finish();
}

/* ---- Refusals ------------------------------------------------------------------------------ */

static void test_not_found(void **state)
{
    (void)state;
    start();
    check_refused("subtract", NULL, GANTRY_E_NOT_FOUND,
                  "module \"adders\" has no kernel \"subtract\"; it has add, sum, step");
    check_refused("nowhere", NULL, GANTRY_E_NO_IMAGE, "kernel nowhere");
    finish();
}

static void test_layout(void **state)
{
    struct gantry_kernel_params params = {.layout_hash = 1};

    (void)state;
    start();
    check_refused("add", &params, GANTRY_E_LAYOUT, "another layout of add_args");
    finish();
}

static void test_features(void **state)
{
    (void)state;
    start_as("name=Old GPU,type=discrete,features=4");
    check_refused("lanes", NULL, GANTRY_E_UNSUPPORTED,
                  "needs 64-bit float arithmetic, which device \"Old GPU\" lacks through cuda");
    check_block("add", NULL, BLOCK(64, 1, 1), "");
    gantry_module_unload(&module);
    load(GANTRY_FEATURE_HALF);
    check_refused("add", NULL, GANTRY_E_NO_IMAGE, "holds no image of its direct entry");
    assert_contains(gantry_last_error(), "host, which needs 16-bit float arithmetic");
    finish();
}

static void test_arguments_too_large(void **state)
{
    (void)state;
    start_as("name=Card,type=discrete,max_args_bytes=12");
    check_refused("add", NULL, GANTRY_E_LIMIT, "arguments are 16 bytes, device \"Card\" takes 12");
    finish();
}

static void test_bad_calls(void **state)
{
    struct gantry_module_params params = {.file = "a", .source = &kernels[0]};
    struct gantry_module *other = (void *)1;
    struct gantry_kernel_info info;
    struct gantry_kernel *kernel;

    (void)state;
    start();
    assert_int_equal(gantry_module_load(device, NULL, &other), GANTRY_E_INVALID_ARGUMENT);
    assert_null(other);
    assert_int_equal(gantry_module_load(device, &params, &other), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_module_load(NULL, &params, &other), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_module_load(device, &params, NULL), GANTRY_E_INVALID_ARGUMENT);
    params = (struct gantry_module_params){.image_count = 1};
    assert_int_equal(gantry_module_load(device, &params, &other), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_kernel_create(NULL, "add", NULL, &kernel), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_kernel_create(module, NULL, NULL, &kernel), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_kernel_create(module, "add", NULL, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_kernel_describe(NULL, &info), GANTRY_E_INVALID_ARGUMENT);
    gantry_kernel_destroy(&kernel);
    gantry_kernel_destroy(NULL);
    gantry_module_unload(NULL);
    finish();
}

/* ---- Other entries -------------------------------------------------------------------------- */

/* The image has a chained entry of step, and none of add, which is no failure and leaves no trace.
 */
static void test_entries_by_choice(void **state)
{
    const struct kernel_entry *entry, *again;
    struct gantry_kernel *kernel;
    char before[256];

    (void)state;
    start();
    assert_int_equal(gantry_kernel_create(module, "step", NULL, &kernel), GANTRY_OK);
    assert_int_equal(kernel_foldable(kernel, &entry), GANTRY_OK);
    assert_int_equal(kernel_folded(kernel, &again), GANTRY_OK);
    assert_true(entry && entry == again && entry->drv);
    assert_string_equal(entry->info.image, "host");
    assert_int_equal(kernel_chained(kernel, &again), GANTRY_OK);
    assert_true(again && again->drv && again->drv != entry->drv);
    gantry_kernel_destroy(&kernel);
    assert_int_equal(gantry_kernel_create(module, "add", NULL, &kernel), GANTRY_OK);
    assert_int_equal(gantry_kernel_create(module, "none", NULL, NULL), GANTRY_E_INVALID_ARGUMENT);
    snprintf(before, sizeof(before), "%s", gantry_last_error());
    assert_int_equal(kernel_chained(kernel, &entry), GANTRY_OK);
    assert_null(entry);
    assert_string_equal(gantry_last_error(), before);
    gantry_kernel_destroy(&kernel);
    finish();
}

/* A plugin that could not make the entry is not asked again until a launch can't do without it. */
static void test_missing_entries_are_remembered(void **state)
{
    const struct kernel_entry *entry;
    struct gantry_kernel *kernel;

    (void)state;
    setenv("GANTRY_HOST_FAIL_CUDA", "kernel_create:2", 1);
    start();
    assert_int_equal(gantry_kernel_create(module, "step", NULL, &kernel), GANTRY_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kernel_foldable(kernel, &entry), GANTRY_OK);
        assert_null(entry);
    }
    assert_int_equal(kernel_folded(kernel, &entry), GANTRY_OK);
    assert_non_null(entry->drv);
    assert_int_equal(kernel_foldable(kernel, &entry), GANTRY_OK);
    assert_non_null(entry);
    gantry_kernel_destroy(&kernel);
    finish();
}

/* ---- Lifetime ------------------------------------------------------------------------------ */

struct add_args {
    gantry_ptr x;
    uint32_t value, n;
};

/* Ten additions of 3 by a list whose kernel's and module's handles are gone when it is submitted.
 */
static void add_ten_times(void)
{
    const struct gantry_buffer_params buffer_params = {.size = 400,
                                                       .memory = GANTRY_MEMORY_READBACK,
                                                       .zero = true};
    struct gantry_buffer *buffer;
    struct gantry_kernel *kernel;
    struct gantry_queue *queue;
    struct gantry_list *list;
    struct gantry_point point;
    struct add_args args = {.value = 3, .n = 100};

    assert_int_equal(gantry_buffer_create(device, &buffer_params, &buffer), GANTRY_OK);
    assert_int_equal(gantry_queue_create(device, NULL, &queue), GANTRY_OK);
    assert_int_equal(gantry_list_create(device, NULL, &list), GANTRY_OK);
    assert_int_equal(gantry_kernel_create(module, "add", NULL, &kernel), GANTRY_OK);
    args.x = gantry_buffer_address(buffer);
    for (int i = 0; i < 5; i++)
        assert_int_not_equal(gantry_list_launch(list, kernel, (struct gantry_size){100, 1, 1},
                                                &args, sizeof(args)),
                             0);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
    for (int i = 0; i < 2; i++)
        assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, &point), GANTRY_OK);
    gantry_list_destroy(&list);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(((uint32_t *)gantry_buffer_host(buffer))[i], 30);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&buffer);
}

/* A list keeps its kernel, the kernel its module. */
static void test_lists_keep_kernels(void **state)
{
    (void)state;
    start();
    add_ten_times();
    finish();
}

static void test_close_with_kernels_left(void **state)
{
    struct gantry_kernel *kernels_left[3];
    struct gantry_list *list;
    struct add_args args = {0};

    (void)state;
    start();
    for (int i = 0; i < 3; i++)
        assert_int_equal(gantry_kernel_create(module, "add", NULL, &kernels_left[i]), GANTRY_OK);
    assert_int_equal(gantry_list_create(device, NULL, &list), GANTRY_OK);
    for (int i = 0; i < 3; i++)
        gantry_list_launch(list, kernels_left[i], (struct gantry_size){1, 1, 1}, &args,
                           sizeof(args));
    gantry_kernel_destroy(&kernels_left[1]);
    machine_close(&g, "cuda");
}

static void test_failures_leak_nothing(void **state)
{
    static const char *const failures[] = {"kernel_create:1", "kernel_block:1"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        setenv("GANTRY_HOST_FAIL_CUDA", failures[i], 1);
        start();
        check_refused("add", NULL, GANTRY_E_DRIVER, "gantry_kernel_create: kernel add");
        check_block("add", NULL, BLOCK(64, 1, 1), "");
        finish();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_block_of_source, open_files, scratch_close),
        cmocka_unit_test_setup_teardown(test_block_of_caller, open_files, scratch_close),
        cmocka_unit_test_setup_teardown(test_block_of_policy, open_files, scratch_close),
        cmocka_unit_test_setup(test_block_of_device, machine_reset),
        cmocka_unit_test_setup(test_not_found, machine_reset),
        cmocka_unit_test_setup(test_layout, machine_reset),
        cmocka_unit_test_setup(test_features, machine_reset),
        cmocka_unit_test_setup(test_arguments_too_large, machine_reset),
        cmocka_unit_test_setup(test_bad_calls, machine_reset),
        cmocka_unit_test_setup(test_entries_by_choice, machine_reset),
        cmocka_unit_test_setup(test_missing_entries_are_remembered, machine_reset),
        cmocka_unit_test_setup(test_lists_keep_kernels, machine_reset),
        cmocka_unit_test_setup(test_close_with_kernels_left, machine_reset),
        cmocka_unit_test_setup(test_failures_leak_nothing, machine_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
