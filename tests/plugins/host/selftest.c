/* Drives the host plugin through its table, without core: PLUGIN IMAGE. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/backend.h>

static const struct gantry_backend_ops *ops;
static long *plugin_faults;
static void *image;
static size_t image_size;

/* ---- Services -------------------------------------------------------------------------------- */

static char last_error[512];
static long live_allocations, allocations_left = -1; /* -1: no end */

static void log_message(void *context, enum gantry_log_level level, const char *format, ...)
{
    (void)context;
    (void)level;
    va_list list;
    va_start(list, format);
    vsnprintf(last_error, sizeof(last_error), format, list);
    va_end(list);
}

static enum gantry_status report(void *context, enum gantry_status status, const char *format, ...)
{
    (void)context;
    va_list list;
    va_start(list, format);
    vsnprintf(last_error, sizeof(last_error), format, list);
    va_end(list);
    return status;
}

static void *allocate(void *context, size_t size)
{
    (void)context;
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    live_allocations++;
    return calloc(1, size);
}

static void release(void *context, void *memory)
{
    (void)context;
    live_allocations -= memory != NULL;
    free(memory);
}

static const struct gantry_backend_services services = {
    .size = sizeof(services),
    .log = log_message,
    .fail = report,
    .allocate = allocate,
    .release = release,
};

/* ---- A device with memory and kernels -------------------------------------------------------- */

#define WORDS 256u

struct rig {
    struct gantry_drv_instance *instance;
    struct gantry_drv_device *device;
    struct gantry_drv_queue *queue;
    struct gantry_drv_memory memory;
    struct gantry_queue_stats stats;
    uint64_t submitted;
};

struct add_args {
    uint64_t x;
    uint32_t value, n;
};

static void set(const char *devices, const char *failures, const char *order, const char *seed)
{
    setenv("GANTRY_HOST_DEVICES", devices, 1);
    setenv("GANTRY_HOST_FAIL", failures, 1);
    setenv("GANTRY_HOST_ORDER", order, 1);
    setenv("GANTRY_HOST_SEED", seed, 1);
}

static enum gantry_status rig_open(struct rig *rig)
{
    const struct gantry_backend_device_params device_params = {.size = sizeof(device_params)};
    const struct gantry_backend_queue_params queue_params = {.stats = &rig->stats};
    enum gantry_status status = ops->instance_open(&services, "selftest", &rig->instance);
    if (status == GANTRY_OK)
        status = ops->device_open(rig->instance, 0, &device_params, &rig->device);
    if (status == GANTRY_OK)
        status = ops->queue_create(rig->device, &queue_params, &rig->queue);
    if (status == GANTRY_OK)
        status = ops->memory_allocate(rig->device, GANTRY_MEMORY_READBACK, WORDS * sizeof(uint32_t),
                                      &rig->memory);
    return status;
}

/* Returns the number of faults that the plugin found. */
static long rig_close(struct rig *rig)
{
    if (rig->memory.address)
        ops->memory_free(rig->device, &rig->memory);
    if (rig->queue)
        ops->queue_destroy(rig->queue);
    if (rig->device)
        ops->device_close(rig->device);
    if (!rig->instance)
        return 0;
    ops->instance_close(rig->instance);
    return *plugin_faults;
}

static enum gantry_status make_kernel(struct rig *rig, const char *symbol, enum gantry_entry entry,
                                      struct gantry_drv_kernel **kernel)
{
    const struct gantry_kernel_source source = {.name = symbol};
    const struct gantry_backend_image host = {
        .kind = GANTRY_IMAGE_HOST,
        .entry = GANTRY_ENTRY_ALL,
        .data = image,
        .size = image_size,
    };
    const struct gantry_backend_kernel_params params = {
        .source = &source,
        .entry = entry,
        .symbol = symbol,
        .block = {64, 1, 1},
        .images = &host,
        .image_count = 1,
    };
    struct gantry_backend_kernel_info info;
    return ops->kernel_create(rig->device, &params, kernel, &info);
}

static struct gantry_op launch(struct gantry_drv_kernel *kernel, uint32_t stage, const void *args,
                               uint32_t size)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_LAUNCH,
        .stage = stage,
        .launch = {.kernel = kernel,
                   .blocks = {1, 1, 1},
                   .block = {64, 1, 1},
                   .args = args,
                   .args_size = size,
                   .shared_bytes = 64 * sizeof(uint32_t)},
    };
}

