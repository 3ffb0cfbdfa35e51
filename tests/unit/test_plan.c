/* The plan: that stages and edges each prove the order that a list states, without asking for more
 * order than the chains do; which edges may start early; what folded launches find in the table.
 *
 * No validation layer sees accesses through buffer addresses, so this test stands for the order of
 * launches: it derives from the recording rules which commands must wait for which, and looks in
 * the plan for a path and for a growing stage. */
#include <stdlib.h>

#include "unit.h"

#include "core/buffer.h"
#include "core/module.h"
#include "core/plan.h"

#define MAX_COMMANDS 48
#define MAX_OPS      (2 * MAX_COMMANDS + 1)
#define ARGS_SIZE    24

static struct gantry_drv_kernel *const direct_entry = (struct gantry_drv_kernel *)0x1000;
static struct gantry_drv_kernel *const folded_entry = (struct gantry_drv_kernel *)0x2000;
static enum gantry_status folded_status;

/* The plan asks for folded entries; here there is one for all kernels, or a failure. */
enum gantry_status kernel_folded(struct gantry_kernel *kernel, struct gantry_drv_kernel **folded)
{
    (void)kernel;
    *folded = folded_entry;
    return folded_status;
}

static const struct gantry_size wide = {2147483647, 65535, 65535};

/* ---- A list to plan ------------------------------------------------------------------------- */

/* Kernel 1 loads from an image that is known to wait, kernel 0 does not. */
static struct gantry_kernel kernels[2];
static struct gantry_buffer buffers[2];
static struct gantry_drv_memory upload = {.size = 1 << 20, .kind = GANTRY_MEMORY_UPLOAD};
static struct gantry_drv_memory readback = {.size = 1 << 20, .kind = GANTRY_MEMORY_READBACK};

struct recording {
    struct command commands[MAX_COMMANDS];
    uint32_t step[MAX_COMMANDS]; /* the command's place within its strand */
    uint32_t count;
    uint8_t bytes[MAX_COMMANDS * 32];
    uint32_t section, strand;
    bool concurrent, ordered;
    uint32_t next_step;
};

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        kernels[i] = (struct gantry_kernel){.block = {64, 1, 1}, .threads = 64};
        kernels[i].direct = direct_entry;
        kernels[i].info.waits = i == 1;
        buffers[i] = (struct gantry_buffer){.size = 4096, .memory = {.size = 4096}};
    }
    folded_status = GANTRY_OK;
    return 0;
}

/* The same numbering as core/record.c, told once more from the rules in command.h. */
static struct command *record(struct recording *r, enum command_kind kind)
{
    struct command *command = &r->commands[r->count];

    assert_true(r->count < MAX_COMMANDS);
    *command = (struct command){.kind = kind,
                                .id = r->count + 1,
                                .section = r->section,
                                .strand = r->strand,
                                .label = NO_LABEL};
    r->step[r->count++] = r->ordered ? r->next_step++ : 0;
    if (!r->concurrent)
        r->section++;
    else if (!r->ordered)
        r->strand++;
    return command;
}

static struct command *record_launch(struct recording *r, int kernel, bool folded)
{
    struct command *command = record(r, COMMAND_LAUNCH);

    command->launch.kernel = &kernels[kernel];
    command->launch.blocks = (struct gantry_size){r->count, 2, 1};
    command->launch.args = (r->count - 1) * 32;
    command->launch.args_size = ARGS_SIZE;
    command->launch.folded = folded;
    memset(r->bytes + command->launch.args, (int)r->count, ARGS_SIZE);
    return command;
}

static void record_copy(struct recording *r)
{
    record(r, COMMAND_COPY)->copy = (struct command_copy){&buffers[0], &buffers[1], 0, 0, 256};
}

static void record_fill(struct recording *r)
{
    record(r, COMMAND_FILL)->fill = (struct command_fill){&buffers[0], 0, 256, 7};
}

static void begin_concurrent(struct recording *r)
{
    r->concurrent = true;
    r->strand = 0;
}

