/* The edge filter on a device: the kernels of kernels/edge.gk, their buffers, and one finished list
 * that takes a picture through all of them. */
#ifndef GANTRY_EXAMPLES_FILTER_H
#define GANTRY_EXAMPLES_FILTER_H

#include <gantry/gantry.h>

#include "reference.h"

enum filter_kernel {
    FILTER_LUMA,
    FILTER_HISTOGRAM,
    FILTER_LEVELS,
    FILTER_BLUR_ROWS,
    FILTER_BLUR_COLUMNS,
    FILTER_SOBEL,
    FILTER_BLEND,
    FILTER_KERNEL_COUNT,
};

struct filter {
    struct gantry_device *device;
    struct gantry_queue *queue;
    struct gantry_module *module;
    struct gantry_kernel *kernels[FILTER_KERNEL_COUNT];
    struct gantry_buffer *pixels, *luma, *bins, *levels, *rows, *blurred, *edges, *painted;
    struct gantry_list *list;
    uint32_t width, height;
};

/* What running it took. The first submission pays for what a list and its kernels need only once,
 * so it is timed by itself. */
struct filter_times {
    double first_ms;
    double frame_ms; /* the mean of the others, submitted one behind the other */
    double launches_per_submit;
};

/* The integers that the device found on the way. */
struct filter_findings {
    uint32_t *luma; /* room for one a pixel */
    uint32_t bins[EDGE_BINS];
    uint32_t levels[2];
};

struct filter_params {
    const struct picture *from; /* read on each run */
    struct picture *to;         /* written on each run; of the same size */
    const char *kernels;        /* a package's file; NULL: the package in this program */
    float threshold;            /* the change of luma that counts as an edge: a share of the
                                   picture's range, for a pixel */
};

/* Makes everything for a picture. On failure gantry_last_error() says why; filter_close() is due in
 * either case. */
enum gantry_status filter_open(struct filter *filter, struct gantry_device *device,
                               const struct filter_params *params);
void filter_close(struct filter *filter);

/* Submits the list `repeat` times (at least once) and waits for the last. */
enum gantry_status filter_run(struct filter *filter, uint32_t repeat, struct filter_times *times);

/* Fetches what the latest run left in the device's buffers. */
enum gantry_status filter_fetch(struct filter *filter, struct filter_findings *findings);

#endif
