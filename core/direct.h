/* Device memory that the host writes by itself. */
#ifndef GANTRY_CORE_DIRECT_H
#define GANTRY_CORE_DIRECT_H

#include "device.h"
#include "memory.h"

/* The host's writes to another chip's memory cross the bus one line at a time; the device's own
 * copies are faster, but cost a submission. Up to so many bytes the host writes them by itself.
 * Memory that both share it always does. */
#define DIRECT_MOST (UINT64_C(64) << 10)

/* Where the host is to write `size` bytes of the memory, which no work uses; NULL: the device is to
 * copy or fill them. What is written there is seen by every later submission. */
static inline void *direct_place(const struct gantry_device *device, const struct memory *memory,
                                 uint64_t size)
{
    bool shared =
        device->info.type == GANTRY_DEVICE_CPU || device->info.type == GANTRY_DEVICE_INTEGRATED;

    return shared || size <= DIRECT_MOST ? memory_direct(memory) : NULL;
}

#endif