static struct gantry_op fill(struct rig *rig, uint32_t stage, uint32_t pattern)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_FILL,
        .stage = stage,
        .fill = {.memory = &rig->memory, .size = rig->memory.size, .pattern = pattern},
    };
}

static enum gantry_status run_once(struct rig *rig, const struct gantry_plan *plan)
{
    const struct gantry_backend_submission submission = {.value = rig->submitted + 1};
    enum gantry_status status = ops->submit_once(rig->queue, plan, &submission);
    if (status == GANTRY_OK) {
        rig->submitted++;
        status = ops->queue_wait(rig->queue, rig->submitted, GANTRY_FOREVER);
    }
    return status;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static void test_devices(void **state)
{
    (void)state;
    struct gantry_drv_instance *instance;
    struct gantry_backend_device_info info;
    set("name=A,type=discrete,uuid=00112233-4455-6677-8899-aabbccddeeff,pci=0001:0a:00.0,arch=sm_"
        "90,"
        "memory_size=8G,max_blocks=65535x65535x65535;name=B,skipped=no driver",
        "", "edges", "1");
    assert_int_equal(ops->instance_open(&services, "selftest", &instance), GANTRY_OK);
    assert_int_equal(ops->device_count(instance), 2);
    assert_int_equal(ops->device_describe(instance, 0, &info), GANTRY_OK);
    assert_string_equal(info.name, "A");
    assert_int_equal(info.type, GANTRY_DEVICE_DISCRETE);
    assert_true(info.has_uuid && info.uuid[0] == 0x00 && info.uuid[15] == 0xff);
    assert_true(info.has_pci && info.pci_domain == 1 && info.pci_bus == 10);
    assert_int_equal(info.arch_number, 90);
    assert_int_equal(info.limits.memory_size, UINT64_C(8) << 30);
    assert_int_equal(info.limits.max_blocks.x, 65535);
    assert_int_equal(ops->device_describe(instance, 1, &info), GANTRY_OK);
    assert_string_equal(info.skipped, "no driver");
    assert_false(info.has_uuid);
    ops->instance_close(instance);
    assert_int_equal(*plugin_faults, 0);
}

static void test_bad_settings(void **state)
{
    (void)state;
    static const struct {
        const char *devices, *failures, *order;
        enum gantry_status status;
    } bad[] = {
        {"colour=red", "", "edges", GANTRY_E_CONFIG},
        {"uuid=0011", "", "edges", GANTRY_E_CONFIG},
        {"memory_size=12Q", "", "edges", GANTRY_E_CONFIG},
        {"", "submit", "edges", GANTRY_E_CONFIG},
        {"", "submit:0", "edges", GANTRY_E_CONFIG},
        {"", "submit:1:E_NOTHING", "edges", GANTRY_E_CONFIG},
        {"", "", "backwards", GANTRY_E_CONFIG},
        {"none", "", "edges", GANTRY_E_NO_DEVICE},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct gantry_drv_instance *instance;
        set(bad[i].devices, bad[i].failures, bad[i].order, "1");
        assert_int_equal(ops->instance_open(&services, "selftest", &instance), bad[i].status);
    }
    assert_int_equal(live_allocations, 0);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Fills with 1, runs the kernel on `threads` threads of one block, leaves the results in memory. */
static void run_kernel(struct rig *rig, const char *symbol, uint32_t threads, uint32_t blocks,
                       uint32_t value)
{
    struct gantry_drv_kernel *kernel;
    struct add_args args = {rig->memory.address, value, threads * blocks};
    assert_int_equal(make_kernel(rig, symbol, GANTRY_ENTRY_DIRECT, &kernel), GANTRY_OK);
    struct gantry_op list[] = {fill(rig, 0, 1), launch(kernel, 1, &args, sizeof(args))};
    list[1].launch.block.x = threads;
    list[1].launch.blocks.x = blocks;
    const struct gantry_edge edge = {0, 1, false};
    const struct gantry_plan plan = {
        .ops = list, .op_count = 2, .edges = &edge, .edge_count = 1, .stage_count = 2};
    assert_int_equal(run_once(rig, &plan), GANTRY_OK);
    ops->kernel_destroy(rig->device, kernel);
}

static void test_barriers(void **state)
{
    (void)state;
    struct rig rig = {0};
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    uint32_t *words = rig.memory.host;
    run_kernel(&rig, "sum", 64, 3, 50); /* the last 14 threads of a block return early */
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], i < 192 && i % 64 < 50 ? 64 : 1);
    run_kernel(&rig, "count", 64, 4, 2);
    assert_int_equal(words[0], 1 + 256 * 2);
    assert_int_equal(rig_close(&rig), 0);
}

