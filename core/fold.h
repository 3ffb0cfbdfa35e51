/* Folding: which recorded commands become one operation. This is the step between a list's commands
 * and the plan's operations. */
#ifndef GANTRY_CORE_FOLD_H
#define GANTRY_CORE_FOLD_H

#include "command.h"

struct gantry_device;
struct kernel_entry;

/* What bounds an operation over a table. */
struct fold_limits {
    bool on;                   /* fold what need not be folded */
    bool chains;               /* down chains too */
    uint32_t compute_units;    /* of the device; 0: unknown */
    uint32_t threads_per_unit; /* resident; 0: unknown */
    uint64_t most_blocks;      /* that plan_fold_grid() can lay out */
    uint32_t most_steps;       /* steps of a chain, and waves of launches side by side */
};

struct fold_input {
    const struct command *commands;
    uint32_t command_count;
    const struct patchable *patchables; /* by their number less 1; NULL without any */
    struct fold_limits limits;
};

/* What becomes one operation: a command by itself, or launches of one kernel through a table. */
struct fold_unit {
    const struct kernel_entry *entry; /* folded or chained; NULL: a command without a table */
    uint32_t first, count;            /* its commands: members[first …] of struct fold */
    uint32_t section;                 /* sections run one after the other */
    uint32_t round;                   /* its place within the section */
    uint32_t before;                  /* the unit that it must follow; NO_UNIT in round 0 */
    bool chain;                       /* its launches run one after the other */
};

#define NO_UNIT UINT32_MAX

/* The result, and the memory that is kept from one use to the next. All zero is empty. */
struct fold {
    struct fold_unit *units; /* by section, then round; those of a round that follow one unit lie
                                together */
    uint32_t unit_count;
    uint32_t *members; /* indices of commands, each once */
    uint32_t member_count;
    uint32_t folded;    /* launches that share a unit with others */
    uint32_t chained;   /* of these, in chains */
    uint32_t unchained; /* runs that are no chain for want of an entry */

    uint32_t capacity; /* commands that the arrays have room for */
    struct strand *strands;
    struct group *groups;
    struct slot *slots;
    uint64_t stamp;        /* of the slots' latest use */
    uint32_t *live, *next; /* strands, of this round and of the next one */
};

struct fold_limits fold_limits_of(const struct gantry_device *device);

/* The grid that a launch is laid out for: a patchable one may leave some of it. */
struct gantry_size fold_full_grid(const struct fold_input *input,
                                  const struct command_launch *launch);

/* Whether a launch reads its arguments from a table, folded with others or not. */
bool fold_needs_table(const struct command_launch *launch);

/* Fails for want of memory, for a lost device, and when the folded entry can't be had that a launch
 * needs. */
enum gantry_status fold_make(const struct fold_input *input, struct fold *fold);
void fold_clear(struct fold *fold);

#endif
