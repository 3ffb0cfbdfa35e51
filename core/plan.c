/* From units of commands (fold.h) to operations, stages and edges.
 *
 * Two descriptions of the same order are made, because backends differ in what they can use:
 * - stages: every operation of a stage may run at once, a barrier lies between stages (Vulkan);
 * - edges: an operation starts after those that have an edge to it (CUDA graphs).
 *
 * The units of a section that follow the same one, or nothing of their section, are laid on
 * `chains` chains: the k-th of them waits for the one `chains` before it, although nothing demands
 * it. A driver pays dearly for each of many independent operations and next to nothing for chains.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "module.h"
#include "plan.h"
#include "status.h"

#define TABLE_ALIGNMENT 16
#define MOST_COMMANDS   (1u << 30)

/* What is remembered of an operation. */
enum {
    MARK_FOLLOWED = 1, /* it has an edge to another */
    MARK_WAITS = 2,    /* a launch that is known to wait: an edge into it may be programmatic */
};

struct builder {
    const struct plan_input *input;
    struct fold_input fold_input;
    struct plan *plan;
    uint32_t op_count, edge_count, fold_count;
    uint64_t table_used;
    uint32_t chains;
    uint32_t next_stage;
    uint32_t shift;          /* from a unit of this section to its operation */
    uint32_t eldest;         /* first of the units that follow the same one */
    uint32_t frontier_count; /* operations that the next section waits for */
};

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

static enum gantry_status out_of_memory(const struct builder *b)
{
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a plan of %u commands",
                b->input->command_count);
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

/* ---- The table ------------------------------------------------------------------------------ */

/* Room for so many more bytes of table, which begin at the offset *at. */
static enum gantry_status extend_table(struct builder *b, uint64_t size, uint64_t *at)
{
    struct plan *plan = b->plan;
    uint64_t end = b->table_used + size;

    if (end > plan->table_capacity) {
        uint64_t capacity = end < 2 * plan->table_capacity ? 2 * plan->table_capacity : end;
        uint8_t *table = realloc(plan->table, capacity);

        if (!table)
            return out_of_memory(b);
        plan->table = table;
        plan->table_capacity = capacity;
    }
    *at = b->table_used;
    b->table_used = end;
    return GANTRY_OK;
}

/* Writes one launch, whose first block is `first`, and returns how many it is laid out for. */
static uint64_t write_launch(struct builder *b, const struct command_launch *launch, uint64_t first,
                             struct plan_place place, uint32_t stride)
{
    struct gantry_size grid = fold_full_grid(&b->fold_input, launch);
    struct gantry_fold_launch entry = {.first = first,
                                       .x = launch->blocks.x,
                                       .y = launch->blocks.y,
                                       .z = launch->blocks.z};
    uint8_t *args = b->plan->table + place.args;

    memcpy(b->plan->table + place.launch, &entry, sizeof(entry));
    if (launch->args_size)
        memcpy(args, b->input->bytes + launch->args, launch->args_size);
    memset(args + launch->args_size, 0, stride - launch->args_size);
    if (launch->patchable)
        b->plan->places[launch->patchable - 1] = place;
    return (uint64_t)grid.x * grid.y * grid.z;
}

static const struct command_launch *member(const struct builder *b, const struct fold_unit *unit,
                                           uint32_t i)
{
    return &b->input->commands[b->plan->fold.members[unit->first + i]].launch;
}

/* Puts a unit's launches into the table and describes them in `fold`. */
static enum gantry_status write_unit(struct builder *b, const struct fold_unit *unit,
                                     struct gantry_fold_args *fold)
{
    uint32_t stride = (uint32_t)align_up(member(b, unit, 0)->args_size, TABLE_ALIGNMENT);
    uint64_t launches = unit->count * sizeof(struct gantry_fold_launch);
    uint64_t room = align_up(launches, TABLE_ALIGNMENT), at = 0, first = 0, each = 0;
    bool equal = true;
    enum gantry_status status = extend_table(b, room + (uint64_t)unit->count * stride, &at);