static void test_subgroups(void **state)
{
    (void)state;
    struct rig rig = {0};
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    run_kernel(&rig, "lanes", 21, 1, 0);
    static const uint32_t expected[3][6] = {{25, 7, 4, 2, 0, 1},
                                            {92, 15, 4, 10, 1, 1},
                                            {90, 20, 3, 18, 0, 0}};
    uint32_t *words = rig.memory.host;
    for (uint32_t t = 0; t < 21; t++) {
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(words[t * 7 + i], t == 3 ? 1 : expected[t / 8][i]);
        assert_int_equal(words[t * 7 + 6], t == 3 ? 1 : 800 + t / 8 * 10 + t % 8);
    }
    assert_int_equal(rig_close(&rig), 0);
}

static void test_overrun(void **state)
{
    (void)state;
    struct rig rig = {0};
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    run_kernel(&rig, "overrun", 64, 4, 9); /* writes word 256 of 256 */
    assert_int_equal(rig_close(&rig), 1);
}

static void test_missing_image(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct gantry_drv_kernel *kernel;
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    assert_int_equal(make_kernel(&rig, "nothing", GANTRY_ENTRY_DIRECT, &kernel), GANTRY_E_NO_IMAGE);
    assert_int_equal(rig_close(&rig), 0);
}

/* ---- Order ----------------------------------------------------------------------------------- */

#define STEPS 12u

/* A chain of steps, x = 3 x + i, with the edge into step `without` left out. */
static uint32_t run_chain(const char *order, const char *seed, uint32_t without, long *faults)
{
    struct rig rig = {0};
    struct gantry_drv_kernel *kernel;
    struct add_args args[STEPS];
    struct gantry_op list[STEPS + 1];
    struct gantry_edge edges[STEPS];
    uint32_t edge_count = 0;
    set("", "", order, seed);
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    assert_int_equal(make_kernel(&rig, "step", GANTRY_ENTRY_DIRECT, &kernel), GANTRY_OK);
    list[0] = fill(&rig, 0, 1);
    for (uint32_t i = 1; i <= STEPS; i++) {
        args[i - 1] = (struct add_args){rig.memory.address, i, WORDS};
        list[i] = launch(kernel, i, &args[i - 1], sizeof(args[0]));
        if (i != without)
            edges[edge_count++] = (struct gantry_edge){i - 1, i, false};
    }
    const struct gantry_plan plan = {.ops = list,
                                     .op_count = STEPS + 1,
                                     .edges = edges,
                                     .edge_count = edge_count,
                                     .stage_count = STEPS + 1};
    struct gantry_drv_plan *built;
    assert_int_equal(ops->plan_build(rig.device, &plan, &built), GANTRY_OK);
    const struct gantry_backend_submission submission = {.value = 1};
    assert_int_equal(ops->submit(rig.queue, built, &submission), GANTRY_OK);
    assert_int_equal(ops->queue_wait(rig.queue, 1, GANTRY_FOREVER), GANTRY_OK);
    uint32_t result = ((uint32_t *)rig.memory.host)[WORDS - 1];
    ops->plan_destroy(built);
    ops->kernel_destroy(rig.device, kernel);
    *faults = rig_close(&rig);
    return result;
}

static uint32_t expected_chain(void)
{
    uint32_t x = 1;
    for (uint32_t i = 1; i <= STEPS; i++)
        x = 3 * x + i;
    return x;
}

static void test_order(void **state)
{
    (void)state;
    long faults;
    int wrong = 0;
    for (int i = 1; i <= 10; i++) {
        char seed[16];
        snprintf(seed, sizeof(seed), "%d", i);
        assert_int_equal(run_chain("edges", seed, 0, &faults), expected_chain());
        assert_int_equal(faults, 0);
        assert_int_equal(run_chain("stages", seed, 5, &faults), expected_chain());
        wrong += run_chain("edges", seed, 5, &faults) != expected_chain();
    }
    assert_true(wrong >= 5); /* a missing edge shows */
}

