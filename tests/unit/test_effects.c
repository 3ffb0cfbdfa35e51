/* What each key of the configuration does, from a file's text to something that a program can see.
 * A key without an effect here must be marked as pending in the table. */
#include "unit.h"

#include <stdlib.h>

#include "core/context.h"
#include "core/list.h"
#include "core/options.h"
#include "gpk_builder.h"
#include "machine.h"
#include "scratch.h"

static const char card[] = "name=Card,type=discrete,uuid=01234567-89ab-cdef-0123-456789abcdef,"
                           "families=2,programmatic=1,waits=1,compute_units=10,"
                           "threads_per_unit=2048";

static struct gantry *g;
static struct gantry_device *device;
static struct gantry_module *module;
static struct gantry_kernel *kernel;
static struct gantry_queue *queue;
static struct gantry_list *list;

/* ---- A machine under a configuration --------------------------------------------------------- */

static void use_config(const char *text)
{
    char files[600];

    snprintf(files, sizeof(files), "none:%s", scratch_write("test.ini", text));
    setenv("GANTRY_CONFIG", files, 1);
}

#define KERNEL(text)                                                                            \
    .name = text, .args_name = "add_args", .args_size = 16, .field_count = 3, .fields = fields, \
    .dimensions = 1

#define FIELD(text, scalar, at, bytes, what)                                                   \
    {                                                                                          \
        .name = text, .type = GANTRY_SCALAR_##scalar, .offset = at, .size = bytes, .count = 1, \
        .pointee = what                                                                        \
    }

static void load(void)
{
    static const struct gantry_field_info fields[] = {
        FIELD("x", POINTER, 0, 8, "uint"),
        FIELD("value", UINT32, 8, 4, ""),
        FIELD("n", UINT32, 12, 4, ""),
    };
    static const struct gantry_kernel_source kernels[] = {{KERNEL("step"), .grid_stride = true}};
    static uint8_t bytes[8 << 20];
    FILE *file = fopen(machine_folder("tests/plugins/host/.libs/image.so"), "rb");
    struct gpk_build_image image = {.kernel = UINT32_MAX,
                                    .kind = GANTRY_IMAGE_HOST,
                                    .entry = GANTRY_ENTRY_ALL,
                                    .data = bytes};
    const struct gpk_build build = {
        .name = "steps", .kernels = kernels, .kernel_count = 1, .images = &image, .image_count = 1};
    struct gantry_module_params params = {0};
    uint8_t *package;

    assert_non_null(file);
    image.size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    package = gpk_build(&build, &params.size);
    params.data = package;
    assert_int_equal(gantry_module_load(device, &params, &module), GANTRY_OK);
    free(package);
    assert_int_equal(gantry_kernel_create(module, "step", NULL, &kernel), GANTRY_OK);
}

static void start(const char *config)
{
    machine_set(card, card);
    use_config(config);
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
    load();
    assert_int_equal(gantry_queue_create(device, NULL, &queue), GANTRY_OK);
    assert_int_equal(gantry_list_create(device, NULL, &list), GANTRY_OK);
}

static void finish(void)
{
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
    gantry_device_close(&device);
    machine_close(&g, "cuda");
}

static struct gantry_queue_stats stats(void)
{
    struct gantry_queue_stats now;

    assert_int_equal(gantry_queue_stats(queue, &now), GANTRY_OK);
    return now;
}

/* Launches of nothing but their own threads: they change no memory. */
static void record(uint32_t launches, uint32_t threads)
{
    const struct {
        gantry_ptr x;
        uint32_t value, n;
    } args = {0, 0, 0};

    for (uint32_t i = 0; i < launches; i++)
        assert_int_not_equal(gantry_list_launch(list, kernel, (struct gantry_size){.x = threads},
                                                &args, sizeof(args)),
                             0);
}

static struct gantry_list_info finish_list(void)
{
    struct gantry_list_info info;

    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(gantry_list_describe(list, &info), GANTRY_OK);
    return info;
}

/* ---- Keys of [gantry] ------------------------------------------------------------------------ */

static void check_backend(const char *config, const char *backend)
{
    struct gantry_device_info info;

    machine_set(card, card);
    use_config(config);
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
    assert_int_equal(gantry_device_info(device, &info), GANTRY_OK);
    assert_string_equal(info.chosen_backend, backend);
    gantry_device_close(&device);
    machine_close(&g, backend);
}

static void effect_of_backend(void **state)
{
    (void)state;
    check_backend("[gantry]\nbackend = cuda, vulkan\n", "cuda");
    check_backend("[gantry]\nbackend = vulkan, cuda\n", "vulkan");
}

