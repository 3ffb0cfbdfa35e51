/* The library's side: a device that was opened for the bench, and ways of running work on it. */
#ifndef GANTRY_BENCH_GANTRY_SIDE_H
#define GANTRY_BENCH_GANTRY_SIDE_H

#include <gantry/gantry.h>

#include "cells.h"
#include "way.h"

struct gantry_side_params {
    const char *device, *backend; /* as in gantry_device_params */
    const char *package;          /* the file of kernels/bench.gk; NULL: no kernels are needed */
    const char *config;           /* INI text, weaker than the user's own; may be NULL */
    const char *override;         /* INI text, stronger than everything else; may be NULL */
    const char *app;              /* the program's name for drivers */
    bool quiet;                   /* a failure to open it is not said: see gantry_last_error() */
};

struct gantry_side {
    struct gantry *g;
    struct gantry_device *device;
    struct gantry_device_info info;
    struct gantry_queue *queue;
    struct gantry_module *module;
    struct gantry_kernel *kernels[KERNEL_COUNT];
    struct gantry_buffer *y, *readback;
    struct cells cells; /* what y must hold */
};

/* Takes a side of zeros. False, and why was said: close it all the same. */
bool gantry_side_open(struct gantry_side *side, const struct gantry_side_params *params);
void gantry_side_close(struct gantry_side *side);

/* Makes y, of zeros, with room for so many blocks; before any way is made. */
bool gantry_side_reserve(struct gantry_side *side, uint32_t blocks);

/* Compares y with what was launched, then clears it. */
bool gantry_side_check(struct gantry_side *side);

/* Blocks of the tiny kernel that run on the device at once; an estimate where the device does not
 * tell. */
uint32_t gantry_side_wave(const struct gantry_side *side);

/* As the driver writes it. */
const char *gantry_side_driver_version(const struct gantry_side *side);

/* The effective value of a configuration key for the device, and what set it. */
bool gantry_side_config(const struct gantry_side *side, const char *key,
                        struct gantry_config_value *value);

/* Waits for the point; false, and why was said, when that fails. */
bool gantry_side_wait(struct gantry_point point);

/* The subcommand and the latest failure, on stderr; returns false. */
bool gantry_side_failed(void);

/* ---- Ways; each returns NULL when it can't be made, and why was said ------------------------ */

/* A finished list, submitted again; timed until its point is reached. */
struct way *gantry_way_replay(struct gantry_side *side, const struct work *work);

/* Recording a list; not submitting it. */
struct way *gantry_way_record(struct gantry_side *side, const struct work *work);

/* Recording a list and submitting it unfinished; not waiting. */
struct way *gantry_way_oneshot(struct gantry_side *side, const struct work *work);

/* New arguments for every launch of a finished list; submit_ns is of the submission behind that. */
struct way *gantry_way_patch(struct gantry_side *side, const struct work *work);

/* gantry_queue_launch for each launch of a chain; timed until the last point is reached. */
struct way *gantry_way_stream(struct gantry_side *side, const struct work *work);

/* Streams `calls` dependent launches, `repetitions` (1 to 16) times timed as a whole and once call
 * by call, and fills the row in. */
bool gantry_stream_measure(struct gantry_side *side, uint32_t calls, unsigned repetitions,
                           struct row *row);

#endif
