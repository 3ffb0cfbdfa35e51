#include "occupancy.h"

#include "status.h"

#include <stdlib.h>

enum {
    USUAL_BLOCK = 256,
    /* How registers are handed out on every architecture from sm_75 on. */
    REGISTER_GRANULE = 256, /* per warp */
    PARTITIONS = 4,         /* of a compute unit, each with its own registers */
};

enum gantry_status usage_read(struct gantry_drv_device *device, CUfunction function,
                              struct usage *usage)
{
    enum gantry_status status;

    status = CU(device, cuFuncGetAttribute(&usage->max_threads,
                                           CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    if (status == GANTRY_OK)
        status =
            CU(device, cuFuncGetAttribute(&usage->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    if (status == GANTRY_OK)
        status = CU(device, cuFuncGetAttribute(&usage->local_bytes,
                                               CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    if (status == GANTRY_OK)
        status = CU(device, cuFuncGetAttribute(&usage->static_shared,
                                               CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    return status;
}

enum gantry_status occupancy_blocks(struct gantry_drv_device *device, CUfunction function,
                                    uint32_t threads, uint32_t dynamic_shared, uint32_t *blocks)
{
    int resident;
    enum gantry_status status =
        CU(device, cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, (int)threads,
                                                               dynamic_shared));

    if (status == GANTRY_OK)
        *blocks = (uint32_t)resident;
    return status;
}

static uint32_t round_up(uint32_t value, uint32_t step)
{
    return (value + step - 1) / step * step;
}

static uint32_t blocks_by_registers(const struct gantry_drv_device *device,
                                    const struct usage *usage, uint32_t warps)
{
    uint32_t per_warp =
        round_up((uint32_t)usage->registers * device->info.limits.subgroup_size, REGISTER_GRANULE);

    if (per_warp == 0)
        return UINT32_MAX;
    return device->registers_per_unit / PARTITIONS / per_warp * PARTITIONS / warps;
}

static uint32_t blocks_by_shared(const struct gantry_drv_device *device, const struct usage *usage,
                                 uint32_t dynamic_shared)
{
    uint32_t bytes = (uint32_t)usage->static_shared + dynamic_shared;

    return bytes == 0 ? UINT32_MAX : device->shared_per_unit / (bytes + device->shared_reserved);
}

const char *occupancy_limit(const struct gantry_drv_device *device, const struct usage *usage,
                            uint32_t threads, uint32_t dynamic_shared)
{
    uint32_t subgroup = device->info.limits.subgroup_size;
    uint32_t warps = round_up(threads, subgroup) / subgroup;
    const struct {
        const char *name;
        uint32_t blocks;
    } limits[] = {
        {"threads", device->info.limits.threads_per_unit / subgroup / warps},
        {"registers", blocks_by_registers(device, usage, warps)},
        {"shared memory", blocks_by_shared(device, usage, dynamic_shared)},
        {"blocks", device->max_blocks_per_unit ? device->max_blocks_per_unit : UINT32_MAX},
    };
    size_t least = 0;

    for (size_t i = 1; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].blocks < limits[least].blocks)
            least = i;
    }
    return limits[least].name;
}

static bool is_nearer(uint32_t threads, uint32_t best)
{
    return abs((int)threads - USUAL_BLOCK) < abs((int)best - USUAL_BLOCK);
}

/* cuOccupancyMaxPotentialBlockSize() would answer with the largest block, and its callback for the
 * dynamic shared memory has no user pointer. */
enum gantry_status occupancy_best_block(struct gantry_drv_device *device, CUfunction function,
                                        const struct usage *usage, uint32_t shared_per_thread,
                                        uint32_t *threads)
{
    uint32_t step = device->info.limits.subgroup_size, best = 0, best_resident = 0;

    for (uint32_t i = step; i <= (uint32_t)usage->max_threads; i += step) {
        uint64_t shared = (uint64_t)shared_per_thread * i;
        uint32_t blocks;
        enum gantry_status status;

        if (shared + (uint64_t)usage->static_shared > device->info.limits.max_shared_bytes)
            break;
        status = occupancy_blocks(device, function, i, (uint32_t)shared, &blocks);
        if (status != GANTRY_OK)
            return status;
        if (blocks * i > best_resident || (blocks * i == best_resident && is_nearer(i, best))) {
            best = i;
            best_resident = blocks * i;
        }
    }
    *threads = best ? best : step;
    return GANTRY_OK;
}