static void check_device(const char *config, const char *name)
{
    struct gantry_device_info info;

    machine_set("name=One,type=discrete;name=Two,type=discrete", "none");
    use_config(config);
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
    assert_int_equal(gantry_device_info(device, &info), GANTRY_OK);
    assert_string_equal(info.name, name);
    gantry_device_close(&device);
    machine_close(&g, "cuda");
}

static void effect_of_device(void **state)
{
    (void)state;
    check_device("", "One");
    check_device("[gantry]\ndevice = Two\n", "Two");
    check_device("[gantry]\ndevice = cuda:1\n", "Two");
}

static void effect_of_plugin_path(void **state)
{
    const char *folder = machine_folder("tests/plugins/twins/.libs");
    struct gantry_backend_info info;
    char text[1200];

    (void)state;
    machine_set("none", "none");
    snprintf(text, sizeof(text), "[gantry]\nbackend = vulkan\nplugin_path = %s\n", folder);
    use_config(text);
    assert_int_equal(gantry_open(NULL, &g), GANTRY_OK);
    assert_int_equal(gantry_backend_describe(g, 0, &info), GANTRY_OK);
    assert_non_null(info.path);
    assert_int_equal(strncmp(info.path, folder, strlen(folder)), 0);
    gantry_close(&g);
}

static void count_message(void *user, enum gantry_log_level level, const char *text)
{
    unsigned *counts = user;

    (void)text;
    counts[level]++;
}

/* Opening a device is worth a message of level INFO. */
static unsigned messages_about_opening(const char *config)
{
    unsigned counts[GANTRY_LOG_DEBUG + 1] = {0};
    const struct gantry_params params = {
        .plugin_path = machine_folder("tests/plugins/twins/.libs"),
        .log = count_message,
        .log_user = counts,
    };

    machine_set(card, "none");
    use_config(config);
    assert_int_equal(gantry_open(&params, &g), GANTRY_OK);
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
    gantry_device_close(&device);
    gantry_close(&g);
    return counts[GANTRY_LOG_INFO];
}

static void effect_of_log(void **state)
{
    (void)state;
    assert_int_equal(messages_about_opening("[gantry]\nlog = error\n"), 0);
    assert_true(messages_about_opening("[gantry]\nlog = info\n") > 0);
}

/* ---- What a device is opened with ------------------------------------------------------------ */

static void check_families(const char *config, const char *refusal)
{
    enum gantry_status status;

    machine_set(card, "none");
    use_config(config);
    g = machine_open();
    status = gantry_device_open(g, NULL, &device);
    assert_int_equal(status, refusal ? GANTRY_E_LIMIT : GANTRY_OK);
    if (refusal)
        assert_contains(gantry_last_error(), refusal);
    gantry_device_close(&device);
    machine_close(&g, "cuda");
}

static void effect_of_queue_family(void **state)
{
    (void)state;
    check_families("[policy]\nqueue_family = 1\n", NULL);
    check_families("[policy]\nqueue_family = 5\n", "queue family 5");
}

static void effect_of_transfer_family(void **state)
{
    (void)state;
    check_families("[policy]\ntransfer_family = 1\n", NULL);
    check_families("[policy]\ntransfer_family = 5\n", "transfer family 5");
}

static struct gantry_backend_device_params opened_with;

static enum gantry_status refuse_to_open(struct gantry_drv_instance *instance, uint32_t index,
                                         const struct gantry_backend_device_params *params,
                                         struct gantry_drv_device **drv)
{
    (void)instance;
    (void)index;
    (void)drv;
    opened_with = *params;
    return GANTRY_E_DRIVER;
}

/* What the mode does is the plugins' tests' business: here it arrives. */
static void check_submit(const char *config, enum gantry_submit_mode mode)
{
    struct gantry_backend_ops ops;
    struct gantry_backend backend;

    machine_set(card, "none");
    use_config(config);
    g = machine_open();
    backend = *g->plugins.items[0].backend;
    ops = *backend.ops;
    ops.device_open = refuse_to_open;
    backend.ops = &ops;
    g->plugins.items[0].backend = &backend;
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_E_DRIVER);
    assert_int_equal(opened_with.submit, mode);
    machine_close(&g, "cuda");
}

static void effect_of_submit(void **state)
{
    (void)state;
    check_submit("", GANTRY_SUBMIT_AUTO);
    check_submit("[policy]\nsubmit = graph\n", GANTRY_SUBMIT_GRAPH);
    check_submit("[policy]\nsubmit = stream\n", GANTRY_SUBMIT_STREAM);
}

/* ---- Grids ----------------------------------------------------------------------------------- */

