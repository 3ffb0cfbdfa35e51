/* The plan: that stages and edges each prove the order that a list states, without asking for more
 * order than the chains do; which edges may start early; what launches find in the table.
 *
 * No validation layer sees accesses through buffer addresses, so this test stands for the order of
 * launches: it derives from the recording rules which commands must wait for which, and looks in
 * the plan for a path and for a growing stage, or for a place further on in one chain. */
#include <stdlib.h>

#include "unit.h"

#include "core/buffer.h"
#include "core/module.h"

#include "recording.h"

#define MAX_OPS (2 * MAX_COMMANDS + 1)

static const struct gantry_size wide = {2147483647, 65535, 65535};
static const struct gantry_size one = {1, 1, 1};
static struct gantry_drv_memory upload_block = {.size = 1 << 20, .kind = GANTRY_MEMORY_UPLOAD};
static struct gantry_drv_memory readback_block = {.size = 1 << 20, .kind = GANTRY_MEMORY_READBACK};
static struct memory upload = {.block = &upload_block, .offset = 4096};
static struct memory readback = {.block = &readback_block};

static struct plan_input input_of(const struct recording *r, uint32_t chains, bool programmatic)
{
    return (struct plan_input){.commands = r->commands,
                               .command_count = r->count,
                               .bytes = r->bytes,
                               .patchables = r->patchables,
                               .patchable_count = r->patchable_count,
                               .upload = &upload,
                               .readback = &readback,
                               .max_blocks = wide,
                               .fold = {.chains = true,
                                        .compute_units = 4,
                                        .threads_per_unit = 512,
                                        .most_blocks = (uint64_t)wide.x * wide.y,
                                        .most_steps = 1000},
                               .chains = chains,
                               .programmatic = programmatic,
                               .label = "tested"};
}

/* Without folds by choice. */
static void make(const struct recording *r, uint32_t chains, bool programmatic, struct plan *plan)
{
    struct plan_input input = input_of(r, chains, programmatic);

    assert_int_equal(plan_make(&input, plan), GANTRY_OK);
}

/* ---- What must hold ------------------------------------------------------------------------- */

static bool same_step(const struct recording *r, uint32_t i, uint32_t j)
{
    return r->commands[i].section == r->commands[j].section && r->step[i] == r->step[j];
}

struct paths {
    uint32_t op_of[MAX_COMMANDS];    /* by the command's index */
    uint32_t place_in[MAX_COMMANDS]; /* within the operation's launches */
    uint32_t found;                  /* commands */
    bool reach[MAX_OPS][MAX_OPS];    /* reach[a][b]: b starts after a has ended */
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

static void found_command(const struct recording *r, struct paths *p, uint32_t command, uint32_t op,
                          uint32_t place)
{
    assert_true(command < r->count && p->op_of[command] == MAX_OPS);
    p->op_of[command] = op;
    p->place_in[command] = place;
    p->found++;
}

/* That the table holds what was recorded: each launch's arguments, which tell its id, and its grid,
 * which begins behind those of the launches before it. */
static void check_table(const struct recording *r, const struct gantry_plan *view, uint32_t op,
                        struct paths *p)
{
    const struct gantry_op_launch *launch = &view->ops[op].launch;
    const struct gantry_fold_args *fold = launch->args;
    const uint8_t *table = view->table, *args = table + fold->args;
    bool chain = entry_of(launch->kernel) == CHAINED;
    uint64_t first = 0;

