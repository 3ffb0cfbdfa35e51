/* How many blocks of a kernel a compute unit holds at once, and what sets the limit. */
#ifndef GANTRY_CUDA_OCCUPANCY_H
#define GANTRY_CUDA_OCCUPANCY_H

#include "driver.h"

/* What a function uses, as the driver loaded it. */
struct usage {
    int max_threads; /* per block */
    int registers;   /* per thread */
    int local_bytes; /* per thread: spills and indexed arrays */
    int static_shared;
};

enum gantry_status usage_read(struct gantry_drv_device *device, CUfunction function,
                              struct usage *usage);

/* Resident blocks, 0 when not even one fits. */
enum gantry_status occupancy_blocks(struct gantry_drv_device *device, CUfunction function,
                                    uint32_t threads, uint32_t dynamic_shared, uint32_t *blocks);

/* "threads", "registers", "shared memory" or "blocks"; static. */
const char *occupancy_limit(const struct gantry_drv_device *device, const struct usage *usage,
                            uint32_t threads, uint32_t dynamic_shared);

/* The number of threads per block, a multiple of the subgroup, that keeps most threads resident;
 * among equals the one nearest to 256, which leaves short last waves and cheap barriers. */
enum gantry_status occupancy_best_block(struct gantry_drv_device *device, CUfunction function,
                                        const struct usage *usage, uint32_t shared_per_thread,
                                        uint32_t *threads);

#endif