static void check_block_size(const char *config, uint32_t threads)
{
    struct gantry_kernel_info info;

    start(config);
    assert_int_equal(gantry_kernel_describe(kernel, &info), GANTRY_OK);
    assert_int_equal(info.block.x, threads);
    finish();
}

static void effect_of_block_size(void **state)
{
    (void)state;
    check_block_size("[policy]\nblock_size = 96\n", 96);
    check_block_size("[policy]\nblock_size = 96\nblock_size.step = 32\n", 32);
    check_block_size("[policy]\nblock_size.step = 32\nblock_size.steps/step = 128\n", 128);
}

static uint32_t blocks_of_a_large_launch(const char *config)
{
    uint32_t blocks;

    start(config);
    record(1, UINT32_MAX);
    blocks = list->commands[0].launch.blocks.x;
    finish();
    return blocks;
}

static void effect_of_blocks_per_cu(void **state)
{
    (void)state;
    assert_int_equal(blocks_of_a_large_launch("[policy]\nblocks_per_cu = 1\n"), 10);
    assert_int_equal(blocks_of_a_large_launch("[policy]\nblocks_per_cu = 3\n"), 30);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Three stages of launches that do not depend on each other. */
static struct gantry_list_info plan_of_stages(const char *config)
{
    struct gantry_list_info info;

    start(config);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
        record(12, 64);
        assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    }
    info = finish_list();
    finish();
    return info;
}

static void effect_of_chains(void **state)
{
    struct gantry_list_info one = plan_of_stages("[policy]\nfold = off\nchains = 1\n");
    struct gantry_list_info four = plan_of_stages("[policy]\nfold = off\nchains = 4\n");

    (void)state;
    assert_int_equal(one.edges, 35); /* 36 operations, one after the other */
    assert_true(four.edges != one.edges);
}

static void effect_of_fold(void **state)
{
    (void)state;
    assert_int_equal(plan_of_stages("[policy]\nfold = on\n").folded, 36);
    assert_int_equal(plan_of_stages("[policy]\nfold = off\n").folded, 0);
}

static void effect_of_programmatic(void **state)
{
    (void)state;
    assert_int_equal(plan_of_stages("[policy]\nprogrammatic = off\n").programmatic_edges, 0);
    assert_true(plan_of_stages("[policy]\nprogrammatic = on\n").programmatic_edges > 0);
}

/* Dependent launches of one block are folded into chains of as long as the time allows. */
static uint32_t operations_of_a_run(const char *config)
{
    struct gantry_list_info info;

    start(config);
    record(64, 16);
    info = finish_list();
    finish();
    return info.operations;
}

