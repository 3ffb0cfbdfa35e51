/* From recorded commands to operations, stages and edges.
 *
 * Two descriptions of the same order are made, because backends differ in what they can use:
 * - stages: every operation of a stage may run at once, a barrier lies between stages (Vulkan);
 * - edges: an operation starts after those that have an edge to it (CUDA graphs).
 *
 * The strands of a concurrent section start in the same stage. Their edges are laid on `chains`
 * chains: the first operation of strand k waits for the first one of strand k - chains, although
 * nothing demands it. A driver pays dearly for each of many independent roots and next to nothing
 * for chains. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "module.h"
#include "plan.h"
#include "status.h"

#define TABLE_ALIGNMENT 16

/* A strand of the section that is being laid. */
struct strand {
    uint32_t first_command;
    uint32_t length;
    uint32_t first_op, last_op; /* valid once laid */
};

struct builder {
    const struct plan_input *input;
    struct plan *plan;
    uint32_t op_count, edge_count, fold_count;
    uint64_t table_size, table_used;
    uint32_t next_stage;
    struct strand *strands; /* of the current section */
    uint32_t strand_count;
    uint32_t *frontier; /* operations that the next section waits for */
    uint32_t frontier_count;
};

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

struct gantry_size plan_fold_grid(uint64_t blocks, struct gantry_size max_blocks)
{
    /* Not (blocks + x - 1) / x, which wraps for a product of three axes near 2^64. */
    uint64_t y = blocks / max_blocks.x + (blocks % max_blocks.x != 0);

    if (blocks == 0 || y > max_blocks.y)
        return (struct gantry_size){0, 0, 0};
    /* The smallest x that does: fewer blocks leave at once. */
    return (struct gantry_size){(uint32_t)((blocks + y - 1) / y), (uint32_t)y, 1};
}

/* ---- Operations ----------------------------------------------------------------------------- */

/* Puts one launch into the argument table and points the operation's inline arguments at it. */
static enum gantry_status fold_launch(struct builder *b, const struct command_launch *launch,
                                      struct gantry_op_launch *op)
{
    struct gantry_fold_args *fold = &b->plan->fold_args[b->fold_count++];
    uint64_t blocks = (uint64_t)launch->blocks.x * launch->blocks.y * launch->blocks.z;
    struct gantry_fold_launch entry = {.first = 0,
                                       .x = launch->blocks.x,
                                       .y = launch->blocks.y,
                                       .z = launch->blocks.z};
    enum gantry_status status = kernel_folded(launch->kernel, &op->kernel);

    if (status != GANTRY_OK)
        return status;
    fold->launches = b->table_used;
    memcpy(b->plan->table + b->table_used, &entry, sizeof(entry));
    b->table_used = align_up(b->table_used + sizeof(entry), TABLE_ALIGNMENT);
    fold->args = b->table_used;
    memcpy(b->plan->table + b->table_used, b->input->bytes + launch->args, launch->args_size);
    b->table_used = align_up(b->table_used + launch->args_size, TABLE_ALIGNMENT);
    fold->blocks = blocks;
    fold->count = 1;
    fold->stride = (uint32_t)align_up(launch->args_size, TABLE_ALIGNMENT);
    fold->equal = blocks <= UINT32_MAX ? (uint32_t)blocks : 0;
    op->blocks = plan_fold_grid(blocks, b->input->max_blocks);
    op->args = fold;
    op->args_size = sizeof(*fold);
    return GANTRY_OK;
}

static enum gantry_status fill_launch(struct builder *b, const struct command_launch *launch,
                                      struct gantry_op *op)
{
    op->kind = GANTRY_OP_LAUNCH;
    op->folded = launch->folded;
    op->launch.block = launch->kernel->block;
    op->launch.shared_bytes = launch->kernel->shared_bytes;
    if (launch->folded)
        return fold_launch(b, launch, &op->launch);
    op->launch.kernel = launch->kernel->direct;
    op->launch.blocks = launch->blocks;
    op->launch.args = b->input->bytes + launch->args;
    op->launch.args_size = launch->args_size;
    return GANTRY_OK;
}

