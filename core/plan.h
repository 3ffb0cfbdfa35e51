/* The plan: what a list means, in stages of operations that are the same for every backend. */
#ifndef GANTRY_CORE_PLAN_H
#define GANTRY_CORE_PLAN_H

#include "command.h"

struct plan_input {
    const struct command *commands;
    uint32_t command_count;
    const uint8_t *bytes;             /* arguments and labels of the commands */
    struct gantry_drv_memory *upload; /* staging of this instance; may be NULL without transfers */
    struct gantry_drv_memory *readback;
    struct gantry_size max_blocks; /* of the device: for laying out folded grids */
    uint32_t chains;               /* how wide independent operations are laid */
    bool programmatic;             /* early starts are wanted, and the driver has them */
    const char *label;
};

struct plan {
    struct gantry_plan
        view; /* what the backend sees; refers to the memory below and to the input */
    struct gantry_op *ops;
    struct gantry_edge *edges;
    uint32_t edge_capacity;
    uint8_t *table;
    struct gantry_fold_args *fold_args; /* inline arguments of the folded operations */
    uint32_t programmatic_edges;
};

/* Fails only for want of memory, or when a kernel's folded entry can't be made. The plan refers to
 * the input's commands, bytes and memories; both live until plan_clear(). */
enum gantry_status plan_make(const struct plan_input *input, struct plan *plan);
void plan_clear(struct plan *plan);

/* Blocks of a folded operation for so many linear blocks: {0, 0, 0} when the device can't hold
 * them. */
struct gantry_size plan_fold_grid(uint64_t blocks, struct gantry_size max_blocks);

#endif