static void end_concurrent(struct recording *r)
{
    r->concurrent = false;
    r->strand = 0;
    r->section++;
}

static void begin_ordered(struct recording *r)
{
    r->ordered = true;
    r->next_step = 0;
}

static void end_ordered(struct recording *r)
{
    r->ordered = false;
    r->strand++;
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void record_random_command(struct recording *r, uint32_t *seed)
{
    uint32_t kind = next_random(seed) % 8;

    if (kind == 0)
        record_copy(r);
    else if (kind == 1)
        record_fill(r);
    else
        record_launch(r, kind % 2, kind == 2);
}

static void record_random_section(struct recording *r, uint32_t *seed)
{
    uint32_t strands = 1 + next_random(seed) % 9;

    begin_concurrent(r);
    for (uint32_t i = 0; i < strands && r->count < MAX_COMMANDS; i++) {
        uint32_t length = next_random(seed) % 3 ? 1 : next_random(seed) % 5;

        if (length != 1)
            begin_ordered(r);
        for (uint32_t k = 0; k < length && r->count < MAX_COMMANDS; k++)
            record_random_command(r, seed);
        if (length != 1)
            end_ordered(r);
    }
    end_concurrent(r);
}

static void record_random(struct recording *r, uint32_t *seed)
{
    uint32_t count = next_random(seed) % MAX_COMMANDS;

    memset(r, 0, sizeof(*r));
    while (r->count < count)
        if (next_random(seed) % 2)
            record_random_section(r, seed);
        else
            record_random_command(r, seed);
}

static struct plan_input input_of(const struct recording *r, uint32_t chains, bool programmatic)
{
    return (struct plan_input){.commands = r->commands,
                               .command_count = r->count,
                               .bytes = r->bytes,
                               .upload = &upload,
                               .readback = &readback,
                               .max_blocks = wide,
                               .chains = chains,
                               .programmatic = programmatic,
                               .label = "tested"};
}

static void make(const struct recording *r, uint32_t chains, bool programmatic, struct plan *plan)
{
    struct plan_input input = input_of(r, chains, programmatic);

    assert_int_equal(plan_make(&input, plan), GANTRY_OK);
}

/* ---- What must hold ------------------------------------------------------------------------- */

static bool must_precede(const struct recording *r, uint32_t i, uint32_t j)
{
    return i < j && (r->commands[i].section != r->commands[j].section ||
                     r->commands[i].strand == r->commands[j].strand);
}

static bool same_step(const struct recording *r, uint32_t i, uint32_t j)
{
    return r->commands[i].section == r->commands[j].section && r->step[i] == r->step[j];
}

struct paths {
    uint32_t op_of[MAX_COMMANDS]; /* by the command's index */
    bool reach[MAX_OPS][MAX_OPS]; /* reach[a][b]: b starts after a has ended */
    uint32_t in[MAX_OPS], out[MAX_OPS];
};

static void check_edges(const struct gantry_plan *view)
{
    for (uint32_t i = 0; i < view->edge_count; i++) {
        const struct gantry_edge *e = &view->edges[i], *before = e - 1;

        assert_true(e->from < e->to);
        assert_true(e->to < view->op_count);
        if (i)
            assert_true(before->to < e->to || (before->to == e->to && before->from < e->from));
        if (view->ops[e->from].kind != GANTRY_OP_JOIN)
            assert_true(view->ops[e->from].stage <= view->ops[e->to].stage);
    }
}

static void find_paths(const struct gantry_plan *view, struct paths *p)
{
    memset(p, 0, sizeof(*p));
    for (uint32_t i = 0; i < view->op_count; i++)
        if (view->ops[i].kind != GANTRY_OP_JOIN)
            p->op_of[view->ops[i].command - 1] = i;
    /* Sorted by `to`, so everything that reaches `from` is known when an edge is looked at. */
    for (uint32_t i = 0; i < view->edge_count; i++) {
        uint32_t from = view->edges[i].from, to = view->edges[i].to;

        p->in[to]++;
        p->out[from]++;
        p->reach[from][to] = true;
        for (uint32_t k = 0; k < from; k++)
            p->reach[k][to] |= p->reach[k][from];
    }
}

static void check_order(const struct recording *r, const struct gantry_plan *view,
                        const struct paths *p)
{
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t j = i + 1; j < r->count; j++) {
            const struct gantry_op *first = &view->ops[p->op_of[i]];
            const struct gantry_op *second = &view->ops[p->op_of[j]];

            if (must_precede(r, i, j)) {
                assert_true(p->reach[p->op_of[i]][p->op_of[j]]);
                assert_true(first->stage < second->stage);
            } else if (same_step(r, i, j)) {
                assert_int_equal(first->stage, second->stage);
            }
        }
}