static void fill_transfer(struct builder *b, const struct command *command, struct gantry_op *op)
{
    const struct command_transfer *transfer = &command->transfer;
    bool upload = command->kind == COMMAND_UPLOAD;

    op->kind = GANTRY_OP_COPY;
    op->copy.size = transfer->size;
    op->copy.to = upload ? &transfer->buffer->memory : b->input->readback;
    op->copy.to_offset = upload ? transfer->offset : transfer->staging;
    op->copy.from = upload ? b->input->upload : &transfer->buffer->memory;
    op->copy.from_offset = upload ? transfer->staging : transfer->offset;
    if (!upload)
        b->plan->view.host_writes = true;
}

static enum gantry_status fill_op(struct builder *b, const struct command *command,
                                  struct gantry_op *op)
{
    switch (command->kind) {
    case COMMAND_LAUNCH:
        /* A kernel may write to readback memory through its address, which nobody sees here. */
        b->plan->view.host_writes = true;
        return fill_launch(b, &command->launch, op);
    case COMMAND_COPY:
        op->kind = GANTRY_OP_COPY;
        op->copy.to = &command->copy.to->memory;
        op->copy.to_offset = command->copy.to_offset;
        op->copy.from = &command->copy.from->memory;
        op->copy.from_offset = command->copy.from_offset;
        op->copy.size = command->copy.size;
        b->plan->view.host_writes |= op->copy.to->kind != GANTRY_MEMORY_DEVICE;
        return GANTRY_OK;
    case COMMAND_FILL:
        op->kind = GANTRY_OP_FILL;
        op->fill.memory = &command->fill.buffer->memory;
        op->fill.offset = command->fill.offset;
        op->fill.size = command->fill.size;
        op->fill.pattern = command->fill.pattern;
        b->plan->view.host_writes |= op->fill.memory->kind != GANTRY_MEMORY_DEVICE;
        return GANTRY_OK;
    case COMMAND_UPLOAD:
    case COMMAND_DOWNLOAD:
        fill_transfer(b, command, op);
        return GANTRY_OK;
    }
    return fail(GANTRY_E_INVALID_STATE, "a list holds a command of the unknown kind %d",
                (int)command->kind);
}

static enum gantry_status add_op(struct builder *b, const struct command *command, uint32_t stage,
                                 uint32_t chain)
{
    struct gantry_op *op = &b->plan->ops[b->op_count++];

    op->stage = stage;
    op->chain = chain;
    op->command = command->id;
    if (command->label != NO_LABEL)
        op->label = (const char *)b->input->bytes + command->label;
    return fill_op(b, command, op);
}

/* ---- Edges ---------------------------------------------------------------------------------- */

static enum gantry_status add_edge(struct builder *b, uint32_t from, uint32_t to)
{
    struct plan *plan = b->plan;

    if (b->edge_count == plan->edge_capacity) {
        uint32_t capacity = plan->edge_capacity ? 2 * plan->edge_capacity : 64;
        struct gantry_edge *edges = realloc(plan->edges, capacity * sizeof(*edges));

        if (!edges)
            return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a plan of %u edges",
                        capacity);
        plan->edges = edges;
        plan->edge_capacity = capacity;
    }
    plan->edges[b->edge_count++] = (struct gantry_edge){.from = from, .to = to};
    return GANTRY_OK;
}

/* Replaces a frontier of several operations by one join, so that `count` operations that wait for
 * it need one edge each. */
static enum gantry_status join_frontier(struct builder *b, uint32_t count)
{
    enum gantry_status status = GANTRY_OK;
    uint32_t join = b->op_count;

    if (b->frontier_count <= 1 || count <= 1)
        return GANTRY_OK;
    b->plan->ops[b->op_count++] =
        (struct gantry_op){.kind = GANTRY_OP_JOIN, .stage = b->next_stage};
    for (uint32_t i = 0; i < b->frontier_count && status == GANTRY_OK; i++)
        status = add_edge(b, b->frontier[i], join);
    b->frontier[0] = join;
    b->frontier_count = 1;
    return status;
}

