/* Lists recorded without a device, for the tests of folding and of the plan, and the kernels that
 * they launch. */
#ifndef GANTRY_TESTS_UNIT_RECORDING_H
#define GANTRY_TESTS_UNIT_RECORDING_H

#include "core/buffer.h"
#include "core/module.h"
#include "core/plan.h"

#define MAX_COMMANDS 48
#define ARGS_SIZE    24

enum entry_kind {
    DIRECT,
    FOLDED,
    CHAINED,
};

/* What the images of the kernels' entries are like: whether they are there, and known to wait.
 * Kernel 2 can return before a barrier. */
enum { KERNELS = 3 };
struct entry_rule {
    bool missing, waits;
};
extern struct entry_rule entry_rules[KERNELS][CHAINED + 1];
extern unsigned entries_asked; /* for folded and chained entries */

extern struct gantry_kernel kernels[KERNELS];
extern struct gantry_drv_memory blocks[2];
extern struct gantry_buffer buffers[2]; /* at bytes 0 and 1024 of their blocks */

/* For cmocka: kernels and buffers as new; every entry is there, and waits where rules say so. */
int reset_kernels(void **state);

/* The handle of an entry, and back. */
struct gantry_drv_kernel *entry_handle(int kernel, enum entry_kind entry);
int entry_kernel(const struct gantry_drv_kernel *handle);
enum entry_kind entry_of(const struct gantry_drv_kernel *handle);

/* The same numbering as core/record.c, told once more from the rules in command.h. */
struct recording {
    struct command commands[MAX_COMMANDS];
    uint32_t step[MAX_COMMANDS]; /* the command's place within its strand */
    uint32_t count;
    uint8_t bytes[MAX_COMMANDS * 32]; /* a launch's arguments are its id over and over */
    struct patchable patchables[MAX_COMMANDS];
    uint32_t patchable_count;
    uint32_t section, strand;
    bool concurrent, ordered;
    uint32_t next_step;
};

struct command *record(struct recording *r, enum command_kind kind);
struct command *record_launch(struct recording *r, int kernel, struct gantry_size blocks);
struct command *record_patchable(struct recording *r, int kernel, struct gantry_size blocks,
                                 struct gantry_size most);
void record_copy(struct recording *r);
void record_fill(struct recording *r);
void begin_concurrent(struct recording *r);
void end_concurrent(struct recording *r);
void begin_ordered(struct recording *r);
void end_ordered(struct recording *r);

/* `count` launches of one kernel, one behind the other. */
void record_run(struct recording *r, int kernel, uint32_t count);

uint32_t next_random(uint32_t *state);
void record_random(struct recording *r, uint32_t *seed);

/* Whether the list demands that command j waits for command i. */
bool must_precede(const struct recording *r, uint32_t i, uint32_t j);

#endif