static void test_nothing_runs_by_itself(void **state)
{
    (void)state;
    struct rig rig = {0};
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    const struct gantry_op list[] = {fill(&rig, 0, 7), fill(&rig, 1, 8)};
    const struct gantry_edge edge = {0, 1, false};
    const struct gantry_plan plan = {
        .ops = list, .op_count = 2, .edges = &edge, .edge_count = 1, .stage_count = 2};
    const struct gantry_backend_submission submission = {.value = 1};
    assert_int_equal(ops->submit_once(rig.queue, &plan, &submission), GANTRY_OK);
    const uint32_t *word = rig.memory.host;
    assert_int_equal(*word, 0xcdcdcdcd);
    uint64_t value;
    assert_int_equal(ops->queue_completed(rig.queue, &value), GANTRY_OK);
    assert_int_equal(value, 0);
    assert_int_equal(*word, 7);
    assert_int_equal(ops->queue_wait(rig.queue, 1, 0), GANTRY_OK);
    assert_int_equal(*word, 8);
    assert_int_equal(rig_close(&rig), 0);
}

static void test_two_queues(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct gantry_drv_queue *second;
    struct gantry_queue_stats stats = {0};
    const struct gantry_backend_queue_params params = {.stats = &stats};
    set("", "", "edges", "3");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    assert_int_equal(ops->queue_create(rig.device, &params, &second), GANTRY_OK);
    const struct gantry_op seven = fill(&rig, 0, 7), eight = fill(&rig, 0, 8);
    const struct gantry_plan first_plan = {.ops = &seven, .op_count = 1, .stage_count = 1};
    const struct gantry_plan second_plan = {.ops = &eight, .op_count = 1, .stage_count = 1};
    const struct gantry_backend_submission first = {.value = 1};
    const struct gantry_backend_wait wait = {rig.queue, 1};
    const struct gantry_backend_submission after = {.waits = &wait, .wait_count = 1, .value = 1};
    assert_int_equal(ops->submit_once(rig.queue, &first_plan, &first), GANTRY_OK);
    assert_int_equal(ops->submit_once(second, &second_plan, &after), GANTRY_OK);
    assert_int_equal(ops->queue_wait(second, 1, GANTRY_FOREVER), GANTRY_OK);
    assert_int_equal(*(uint32_t *)rig.memory.host, 8);
    assert_int_equal(stats.driver_submits, 1);
    ops->queue_destroy(second);
    assert_int_equal(rig_close(&rig), 0);
}

/* ---- Folded launches ------------------------------------------------------------------------- */

struct fold_table {
    struct gantry_fold_launch launches[3];
    uint64_t padding;
    struct add_args args[3];
};

/* Launch i adds 10 (i + 1) to 64 - i words. */
static struct gantry_fold_args fill_table(struct rig *rig, struct fold_table *table, uint32_t equal,
                                          const uint32_t blocks[3])
{
    uint64_t first = 0;
    *table = (struct fold_table){0};
    for (uint32_t i = 0; i < 3; i++) {
        table->launches[i] =
            (struct gantry_fold_launch){.first = first, .x = blocks[i], .y = 1, .z = 1};
        table->args[i] = (struct add_args){rig->memory.address + i * 256, 10 * (i + 1), 64 - i};
        first += blocks[i];
    }
    return (struct gantry_fold_args){.args = offsetof(struct fold_table, args),
                                     .blocks = first,
                                     .count = 3,
                                     .stride = sizeof(struct add_args),
                                     .equal = equal};
}

static void run_folded(struct rig *rig, uint32_t equal, const uint32_t blocks[3])
{
    struct gantry_drv_kernel *kernel;
    struct fold_table table;
    const struct gantry_fold_args fold = fill_table(rig, &table, equal, blocks);
    assert_int_equal(make_kernel(rig, "add_folded", GANTRY_ENTRY_FOLDED, &kernel), GANTRY_OK);
    struct gantry_op list[] = {fill(rig, 0, 1), launch(kernel, 1, &fold, sizeof(fold))};
    list[1].folded = true;
    list[1].launch.blocks = (struct gantry_size){3, 4, 1}; /* more blocks than launches need */
    const struct gantry_edge edge = {0, 1, false};
    const struct gantry_plan plan = {.ops = list,
                                     .op_count = 2,
                                     .edges = &edge,
                                     .edge_count = 1,
                                     .stage_count = 2,
                                     .table = &table,
                                     .table_size = sizeof(table)};
    assert_int_equal(run_once(rig, &plan), GANTRY_OK);
    ops->kernel_destroy(rig->device, kernel);
    const uint32_t *words = rig->memory.host;
    for (uint32_t i = 0; i < 192; i++)
        assert_int_equal(words[i], i % 64 < 64 - i / 64 ? 1 + 10 * (i / 64 + 1) : 1);
}