/* No operation is waited for by more than the chains, and only joins and single operations gather
 * many: that is what keeps a section of n commands from costing n roots or n * n edges. */
static void check_width(const struct gantry_plan *view, const struct paths *p, uint32_t chains)
{
    uint32_t most = chains > 2 ? chains : 2;

    for (uint32_t i = 0; i < view->op_count; i++) {
        assert_true(p->out[i] <= most);
        assert_true(view->ops[i].chain < (chains ? chains : 1));
        if (view->ops[i].kind == GANTRY_OP_JOIN)
            assert_true(p->in[i] > 1 && p->out[i] > 1);
    }
    assert_true(view->edge_count < 3 * view->op_count + 1);
}

static void check_stages(const struct gantry_plan *view)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < view->op_count; i++) {
        assert_true(view->ops[i].stage == last || view->ops[i].stage == last + 1);
        last = view->ops[i].stage;
    }
    assert_int_equal(view->stage_count, view->op_count ? last + 1 : 0);
}

static void check_programmatic(const struct recording *r, const struct plan *plan,
                               const struct paths *p, bool wanted)
{
    const struct gantry_plan *view = &plan->view;
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->edge_count; i++) {
        const struct gantry_op *from = &view->ops[view->edges[i].from];
        const struct gantry_op *to = &view->ops[view->edges[i].to];
        bool may = wanted && from->kind == GANTRY_OP_LAUNCH && to->kind == GANTRY_OP_LAUNCH &&
                   p->in[view->edges[i].to] == 1 &&
                   r->commands[to->command - 1].launch.kernel->info.waits;

        assert_int_equal(view->edges[i].programmatic, may);
        count += may;
    }
    assert_int_equal(plan->programmatic_edges, count);
}

static void random_lists_keep_their_order(void **state)
{
    uint32_t seed = 2463534242u;
    struct recording *r = malloc(sizeof(*r));
    struct paths *p = malloc(sizeof(*p));

    (void)state;
    assert_true(r && p);
    for (int round = 0; round < 3000; round++) {
        uint32_t chains = round % 7;
        struct plan plan;

        record_random(r, &seed);
        make(r, chains, round % 2, &plan);
        check_edges(&plan.view);
        find_paths(&plan.view, p);
        check_order(r, &plan.view, p);
        check_width(&plan.view, p, chains);
        check_stages(&plan.view);
        check_programmatic(r, &plan, p, round % 2);
        plan_clear(&plan);
    }
    free(p);
    free(r);
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static uint32_t count_joins(const struct gantry_plan *view)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->op_count; i++)
        count += view->ops[i].kind == GANTRY_OP_JOIN;
    return count;
}

static void nothing_gives_an_empty_plan(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    make(&r, 4, true, &plan);
    assert_int_equal(plan.view.op_count, 0);
    assert_int_equal(plan.view.edge_count, 0);
    assert_int_equal(plan.view.stage_count, 0);
    assert_int_equal(plan.view.table_size, 0);
    assert_string_equal(plan.view.label, "tested");
    plan_clear(&plan);
}