static void effect_of_batch_max_ms(void **state)
{
    (void)state;
    assert_int_equal(operations_of_a_run("[policy]\nbatch_max_ms = 10\n"), 1);
    assert_int_equal(operations_of_a_run("[policy]\nbatch_max_ms = 0.16\n"), 4);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Commands of which each waits for the one before: the host plugin runs one at each look. */
static struct gantry_queue_stats stats_of_streaming(const char *config)
{
    const struct gantry_buffer_params params = {.size = 4096};
    struct gantry_queue_stats now;
    struct gantry_buffer *buffer;
    struct gantry_point point;

    start(config);
    assert_int_equal(gantry_buffer_create(device, &params, &buffer), GANTRY_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(gantry_queue_fill(queue, buffer, 0, 4096, i, &point), GANTRY_OK);
    assert_int_equal(gantry_wait(point, GANTRY_FOREVER), GANTRY_OK);
    now = stats();
    gantry_buffer_destroy(&buffer);
    finish();
    return now;
}

static void effect_of_batch_size(void **state)
{
    (void)state;
    assert_int_equal(stats_of_streaming("[policy]\nbatch_size = 1\n").submissions, 64);
    assert_true(stats_of_streaming("[policy]\nbatch_size = 64\nbatch_max_ms = 1000\n").submissions <
                64);
}

static void effect_of_spin_us(void **state)
{
    struct gantry_queue_stats sleeping = stats_of_streaming("[policy]\nspin_us = 0\n");
    struct gantry_queue_stats spinning = stats_of_streaming("[policy]\nspin_us = 1000000\n");

    (void)state;
    assert_true(sleeping.blocking_waits > 0);
    assert_true(spinning.spins > 0);
    assert_int_equal(spinning.blocking_waits, 0);
}

enum { BUFFERS = 16 };

static uint32_t blocks_of_buffers(const char *config)
{
    const struct gantry_buffer_params params = {.size = 4096};
    struct gantry_buffer *buffers[BUFFERS];
    struct gantry_memory_info info;

    start(config);
    for (int i = 0; i < BUFFERS; i++)
        assert_int_equal(gantry_buffer_create(device, &params, &buffers[i]), GANTRY_OK);
    assert_int_equal(gantry_device_memory(device, &info), GANTRY_OK);
    for (int i = 0; i < BUFFERS; i++)
        gantry_buffer_destroy(&buffers[i]);
    finish();
    return info.blocks;
}

static void effect_of_pool_block_mib(void **state)
{
    (void)state;
    assert_true(blocks_of_buffers("[policy]\npool_block_mib = 8\n") < BUFFERS);
    assert_true(blocks_of_buffers("[policy]\npool_block_mib = 0\n") >= BUFFERS);
}

/* Host memory after a streamed upload. */
static uint64_t staging_bytes(const char *config)
{
    const struct gantry_buffer_params params = {.size = 4096};
    static const uint8_t data[4096];
    struct gantry_memory_info info;
    struct gantry_buffer *buffer;

    start(config);
    assert_int_equal(gantry_buffer_create(device, &params, &buffer), GANTRY_OK);
    assert_int_equal(gantry_queue_upload(queue, buffer, 0, data, sizeof(data), NULL), GANTRY_OK);
    assert_int_equal(gantry_device_memory(device, &info), GANTRY_OK);
    gantry_buffer_destroy(&buffer);
    finish();
    return info.host_used;
}

static void effect_of_staging_mib(void **state)
{
    uint64_t small = staging_bytes("[policy]\nstaging_mib = 1\n");
    uint64_t large = staging_bytes("[policy]\nstaging_mib = 32\n");

    (void)state;
    assert_int_equal(large - small, 31 << 20);
}

/* The launch names no buffer, and needs none: n is 0, which its kernel does not state. */
static void check_validation(const char *config, enum gantry_status expected)
{
    start(config);
    record(1, 1);
    assert_int_equal(gantry_queue_submit(queue, list, NULL, 0, NULL), expected);
    finish();
}

static void effect_of_validate(void **state)
{
    (void)state;
    check_validation("[policy]\nvalidate = off\n", GANTRY_OK);
    check_validation("[policy]\nvalidate = on\n", GANTRY_E_INVALID_ARGUMENT);
    check_validation("[policy]\nvalidate = auto\n", GANTRY_OK); /* the card is no CPU device */
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct {
    enum option_id id;
    void (*test)(void **state);
} effects[] = {
    {OPTION_BACKEND, effect_of_backend},
    {OPTION_DEVICE, effect_of_device},
    {OPTION_PLUGIN_PATH, effect_of_plugin_path},
    {OPTION_LOG, effect_of_log},
    {OPTION_BATCH_SIZE, effect_of_batch_size},
    {OPTION_BATCH_MAX_MS, effect_of_batch_max_ms},
    {OPTION_BLOCK_SIZE, effect_of_block_size},
    {OPTION_BLOCKS_PER_CU, effect_of_blocks_per_cu},
    {OPTION_QUEUE_FAMILY, effect_of_queue_family},
    {OPTION_TRANSFER_FAMILY, effect_of_transfer_family},
    {OPTION_CHAINS, effect_of_chains},
    {OPTION_FOLD, effect_of_fold},
    {OPTION_PROGRAMMATIC, effect_of_programmatic},
    {OPTION_SUBMIT, effect_of_submit},
    {OPTION_SPIN_US, effect_of_spin_us},
    {OPTION_POOL_BLOCK_MIB, effect_of_pool_block_mib},
    {OPTION_STAGING_MIB, effect_of_staging_mib},
    {OPTION_VALIDATE, effect_of_validate},
};

enum { EFFECTS = sizeof(effects) / sizeof(effects[0]) };

static void every_key_has_an_effect_or_says_so(void **state)
{
    bool has_effect[OPTION_COUNT] = {false};

    (void)state;
    for (size_t i = 0; i < EFFECTS; i++)
        has_effect[effects[i].id] = true;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (has_effect[id] == options[id].pending)
            print_error("%s: has %s effect, and is %smarked as pending\n", options[id].name,
                        has_effect[id] ? "an" : "no", options[id].pending ? "" : "not ");
        assert_true(has_effect[id] != options[id].pending);
    }
}

static int open_files(void **state)
{
    return machine_reset(state) || scratch_open(state);
}

int main(void)
{
    struct CMUnitTest tests[EFFECTS + 1] = {cmocka_unit_test(every_key_has_an_effect_or_says_so)};

    for (size_t i = 0; i < EFFECTS; i++)
        tests[i + 1] = (struct CMUnitTest){
            .name = options[effects[i].id].name,
            .test_func = effects[i].test,
            .setup_func = open_files,
            .teardown_func = scratch_close,
        };
    return cmocka_run_group_tests_name("effects", tests, NULL, NULL);
}