static void test_folded(void **state)
{
    (void)state;
    struct rig rig = {0};
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    run_folded(&rig, 0, (const uint32_t[]){1, 3, 2});
    run_folded(&rig, 2, (const uint32_t[]){2, 2, 2});
    assert_int_equal(rig_close(&rig), 0);
}

/* Three dependent steps, x = 3 x + value, of which the second is empty. */
static void test_chained(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct gantry_drv_kernel *kernel;
    struct fold_table table;
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    const struct gantry_fold_args fold = fill_table(&rig, &table, 0, (const uint32_t[]){1, 0, 1});
    for (uint32_t i = 0; i < 3; i++)
        table.args[i] = (struct add_args){rig.memory.address, i + 1, WORDS};
    assert_int_equal(make_kernel(&rig, "step_chained", GANTRY_ENTRY_CHAINED, &kernel), GANTRY_OK);
    struct gantry_op list[] = {fill(&rig, 0, 1), launch(kernel, 1, &fold, sizeof(fold))};
    list[1].folded = true;
    const struct gantry_edge edge = {0, 1, false};
    const struct gantry_plan plan = {.ops = list,
                                     .op_count = 2,
                                     .edges = &edge,
                                     .edge_count = 1,
                                     .stage_count = 2,
                                     .table = &table,
                                     .table_size = sizeof(table)};
    assert_int_equal(run_once(&rig, &plan), GANTRY_OK);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(((uint32_t *)rig.memory.host)[i], 3 * (3 + 1) + 3);
    table.launches[2].y = 2; /* a step has one block */
    assert_int_equal(run_once(&rig, &plan), GANTRY_OK);
    ops->kernel_destroy(rig.device, kernel);
    assert_int_equal(make_kernel(&rig, "sum_chained", GANTRY_ENTRY_CHAINED, &kernel),
                     GANTRY_E_NO_IMAGE);
    assert_int_equal(rig_close(&rig), 1);
}

/* ---- Patches --------------------------------------------------------------------------------- */

static void submit_patched(struct rig *rig, struct gantry_drv_plan *plan, uint64_t offset,
                           uint32_t word, uint64_t size)
{
    const struct gantry_backend_submission submission = {.value = ++rig->submitted,
                                                         .patch = &word,
                                                         .patch_offset = offset,
                                                         .patch_size = size};
    assert_int_equal(ops->submit(rig->queue, plan, &submission), GANTRY_OK);
}

/* Adds to three times 64 words; each launch has room for two blocks. */
static struct gantry_drv_plan *build_patchable(struct rig *rig, struct gantry_drv_kernel **kernel)
{
    struct gantry_drv_plan *built;
    struct fold_table table;
    const struct gantry_fold_args fold = fill_table(rig, &table, 2, (const uint32_t[]){2, 2, 2});
    assert_int_equal(make_kernel(rig, "add_folded", GANTRY_ENTRY_FOLDED, kernel), GANTRY_OK);
    struct gantry_op op = launch(*kernel, 0, &fold, sizeof(fold));
    op.folded = true;
    op.launch.blocks.x = 6;
    const struct gantry_plan plan = {.ops = &op,
                                     .op_count = 1,
                                     .stage_count = 1,
                                     .table = &table,
                                     .table_size = sizeof(table),
                                     .patchable = true};
    assert_int_equal(ops->plan_build(rig->device, &plan, &built), GANTRY_OK);
    return built;
}

static void test_patches(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct gantry_drv_kernel *kernel;
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    struct gantry_drv_plan *plan = build_patchable(&rig, &kernel);
    uint32_t *words = rig.memory.host;
    memset(words, 0, WORDS * sizeof(*words));
    submit_patched(&rig, plan, 0, 0, 0);
    submit_patched(&rig, plan, offsetof(struct fold_table, args[1].value), 500, 4);
    submit_patched(&rig, plan, offsetof(struct fold_table, launches[2].x), 0, 4);
    assert_int_equal(ops->queue_wait(rig.queue, 3, GANTRY_FOREVER), GANTRY_OK);
    assert_int_equal(words[0], 3 * 10);
    assert_int_equal(words[64], 20 + 2 * 500);
    assert_int_equal(words[128], 2 * 30);
    ops->plan_destroy(plan);
    ops->kernel_destroy(rig.device, kernel);
    assert_int_equal(rig_close(&rig), 0);
}