/* ---- Sections ------------------------------------------------------------------------------- */

/* Finds the strands of the section that begins with command `first`; returns the end. */
static uint32_t split_section(struct builder *b, uint32_t first)
{
    const struct command *commands = b->input->commands;
    uint32_t i = first;

    b->strand_count = 0;
    for (; i < b->input->command_count && commands[i].section == commands[first].section; i++) {
        if (i == first || commands[i].strand != commands[i - 1].strand)
            b->strands[b->strand_count++] = (struct strand){.first_command = i};
        b->strands[b->strand_count - 1].length++;
    }
    return i;
}

/* The edges into the operation that was just added, the step-th of strand k. */
static enum gantry_status link_op(struct builder *b, uint32_t k, uint32_t step, uint32_t chains)
{
    uint32_t op = b->op_count - 1;

    if (step > 0)
        return add_edge(b, b->strands[k].last_op, op);
    if (k >= chains)
        return add_edge(b, b->strands[k - chains].first_op, op);
    for (uint32_t i = 0; i < b->frontier_count; i++) {
        enum gantry_status status = add_edge(b, b->frontier[i], op);

        if (status != GANTRY_OK)
            return status;
    }
    return GANTRY_OK;
}

/* Lays the step-th command of every strand that has one: one stage. */
static enum gantry_status lay_step(struct builder *b, uint32_t step, uint32_t chains, bool *any)
{
    *any = false;
    for (uint32_t k = 0; k < b->strand_count; k++) {
        struct strand *strand = &b->strands[k];
        enum gantry_status status;

        if (step >= strand->length)
            continue;
        *any = true;
        status = add_op(b, &b->input->commands[strand->first_command + step], b->next_stage + step,
                        k % chains);
        if (status == GANTRY_OK)
            status = link_op(b, k, step, chains);
        if (status != GANTRY_OK)
            return status;
        strand->last_op = b->op_count - 1;
        if (step == 0)
            strand->first_op = strand->last_op;
    }
    return GANTRY_OK;
}

static int compare_ops(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* What the next section must wait for: the strands' ends, less those that another strand already
 * waits for. In ascending order, as edges are. */
static void move_frontier(struct builder *b, uint32_t chains)
{
    b->frontier_count = 0;
    for (uint32_t k = 0; k < b->strand_count; k++) {
        bool chained = b->strands[k].length == 1 && k + chains < b->strand_count;

        if (!chained)
            b->frontier[b->frontier_count++] = b->strands[k].last_op;
    }
    qsort(b->frontier, b->frontier_count, sizeof(*b->frontier), compare_ops);
}

static enum gantry_status lay_section(struct builder *b)
{
    uint32_t chains = b->input->chains < b->strand_count ? b->input->chains : b->strand_count;
    enum gantry_status status;
    uint32_t step = 0;
    bool any = true;

    if (chains == 0)
        chains = 1;
    status = join_frontier(b, chains);
    for (; status == GANTRY_OK; step++) {
        status = lay_step(b, step, chains, &any);
        if (!any)
            break;
    }
    b->next_stage += step;
    move_frontier(b, chains);
    return status;
}

/* ---- Programmatic edges --------------------------------------------------------------------- */

static bool starts_early(const struct plan_input *input, const struct command *command)
{
    return command->kind == COMMAND_LAUNCH && command->launch.kernel->info.waits &&
           input->programmatic;
}

/* An edge may be programmatic when both ends are launches, the image at its end is known to wait
 * for its predecessors, and it is the only edge into that end: mixing kinds into one node is not
 * worth what it would have to prove. Edges of one `to` lie together. */
static void mark_programmatic(struct builder *b, const struct command *const *command_of)
{
    struct gantry_edge *edges = b->plan->edges;

    for (uint32_t i = 0; i < b->edge_count; i++) {
        bool only = (i == 0 || edges[i - 1].to != edges[i].to) &&
                    (i + 1 == b->edge_count || edges[i + 1].to != edges[i].to);
        const struct command *to = command_of[edges[i].to];

        if (!only || !to || b->plan->ops[edges[i].from].kind != GANTRY_OP_LAUNCH ||
            !starts_early(b->input, to))
            continue;
        edges[i].programmatic = true;
        b->plan->programmatic_edges++;
    }
}

static enum gantry_status find_programmatic(struct builder *b)
{
    const struct command **command_of;
    uint32_t command = 0;

    if (!b->input->programmatic || b->edge_count == 0)
        return GANTRY_OK;
    command_of = calloc(b->op_count, sizeof(*command_of));
    if (!command_of)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a plan of %u operations",
                    b->op_count);
    /* Ids grow with the commands, operations are in another order inside a section: look up by id.
     */
    for (uint32_t i = 0; i < b->op_count; i++) {
        uint32_t id = b->plan->ops[i].command;

        if (b->plan->ops[i].kind == GANTRY_OP_JOIN)
            continue;
        while (command > 0 && b->input->commands[command].id > id)
            command--;
        while (b->input->commands[command].id < id)
            command++;
        command_of[i] = &b->input->commands[command];
    }
    mark_programmatic(b, command_of);
    free(command_of);
    return GANTRY_OK;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static uint32_t count_folded(struct builder *b)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < b->input->command_count; i++) {
        const struct command *command = &b->input->commands[i];

        if (command->kind != COMMAND_LAUNCH || !command->launch.folded)
            continue;
        count++;
        b->table_size += align_up(sizeof(struct gantry_fold_launch), TABLE_ALIGNMENT) +
                         align_up(command->launch.args_size, TABLE_ALIGNMENT);
    }
    return count;
}

