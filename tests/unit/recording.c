#include "unit.h"

#include "core/buffer.h"
#include "core/module.h"
#include "core/status.h"

#include "recording.h"

struct entry_rule entry_rules[KERNELS][CHAINED + 1];
unsigned entries_asked;
struct gantry_kernel kernels[KERNELS];
struct gantry_drv_memory blocks[2];
struct gantry_buffer buffers[2];

static struct gantry_kernel_source sources[KERNELS];

/* ---- Kernels -------------------------------------------------------------------------------- */

struct gantry_drv_kernel *entry_handle(int kernel, enum entry_kind entry)
{
    return (struct gantry_drv_kernel *)(uintptr_t)(0x1000 * (kernel + 1) + 0x100 * (int)entry);
}

int entry_kernel(const struct gantry_drv_kernel *handle)
{
    return (int)((uintptr_t)handle / 0x1000) - 1;
}

enum entry_kind entry_of(const struct gantry_drv_kernel *handle)
{
    return (enum entry_kind)((uintptr_t)handle / 0x100 % 0x10);
}

static const struct entry_rule *rule_of(const struct gantry_kernel *kernel, enum entry_kind entry)
{
    return &entry_rules[kernel - kernels][entry];
}

/* The entries of core/kernel.c, as the rules have them. */
enum gantry_status kernel_folded(struct gantry_kernel *kernel, const struct kernel_entry **folded)
{
    *folded = &kernel->folded;
    if (rule_of(kernel, FOLDED)->missing)
        return fail(GANTRY_E_NO_IMAGE, "kernel %s has no folded entry", kernel->source->name);
    return GANTRY_OK;
}

enum gantry_status kernel_foldable(struct gantry_kernel *kernel, const struct kernel_entry **entry)
{
    entries_asked++;
    *entry = rule_of(kernel, FOLDED)->missing ? NULL : &kernel->folded;
    return GANTRY_OK;
}

enum gantry_status kernel_chained(struct gantry_kernel *kernel, const struct kernel_entry **entry)
{
    bool missing = rule_of(kernel, CHAINED)->missing || kernel->source->early_return;

    entries_asked++;
    *entry = missing ? NULL : &kernel->chained;
    return GANTRY_OK;
}

static void set_entry(int kernel, enum entry_kind which, struct kernel_entry *entry)
{
    entry->drv = entry_handle(kernel, which);
    entry->info.waits = entry_rules[kernel][which].waits;
}

int reset_kernels(void **state)
{
    (void)state;
    for (int i = 0; i < KERNELS; i++) {
        /* Entries that do not agree, so that nobody may conclude from one to another. */
        for (int entry = DIRECT; entry <= CHAINED; entry++)
            entry_rules[i][entry] = (struct entry_rule){.waits = (i + entry) % 2};
        sources[i] = (struct gantry_kernel_source){.name = "tested",
                                                   .args_size = ARGS_SIZE,
                                                   .early_return = i == 2};
        kernels[i] = (struct gantry_kernel){.source = &sources[i],
                                            .block = {64, 1, 1},
                                            .threads = 64,
                                            .direct = entry_handle(i, DIRECT)};
        kernels[i].info.waits = entry_rules[i][DIRECT].waits;
        set_entry(i, FOLDED, &kernels[i].folded);
        set_entry(i, CHAINED, &kernels[i].chained);
    }
    for (int i = 0; i < 2; i++) {
        blocks[i] = (struct gantry_drv_memory){.size = 8192};
        buffers[i] = (struct gantry_buffer){
            .size = 4096, .memory = {.block = &blocks[i], .offset = 1024 * i, .size = 4096}};
    }
    entries_asked = 0;
    return 0;
}

/* ---- Recording ------------------------------------------------------------------------------ */

struct command *record(struct recording *r, enum command_kind kind)
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

struct command *record_launch(struct recording *r, int kernel, struct gantry_size blocks)
{
    struct command *command = record(r, COMMAND_LAUNCH);

