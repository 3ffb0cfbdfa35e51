/* From recorded commands to the units that become operations.
 *
 * A section is laid in rounds. In each round every strand that is not at its end gives its next
 * command, or the run of commands that makes a chain. Strands that follow the same unit and give
 * small launches of one kernel form a group, which becomes one unit where that pays; they go on
 * together until their commands differ. Strands that have parted are not brought together again:
 * each unit follows one other, so folding adds no order between strands that the list keeps apart,
 * except inside the folds themselves. */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "module.h"
#include "status.h"

/* Launches side by side are folded while each is at most this part of a wave, which is what the
 * device holds at once. One launch fewer saves about 0.2 µs of a graph; looking up launch and
 * arguments costs each of its blocks two reads that depend on each other, about 0.5 µs, which a
 * quarter of a wave does side by side with three others. `gantry bench submit` compares both, in
 * its case `sweep`. */
#define WAVE_PARTS 4

/* A step of a chain costs about 0.1 µs, a dependent launch 0.5 or more, an independent one 0.2. So
 * n runs of length l cost 0.2 n + 0.1 l as chains and 0.5 l side by side: chains are better up to
 * two runs a step. */
#define RUNS_PER_STEP 2

/* Longest time that one block is taken to run, for the bound by batch_max_ms. Small blocks take one
 * or two; a kernel that loops for longer is the reason to set batch_max_ms lower. */
#define STEP_US 10

/* A part of the table that one operation may have. More launches than fit are worth a second one.
 */
#define TABLE_BYTES (4u << 20)

#define NO_STRAND UINT32_MAX

/* Commands that run one after the other. */
struct strand {
    uint32_t next, end; /* commands that are in no unit yet */
    uint32_t run_end;   /* of the run of single blocks that next is in; not above next: unknown */
    uint32_t before;    /* the unit of the command before next */
    uint32_t link;      /* the next strand of its group */
    bool unchained;     /* the run can't be a chain */
};

/* Strands that could go on in one unit. */
struct group {
    struct gantry_kernel *kernel; /* NULL: one strand, whose command shares its unit with none */
    uint32_t before;
    uint32_t head, tail, count;
    uint32_t runs, longest; /* its strands that begin a run, and the longest of their runs */
    uint64_t blocks_left;   /* room for more */
    uint32_t launches_left;
};

/* Of a hash table from kernel and earlier unit to a group; of another round unless stamped. */
struct slot {
    uint64_t stamp;
    uint32_t group;
};

struct folder {
    const struct fold_input *input;
    struct fold *fold;
    uint32_t strand_count, live_count, next_count, group_count;
    uint32_t latest; /* group that a strand was put into */
    uint32_t section, round;
};

struct fold_limits fold_limits_of(const struct gantry_device *device)
{
    const struct gantry_limits *limits = &device->info.limits;
    double steps = device->policy.batch_max_ms * 1000 / STEP_US;

    return (struct fold_limits){
        .on = device->policy.fold,
        /* Mesa's lavapipe ends an invocation after about 65536 rounds of its loops in all, and the
         * launches of a chain share one invocation. */
        .chains = device->info.type != GANTRY_DEVICE_CPU,
        .compute_units = limits->compute_units,
        .threads_per_unit = limits->threads_per_unit,
        .most_blocks = (uint64_t)limits->max_blocks.x * limits->max_blocks.y,
        .most_steps = steps > 1 ? (uint32_t)steps : 1,
    };
}

/* ---- What may be folded --------------------------------------------------------------------- */

struct gantry_size fold_full_grid(const struct fold_input *input,
                                  const struct command_launch *launch)
{
    return launch->patchable ? input->patchables[launch->patchable - 1].grid : launch->blocks;
}

bool fold_needs_table(const struct command_launch *launch)
{
    return launch->folded || launch->patchable;
}

/* What the device holds at once, in blocks. Where the backend knows no occupancy, as many blocks as
 * the threads of a unit make. 0 where the units are unknown, as on CPU devices: those gain nothing
 * from launches side by side (lavapipe takes 1.3 to 4 times as long). */
static uint64_t wave_of(const struct fold_limits *limits, const struct gantry_kernel *kernel)
{
    uint64_t per_unit = kernel->info.blocks_per_unit;
    uint64_t blocks;

    if (per_unit == 0)
        per_unit = limits->threads_per_unit / kernel->threads;
    blocks = limits->compute_units * (per_unit ? per_unit : 1);
    return blocks < UINT32_MAX ? blocks : UINT32_MAX;
}

