/* Drives the host plugin through its table, without core: PLUGIN IMAGE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "selftest.h"

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

/* Rows between registered memory and the device's, and rows that core should have refused. */
static void test_rows(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct gantry_drv_memory host;
    unsigned char mine[100] = {0};
    set("", "", "edges", "1");
    assert_int_equal(rig_open(&rig), GANTRY_OK);
    assert_int_equal(ops->memory_register(rig.device, mine, sizeof(mine), &host), GANTRY_OK);
    assert_ptr_equal(host.host, mine);
    assert_int_equal(host.kind, GANTRY_MEMORY_REGISTERED);
    struct gantry_op op = {.kind = GANTRY_OP_COPY,
                           .copy = {.to = &rig.memory,
                                    .from = &host,
                                    .size = 3,
                                    .rows = 4,
                                    .to_pitch = 5,
                                    .from_pitch = 7}};
    const struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1};
    unsigned char *bytes = rig.memory.host;
    for (int i = 0; i < 100; i++)
        mine[i] = (unsigned char)i;
    memset(bytes, 0xee, 40);
    assert_int_equal(run_once(&rig, &plan), GANTRY_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(bytes[i], i < 20 && i % 5 < 3 ? i / 5 * 7 + i % 5 : 0xee);
    op.copy.to = &host;
    op.copy.size = 1;
    assert_int_equal(run_once(&rig, &plan), GANTRY_OK); /* the sides meet */
    ops->memory_free(rig.device, &host);
    assert_int_equal(rig_close(&rig), 1);
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_barriers),       cmocka_unit_test(test_subgroups),
        cmocka_unit_test(test_overrun),        cmocka_unit_test(test_missing_image),
        cmocka_unit_test(test_order),          cmocka_unit_test(test_nothing_runs_by_itself),
        cmocka_unit_test(test_two_queues),     cmocka_unit_test(test_folded),
        cmocka_unit_test(test_chained),        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_bad_patches),    cmocka_unit_test(test_planned_failures),
        cmocka_unit_test(test_out_of_memory),  cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_host_memory), cmocka_unit_test(test_broken_contracts),
    };
    if (argc != 3) {
        fprintf(stderr, "usage: selftest PLUGIN IMAGE\n");
        return 2;
    }
    if (!selftest_open(argv[1], argv[2]))
        return 1;
    int failed = cmocka_run_group_tests_name("host plugin", tests, NULL, NULL);
    selftest_close();
    return failed != 0;
}
