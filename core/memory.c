/* Memory from the plugin, with a second try when there seems to be none left. */
#include <inttypes.h>
#include <stdlib.h>

#include "buffer.h"
#include "queue.h"
#include "retire.h"
#include "status.h"

static bool anything_retired(struct gantry_device *device)
{
    bool retired;

    pthread_mutex_lock(&device->lock);
    retired = device->retired != NULL;
    pthread_mutex_unlock(&device->lock);
    return retired;
}

static enum gantry_status try_allocate(struct gantry_device *device, enum gantry_memory kind,
                                       uint64_t size, struct gantry_drv_memory *memory)
{
    return device_check(device, device->ops->memory_allocate(device->drv, kind, size, memory));
}

static enum gantry_status out_of_memory(struct gantry_device *device, uint64_t size,
                                        const char *what)
{
    uint64_t available, total;

    if (device->ops->device_memory &&
        device->ops->device_memory(device->drv, &available, &total) == GANTRY_OK)
        return fail(GANTRY_E_OUT_OF_MEMORY,
                    "%s: %" PRIu64 " bytes were asked for; device \"%s\" has %" PRIu64
                    " bytes free of %" PRIu64 "; destroy buffers or use smaller ones",
                    what, size, device->label, available, total);
    return fail(GANTRY_E_OUT_OF_MEMORY,
                "%s: %" PRIu64 " bytes were asked for and device \"%s\", which does not tell how "
                "much is free, has no room; destroy buffers or use smaller ones",
                what, size, device->label);
}

enum gantry_status memory_allocate(struct gantry_device *device, enum gantry_memory kind,
                                   uint64_t size, const char *what, struct memory *memory)
{
    struct gantry_drv_memory block;
    enum gantry_status status = try_allocate(device, kind, size, &block);

    if (status == GANTRY_E_OUT_OF_MEMORY && anything_retired(device)) {
        queue_idle_all(device);
        retire_collect(device);
        status = try_allocate(device, kind, size, &block);
    }
    *memory = (struct memory){.size = 0};
    if (status == GANTRY_OK) {
        status = memory_adopt(device, &block, size, memory);
        if (status == GANTRY_OK)
            return GANTRY_OK;
        device->ops->memory_free(device->drv, &block);
    }
    if (status == GANTRY_E_OUT_OF_MEMORY)
        return out_of_memory(device, size, what);
    fail_context("%s", what);
    return status;
}

enum gantry_status memory_adopt(struct gantry_device *device, const struct gantry_drv_memory *block,
                                uint64_t size, struct memory *memory)
{
    struct gantry_drv_memory *kept = malloc(sizeof(*kept));

    (void)device;
    if (!kept)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a block of memory");
    *kept = *block;
    *memory = (struct memory){.block = kept, .size = size};
    return GANTRY_OK;
}

void memory_free(struct gantry_device *device, struct memory *memory)
{
    if (memory->block) {
        device->ops->memory_free(device->drv, memory->block);
        free(memory->block);
    }
    *memory = (struct memory){.size = 0};
}