/* The blocks of a launch that may be folded sideways, 0 for any other. */
static uint64_t small_blocks(const struct folder *f, const struct command *command)
{
    const struct fold_limits *limits = &f->input->limits;
    struct gantry_size grid;
    uint64_t most, blocks;

    if (command->kind != COMMAND_LAUNCH || !limits->on)
        return 0;
    most = wave_of(limits, command->launch.kernel);
    if (most == 0)
        return 0;
    most /= WAVE_PARTS;
    most = most < 1 ? 1 : most > UINT16_MAX ? UINT16_MAX : most;
    grid = fold_full_grid(f->input, &command->launch);
    if (grid.x > most || grid.y > most || grid.z > most)
        return 0;
    blocks = (uint64_t)grid.x * grid.y * grid.z;
    return blocks <= most && blocks <= limits->most_blocks ? blocks : 0;
}

/* The kernel of a launch that may be a step of a chain: it has one block. */
static struct gantry_kernel *step_kernel(const struct folder *f, uint32_t command)
{
    const struct command *c = &f->input->commands[command];
    struct gantry_size grid;

    if (c->kind != COMMAND_LAUNCH)
        return NULL;
    grid = fold_full_grid(f->input, &c->launch);
    return grid.x == 1 && grid.y == 1 && grid.z == 1 ? c->launch.kernel : NULL;
}

static uint32_t fit_launches(const struct gantry_kernel *kernel)
{
    return TABLE_BYTES /
           (uint32_t)(sizeof(struct gantry_fold_launch) + 16 + kernel->source->args_size);
}

/* Steps that the strand could take as one chain from here; at least 1. */
static uint32_t run_length(struct folder *f, struct strand *s)
{
    if (!f->input->limits.on)
        return 1;
    if (s->run_end <= s->next) {
        struct gantry_kernel *kernel = step_kernel(f, s->next);

        s->run_end = s->next + 1;
        s->unchained = false;
        while (kernel && s->run_end < s->end && step_kernel(f, s->run_end) == kernel)
            s->run_end++;
        if (!f->input->limits.chains) {
            s->unchained = true;
            f->fold->unchained += s->run_end - s->next > 1;
        }
    }
    return s->unchained ? 1 : s->run_end - s->next;
}

/* ---- Groups --------------------------------------------------------------------------------- */

static struct group *add_group(struct folder *f, struct gantry_kernel *kernel, uint32_t before)
{
    const struct fold_limits *limits = &f->input->limits;
    struct group *g = &f->fold->groups[f->group_count++];

    *g = (struct group){.kernel = kernel, .before = before, .launches_left = 1};
    if (kernel) {
        uint64_t most = wave_of(limits, kernel) * limits->most_steps;

        g->blocks_left = most < limits->most_blocks ? most : limits->most_blocks;
        g->launches_left = fit_launches(kernel);
    }
    return g;
}

static bool takes(const struct group *g, const struct gantry_kernel *kernel, uint32_t before,
                  uint64_t blocks)
{
    return g->kernel == kernel && g->before == before && g->blocks_left >= blocks &&
           g->launches_left > 0;
}

/* A power of two that leaves half of the slots empty. */
static uint32_t slot_mask(uint32_t strands)
{
    return (UINT32_C(4) << (31 - __builtin_clz(strands | 1))) - 1;
}

/* The group of this round that takes the launch; a new one stands in for a full one. */
static struct group *find_group(struct folder *f, struct gantry_kernel *kernel, uint32_t before,
                                uint64_t blocks)
{
    struct fold *fold = f->fold;
    uint32_t mask = slot_mask(f->live_count);
    uint64_t hash = ((uintptr_t)kernel ^ before) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash >> 32) & mask;

    if (f->group_count && takes(&fold->groups[f->latest], kernel, before, blocks))
        return &fold->groups[f->latest];
    for (; fold->slots[i].stamp == fold->stamp; i = (i + 1) & mask) {
        f->latest = fold->slots[i].group;
        if (takes(&fold->groups[f->latest], kernel, before, blocks))
            return &fold->groups[f->latest];
        if (fold->groups[f->latest].kernel == kernel && fold->groups[f->latest].before == before)
            break;
    }
    f->latest = f->group_count;
    fold->slots[i] = (struct slot){fold->stamp, f->latest};
    return add_group(f, kernel, before);
}

