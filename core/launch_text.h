/* Recorded launches in words: the kernel, the grid, the arguments by their names. */
#ifndef GANTRY_CORE_LAUNCH_TEXT_H
#define GANTRY_CORE_LAUNCH_TEXT_H

#include "command.h"
#include "text.h"

struct gantry_device;

/* The buffers that are alive at a moment, by their addresses. */
struct live {
    const struct gantry_buffer **all; /* in ascending order; NULL without memory: none is known */
    uint32_t count;
};

/* With the device's lock held, as long as the result is used. */
void live_take(struct live *live, const struct gantry_device *device);
void live_free(struct live *live);

/* One line about a launch: "command 3: kernel saxpy "warm up", 4 x 1 x 1 blocks of 256 x 1 x 1
 * threads: x = 0x7f… (buffer "x"), y = 0x8 (in no live buffer), a = 2". `bytes` are those that the
 * command refers to, `args` its arguments. */
void launch_text(struct text *text, const struct live *live, const struct command *command,
                 const uint8_t *bytes, const uint8_t *args);

/* The first pointer among the arguments that lies in no live buffer, as a field of the kernel; NULL
 * when all do. 0 is none where the kernel may be given none. */
const struct gantry_field_info *launch_stray(const struct live *live, const struct command *command,
                                             const uint8_t *args);

#endif
