/* Launches through a table, folded and chained, and patches of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "selftest.h"

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

void test_folded(void **state)
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
void test_chained(void **state)
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

void test_patches(void **state)
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

void test_bad_patches(void **state)
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