/* Puts the strand, by what it does next, into a group of this round. */
static void place_strand(struct folder *f, uint32_t strand)
{
    struct strand *s = &f->fold->strands[strand];
    const struct command *command = &f->input->commands[s->next];
    uint64_t blocks = small_blocks(f, command);
    uint32_t run = run_length(f, s);
    struct gantry_kernel *kernel = blocks || run > 1 ? command->launch.kernel : NULL;
    struct group *g = blocks && f->live_count > 1 ? find_group(f, kernel, s->before, blocks)
                                                  : add_group(f, kernel, s->before);

    s->link = NO_STRAND;
    if (g->count++)
        f->fold->strands[g->tail].link = strand;
    else
        g->head = strand;
    g->tail = strand;
    g->blocks_left -= blocks;
    g->launches_left--;
    g->runs += run > 1;
    if (run > g->longest)
        g->longest = run;
}

/* ---- Units ---------------------------------------------------------------------------------- */

static struct fold_unit *add_unit(struct folder *f, const struct kernel_entry *entry,
                                  uint32_t before)
{
    struct fold_unit *unit = &f->fold->units[f->fold->unit_count++];

    *unit = (struct fold_unit){.entry = entry,
                               .first = f->fold->member_count,
                               .section = f->section,
                               .round = f->round,
                               .before = before};
    return unit;
}

/* Moves the strand's next commands into the unit that was added last. */
static void take(struct folder *f, uint32_t strand, uint32_t count)
{
    struct fold *fold = f->fold;
    struct strand *s = &fold->strands[strand];

    fold->units[fold->unit_count - 1].count += count;
    for (; count; count--)
        fold->members[fold->member_count++] = s->next++;
    s->before = fold->unit_count - 1;
    if (s->next < s->end)
        fold->next[f->next_count++] = strand;
}

static enum gantry_status take_single(struct folder *f, uint32_t strand)
{
    const struct strand *s = &f->fold->strands[strand];
    const struct command *command = &f->input->commands[s->next];
    const struct kernel_entry *entry = NULL;
    enum gantry_status status = GANTRY_OK;

    if (command->kind == COMMAND_LAUNCH && fold_needs_table(&command->launch))
        status = kernel_folded(command->launch.kernel, &entry);
    if (status != GANTRY_OK)
        return status;
    add_unit(f, entry, s->before);
    take(f, strand, 1);
    return GANTRY_OK;
}

static void take_chain(struct folder *f, uint32_t strand, const struct kernel_entry *entry,
                       uint32_t steps)
{
    add_unit(f, entry, f->fold->strands[strand].before)->chain = true;
    take(f, strand, steps);
    f->fold->folded += steps;
    f->fold->chained += steps;
}

/* Takes the runs of a group as a chain each and leaves the other strands in it. */
static void take_chains(struct folder *f, struct group *g, const struct kernel_entry *entry)
{
    uint32_t most = fit_launches(g->kernel), strand = g->head, next;

    if (most > f->input->limits.most_steps)
        most = f->input->limits.most_steps;
    g->count = 0;
    for (; strand != NO_STRAND; strand = next) {
        struct strand *s = &f->fold->strands[strand];
        uint32_t run = run_length(f, s);

        next = s->link;
        if (run > 1) {
            take_chain(f, strand, entry, run < most ? run : most);
            continue;
        }
        if (g->count++)
            f->fold->strands[g->tail].link = strand;
        else
            g->head = strand;
        g->tail = strand;
        s->link = NO_STRAND;
    }
}

static void give_up_chains(struct folder *f, const struct group *g)
{
    for (uint32_t strand = g->head; strand != NO_STRAND; strand = f->fold->strands[strand].link) {
        struct strand *s = &f->fold->strands[strand];

        f->fold->unchained += run_length(f, s) > 1;
        s->unchained = true;
    }
}

static enum gantry_status chain_group(struct folder *f, struct group *g)
{
    const struct kernel_entry *entry;
    enum gantry_status status;

    if (g->runs == 0 || g->runs > RUNS_PER_STEP * (uint64_t)g->longest ||
        f->input->limits.most_steps < 2)
        return GANTRY_OK;
    status = kernel_chained(g->kernel, &entry);
    if (status != GANTRY_OK)
        return status;
    if (entry)
        take_chains(f, g, entry);
    else
        give_up_chains(f, g);
    return GANTRY_OK;
}

static enum gantry_status fold_group(struct folder *f, const struct group *g)
{
    struct fold *fold = f->fold;
    const struct kernel_entry *entry = NULL;
    enum gantry_status status = GANTRY_OK;
    uint32_t next;