    command->launch.kernel = &kernels[kernel];
    command->launch.blocks = blocks;
    command->launch.args = (r->count - 1) * 32;
    command->launch.args_size = ARGS_SIZE;
    memset(r->bytes + command->launch.args, (int)r->count, ARGS_SIZE);
    return command;
}

struct command *record_patchable(struct recording *r, int kernel, struct gantry_size blocks,
                                 struct gantry_size most)
{
    struct command *command = record_launch(r, kernel, blocks);

    r->patchables[r->patchable_count++] =
        (struct patchable){.id = command->id, .kernel = &kernels[kernel], .grid = most};
    command->launch.patchable = r->patchable_count;
    return command;
}

void record_copy(struct recording *r)
{
    record(r, COMMAND_COPY)->copy =
        (struct command_copy){.to = &buffers[0], .from = &buffers[1], .size = 256};
}

void record_fill(struct recording *r)
{
    record(r, COMMAND_FILL)->fill = (struct command_fill){&buffers[0], 0, 256, 7};
}

void begin_concurrent(struct recording *r)
{
    r->concurrent = true;
    r->strand = 0;
}

void end_concurrent(struct recording *r)
{
    r->concurrent = false;
    r->strand = 0;
    r->section++;
}

void begin_ordered(struct recording *r)
{
    r->ordered = true;
    r->next_step = 0;
}

void end_ordered(struct recording *r)
{
    r->ordered = false;
    r->strand++;
}

void record_run(struct recording *r, int kernel, uint32_t count)
{
    while (count--)
        record_launch(r, kernel, (struct gantry_size){1, 1, 1});
}

/* ---- At random ------------------------------------------------------------------------------ */

uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Few blocks, often one, seldom none or many. */
static struct gantry_size random_blocks(uint32_t *seed)
{
    uint32_t kind = next_random(seed) % 8;

    if (kind < 4)
        return (struct gantry_size){1, 1, 1};
    return kind == 7
               ? (struct gantry_size){100, 2, 3}
               : (struct gantry_size){1 + next_random(seed) % 4, 1 + next_random(seed) % 2, 1};
}

static void record_random_launch(struct recording *r, uint32_t *seed)
{
    uint32_t kind = next_random(seed) % 8;
    /* Runs of one kernel are what folding looks for. */
    int kernel = kind < 4 ? 0 : kind < 6 ? 1 : 2;
    struct gantry_size blocks = random_blocks(seed);

    if (next_random(seed) % 4 == 0) {
        struct gantry_size less = next_random(seed) % 4 ? blocks : (struct gantry_size){0, 0, 0};

        less.x -= less.x > 1 && next_random(seed) % 2;
        record_patchable(r, kernel, less, blocks);
        return;
    }
    record_launch(r, kernel, blocks)->launch.folded = next_random(seed) % 8 == 0;
}

static void record_random_command(struct recording *r, uint32_t *seed)
{
    uint32_t kind = next_random(seed) % 16;

    if (kind == 0)
        record_copy(r);
    else if (kind == 1)
        record_fill(r);
    else
        record_random_launch(r, seed);
}

static void record_random_section(struct recording *r, uint32_t *seed)
{
    uint32_t strands = 1 + next_random(seed) % 9;

    begin_concurrent(r);
    for (uint32_t i = 0; i < strands && r->count < MAX_COMMANDS; i++) {
        uint32_t length = next_random(seed) % 3 ? 1 : next_random(seed) % 8;

        if (length != 1)
            begin_ordered(r);
        for (uint32_t k = 0; k < length && r->count < MAX_COMMANDS; k++)
            record_random_command(r, seed);
        if (length != 1)
            end_ordered(r);
    }
    end_concurrent(r);
}

void record_random(struct recording *r, uint32_t *seed)
{
    uint32_t count = next_random(seed) % MAX_COMMANDS;

    memset(r, 0, sizeof(*r));
    while (r->count < count)
        if (next_random(seed) % 2)
            record_random_section(r, seed);
        else
            record_random_command(r, seed);
}

bool must_precede(const struct recording *r, uint32_t i, uint32_t j)
{
    return i < j && (r->commands[i].section != r->commands[j].section ||
                     r->commands[i].strand == r->commands[j].strand);
}