static void test_bad_patches(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct gantry_drv_kernel *kernel;
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    struct gantry_drv_plan *plan = build_patchable(&rig, &kernel);
    submit_patched(&rig, plan, 2, 0, 4);                         /* not aligned */
    submit_patched(&rig, plan, sizeof(struct fold_table), 0, 4); /* behind the table */
    submit_patched(&rig, plan, offsetof(struct fold_table, launches[1].x), 3, 4); /* no room */
    assert_int_equal(ops->queue_wait(rig.queue, 3, GANTRY_FOREVER), GANTRY_OK);
    ops->plan_destroy(plan);
    ops->kernel_destroy(rig.device, kernel);
    assert_int_equal(rig_close(&rig), 3);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void test_planned_failures(void **state)
{
    (void)state;
    struct rig rig = {0};
    set("", "submit_once:2:E_OUT_OF_MEMORY,queue_wait:2:E_DEVICE_LOST", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    const struct gantry_op op = fill(&rig, 0, 7);
    const struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};
    assert_int_equal(run_once(&rig, &plan), GANTRY_OK);
    assert_int_equal(run_once(&rig, &plan), GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(run_once(&rig, &plan), GANTRY_E_DEVICE_LOST);
    assert_int_equal(run_once(&rig, &plan), GANTRY_E_DEVICE_LOST);
    assert_int_equal(rig_close(&rig), 0);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct gantry_drv_memory memory;
    set("memory_size=2048", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    assert_int_equal(ops->memory_allocate(rig.device, GANTRY_MEMORY_DEVICE, 1025, &memory),
                     GANTRY_E_OUT_OF_MEMORY);
    assert_int_equal(ops->memory_allocate(rig.device, GANTRY_MEMORY_DEVICE, 1022, &memory),
                     GANTRY_OK);
    assert_int_equal(memory.size, 1024);
    assert_null(memory.host);
    assert_int_equal(memory.address % 256, 0);
    ops->memory_free(rig.device, &memory);
    assert_int_equal(rig_close(&rig), 0);
}

/* Every host allocation fails in turn; what was made before goes back. */
static void test_no_host_memory(void **state)
{
    (void)state;
    enum gantry_status status = GANTRY_E_OUT_OF_HOST_MEMORY;
    set("", "", "edges", "1");
    for (long n = 0; status != GANTRY_OK; n++) {
        struct rig rig = {0};
        assert_true(n < 100);
        allocations_left = n;
        status = rig_open(&rig);
        const struct gantry_op op = fill(&rig, 0, 7);
        const struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};
        if (status == GANTRY_OK)
            status = run_once(&rig, &plan);
        allocations_left = -1;
        if (status != GANTRY_OK)
            assert_int_equal(status, GANTRY_E_OUT_OF_HOST_MEMORY);
        assert_int_equal(rig_close(&rig), 0);
        assert_int_equal(live_allocations, 0);
    }
}

static void test_broken_contracts(void **state)
{
    (void)state;
    struct rig rig = {0};
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    struct gantry_op op = fill(&rig, 0, 7);
    const struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};
    op.fill.size -= 2; /* not a multiple of 4 */
    assert_int_equal(run_once(&rig, &plan), GANTRY_OK);
    op.fill.size += 2;
    const struct gantry_backend_submission again = {.value = rig.submitted};
    assert_int_equal(ops->submit_once(rig.queue, &plan, &again), GANTRY_OK);
    /* The third: memory, destroyed in use; the fourth: the queue, with work left. */
    assert_int_equal(rig_close(&rig), 4);
}

/* ---- Main ------------------------------------------------------------------------------------ */

static bool read_image(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    image_size = (size_t)ftell(file);
    rewind(file);
    image = malloc(image_size);
    bool good = image && fread(image, 1, image_size, file) == image_size;
    fclose(file);
    return good;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_subgroups),
        cmocka_unit_test(test_overrun),
        cmocka_unit_test(test_missing_image),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_nothing_runs_by_itself),
        cmocka_unit_test(test_two_queues),
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_chained),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_bad_patches),
        cmocka_unit_test(test_planned_failures),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_no_host_memory),
        cmocka_unit_test(test_broken_contracts),
    };
    void *plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct gantry_backend *backend = plugin ? dlsym(plugin, GANTRY_BACKEND_SYMBOL) : NULL;
    if (!backend || !read_image(argv[2])) {
        fprintf(stderr, "usage: selftest PLUGIN IMAGE: %s\n", plugin ? "no image" : dlerror());
        return 2;
    }
    ops = backend->ops;
    plugin_faults = dlsym(plugin, "gantry_host_faults");
    int failed = cmocka_run_group_tests_name("host plugin", tests, NULL, NULL);
    free(image);
    dlclose(plugin);
    return failed != 0;
}
