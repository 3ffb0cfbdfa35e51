/* Pinned memory for what submissions bring along: patches, and the tables of lists that have no
 * plan. It is used again once the submission is done, so a queue that keeps its pace allocates
 * nothing. */
#ifndef GANTRY_CUDA_STAGING_H
#define GANTRY_CUDA_STAGING_H

#include "driver.h"

/* A piece, aligned to 256 bytes. */
struct staged {
    void *host;
    uint64_t address; /* the same memory, as the device sees it */
    uint64_t twin;    /* as much device memory, to copy it to; 0: not asked for */
};

/* A piece of at least `size` bytes, and its twin, for the submission of that value. */
enum gantry_status staging_take(struct gantry_drv_queue *queue, uint64_t size, uint64_t value,
                                bool twin, struct staged *staged);

/* When the queue's work is done. */
void staging_free(struct gantry_drv_queue *queue);

#endif