    assert_int_equal(launch->args_size, sizeof(*fold));
    assert_true(fold->launches % 16 == 0 && fold->args % 16 == 0 && fold->reserved == 0);
    assert_true(fold->launches + fold->count * sizeof(struct gantry_fold_launch) <= fold->args);
    assert_true(fold->args + (uint64_t)fold->count * fold->stride <= view->table_size);
    for (uint32_t i = 0; i < fold->count; i++, args += fold->stride) {
        const struct command_launch *recorded = &r->commands[args[0] - 1].launch;
        struct gantry_size grid =
            recorded->patchable ? r->patchables[recorded->patchable - 1].grid : recorded->blocks;
        struct gantry_fold_launch entry;

        memcpy(&entry, table + fold->launches + i * sizeof(entry), sizeof(entry));
        found_command(r, p, args[0] - 1u, op, i);
        assert_memory_equal(args, r->bytes + recorded->args, ARGS_SIZE);
        assert_int_equal(entry_kernel(launch->kernel), recorded->kernel - kernels);
        assert_true(entry.x == recorded->blocks.x && entry.y == recorded->blocks.y &&
                    entry.z == recorded->blocks.z);
        assert_int_equal(entry.first, first);
        if (fold->equal)
            assert_int_equal(fold->equal, grid.x * grid.y * grid.z);
        if (chain)
            assert_true(grid.x == 1 && grid.y == 1 && grid.z == 1);
        else
            first += (uint64_t)grid.x * grid.y * grid.z;
    }
    assert_int_equal(fold->blocks, chain ? 1 : first);
    assert_true((uint64_t)launch->blocks.x * launch->blocks.y >= fold->blocks);
    assert_int_equal(launch->blocks.z, 1);
}

static void find_commands(const struct recording *r, const struct gantry_plan *view,
                          struct paths *p)
{
    for (uint32_t i = 0; i < MAX_COMMANDS; i++)
        p->op_of[i] = MAX_OPS;
    for (uint32_t i = 0; i < view->op_count; i++) {
        const struct gantry_op *op = &view->ops[i];

        if (op->folded)
            check_table(r, view, i, p);
        else if (op->kind != GANTRY_OP_JOIN)
            found_command(r, p, op->command - 1, i, 0);
        if (op->kind != GANTRY_OP_JOIN)
            assert_int_equal(p->op_of[op->command - 1], i);
    }
    assert_int_equal(p->found, r->count);
}

static void find_paths(const struct recording *r, const struct gantry_plan *view, struct paths *p)
{
    memset(p, 0, sizeof(*p));
    find_commands(r, view, p);
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

static void check_pair(const struct recording *r, const struct gantry_plan *view,
                       const struct paths *p, uint32_t i, uint32_t j, bool folds)
{
    uint32_t first = p->op_of[i], second = p->op_of[j];

    if (must_precede(r, i, j) && first == second) {
        assert_int_equal(entry_of(view->ops[first].launch.kernel), CHAINED);
        assert_true(p->place_in[i] < p->place_in[j]);
    } else if (must_precede(r, i, j)) {
        assert_true(p->reach[first][second]);
        assert_true(view->ops[first].stage < view->ops[second].stage);
    } else if (!folds && same_step(r, i, j)) {
        assert_int_equal(view->ops[first].stage, view->ops[second].stage);
    }
}

static void check_order(const struct recording *r, const struct gantry_plan *view,
                        const struct paths *p, bool folds)
{
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t j = i + 1; j < r->count; j++)
            check_pair(r, view, p, i, j, folds);
}

/* No operation is waited for by more than the chains that follow it and the next one on its own
 * chain, and only joins and single operations gather many: that is what keeps a section of n
 * commands from costing n roots or n * n edges. */
static void check_width(const struct gantry_plan *view, const struct paths *p, uint32_t chains)
{
    chains = chains ? chains : 1;
    for (uint32_t i = 0; i < view->op_count; i++) {
        assert_true(p->out[i] <= chains + 1);
        assert_true(view->ops[i].chain < chains);
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

static bool waits(const struct gantry_op *op)
{
    const struct gantry_drv_kernel *kernel = op->launch.kernel;

    return op->kind == GANTRY_OP_LAUNCH &&
           entry_rules[entry_kernel(kernel)][entry_of(kernel)].waits;
}

static void check_programmatic(const struct plan *plan, const struct paths *p, bool wanted)
{
    const struct gantry_plan *view = &plan->view;
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->edge_count; i++) {
        const struct gantry_op *from = &view->ops[view->edges[i].from];
        const struct gantry_op *to = &view->ops[view->edges[i].to];
        bool may =
            wanted && from->kind == GANTRY_OP_LAUNCH && waits(to) && p->in[view->edges[i].to] == 1;

        assert_int_equal(view->edges[i].programmatic, may);
        count += may;
    }
    assert_int_equal(plan->programmatic_edges, count);
}

/* That the counts are those of the operations over the table. */
static void check_counts(const struct plan *plan)
{
    uint32_t folded = 0, chained = 0;

    for (uint32_t i = 0; i < plan->view.op_count; i++) {
        const struct gantry_op *op = &plan->view.ops[i];
        const struct gantry_fold_args *fold = op->launch.args;

        if (!op->folded || fold->count < 2)
            continue;
        folded += fold->count;
        chained += entry_of(op->launch.kernel) == CHAINED ? fold->count : 0;
    }
    assert_int_equal(plan->fold.folded, folded);
    assert_int_equal(plan->fold.chained, chained);
}

/* Random lists, with the memory of one plan for all of them. */
static void check_random_lists(bool folds)
{
    uint32_t seed = 2463534242u;
    struct recording *r = malloc(sizeof(*r));
    struct paths *p = malloc(sizeof(*p));
    struct plan plan = {0};
    uint32_t folded = 0, chained = 0;

    assert_true(r && p);
    for (int round = 0; round < 3000; round++) {
        uint32_t chains = round % 7;
        struct plan_input input;

        record_random(r, &seed);
        input = input_of(r, chains, round % 2);
        input.fold.on = folds;
        input.fold.most_steps = round % 3 ? 1000 : 3;
        assert_int_equal(plan_make(&input, &plan), GANTRY_OK);
        check_edges(&plan.view);
        find_paths(r, &plan.view, p);
        check_order(r, &plan.view, p, folds);
        check_width(&plan.view, p, chains);
        check_stages(&plan.view);
        check_programmatic(&plan, p, round % 2);
        check_counts(&plan);
        folded += plan.fold.folded;
        chained += plan.fold.chained;
    }
    assert_true(folds ? chained > 1000 && folded > chained + 1000 : folded == 0);
    plan_clear(&plan);
    free(p);
    free(r);
}

static void random_lists_keep_their_order(void **state)
{
    (void)state;
    check_random_lists(false);
}

static void random_folded_lists_keep_their_order(void **state)
{
    (void)state;
    check_random_lists(true);
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
    struct plan plan = {0};

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
    struct plan plan = {0};

    (void)state;
    for (int i = 0; i < 5; i++)
        record_launch(&r, 0, one);
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
    struct plan plan = {0};
    struct paths *p = malloc(sizeof(*p));
    uint32_t roots = 0;

    (void)state;
    assert_non_null(p);
    begin_concurrent(&r);
    for (int i = 0; i < 20; i++)
        record_launch(&r, 0, one);
    end_concurrent(&r);
    make(&r, 4, false, &plan);
    find_paths(&r, &plan.view, p);
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
    struct plan plan = {0};

    (void)state;
    for (int section = 0; section < 2; section++) {
        begin_concurrent(&r);
        for (int i = 0; i < 12; i++)
            record_launch(&r, 0, one);
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
    struct plan plan = {0};

    (void)state;
    begin_concurrent(&r);
    for (int i = 0; i < 3; i++)
        record_launch(&r, 0, one);
    end_concurrent(&r);
    record_launch(&r, 1, one);
    make(&r, 4, true, &plan);
    assert_int_equal(count_joins(&plan.view), 0);
    assert_int_equal(plan.view.edge_count, 3);
    assert_int_equal(plan.programmatic_edges, 0);
    plan_clear(&plan);
}

/* A launch that can't do without the folded entry. */
static struct command *record_folded(struct recording *r, int kernel)
{
    struct command *command = record_launch(r, kernel, one);

    command->launch.folded = true;
    return command;
}

static void only_sole_edges_between_launches_start_early(void **state)
{
    struct recording r = {0};
    struct plan plan = {0};

    (void)state;
    record_launch(&r, 1, one); /* no edge into it */
    record_launch(&r, 1, one); /* early */
    record_launch(&r, 0, one); /* its image does not wait */
    record_folded(&r, 0);      /* early: this entry does, and what comes before need not */
    record_fill(&r);
    record_launch(&r, 1, one); /* after a fill */
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
    struct plan plan = {0};

    (void)state;
    record_launch(&r, 0, (struct gantry_size){1, 2, 1})->label = 900;
    strcpy((char *)r.bytes + 900, "blur");
    kernels[0].shared_bytes = 512;
    make(&r, 4, false, &plan);
    op = &plan.view.ops[0];
    assert_int_equal(op->kind, GANTRY_OP_LAUNCH);
    assert_false(op->folded);
    assert_int_equal(op->command, 1);
    assert_string_equal(op->label, "blur");
    assert_ptr_equal(op->launch.kernel, entry_handle(0, DIRECT));
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
    struct plan plan = {0};

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
    assert_ptr_equal(plan.view.ops[0].copy.from, &upload_block);
    assert_ptr_equal(plan.view.ops[0].copy.to, &blocks[0]);
    assert_int_equal(plan.view.ops[0].copy.from_offset, 4096 + 256);
    assert_int_equal(plan.view.ops[0].copy.to_offset, 16);
    assert_int_equal(plan.view.ops[0].copy.size, 60);
    assert_ptr_equal(plan.view.ops[1].copy.from, &blocks[1]);
    assert_ptr_equal(plan.view.ops[1].copy.to, &readback_block);
    assert_int_equal(plan.view.ops[1].copy.from_offset, 1024 + 4);
    assert_int_equal(plan.view.ops[1].copy.to_offset, 512);
    assert_true(plan.view.host_writes);
    plan_clear(&plan);
}

static void fills_of_readback_memory_are_host_writes(void **state)
{
    struct recording r = {0};
    struct plan plan = {0};

    (void)state;
    record_fill(&r);
    make(&r, 4, false, &plan);
    assert_false(plan.view.host_writes);
    plan_clear(&plan);
    blocks[0].kind = GANTRY_MEMORY_READBACK;
    make(&r, 4, false, &plan);
    assert_true(plan.view.host_writes);
    assert_int_equal(plan.view.ops[0].fill.pattern, 7);
    plan_clear(&plan);
}

/* ---- Folding -------------------------------------------------------------------------------- */

static void folded_launches_find_their_arguments(void **state)
{
    struct recording r = {0};
    struct plan plan = {0};
    struct paths *p = malloc(sizeof(*p));

    (void)state;
    assert_non_null(p);
    record_folded(&r, 0);
    record_launch(&r, 0, one);
    record_folded(&r, 0)->launch.blocks = (struct gantry_size){3, 5, 7};
    make(&r, 4, false, &plan);
    find_paths(&r, &plan.view, p);
    for (uint32_t i = 0; i < 3; i += 2) {
        const struct gantry_op *op = &plan.view.ops[i];
        const struct gantry_fold_args *fold = op->launch.args;

        assert_true(op->folded);
        assert_ptr_equal(op->launch.kernel, entry_handle(0, FOLDED));
        assert_int_equal(fold->count, 1);
        assert_int_equal(fold->blocks, i ? 105 : 1);
        assert_int_equal(fold->equal, fold->blocks);
        assert_int_equal(fold->stride, 32);
    }
    assert_int_equal(plan.fold.folded, 0);
    plan_clear(&plan);
    free(p);
}

/* What is patched later must be found: the places of launches that stand in another order. */
static void patchable_launches_have_places(void **state)
{
    struct recording r = {0};
    struct plan_input input;
    struct plan plan = {0};

    (void)state;
    begin_concurrent(&r);
    for (uint32_t i = 0; i < 12; i++)
        record_patchable(&r, i % 2, (struct gantry_size){i % 3, 1, 1},
                         (struct gantry_size){3, 1, 1});
    end_concurrent(&r);
    input = input_of(&r, 4, false);
    input.fold.on = input.patched = true;
    assert_int_equal(plan_make(&input, &plan), GANTRY_OK);
    assert_int_equal(plan.view.op_count, 2);
    assert_true(plan.view.patchable);
    for (uint32_t i = 0; i < 12; i++) {
        const uint8_t *table = plan.view.table;
        struct gantry_fold_launch launch;

        memcpy(&launch, table + plan.places[i].launch, sizeof(launch));
        assert_int_equal(launch.x, i % 3);
        assert_int_equal(launch.first, i / 2 * 3);
        assert_int_equal(table[plan.places[i].args], i + 1);
    }
    plan_clear(&plan);
}

/* The second plan has less of everything, and the memory of the first. */
static void memory_is_used_again(void **state)
{
    struct recording r = {0};
    struct plan plan = {0};
    const struct gantry_op *ops;

    (void)state;
    for (int i = 0; i < 20; i++)
        record_folded(&r, 0);
    make(&r, 4, true, &plan);
    ops = plan.ops;
    assert_int_equal(plan.view.edge_count, 19);
    r.count = 2;
    make(&r, 4, true, &plan);
    assert_ptr_equal(plan.ops, ops);
    assert_int_equal(plan.view.op_count, 2);
    assert_int_equal(plan.view.edge_count, 1);
    assert_int_equal(plan.view.table_size, 2 * 64);
    assert_int_equal(plan.programmatic_edges, 1);
    r.count = 0;
    make(&r, 4, true, &plan);
    assert_int_equal(plan.view.op_count, 0);
    assert_null(plan.view.table);
    assert_false(plan.view.host_writes);
    plan_clear(&plan);
}

static void more_blocks_than_32_bits_are_searched(void **state)
{
    struct recording r = {0};
    const struct gantry_fold_args *fold;
    struct plan plan = {0};

    (void)state;
    record_folded(&r, 0)->launch.blocks = (struct gantry_size){70000, 70000, 1};
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
    struct plan plan = {0};

    (void)state;
    record_folded(&r, 0);
    entry_rules[0][FOLDED].missing = true;
    input = input_of(&r, 4, false);
    assert_int_equal(plan_make(&input, &plan), GANTRY_E_NO_IMAGE);
    plan_clear(&plan);
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
        cmocka_unit_test_setup(random_lists_keep_their_order, reset_kernels),
        cmocka_unit_test_setup(random_folded_lists_keep_their_order, reset_kernels),
        cmocka_unit_test_setup(nothing_gives_an_empty_plan, reset_kernels),
        cmocka_unit_test_setup(commands_outside_sections_make_a_chain, reset_kernels),
        cmocka_unit_test_setup(a_section_has_as_many_roots_as_chains, reset_kernels),
        cmocka_unit_test_setup(two_sections_meet_in_one_join, reset_kernels),
        cmocka_unit_test_setup(one_command_gathers_a_section_without_a_join, reset_kernels),
        cmocka_unit_test_setup(only_sole_edges_between_launches_start_early, reset_kernels),
        cmocka_unit_test_setup(launches_carry_their_arguments, reset_kernels),
        cmocka_unit_test_setup(transfers_go_through_staging, reset_kernels),
        cmocka_unit_test_setup(fills_of_readback_memory_are_host_writes, reset_kernels),
        cmocka_unit_test_setup(folded_launches_find_their_arguments, reset_kernels),
        cmocka_unit_test_setup(patchable_launches_have_places, reset_kernels),
        cmocka_unit_test_setup(memory_is_used_again, reset_kernels),
        cmocka_unit_test_setup(more_blocks_than_32_bits_are_searched, reset_kernels),
        cmocka_unit_test_setup(a_missing_folded_entry_fails_the_plan, reset_kernels),
        cmocka_unit_test(fold_grids_hold_their_blocks),
        cmocka_unit_test(fold_grids_over_the_limit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
