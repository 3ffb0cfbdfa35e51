/* The driver's side: the best plain ways that there are without gantry, on the same device, with
 * the same machine code. */
#ifndef GANTRY_BENCH_RAW_H
#define GANTRY_BENCH_RAW_H

#include "gantry_side.h"
#include "package.h"

struct raw;

/* Which way bytes go. UP is from the host to the device. */
enum raw_route {
    RAW_UP,
    RAW_DOWN,
    RAW_ACROSS,      /* from device memory to device memory */
    RAW_UP_PAGEABLE, /* from memory that the driver did not make, if it takes such memory */
};

/* Rows of bytes. In the device's memory, and in what is copied ACROSS, they are `pitch` apart, with
 * nothing between them in the host's and in what ACROSS writes. */
struct raw_copy {
    enum raw_route route;
    uint64_t width, rows, pitch;
    unsigned times; /* one after the other, given to the driver at once */
};

/* Functions that return bool have said why when that is false; ways that were added before are the
 * caller's. All ways are about a work with a = 1. */
struct raw_ops {
    void (*close)(struct raw *raw);

    /* As gantry_side_reserve() and gantry_side_check(). */
    bool (*reserve)(struct raw *raw, uint32_t blocks);
    bool (*check)(struct raw *raw);

    /* The work prepared once and run again, timed until it is complete. */
    bool (*replay)(struct raw *raw, const struct work *work, struct ways *ways);
    /* The work given to the driver for this once; not waiting. */
    bool (*oneshot)(struct raw *raw, const struct work *work, struct ways *ways);
    /* One launch, timed until it is complete. */
    bool (*roundtrip)(struct raw *raw, const struct work *work, struct ways *ways);

    /* Makes device memory that kernels can address and frees it, so many times. */
    bool (*come_and_go)(struct raw *raw, uint64_t size, unsigned rounds);
    const char *come_and_go_how; /* by which calls */

    /* Makes the memory of copies: two pieces of `device` bytes and one of `host`
     * bytes, or 0 for none, that the driver copies from and to at full speed. */
    bool (*reserve_copies)(struct raw *raw, uint64_t device, uint64_t host);
    /* Copies between these, timed until the last is complete. Adds nothing where the driver can't
     * do that. */
    bool (*copy)(struct raw *raw, const struct raw_copy *copy, struct ways *ways);
};

struct raw {
    const struct raw_ops *ops;
    struct cells cells; /* what its memory must hold */
};

enum { REASON_SIZE = 256 };

/* Opens the driver for the device that gantry opened. NULL where there is no raw side, with the
 * reason why: that is no failure. Without a package there are no kernels, and no ways of launching
 * them. */
struct raw *raw_open(const struct gantry_side *side, const struct package *package, char *reason);
void raw_close(struct raw **raw);

/* What raw_open() chooses from. */
struct raw *raw_cuda_open(const struct gantry_side *side, const struct package *package,
                          char *reason);
struct raw *raw_vulkan_open(const struct gantry_side *side, const struct package *package,
                            char *reason);

#endif
