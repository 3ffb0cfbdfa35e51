/* What a launch list records, in the order of recording. */
#ifndef GANTRY_CORE_COMMAND_H
#define GANTRY_CORE_COMMAND_H

#include <gantry/backend.h>

struct gantry_kernel;
struct gantry_buffer;

enum command_kind {
    COMMAND_LAUNCH,
    COMMAND_COPY,
    COMMAND_FILL,
    COMMAND_UPLOAD,   /* host memory → staging (by core) → buffer */
    COMMAND_DOWNLOAD, /* buffer → staging → host memory (by core) */
};

struct command_launch {
    struct gantry_kernel *kernel;
    size_t args; /* offset into the list's bytes */
    struct gantry_size blocks;
    uint32_t args_size;
    uint32_t patchable; /* number of its struct patchable, from 1; 0: none */
    bool folded;        /* through the folded entry: too large for the direct one */
};

/* What may be changed of a launch after its list was finished, and how far. */
struct patchable {
    uint32_t id; /* of its command */
    struct gantry_kernel *kernel;
    struct gantry_size max;  /* threads, as they were stated */
    struct gantry_size grid; /* blocks for these, which the launch is laid out for; {0, 0, 0}: it
                                can never run, and has no command */
};

struct command_copy {
    struct gantry_buffer *to, *from;
    uint64_t to_offset, from_offset;
    uint64_t size;                 /* bytes of a row */
    uint64_t rows;                 /* 0 or 1: a plain copy, whose pitches don't count */
    uint64_t to_pitch, from_pitch; /* bytes from one row to the next */
};

struct command_fill {
    struct gantry_buffer *buffer;
    uint64_t offset, size;
    uint32_t pattern;
};

/* In staging memory the rows lie one behind the other. */
struct command_transfer {
    struct gantry_buffer *buffer;
    uint64_t offset;
    uint64_t size;              /* bytes of a row */
    uint64_t rows;              /* at least 1 */
    uint64_t pitch, host_pitch; /* of several rows, in the buffer and in host memory */
    void *host;                 /* never written for an upload */
    uint64_t staging;           /* offset into the instance's staging memory of this direction */
};

/* Order: sections run one after the other; the strands of a section are independent of each other;
 * the commands of a strand run one after the other. A command outside every concurrent section is a
 * section by itself. Both numbers only grow within a list. */
struct command {
    enum command_kind kind;
    uint32_t id;
    uint32_t section, strand;
    size_t label; /* offset into the list's bytes; NO_LABEL */
    union {
        struct command_launch launch;
        struct command_copy copy;
        struct command_fill fill;
        struct command_transfer transfer;
    };
};

#define NO_LABEL SIZE_MAX

#endif