    if (status != GANTRY_OK)
        return status;
    memset(b->plan->table + at + launches, 0, room - launches);
    for (uint32_t i = 0; i < unit->count; i++) {
        struct plan_place place = {.launch = at + i * sizeof(struct gantry_fold_launch),
                                   .args = at + room + (uint64_t)i * stride};
        uint64_t blocks = write_launch(b, member(b, unit, i), first, place, stride);

        each = i ? each : blocks;
        equal = equal && blocks == each;
        /* The steps of a chain run on the same block. */
        first = unit->chain ? 0 : first + blocks;
    }
    *fold = (struct gantry_fold_args){.launches = at,
                                      .args = at + room,
                                      .blocks = unit->chain ? 1 : first,
                                      .count = unit->count,
                                      .stride = stride,
                                      .equal = equal && each <= UINT32_MAX ? (uint32_t)each : 0};
    return GANTRY_OK;
}

/* ---- Operations ----------------------------------------------------------------------------- */

static enum gantry_status fill_table_launch(struct builder *b, const struct fold_unit *unit,
                                            struct gantry_op *op)
{
    struct gantry_fold_args *fold = &b->plan->fold_args[b->fold_count++];
    enum gantry_status status = write_unit(b, unit, fold);

    op->folded = true;
    op->launch.kernel = unit->entry->drv;
    op->launch.blocks = plan_fold_grid(fold->blocks, b->input->max_blocks);
    op->launch.args = fold;
    op->launch.args_size = sizeof(*fold);
    return status;
}

static enum gantry_status fill_launch(struct builder *b, const struct fold_unit *unit,
                                      const struct command_launch *launch, struct gantry_op *op)
{
    const struct gantry_kernel *kernel = launch->kernel;
    bool waits = unit->entry ? unit->entry->info.waits : kernel->info.waits;

    /* A kernel may write to readback memory through its address, which nobody sees here. */
    b->plan->view.host_writes = true;
    b->plan->marks[b->op_count] |= waits ? MARK_WAITS : 0;
    op->kind = GANTRY_OP_LAUNCH;
    op->launch.block = kernel->block;
    op->launch.shared_bytes = kernel->shared_bytes;
    if (unit->entry)
        return fill_table_launch(b, unit, op);
    op->launch.kernel = kernel->direct;
    op->launch.blocks = launch->blocks;
    op->launch.args = b->input->bytes + launch->args;
    op->launch.args_size = launch->args_size;
    return GANTRY_OK;
}

static void copy_to(struct gantry_op *op, const struct memory *memory, uint64_t offset)
{
    op->copy.to = memory->block;
    op->copy.to_offset = memory->offset + offset;
}

static void copy_from(struct gantry_op *op, const struct memory *memory, uint64_t offset)
{
    op->copy.from = memory->block;
    op->copy.from_offset = memory->offset + offset;
}

static void fill_transfer(struct builder *b, const struct command *command, struct gantry_op *op)
{
    const struct command_transfer *transfer = &command->transfer;
    bool upload = command->kind == COMMAND_UPLOAD;

    op->kind = GANTRY_OP_COPY;
    op->copy.size = transfer->size;
    op->copy.rows = transfer->rows;
    op->copy.to_pitch = upload ? transfer->pitch : transfer->size;
    op->copy.from_pitch = upload ? transfer->size : transfer->pitch;
    if (upload) {
        copy_to(op, &transfer->buffer->memory, transfer->offset);
        copy_from(op, b->input->upload, transfer->staging);
    } else {
        copy_to(op, b->input->readback, transfer->staging);
        copy_from(op, &transfer->buffer->memory, transfer->offset);
    }
    if (!upload)
        b->plan->view.host_writes = true;
}

