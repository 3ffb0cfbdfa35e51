/* Frames of a picture sequence through a device: up on one queue, filtered on another, down on a
 * third, several at a time. */
#ifndef GANTRY_EXAMPLES_PIPELINE_H
#define GANTRY_EXAMPLES_PIPELINE_H

#include <gantry/gantry.h>

enum {
    PIPELINE_DEPTH = 3,    /* frames on their way at once: one a step */
    PIPELINE_SOURCES = 16, /* frames that differ; the sequence repeats them */
};

/* What a frame needs on the device, with a list for each of its steps. */
struct slot {
    struct gantry_buffer *from, *to;
    struct gantry_list *upload, *filter, *download;
    struct gantry_point uploaded, filtered, fetched;
};

struct pipeline {
    struct gantry_device *device;
    struct gantry_queue *up, *compute, *down;
    struct gantry_module *module;
    struct gantry_kernel *kernel;
    struct slot slots[PIPELINE_DEPTH];
    struct gantry_buffer *registered[2]; /* sources and results, where the device takes them */
    uint32_t *sources, *results;         /* PIPELINE_SOURCES and `frames` frames */
    uint32_t width, height, frames;
    uint32_t radius; /* of the blur; pipeline_set_radius() changes it */
};

struct pipeline_params {
    const char *kernels; /* a package's file; NULL: the one in this program */
    uint32_t width, height, frames;
};

/* Which steps a run takes; the others leave frames as they are. */
enum {
    STEP_UPLOAD = 1,
    STEP_FILTER = 2,
    STEP_DOWNLOAD = 4,
    STEP_ALL = 7,
};

/* On failure gantry_last_error() says why; pipeline_close() is due in either case. */
enum gantry_status pipeline_open(struct pipeline *p, struct gantry_device *device,
                                 const struct pipeline_params *params);
void pipeline_close(struct pipeline *p);

/* Lends sources and results to the device, so that copies need no staging memory. A refusal is no
 * failure of the pipeline: lists stage what is not lent. */
enum gantry_status pipeline_register(struct pipeline *p);

/* Between runs. */
enum gantry_status pipeline_set_radius(struct pipeline *p, uint32_t radius);

/* Takes all frames through the steps and waits for the last one. Overlapped: a step of a frame
 * waits for the step before it, and for what had the slot before; else the host waits for each. */
enum gantry_status pipeline_run(struct pipeline *p, unsigned steps, bool overlapped);

/* Bytes of a frame. */
uint64_t pipeline_frame_size(const struct pipeline *p);

/* Where a frame's result is; what it must be is computed in plain C into `expected`. */
const uint32_t *pipeline_result(const struct pipeline *p, uint32_t frame);
void pipeline_expect(const struct pipeline *p, uint32_t frame, uint32_t *expected);

#endif
