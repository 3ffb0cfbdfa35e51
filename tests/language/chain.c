/* Chained entries as gantry compile makes them, driven through a plugin's table: the steps give the
 * same bytes as the same launches one after the other, direct and folded, and what C says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chain.h"
#include "rig.h"

enum { STEPS = 61, SKIPPED = 7, THREADS = 64, WORDS = 200, AREA = 1024, STRIDE = 96 };

/* Two areas of memory; steps read one and write the other in turn. */
struct areas {
    uint32_t words[2][AREA / sizeof(uint32_t)];
};

/* Every SKIPPEDth launch is empty. */
static bool runs(uint32_t step)
{
    return step % SKIPPED != 0;
}

_Static_assert(offsetof(struct wide_args, n) == offsetof(struct chain_args, n) &&
                   sizeof(struct wide_args) <= STRIDE,
               "one struct serves all kernels");

struct kernel {
    const char *name;
    uint32_t args_size, n;
    void (*step)(const struct wide_args *args, const uint32_t *from, uint32_t *to);
};

/* ---- What the kernels of chain.gk do --------------------------------------------------------- */

static void rotate(const struct wide_args *args, const uint32_t *from, uint32_t *to)
{
    for (uint32_t i = 0; i < args->n; i++)
        to[i] = 3 * from[(i + 1) % args->n] + args->value;
}

static void neighbours(const struct wide_args *args, const uint32_t *from, uint32_t *to)
{
    for (uint32_t t = 0; t < THREADS; t++)
        to[t] = from[t] + args->value * from[(t + 1) % THREADS];
}

static void tally(const struct wide_args *args, const uint32_t *from, uint32_t *to)
{
    for (uint32_t t = 0; t < args->n; t++)
        to[0] += from[0] + args->value + t;
}

static void place(const struct wide_args *args, const uint32_t *from, uint32_t *to)
{
    (void)from;
    for (uint32_t t = 0; t < THREADS; t++)
        to[t] = args->value + t + 10000;
}

static void wide(const struct wide_args *args, const uint32_t *from, uint32_t *to)
{
    for (uint32_t i = 0; i < args->n; i++)
        to[i] = from[(i + 1) % args->n] + args->extra[i % 16];
}

static const struct kernel kernels[] = {
    {"rotate", sizeof(struct chain_args), WORDS, rotate},
    {"neighbours", sizeof(struct chain_args), THREADS, neighbours},
    {"tally", sizeof(struct chain_args), THREADS - 3, tally},
    {"wide", sizeof(struct wide_args), WORDS, wide},
    {"place", sizeof(struct chain_args), THREADS, place},
    {"blend", sizeof(struct chain_args), WORDS, NULL}, /* the compiler may contract */
};

/* ---- The same launches in three ways --------------------------------------------------------- */

static struct wide_args args_of(const struct kernel *kernel, uint32_t step, gantry_ptr areas)
{
    struct wide_args args = {
        .from = areas + step % 2 * AREA,
        .to = areas + (step + 1) % 2 * AREA,
        .value = step * step + 1,
        .factor = 0.7f - (float)step * 0.001f,
        .n = kernel->n,
    };
    for (uint32_t i = 0; i < 16; i++)
        args.extra[i] = step * i;
    return args;
}

struct table {
    struct gantry_fold_launch launches[STEPS];
    _Alignas(16) unsigned char args[STEPS][STRIDE];
};

struct work {
    struct table table;
    struct gantry_fold_args folds[STEPS];
    struct gantry_op ops[STEPS];
    struct gantry_edge edges[STEPS];
    struct gantry_plan plan;
};

static void fill_table(const struct kernel *kernel, gantry_ptr areas, struct table *table)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        struct wide_args args = args_of(kernel, step, areas);
        table->launches[step] = (struct gantry_fold_launch){0, runs(step), 1, 1, 0};
        memcpy(table->args[step], &args, sizeof(args));
    }
}

static struct gantry_op *add_op(struct work *work, struct gantry_drv_kernel *kernel)
{
    struct gantry_plan *plan = &work->plan;
    struct gantry_op *op = &work->ops[plan->op_count];
    *op = (struct gantry_op){
        .kind = GANTRY_OP_LAUNCH,
        .stage = plan->stage_count++,
        .launch = {.kernel = kernel,
                   .blocks = {1, 1, 1},
                   .block = {THREADS, 1, 1},
                   .shared_bytes = THREADS * sizeof(uint32_t)},
    };
    if (plan->op_count > 0)
        work->edges[plan->edge_count++] =
            (struct gantry_edge){plan->op_count - 1, plan->op_count, false};
    plan->op_count++;
    return op;
}

