/* The kernels that come with gantry and have something to be tuned, with arguments to try them on.
 */
#ifndef GANTRY_TUNE_SHIPPED_H
#define GANTRY_TUNE_SHIPPED_H

#include "job.h"

enum { SHIPPED_ARGS = 8 };

struct shipped {
    const char *package; /* "edge", of the file edge.gpk */
    const char *kernel;
    struct gantry_size threads;     /* on a GPU */
    struct gantry_size few;         /* on a CPU */
    uint32_t per_thread;            /* elements; 0: one */
    const char *args[SHIPPED_ARGS]; /* as in struct job_params, up to a NULL */
};

/* NULL past the end. */
const struct shipped *shipped_at(size_t index);

#endif
