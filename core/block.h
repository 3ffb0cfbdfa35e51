/* The size of a kernel's blocks: what it must satisfy, and finding one that does. */
#ifndef GANTRY_CORE_BLOCK_H
#define GANTRY_CORE_BLOCK_H

#include <gantry/gantry.h>

struct block_rules {
    const struct gantry_kernel_source *source; /* BLOCK_MULTIPLE and the like, shared memory */
    const struct gantry_limits *limits;        /* the device's */
    uint32_t max_threads;                      /* of this kernel on the device; 0: the device's */
};

enum { BLOCK_WHY_SIZE = 256 };

/* Whether a block, whose axes are all at least 1, satisfies the rules. Otherwise `why` gets what is
 * wrong, as words that follow the block: "has 4096 threads, more than …". */
bool block_allowed(const struct block_rules *rules, struct gantry_size block,
                   char why[BLOCK_WHY_SIZE]);

/* The block that comes nearest to so many threads from below, or that is as small as the rules
 * allow, spread over the kernel's dimensions. {0, 0, 0} when no block satisfies the rules. */
struct gantry_size block_near(const struct block_rules *rules, uint32_t threads);

/* A block in which not every axis was set. A single number for a kernel of several dimensions is
 * its number of threads and is spread when `spread` says so; otherwise axes that were not set
 * are 1. */
struct gantry_size block_complete(const struct block_rules *rules, struct gantry_size block,
                                  bool spread);

/* Threads of a block. */
uint64_t block_threads(struct gantry_size block);

/* "256", "16x16", "8x8x4". */
enum { BLOCK_TEXT_SIZE = 40 };
const char *block_text(struct gantry_size block, char text[BLOCK_TEXT_SIZE]);

#endif
