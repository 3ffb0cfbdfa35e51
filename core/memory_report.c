/* What there is of memory: for programs, and for the sentence that says why there is none. */
#include <inttypes.h>

#include "device.h"
#include "retire.h"
#include "status.h"

/* The driver's figures; false when it does not tell. */
static bool ask_driver(struct gantry_device *device, uint64_t *available, uint64_t *total)
{
    return device->ops->device_memory &&
           device->ops->device_memory(device->drv, available, total) == GANTRY_OK;
}

/* ---- Telling programs ----------------------------------------------------------------------- */

static void count(struct gantry_device *device, struct gantry_memory_info *info)
{
    const struct pool *pool = &device->pools[GANTRY_MEMORY_DEVICE];

    pthread_mutex_lock(&device->lock);
    info->used = pool->used;
    info->reserved = pool->reserved;
    info->cached = pool_cached(pool);
    info->largest_free = pool_largest(pool);
    info->peak = pool->peak;
    info->host_used =
        device->pools[GANTRY_MEMORY_UPLOAD].used + device->pools[GANTRY_MEMORY_READBACK].used;
    info->blocks = device->block_count;
    info->buffers = device->buffer_count;
    pthread_mutex_unlock(&device->lock);
}

enum gantry_status gantry_device_memory(struct gantry_device *device,
                                        struct gantry_memory_info *info)
{
    enum gantry_status status;
    uint64_t available;

    if (info)
        *info = (struct gantry_memory_info){0};
    status = device_usable(device, "gantry_device_memory");
    if (status != GANTRY_OK)
        return status;
    if (!info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_device_memory: info is NULL");
    count(device, info);
    if (ask_driver(device, &available, &info->total))
        info->budget = available + info->reserved;
    else
        info->total = device->info.limits.memory_size;
    return GANTRY_OK;
}

enum gantry_status gantry_device_trim(struct gantry_device *device)
{
    enum gantry_status status = device_usable(device, "gantry_device_trim");

    if (status != GANTRY_OK)
        return status;
    retire_collect(device);
    memory_trim(device, true);
    return GANTRY_OK;
}

/* ---- Out of memory -------------------------------------------------------------------------- */

static enum gantry_status too_many_blocks(struct gantry_device *device, uint64_t size,
                                          const char *what)
{
    return fail(GANTRY_E_OUT_OF_MEMORY,
                "%s: %" PRIu64 " bytes were asked for; no block of memory has so much room, and "
                "device \"%s\" allows %" PRIu32 " blocks, which are all in use; destroy buffers, "
                "or let more of them share a block with a larger pool_block_mib",
                what, size, device->label, device->info.max_memory_blocks);
}

static enum gantry_status no_host_memory(struct gantry_device *device, enum gantry_memory kind,
                                         uint64_t size, const char *what)
{
    return fail(GANTRY_E_OUT_OF_MEMORY,
                "%s: %" PRIu64 " bytes of %s memory were asked for, and device \"%s\" gets no "
                "more from the system; destroy buffers, use smaller ones, or raise the limit on "
                "locked memory",
                what, size, kind == GANTRY_MEMORY_UPLOAD ? "upload" : "readback", device->label);
}

enum gantry_status memory_shortage(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what)
{
    struct gantry_memory_info info;
    uint64_t available;

    count(device, &info);
    if (device->info.max_memory_blocks && info.blocks >= device->info.max_memory_blocks)
        return too_many_blocks(device, size, what);
    if (kind != GANTRY_MEMORY_DEVICE)
        return no_host_memory(device, kind, size, what);
    if (!ask_driver(device, &available, &info.total))
        return fail(GANTRY_E_OUT_OF_MEMORY,
                    "%s: %" PRIu64 " bytes were asked for and device \"%s\", which does not tell "
                    "how much is free, has no room; %" PRIu64 " bytes are in buffers, the largest "
                    "piece between them has %" PRIu64 "; destroy buffers or use smaller ones",
                    what, size, device->label, info.used, info.largest_free);
    return fail(GANTRY_E_OUT_OF_MEMORY,
                "%s: %" PRIu64 " bytes were asked for; device \"%s\" has %" PRIu64 " bytes free of "
                "%" PRIu64 ", and %" PRIu64 " more between buffers, %" PRIu64 " in the largest "
                "piece: %s",
                what, size, device->label, available, info.total, info.cached, info.largest_free,
                size > available && size - available > info.cached
                    ? "it is too much; destroy buffers or use smaller ones"
                    : "it would be enough, but is not in one piece; use smaller buffers, or "
                      "destroy some and make them anew");
}