/* At most one join a section, and a section has at least one command: 2n operations are enough. */
static enum gantry_status reserve(struct builder *b)
{
    uint32_t n = b->input->command_count;
    uint32_t folded = count_folded(b);

    if (n > UINT32_MAX / 2 - 1)
        return fail(GANTRY_E_LIMIT, "a list of %u commands is too long: %u are the limit", n,
                    UINT32_MAX / 2 - 1);
    b->plan->ops = calloc(2 * (size_t)n + 1, sizeof(*b->plan->ops));
    b->strands = calloc((size_t)n + 1, sizeof(*b->strands));
    b->frontier = calloc((size_t)n + 1, sizeof(*b->frontier));
    if (folded) {
        b->plan->fold_args = calloc(folded, sizeof(*b->plan->fold_args));
        b->plan->table = calloc(1, b->table_size);
    }
    if (!b->plan->ops || !b->strands || !b->frontier ||
        (folded && (!b->plan->fold_args || !b->plan->table)))
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a plan of %u commands", n);
    return GANTRY_OK;
}

static void set_view(struct builder *b)
{
    struct gantry_plan *view = &b->plan->view;

    view->ops = b->plan->ops;
    view->op_count = b->op_count;
    view->edges = b->plan->edges;
    view->edge_count = b->edge_count;
    view->stage_count = b->next_stage;
    view->table = b->plan->table;
    view->table_size = b->table_used;
    view->label = b->input->label;
}

enum gantry_status plan_make(const struct plan_input *input, struct plan *plan)
{
    struct builder b = {.input = input, .plan = plan};
    enum gantry_status status;

    *plan = (struct plan){0};
    status = reserve(&b);
    for (uint32_t i = 0; i < input->command_count && status == GANTRY_OK;) {
        i = split_section(&b, i);
        status = lay_section(&b);
    }
    if (status == GANTRY_OK)
        status = find_programmatic(&b);
    set_view(&b);
    free(b.strands);
    free(b.frontier);
    if (status != GANTRY_OK)
        plan_clear(plan);
    return status;
}

void plan_clear(struct plan *plan)
{
    free(plan->ops);
    free(plan->edges);
    free(plan->table);
    free(plan->fold_args);
    *plan = (struct plan){0};
}
