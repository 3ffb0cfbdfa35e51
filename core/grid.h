/* From the threads that a launch states to the blocks that it runs. */
#ifndef GANTRY_CORE_GRID_H
#define GANTRY_CORE_GRID_H

#include "module.h"

/* A division takes longer than half of the rest of recording a launch, and blocks are nearly always
 * powers of two. */
static inline uint32_t grid_blocks(uint32_t threads, uint32_t block)
{
    uint32_t rest = block - 1;

    if ((block & rest) == 0)
        return (threads >> __builtin_ctz(block)) + ((threads & rest) != 0);
    return threads / block + (threads % block != 0);
}

/* Fills kernel->plain. */
void grid_find_plain(struct gantry_kernel *kernel);

/* Whether the threads are plain for the kernel, and then the blocks, of which there are some. */
static inline bool grid_is_plain(const struct gantry_kernel *kernel,
                                 const struct gantry_size *threads, struct gantry_size *blocks)
{
    const struct kernel_plain *plain = &kernel->plain;
    uint32_t y = threads->y | plain->lacks_y, z = threads->z | plain->lacks_z;

    if (threads->x - 1 >= plain->most.x || y - 1 >= plain->most.y || z - 1 >= plain->most.z)
        return false;
    blocks->x = grid_blocks(threads->x, kernel->block.x);
    if (blocks->x > plain->stride)
        blocks->x = plain->stride;
    blocks->y = plain->lacks_y ? 1 : grid_blocks(y, kernel->block.y);
    blocks->z = plain->lacks_z ? 1 : grid_blocks(z, kernel->block.z);
    return true;
}

/* Failures name `what`, the call. */

/* Axes that the kernel does not have: 0 becomes 1, more is an error. */
enum gantry_status grid_check_axes(const struct gantry_kernel *kernel, struct gantry_size *asked,
                                   const char *what);

/* A kernel that counts its threads in 32 bits must not have more of them than that along an axis:
 * the last block's surplus threads would begin again at 0. FOR_GRID counts in 64 bits. */
enum gantry_status grid_check_threads(const struct gantry_kernel *kernel,
                                      const struct gantry_size *blocks, const char *what);

/* The blocks for so many threads, all of that checked; an axis of 0 when there is nothing to do. */
enum gantry_status grid_of(const struct gantry_kernel *kernel, struct gantry_size threads,
                           const char *what, struct gantry_size *blocks);

/* Whether the device takes the grid as it is. */
bool grid_fits(const struct gantry_kernel *kernel, const struct gantry_size *blocks);

/* For a launch that the direct entry can't do: whether the folded one can, its grid laid out in two
 * dimensions. */
enum gantry_status grid_check_folded(struct gantry_kernel *kernel, const struct gantry_size *blocks,
                                     const char *what);

#endif