    if (g->count > 1)
        status = kernel_foldable(g->kernel, &entry);
    if (entry) {
        add_unit(f, entry, g->before);
        fold->folded += g->count;
    }
    next = g->count ? g->head : NO_STRAND;
    for (uint32_t strand = next; strand != NO_STRAND && status == GANTRY_OK; strand = next) {
        next = fold->strands[strand].link;
        if (entry)
            take(f, strand, 1);
        else
            status = take_single(f, strand);
    }
    return status;
}

/* ---- Sections ------------------------------------------------------------------------------- */

/* Where sections with a single strand, one behind the other, end: they are one strand. */
static uint32_t strand_end(const struct fold_input *input, uint32_t i)
{
    const struct command *c = input->commands;

    while (i < input->command_count) {
        uint32_t end = i + 1;

        while (end < input->command_count && c[end].section == c[i].section &&
               c[end].strand == c[i].strand)
            end++;
        if (end < input->command_count && c[end].section == c[i].section)
            return i;
        i = end;
    }
    return i;
}

/* Finds the strands of the section that begins with command `first`; returns the section's end. */
static uint32_t split_section(struct folder *f, uint32_t first)
{
    const struct command *c = f->input->commands;
    struct fold *fold = f->fold;
    uint32_t i = first;

    f->strand_count = 0;
    for (; i < f->input->command_count && c[i].section == c[first].section; i++) {
        if (i == first || c[i].strand != c[i - 1].strand) {
            fold->live[f->strand_count] = f->strand_count;
            fold->strands[f->strand_count++] = (struct strand){.next = i, .before = NO_UNIT};
        }
        fold->strands[f->strand_count - 1].end = i + 1;
    }
    if (f->strand_count == 1)
        i = fold->strands[0].end = strand_end(f->input, i);
    f->live_count = f->strand_count;
    return i;
}

static enum gantry_status lay_round(struct folder *f)
{
    struct fold *fold = f->fold;
    enum gantry_status status = GANTRY_OK;
    uint32_t *live = fold->live;

    f->group_count = f->next_count = f->latest = 0;
    fold->stamp++;
    for (uint32_t i = 0; i < f->live_count; i++)
        place_strand(f, live[i]);
    for (uint32_t i = 0; i < f->group_count && status == GANTRY_OK; i++) {
        status = chain_group(f, &fold->groups[i]);
        if (status == GANTRY_OK)
            status = fold_group(f, &fold->groups[i]);
    }
    fold->live = fold->next;
    fold->next = live;
    f->live_count = f->next_count;
    return status;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static enum gantry_status reserve(struct fold *fold, uint32_t commands)
{
    uint32_t capacity = commands < 64 ? 64 : commands;

    if (commands <= fold->capacity)
        return GANTRY_OK;
    fold_clear(fold);
    fold->units = malloc(capacity * sizeof(*fold->units));
    fold->members = malloc(capacity * sizeof(*fold->members));
    fold->strands = malloc(capacity * sizeof(*fold->strands));
    fold->groups = malloc(capacity * sizeof(*fold->groups));
    fold->slots = calloc(slot_mask(capacity) + (size_t)1, sizeof(*fold->slots));
    fold->live = malloc(capacity * sizeof(*fold->live));
    fold->next = malloc(capacity * sizeof(*fold->next));
    if (!fold->units || !fold->members || !fold->strands || !fold->groups || !fold->slots ||
        !fold->live || !fold->next) {
        fold_clear(fold);
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a plan of %u commands",
                    commands);
    }
    fold->capacity = capacity;
    return GANTRY_OK;
}

enum gantry_status fold_make(const struct fold_input *input, struct fold *fold)
{
    struct folder f = {.input = input, .fold = fold};
    enum gantry_status status = reserve(fold, input->command_count);

    fold->unit_count = fold->member_count = 0;
    fold->folded = fold->chained = fold->unchained = 0;
    for (uint32_t i = 0; i < input->command_count && status == GANTRY_OK; f.section++) {
        i = split_section(&f, i);
        for (f.round = 0; f.live_count && status == GANTRY_OK; f.round++)
            status = lay_round(&f);
    }
    return status;
}

void fold_clear(struct fold *fold)
{
    free(fold->units);
    free(fold->members);
    free(fold->strands);
    free(fold->groups);
    free(fold->slots);
    free(fold->live);
    free(fold->next);
    *fold = (struct fold){0};
}