static void add_direct(struct work *work, struct gantry_drv_kernel *kernel, uint32_t step,
                       uint32_t args_size)
{
    struct gantry_op *op = add_op(work, kernel);
    op->launch.args = work->table.args[step];
    op->launch.args_size = args_size;
}

/* An operation over `count` launches of the table. */
static void add_fold(struct work *work, struct gantry_drv_kernel *kernel, uint32_t step,
                     uint32_t count)
{
    struct gantry_op *op = add_op(work, kernel);
    struct gantry_fold_args *fold = &work->folds[step];
    *fold = (struct gantry_fold_args){
        .launches = offsetof(struct table, launches[step]),
        .args = offsetof(struct table, args[step]),
        .blocks = 1,
        .count = count,
        .stride = STRIDE,
    };
    op->folded = true;
    op->launch.args = fold;
    op->launch.args_size = sizeof(*fold);
}

static void add_all(struct work *work, struct gantry_drv_kernel *kernel, enum gantry_entry entry,
                    uint32_t args_size)
{
    if (entry == GANTRY_ENTRY_CHAINED)
        add_fold(work, kernel, 0, STEPS);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (entry == GANTRY_ENTRY_FOLDED)
            add_fold(work, kernel, step, 1);
        if (entry == GANTRY_ENTRY_DIRECT && runs(step))
            add_direct(work, kernel, step, args_size);
    }
}

static void begin(struct areas *areas)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        float value = (float)i * 0.37f + 1.0f;
        memcpy(&areas->words[0][i], &value, sizeof(value));
        areas->words[1][i] = i;
    }
}

static void run(const struct kernel *kernel, enum gantry_entry entry, struct areas *result)
{
    struct gantry_drv_memory memory;
    struct work work = {0};
    struct gantry_drv_kernel *made =
        rig_kernel(kernel->name, entry, (struct gantry_size){THREADS, 1, 1});
    rig_check(
        rig.ops->memory_allocate(rig.device, GANTRY_MEMORY_READBACK, sizeof(*result), &memory));
    begin(memory.host);
    fill_table(kernel, memory.address, &work.table);
    work.plan = (struct gantry_plan){
        .ops = work.ops,
        .edges = work.edges,
        .table = &work.table,
        .table_size = sizeof(work.table),
        .host_writes = true,
    };
    add_all(&work, made, entry, kernel->args_size);
    rig_run(&work.plan);
    memcpy(result, memory.host, sizeof(*result));
    rig.ops->memory_free(rig.device, &memory);
    rig.ops->kernel_destroy(rig.device, made);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void check_words(const struct kernel *kernel, const char *how, const struct areas *found,
                        const struct areas *want)
{
    for (uint32_t area = 0; area < 2; area++)
        for (uint32_t i = 0; i < WORDS; i++)
            if (found->words[area][i] != want->words[area][i])
                fail_msg("%s: word %u of area %u is %08x, %s %08x", kernel->name, i, area,
                         found->words[area][i], how, want->words[area][i]);
}

static void compute(const struct kernel *kernel, struct areas *areas)
{
    begin(areas);
    for (uint32_t step = 0; step < STEPS; step++) {
        struct wide_args args = args_of(kernel, step, 0);
        if (runs(step))
            kernel->step(&args, areas->words[step % 2], areas->words[(step + 1) % 2]);
    }
}

static void test_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct areas direct, folded, chained, computed;
        run(&kernels[i], GANTRY_ENTRY_DIRECT, &direct);
        run(&kernels[i], GANTRY_ENTRY_FOLDED, &folded);
        run(&kernels[i], GANTRY_ENTRY_CHAINED, &chained);
        check_words(&kernels[i], "direct", &chained, &direct);
        check_words(&kernels[i], "direct", &folded, &direct);
        if (!kernels[i].step)
            continue;
        compute(&kernels[i], &computed);
        check_words(&kernels[i], "computed", &chained, &computed);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
    if (argc != 3) {
        printf("usage: chain PLUGIN PACKAGE\n");
        return 2;
    }
    int status = rig_open(argv[1], argv[2]);
    if (status)
        return status;
    if (rig.info.features & GANTRY_FEATURE_MEMORY_MODEL) {
        status = cmocka_run_group_tests(tests, NULL, NULL);
    } else {
        printf("skipped: %s has no Vulkan memory model\n", rig.info.name);
        status = RIG_SKIPPED;
    }
    rig_close();
    return status;
}
