/* Folded entries as gantry compile makes them, driven through a plugin's table: several launches of
 * one kernel in one grid, which is laid out in two dimensions and larger than needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "grid.h"
#include "rig.h"

enum { LAUNCHES = 3, STRIDE = 48, AREA = 1 << 16 };

/* ---- A fold and what it must write ---------------------------------------------------------- */

struct table {
    struct gantry_fold_launch launches[LAUNCHES];
    _Alignas(16) unsigned char args[LAUNCHES][STRIDE];
};

struct fold {
    struct gantry_size block, threads[LAUNCHES];
    uint32_t dimensions;
    bool equal;
    uint32_t room; /* blocks from one launch's first to the next one's; 0: as many as it has */
};

static struct gantry_size blocks_of(const struct fold *fold, int i)
{
    const struct gantry_size *threads = &fold->threads[i];
    return (struct gantry_size){
        (threads->x + fold->block.x - 1) / fold->block.x,
        (threads->y + fold->block.y - 1) / fold->block.y,
        (threads->z + fold->block.z - 1) / fold->block.z,
    };
}

static struct gantry_fold_args fill_table(const struct fold *fold, gantry_ptr found,
                                          struct table *table)
{
    uint64_t first = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        struct gantry_size blocks = blocks_of(fold, i), threads = fold->threads[i];
        struct grid_args args = {found + (uint64_t)i * AREA, threads.x, threads.y, threads.z};
        memcpy(table->args[i], &args, sizeof(args));
        table->launches[i] = (struct gantry_fold_launch){first, blocks.x, blocks.y, blocks.z, 0};
        first += fold->room ? fold->room : (uint64_t)blocks.x * blocks.y * blocks.z;
    }
    return (struct gantry_fold_args){
        .launches = offsetof(struct table, launches),
        .args = offsetof(struct table, args),
        .blocks = first,
        .count = LAUNCHES,
        .stride = STRIDE,
        .equal = fold->equal ? (uint32_t)(first / LAUNCHES) : 0,
    };
}

static void run(const char *name, const struct fold *fold, struct gantry_drv_memory *memory)
{
    struct table table = {0};
    struct gantry_fold_args args = fill_table(fold, memory->address, &table);
    struct gantry_op op = {
        .kind = GANTRY_OP_LAUNCH,
        .folded = true,
        .launch = {.kernel = rig_kernel(name, GANTRY_ENTRY_FOLDED, fold->block),
                   .blocks = {4, (uint32_t)args.blocks / 4 + 2, 1},
                   .block = fold->block,
                   .args = &args,
                   .args_size = sizeof(args)},
    };
    struct gantry_plan plan = {
        .ops = &op,
        .op_count = 1,
        .stage_count = 1,
        .table = &table,
        .table_size = sizeof(table),
        .host_writes = true,
    };
    rig_run(&plan);
    rig.ops->kernel_destroy(rig.device, op.launch.kernel);
}

/* What grid.gk writes for the thread at (x, y, z) of launch i. */
static void expected(const struct fold *fold, int i, const uint32_t at[3], uint32_t want[4])
{
    struct gantry_size blocks = blocks_of(fold, i), block = fold->block;
    uint32_t thread = at[0] % block.x + block.x * (at[1] % block.y + block.y * (at[2] % block.z));
    memcpy(want, at, 3 * sizeof(*at));
    want[3] = thread + 1000 * blocks.x + (fold->dimensions > 1 ? 100000 * blocks.y : 0) +
              (fold->dimensions > 2 ? 10000000 * blocks.z : 0);
    if (fold->dimensions == 1)
        want[1] = at[0] / block.x;
}

static void check_launch(const struct fold *fold, int i, const uint32_t *found)
{
    struct gantry_size threads = fold->threads[i];
    uint32_t at[3], want[4];
    for (at[2] = 0; at[2] < threads.z; at[2]++)
        for (at[1] = 0; at[1] < threads.y; at[1]++)
            for (at[0] = 0; at[0] < threads.x; at[0]++, found += 4) {
                expected(fold, i, at, want);
                assert_memory_equal(found, want, sizeof(want));
            }
    /* Nothing behind the last one. */
    assert_int_equal(found[0] | found[1] | found[2] | found[3], 0);
}

static void check_fold(const char *name, const struct fold *fold)
{
    struct gantry_drv_memory memory;
    rig_check(
        rig.ops->memory_allocate(rig.device, GANTRY_MEMORY_READBACK, LAUNCHES * AREA, &memory));
    memset(memory.host, 0, LAUNCHES * AREA);
    run(name, fold, &memory);
    for (int i = 0; i < LAUNCHES; i++)
        check_launch(fold, i, (uint32_t *)((unsigned char *)memory.host + i * AREA));
    rig.ops->memory_free(rig.device, &memory);
}

static void test_one_dimension(void **state)
{
    (void)state;
    check_fold("grid_1d",
               &(struct fold){{64, 1, 1}, {{1, 1, 1}, {1000, 1, 1}, {129, 1, 1}}, 1, false, 0});
    check_fold("grid_1d",
               &(struct fold){{32, 1, 1}, {{96, 1, 1}, {70, 1, 1}, {65, 1, 1}}, 1, true, 0});
}

static void test_two_dimensions(void **state)
{
    (void)state;
    check_fold("grid_2d",
               &(struct fold){{8, 4, 1}, {{33, 9, 1}, {8, 4, 1}, {1, 50, 1}}, 2, false, 0});
    check_fold("grid_2d",
               &(struct fold){{8, 4, 1}, {{24, 8, 1}, {17, 5, 1}, {24, 8, 1}}, 2, true, 0});
}

static void test_three_dimensions(void **state)
{
    (void)state;
    check_fold("grid_3d",
               &(struct fold){{4, 2, 4}, {{9, 5, 6}, {4, 2, 4}, {3, 7, 20}}, 3, false, 0});
    check_fold("grid_3d", &(struct fold){{4, 2, 4}, {{8, 6, 8}, {5, 5, 5}, {8, 6, 8}}, 3, true, 0});
}

/* Launches that were patched to fewer blocks than there is room for, to none even. */
static void test_room(void **state)
{
    (void)state;
    for (int equal = 0; equal < 2; equal++) {
        check_fold("grid_1d",
                   &(struct fold){{64, 1, 1}, {{1, 1, 1}, {0, 1, 1}, {129, 1, 1}}, 1, equal, 5});
        check_fold("grid_2d",
                   &(struct fold){{8, 4, 1}, {{24, 5, 1}, {8, 0, 1}, {1, 5, 1}}, 2, equal, 7});
        check_fold("grid_3d",
                   &(struct fold){{4, 2, 4}, {{4, 2, 0}, {9, 5, 6}, {4, 2, 5}}, 3, equal, 18});
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_dimension),
        cmocka_unit_test(test_two_dimensions),
        cmocka_unit_test(test_three_dimensions),
        cmocka_unit_test(test_room),
    };
    if (argc != 3) {
        printf("usage: fold PLUGIN PACKAGE\n");
        return 2;
    }
    int status = rig_open(argv[1], argv[2]);
    if (status)
        return status;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    rig_close();
    return status;
}