static enum gantry_status fill_op(struct builder *b, const struct fold_unit *unit,
                                  const struct command *command, struct gantry_op *op)
{
    switch (command->kind) {
    case COMMAND_LAUNCH:
        return fill_launch(b, unit, &command->launch, op);
    case COMMAND_COPY:
        op->kind = GANTRY_OP_COPY;
        copy_to(op, &command->copy.to->memory, command->copy.to_offset);
        copy_from(op, &command->copy.from->memory, command->copy.from_offset);
        op->copy.size = command->copy.size;
        op->copy.rows = command->copy.rows;
        op->copy.to_pitch = command->copy.to_pitch;
        op->copy.from_pitch = command->copy.from_pitch;
        b->plan->view.host_writes |= op->copy.to->kind != GANTRY_MEMORY_DEVICE;
        return GANTRY_OK;
    case COMMAND_FILL:
        op->kind = GANTRY_OP_FILL;
        op->fill.memory = buffer_block(command->fill.buffer);
        op->fill.offset = buffer_offset(command->fill.buffer, command->fill.offset);
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

static enum gantry_status add_op(struct builder *b, const struct fold_unit *unit, uint32_t chain)
{
    const struct command *command = &b->input->commands[b->plan->fold.members[unit->first]];
    struct gantry_op *op = &b->plan->ops[b->op_count];
    enum gantry_status status;

    *op = (struct gantry_op){.stage = b->next_stage + unit->round,
                             .chain = chain,
                             .command = command->id};
    if (command->label != NO_LABEL)
        op->label = (const char *)b->input->bytes + command->label;
    b->plan->marks[b->op_count] = 0;
    status = fill_op(b, unit, command, op);
    b->op_count++;
    return status;
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
    plan->marks[from] |= MARK_FOLLOWED;
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
    b->plan->marks[join] = 0;
    b->plan->ops[b->op_count++] =
        (struct gantry_op){.kind = GANTRY_OP_JOIN, .stage = b->next_stage};
    for (uint32_t i = 0; i < b->frontier_count && status == GANTRY_OK; i++)
        status = add_edge(b, b->plan->frontier[i], join);
    b->plan->frontier[0] = join;
    b->frontier_count = 1;
    return status;
}

/* ---- Sections ------------------------------------------------------------------------------- */

/* The edges into the operation of a unit, which is about to be added. */
static enum gantry_status link_unit(struct builder *b, uint32_t unit)
{
    uint32_t before = b->plan->fold.units[unit].before;
    uint32_t op = b->op_count;
    enum gantry_status status = GANTRY_OK;

    if (unit - b->eldest >= b->chains)
        return add_edge(b, op - b->chains, op);
    if (before != NO_UNIT)
        return add_edge(b, before + b->shift, op);
    for (uint32_t i = 0; i < b->frontier_count && status == GANTRY_OK; i++)
        status = add_edge(b, b->plan->frontier[i], op);
    return status;
}

static enum gantry_status lay_unit(struct builder *b, uint32_t first, uint32_t unit)
{
    const struct fold_unit *units = b->plan->fold.units;
    uint32_t before = units[unit].before, chain;
    enum gantry_status status;

    if (unit == first || units[unit - 1].before != before)
        b->eldest = unit;
    chain = before == NO_UNIT ? 0 : b->plan->ops[before + b->shift].chain;
    status = link_unit(b, unit);
    return status == GANTRY_OK ? add_op(b, &units[unit], (chain + unit - b->eldest) % b->chains)
                               : status;
}

/* What the next section must wait for: what nothing in this one waits for. In ascending order, as
 * edges are. */
static void move_frontier(struct builder *b, uint32_t first_op)
{
    b->frontier_count = 0;
    for (uint32_t op = first_op; op < b->op_count; op++)
        if (!(b->plan->marks[op] & MARK_FOLLOWED))
            b->plan->frontier[b->frontier_count++] = op;
}

/* Lays the section that begins with unit `first`; *next gets the one behind it. */
static enum gantry_status lay_section(struct builder *b, uint32_t first, uint32_t *next)
{
    const struct fold *fold = &b->plan->fold;
    uint32_t roots = 0, first_op, unit = first;
    enum gantry_status status;

    while (roots < b->chains && first + roots < fold->unit_count &&
           fold->units[first + roots].section == fold->units[first].section &&
           fold->units[first + roots].round == 0)
        roots++;
    status = join_frontier(b, roots);
    first_op = b->op_count;
    b->shift = first_op - first;
    for (; unit < fold->unit_count && fold->units[unit].section == fold->units[first].section &&
           status == GANTRY_OK;
         unit++)
        status = lay_unit(b, first, unit);
    b->next_stage += fold->units[unit - 1].round + 1;
    move_frontier(b, first_op);
    *next = unit;
    return status;
}

/* ---- Programmatic edges --------------------------------------------------------------------- */

/* An edge may be programmatic when both ends are launches, the image at its end is known to wait
 * for its predecessors, and it is the only edge into that end: mixing kinds into one node is not
 * worth what it would have to prove. Edges of one `to` lie together. */
static void mark_programmatic(struct builder *b)
{
    struct gantry_edge *edges = b->plan->edges;

    for (uint32_t i = 0; i < b->edge_count; i++) {
        bool only = (i == 0 || edges[i - 1].to != edges[i].to) &&
                    (i + 1 == b->edge_count || edges[i + 1].to != edges[i].to);

        if (!only || b->plan->ops[edges[i].from].kind != GANTRY_OP_LAUNCH ||
            !(b->plan->marks[edges[i].to] & MARK_WAITS))
            continue;
        edges[i].programmatic = true;
        b->plan->programmatic_edges++;
    }
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* Arrays for n commands, without their contents. At most one join a section, and a section has at
 * least one operation: 2n operations are enough. */
static bool reserve_arrays(struct plan *plan, uint32_t n)
{
    uint32_t capacity = n < 64 ? 64 : n;

    if (n <= plan->capacity)
        return true;
    free(plan->ops);
    free(plan->marks);
    free(plan->fold_args);
    free(plan->frontier);
    plan->capacity = 0;
    plan->ops = malloc(2 * (size_t)capacity * sizeof(*plan->ops));
    plan->marks = malloc(2 * (size_t)capacity);
    plan->fold_args = malloc(capacity * sizeof(*plan->fold_args));
    plan->frontier = malloc(capacity * sizeof(*plan->frontier));
    if (!plan->ops || !plan->marks || !plan->fold_args || !plan->frontier)
        return false;
    plan->capacity = capacity;
    return true;
}

static bool reserve_places(struct plan *plan, uint32_t count)
{
    if (count <= plan->place_capacity)
        return true;
    free(plan->places);
    plan->places = malloc(count * sizeof(*plan->places));
    plan->place_capacity = plan->places ? count : 0;
    return plan->places;
}

static enum gantry_status reserve(struct builder *b)
{
    uint32_t n = b->input->command_count;

    if (n > MOST_COMMANDS)
        return fail(GANTRY_E_LIMIT, "a list of %u commands is too long: %u are the limit", n,
                    MOST_COMMANDS);
    return reserve_arrays(b->plan, n) && reserve_places(b->plan, b->input->patchable_count)
               ? GANTRY_OK
               : out_of_memory(b);
}

static void set_view(struct builder *b)
{
    struct gantry_plan *view = &b->plan->view;

    view->ops = b->plan->ops;
    view->op_count = b->op_count;
    view->edges = b->plan->edges;
    view->edge_count = b->edge_count;
    view->stage_count = b->next_stage;
    view->table = b->table_used ? b->plan->table : NULL;
    view->table_size = b->table_used;
    view->patchable = b->input->patched;
    view->label = b->input->label;
}

enum gantry_status plan_make(const struct plan_input *input, struct plan *plan)
{
    struct builder b = {.input = input,
                        .fold_input = {.commands = input->commands,
                                       .command_count = input->command_count,
                                       .patchables = input->patchables,
                                       .limits = input->fold},
                        .plan = plan,
                        .chains = input->chains ? input->chains : 1};
    enum gantry_status status;

    plan->view = (struct gantry_plan){0};
    plan->programmatic_edges = 0;
    status = reserve(&b);
    if (status == GANTRY_OK)
        status = fold_make(&b.fold_input, &plan->fold);
    for (uint32_t unit = 0; status == GANTRY_OK && unit < plan->fold.unit_count;)
        status = lay_section(&b, unit, &unit);
    if (status != GANTRY_OK)
        return status;
    if (input->programmatic)
        mark_programmatic(&b);
    set_view(&b);
    return GANTRY_OK;
}

void plan_clear(struct plan *plan)
{
    fold_clear(&plan->fold);
    free(plan->places);
    free(plan->ops);
    free(plan->marks);
    free(plan->fold_args);
    free(plan->frontier);
    free(plan->edges);
    free(plan->table);
    *plan = (struct plan){0};
}