static void commands_outside_sections_make_a_chain(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    for (int i = 0; i < 5; i++)
        record_launch(&r, 0, false);
    make(&r, 4, false, &plan);
    assert_int_equal(plan.view.op_count, 5);
    assert_int_equal(plan.view.edge_count, 4);
    assert_int_equal(plan.view.stage_count, 5);
    assert_int_equal(count_joins(&plan.view), 0);
    plan_clear(&plan);
}

static void a_section_has_as_many_roots_as_chains(void **state)
{
    struct recording r = {0};
    struct plan plan;
    struct paths *p = malloc(sizeof(*p));
    uint32_t roots = 0;

    (void)state;
    assert_non_null(p);
    begin_concurrent(&r);
    for (int i = 0; i < 20; i++)
        record_launch(&r, 0, false);
    end_concurrent(&r);
    make(&r, 4, false, &plan);
    find_paths(&plan.view, p);
    for (uint32_t i = 0; i < plan.view.op_count; i++) {
        roots += p->in[i] == 0;
        assert_int_equal(plan.view.ops[i].stage, 0);
    }
    assert_int_equal(roots, 4);
    assert_int_equal(plan.view.stage_count, 1);
    plan_clear(&plan);
    free(p);
}

static void two_sections_meet_in_one_join(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    for (int section = 0; section < 2; section++) {
        begin_concurrent(&r);
        for (int i = 0; i < 12; i++)
            record_launch(&r, 0, false);
        end_concurrent(&r);
    }
    make(&r, 4, false, &plan);
    assert_int_equal(count_joins(&plan.view), 1);
    assert_int_equal(plan.view.ops[12].kind, GANTRY_OP_JOIN);
    /* 8 within each section, 4 into the join, 4 out of it. */
    assert_int_equal(plan.view.edge_count, 24);
    assert_int_equal(plan.view.stage_count, 2);
    plan_clear(&plan);
}

static void one_command_gathers_a_section_without_a_join(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    begin_concurrent(&r);
    for (int i = 0; i < 3; i++)
        record_launch(&r, 0, false);
    end_concurrent(&r);
    record_launch(&r, 1, false);
    make(&r, 4, true, &plan);
    assert_int_equal(count_joins(&plan.view), 0);
    assert_int_equal(plan.view.edge_count, 3);
    assert_int_equal(plan.programmatic_edges, 0);
    plan_clear(&plan);
}

