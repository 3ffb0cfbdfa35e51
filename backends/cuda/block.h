/* Pinned memory for the tables of submissions that have no plan: the device reads it where it lies,
 * and it is used again once the submission is done. */
#ifndef GANTRY_CUDA_BLOCK_H
#define GANTRY_CUDA_BLOCK_H

#include "driver.h"

struct block {
    struct block *next;
    struct gantry_drv_memory memory;
    uint64_t value; /* the submission that reads it; free once the queue's counter is there */
};

/* A block of at least `size` bytes that nobody reads. It stays free until its value is set. */
enum gantry_status block_take(struct gantry_drv_queue *queue, uint64_t size, struct block **block);
void blocks_free(struct gantry_drv_queue *queue);

#endif
