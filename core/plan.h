/* The plan: what a list means, in stages of operations that are the same for every backend. */
#ifndef GANTRY_CORE_PLAN_H
#define GANTRY_CORE_PLAN_H

#include "fold.h"
#include "memory.h"

struct plan_input {
    const struct command *commands;
    uint32_t command_count;
    const uint8_t *bytes;               /* arguments and labels of the commands */
    const struct patchable *patchables; /* by their number less 1; NULL without any */
    uint32_t patchable_count;
    bool patched;                /* the plan is built, and its table may be patched */
    const struct memory *upload; /* staging of this instance; may be NULL without transfers */
    const struct memory *readback;
    struct gantry_size max_blocks; /* of the device: for laying out folded grids */
    struct fold_limits fold;
    uint32_t chains;   /* how wide independent operations are laid */
    bool programmatic; /* early starts are wanted, and the driver has them */
    const char *label;
};

/* Where the table holds a launch: offsets of its struct gantry_fold_launch and its arguments. */
struct plan_place {
    uint64_t launch, args;
};

/* A plan, and the memory that is kept from one to the next. All zero is empty. */
struct plan {
    struct gantry_plan
        view; /* what the backend sees; refers to the memory below and to the input */
    struct plan_place *places; /* of the patchable launches, by their number less 1 */
    uint32_t programmatic_edges;
    struct fold fold;

    struct gantry_op *ops;
    uint8_t *marks;                     /* of the operations */
    struct gantry_fold_args *fold_args; /* inline arguments of operations over the table */
    uint32_t *frontier;
    uint32_t capacity, place_capacity; /* commands and patchable launches that there is room for */
    struct gantry_edge *edges;
    uint32_t edge_capacity;
    uint8_t *table;
    uint64_t table_capacity;
};

/* Fails only for want of memory, for a lost device, or when a kernel's folded entry can't be made
 * that a launch needs. The plan refers to the input's commands, bytes and memories; they live until
 * it is made anew or cleared. */
enum gantry_status plan_make(const struct plan_input *input, struct plan *plan);
void plan_clear(struct plan *plan);

/* Blocks of a folded operation for so many linear blocks: {0, 0, 0} when the device can't hold
 * them. */
struct gantry_size plan_fold_grid(uint64_t blocks, struct gantry_size max_blocks);

#endif