static void only_sole_edges_between_launches_start_early(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    record_launch(&r, 1, false); /* no edge into it */
    record_launch(&r, 1, false); /* early */
    record_launch(&r, 0, false); /* its image does not wait */
    record_launch(&r, 1, true);  /* early: what comes before need not wait itself */
    record_fill(&r);
    record_launch(&r, 1, false); /* after a fill */
    make(&r, 4, true, &plan);
    assert_int_equal(plan.view.edge_count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(plan.view.edges[i].programmatic, i == 0 || i == 2);
    assert_int_equal(plan.programmatic_edges, 2);
    plan_clear(&plan);
}

/* ---- Operations ----------------------------------------------------------------------------- */

static void launches_carry_their_arguments(void **state)
{
    struct recording r = {0};
    const struct gantry_op *op;
    struct plan plan;

    (void)state;
    record_launch(&r, 0, false)->label = 900;
    strcpy((char *)r.bytes + 900, "blur");
    kernels[0].shared_bytes = 512;
    make(&r, 4, false, &plan);
    op = &plan.view.ops[0];
    assert_int_equal(op->kind, GANTRY_OP_LAUNCH);
    assert_false(op->folded);
    assert_int_equal(op->command, 1);
    assert_string_equal(op->label, "blur");
    assert_ptr_equal(op->launch.kernel, direct_entry);
    assert_int_equal(op->launch.blocks.x, 1);
    assert_int_equal(op->launch.blocks.y, 2);
    assert_int_equal(op->launch.block.x, 64);
    assert_int_equal(op->launch.shared_bytes, 512);
    assert_int_equal(op->launch.args_size, ARGS_SIZE);
    assert_memory_equal(op->launch.args, r.bytes, ARGS_SIZE);
    assert_true(plan.view.host_writes);
    plan_clear(&plan);
}

static void transfers_go_through_staging(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    record(&r, COMMAND_UPLOAD)->transfer =
        (struct command_transfer){.buffer = &buffers[0], .offset = 16, .size = 60, .staging = 256};
    make(&r, 4, false, &plan);
    assert_false(plan.view.host_writes);
    plan_clear(&plan);
    record(&r, COMMAND_DOWNLOAD)->transfer =
        (struct command_transfer){.buffer = &buffers[1], .offset = 4, .size = 8, .staging = 512};
    make(&r, 4, false, &plan);
    assert_int_equal(plan.view.ops[0].kind, GANTRY_OP_COPY);
    assert_ptr_equal(plan.view.ops[0].copy.from, &upload);
    assert_ptr_equal(plan.view.ops[0].copy.to, &buffers[0].memory);
    assert_int_equal(plan.view.ops[0].copy.from_offset, 256);
    assert_int_equal(plan.view.ops[0].copy.to_offset, 16);
    assert_int_equal(plan.view.ops[0].copy.size, 60);
    assert_ptr_equal(plan.view.ops[1].copy.from, &buffers[1].memory);
    assert_ptr_equal(plan.view.ops[1].copy.to, &readback);
    assert_int_equal(plan.view.ops[1].copy.from_offset, 4);
    assert_int_equal(plan.view.ops[1].copy.to_offset, 512);
    assert_true(plan.view.host_writes);
    plan_clear(&plan);
}

static void fills_of_readback_memory_are_host_writes(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    record_fill(&r);
    make(&r, 4, false, &plan);
    assert_false(plan.view.host_writes);
    plan_clear(&plan);
    buffers[0].memory.kind = GANTRY_MEMORY_READBACK;
    make(&r, 4, false, &plan);
    assert_true(plan.view.host_writes);
    assert_int_equal(plan.view.ops[0].fill.pattern, 7);
    plan_clear(&plan);
}

/* ---- Folding -------------------------------------------------------------------------------- */

static void folded_launches_find_their_arguments(void **state)
{
    struct recording r = {0};
    struct plan plan;

    (void)state;
    record_launch(&r, 0, true);
    record_launch(&r, 0, false);
    record_launch(&r, 0, true)->launch.blocks = (struct gantry_size){3, 5, 7};
    make(&r, 4, false, &plan);
    for (uint32_t i = 0; i < 3; i += 2) {
        const struct gantry_op *op = &plan.view.ops[i];
        const struct gantry_fold_args *fold = op->launch.args;
        struct gantry_size grid = r.commands[i].launch.blocks;
        struct gantry_fold_launch launch;

        assert_true(op->folded);
        assert_ptr_equal(op->launch.kernel, folded_entry);
        assert_int_equal(op->launch.args_size, sizeof(*fold));
        assert_int_equal(fold->count, 1);
        assert_int_equal(fold->blocks, grid.x * grid.y * grid.z);
        assert_int_equal(fold->equal, fold->blocks);
        assert_int_equal(fold->stride, 32);
        assert_int_equal(fold->launches % 16, 0);
        assert_int_equal(fold->args % 16, 0);
        assert_true(fold->launches + sizeof(launch) <= plan.view.table_size);
        assert_true(fold->args + ARGS_SIZE <= plan.view.table_size);
        memcpy(&launch, (const uint8_t *)plan.view.table + fold->launches, sizeof(launch));
        assert_int_equal(launch.first, 0);
        assert_int_equal(launch.x, grid.x);
        assert_int_equal(launch.y, grid.y);
        assert_int_equal(launch.z, grid.z);
        assert_memory_equal((const uint8_t *)plan.view.table + fold->args,
                            r.bytes + r.commands[i].launch.args, ARGS_SIZE);
        assert_true((uint64_t)op->launch.blocks.x * op->launch.blocks.y >= fold->blocks);
        assert_int_equal(op->launch.blocks.z, 1);
    }
    plan_clear(&plan);
}

static void more_blocks_than_32_bits_are_searched(void **state)
{
    struct recording r = {0};
    const struct gantry_fold_args *fold;
    struct plan plan;

    (void)state;
    record_launch(&r, 0, true)->launch.blocks = (struct gantry_size){70000, 70000, 1};
    make(&r, 4, false, &plan);
    fold = plan.view.ops[0].launch.args;
    assert_true(fold->blocks == UINT64_C(4900000000));
    assert_int_equal(fold->equal, 0);
    plan_clear(&plan);
}

static void a_missing_folded_entry_fails_the_plan(void **state)
{
    struct recording r = {0};
    struct plan_input input;
    struct plan plan;

    (void)state;
    record_launch(&r, 0, true);
    folded_status = GANTRY_E_NO_IMAGE;
    input = input_of(&r, 4, false);
    assert_int_equal(plan_make(&input, &plan), GANTRY_E_NO_IMAGE);
    assert_null(plan.ops);
    assert_null(plan.table);
}

static void check_fold_grid(uint64_t blocks, struct gantry_size most)
{
    struct gantry_size grid = plan_fold_grid(blocks, most);

    assert_true(grid.x >= 1 && grid.x <= most.x);
    assert_true(grid.y >= 1 && grid.y <= most.y);
    assert_int_equal(grid.z, 1);
    assert_true((uint64_t)grid.x * grid.y >= blocks);
    /* Less than a row of blocks has nothing to do. */
    assert_true((uint64_t)grid.x * grid.y - blocks < grid.y);
}

static void fold_grids_hold_their_blocks(void **state)
{
    struct gantry_size narrow = {65535, 65535, 65535};

    (void)state;
    check_fold_grid(1, narrow);
    check_fold_grid(65535, narrow);
    check_fold_grid(65536, narrow);
    check_fold_grid(200000, narrow);
    check_fold_grid(UINT64_C(65535) * 65535, narrow);
    check_fold_grid(UINT64_C(2147483647) + 1, wide);
    check_fold_grid(UINT64_C(2147483647) * 65535, wide);
}

static void fold_grids_over_the_limit_are_refused(void **state)
{
    struct gantry_size narrow = {65535, 65535, 65535};

    (void)state;
    assert_int_equal(plan_fold_grid(0, narrow).x, 0);
    assert_int_equal(plan_fold_grid(UINT64_C(65535) * 65535 + 1, narrow).x, 0);
    assert_int_equal(plan_fold_grid(UINT64_C(2147483647) * 65535 + 1, wide).x, 0);
    /* 4294967295 x 6700417 x 641 blocks: one less than 2^64. */
    assert_int_equal(plan_fold_grid(UINT64_MAX, wide).x, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_lists_keep_their_order, set_up),
        cmocka_unit_test_setup(nothing_gives_an_empty_plan, set_up),
        cmocka_unit_test_setup(commands_outside_sections_make_a_chain, set_up),
        cmocka_unit_test_setup(a_section_has_as_many_roots_as_chains, set_up),
        cmocka_unit_test_setup(two_sections_meet_in_one_join, set_up),
        cmocka_unit_test_setup(one_command_gathers_a_section_without_a_join, set_up),
        cmocka_unit_test_setup(only_sole_edges_between_launches_start_early, set_up),
        cmocka_unit_test_setup(launches_carry_their_arguments, set_up),
        cmocka_unit_test_setup(transfers_go_through_staging, set_up),
        cmocka_unit_test_setup(fills_of_readback_memory_are_host_writes, set_up),
        cmocka_unit_test_setup(folded_launches_find_their_arguments, set_up),
        cmocka_unit_test_setup(more_blocks_than_32_bits_are_searched, set_up),
        cmocka_unit_test_setup(a_missing_folded_entry_fails_the_plan, set_up),
        cmocka_unit_test(fold_grids_hold_their_blocks),
        cmocka_unit_test(fold_grids_over_the_limit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
