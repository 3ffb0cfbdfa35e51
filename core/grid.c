#include "grid.h"

#include <inttypes.h>

#include "plan.h"
#include "status.h"

static enum gantry_status no_such_axis(const struct gantry_kernel *kernel, char axis,
                                       uint32_t asked, const char *what)
{
    uint32_t dimensions = kernel->source->dimensions;

    return fail(GANTRY_E_INVALID_ARGUMENT,
                "%s: kernel %s has %u dimension%s but was launched with %c = %u; pass 1, or "
                "state DIMENSIONS(%d) in its source",
                what, kernel->source->name, dimensions, dimensions == 1 ? "" : "s", axis, asked,
                axis - 'x' + 1);
}

enum gantry_status grid_check_axes(const struct gantry_kernel *kernel, struct gantry_size *asked,
                                   const char *what)
{
    uint32_t dimensions = kernel->source->dimensions;

    if (dimensions < 2) {
        if (asked->y > 1)
            return no_such_axis(kernel, 'y', asked->y, what);
        asked->y = 1;
    }
    if (dimensions < 3) {
        if (asked->z > 1)
            return no_such_axis(kernel, 'z', asked->z, what);
        asked->z = 1;
    }
    return GANTRY_OK;
}

static enum gantry_status too_many_threads(const struct gantry_kernel *kernel, char axis,
                                           uint32_t blocks, uint32_t block, const char *what)
{
    return fail(GANTRY_E_LIMIT,
                "%s: kernel %s would run %" PRIu64 " threads along %c (%u blocks of %u), "
                "more than 2^32; use a smaller grid, or FOR_GRID and GRID_STRIDE",
                what, kernel->source->name, (uint64_t)blocks * block, axis, blocks, block);
}

static bool wraps(uint32_t blocks, uint32_t block)
{
    return (uint64_t)blocks * block > UINT64_C(1) << 32;
}

enum gantry_status grid_check_threads(const struct gantry_kernel *kernel,
                                      const struct gantry_size *blocks, const char *what)
{
    const struct gantry_size *block = &kernel->block;

    if (kernel->source->grid_stride)
        return GANTRY_OK;
    if (wraps(blocks->x, block->x))
        return too_many_threads(kernel, 'x', blocks->x, block->x, what);
    if (wraps(blocks->y, block->y))
        return too_many_threads(kernel, 'y', blocks->y, block->y, what);
    if (wraps(blocks->z, block->z))
        return too_many_threads(kernel, 'z', blocks->z, block->z, what);
    return GANTRY_OK;
}

/* Blocks that keep the device busy; the loop in the kernel does the rest. Where the backend knows
 * no occupancy, as many as the threads of a unit make. */
static uint32_t stride_blocks(const struct gantry_kernel *kernel)
{
    const struct gantry_device *device = kernel->object.device;
    const struct gantry_limits *limits = &device->info.limits;
    uint64_t per_unit = device->policy.blocks_per_cu;
    uint64_t most;

    if (per_unit == 0)
        per_unit = kernel->info.blocks_per_unit;
    if (per_unit == 0)
        per_unit = limits->threads_per_unit / kernel->threads;
    most = per_unit * limits->compute_units;
    return most == 0 || most > limits->max_blocks.x ? limits->max_blocks.x : (uint32_t)most;
}

enum gantry_status grid_of(const struct gantry_kernel *kernel, struct gantry_size threads,
                           const char *what, struct gantry_size *blocks)
{
    enum gantry_status status = grid_check_axes(kernel, &threads, what);

    if (status != GANTRY_OK)
        return status;
    blocks->x = grid_blocks(threads.x, kernel->block.x);
    blocks->y = grid_blocks(threads.y, kernel->block.y);
    blocks->z = grid_blocks(threads.z, kernel->block.z);
    if (kernel->source->grid_stride && blocks->x > stride_blocks(kernel))
        blocks->x = stride_blocks(kernel);
    return grid_check_threads(kernel, blocks, what);
}

bool grid_fits(const struct gantry_kernel *kernel, const struct gantry_size *blocks)
{
    const struct gantry_size *most = &kernel->object.device->info.limits.max_blocks;

    return blocks->x <= most->x && blocks->y <= most->y && blocks->z <= most->z;
}

static enum gantry_status grid_too_large(const struct gantry_kernel *kernel,
                                         const struct gantry_size *blocks, const char *what)
{
    const struct gantry_size *most = &kernel->object.device->info.limits.max_blocks;

    return fail(GANTRY_E_LIMIT,
                "%s: kernel %s was launched on %u x %u x %u blocks; the device takes %u x %u x %u, "
                "and %u x %u in all when they are laid out anew; launch fewer blocks at a time",
                what, kernel->source->name, blocks->x, blocks->y, blocks->z, most->x, most->y,
                most->z, most->x, most->y);
}

enum gantry_status grid_check_folded(struct gantry_kernel *kernel, const struct gantry_size *blocks,
                                     const char *what)
{
    struct gantry_size most = kernel->object.device->info.limits.max_blocks;
    const struct kernel_entry *entry;
    uint64_t linear;

    if (__builtin_mul_overflow((uint64_t)blocks->x * blocks->y, blocks->z, &linear) ||
        plan_fold_grid(linear, most).x == 0)
        return grid_too_large(kernel, blocks, what);
    return kernel_folded(kernel, &entry);
}

/* ---- Plain launches ------------------------------------------------------------------------- */

/* The threads along an axis up to which neither the device's blocks nor 2^32 are exceeded. */
static uint32_t plain_threads(uint32_t block, uint32_t max_blocks)
{
    uint64_t most = (uint64_t)max_blocks * block, whole = (UINT64_C(1) << 32) / block * block;

    if (most > whole)
        most = whole;
    return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

void grid_find_plain(struct gantry_kernel *kernel)
{
    const struct gantry_limits *limits = &kernel->object.device->info.limits;
    const struct gantry_kernel_source *source = kernel->source;
    struct kernel_plain *plain = &kernel->plain;

    *plain = (struct kernel_plain){.args_size = source->args_size,
                                   .lacks_y = source->dimensions < 2,
                                   .lacks_z = source->dimensions < 3,
                                   .stride = UINT32_MAX};
    if (source->args_size > limits->inline_args_bytes || source->args_size == 0)
        return;
    plain->most.x = plain_threads(kernel->block.x, limits->max_blocks.x);
    plain->most.y = plain->lacks_y ? 1 : plain_threads(kernel->block.y, limits->max_blocks.y);
    plain->most.z = plain->lacks_z ? 1 : plain_threads(kernel->block.z, limits->max_blocks.z);
    if (source->grid_stride) {
        plain->most.x = UINT32_MAX;
        plain->stride = stride_blocks(kernel);
    }
}
