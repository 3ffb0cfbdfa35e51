/* Memory: malloc'ed, between guards that a kernel must not touch, full of garbage at first. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define GUARD_BYTES   256 /* on either side; also keeps the block's alignment */
#define GUARD_BYTE    0xfd
#define GARBAGE_BYTE  0xcd
#define GARBAGE_LIMIT (UINT64_C(64) << 20) /* larger blocks are not worth the time */

static bool reserve(struct gantry_drv_device *device, uint64_t size)
{
    uint64_t total = device->spec->info.limits.memory_size;
    uint64_t used = atomic_load(&device->used);
    do {
        if (size > total - used)
            return false;
    } while (!atomic_compare_exchange_weak(&device->used, &used, used + size));
    return true;
}

static size_t guard_size(const struct gantry_drv_device *device)
{
    uint32_t alignment = device->spec->info.memory_alignment;
    return alignment > GUARD_BYTES ? alignment : GUARD_BYTES;
}

static unsigned char *allocate_guarded(struct gantry_drv_device *device, uint64_t size)
{
    size_t guard = guard_size(device);
    void *base;
    if (size > SIZE_MAX - 2 * guard || posix_memalign(&base, guard, size + 2 * guard))
        return NULL;
    unsigned char *start = (unsigned char *)base + guard;
    memset(base, GUARD_BYTE, guard);
    memset(start, GARBAGE_BYTE, size < GARBAGE_LIMIT ? size : GARBAGE_LIMIT);
    memset(start + size, GUARD_BYTE, guard);
    return start;
}

enum gantry_status memory_allocate(struct gantry_drv_device *device, enum gantry_memory kind,
                                   uint64_t size, struct gantry_drv_memory *memory)
{
    struct gantry_drv_instance *instance = device->instance;
    enum gantry_status status = enter(instance, device, ENTRY_memory_allocate);
    if (status != GANTRY_OK)
        return status;
    uint64_t whole = (size + 3) / 4 * 4;
    unsigned char *start = NULL;
    if (reserve(device, whole)) {
        start = allocate_guarded(device, whole);
        if (!start)
            atomic_fetch_sub(&device->used, whole);
    }
    if (!start)
        return FAIL(instance, GANTRY_E_OUT_OF_MEMORY, "%llu bytes asked for, %llu of %llu in use",
                    (unsigned long long)size, (unsigned long long)atomic_load(&device->used),
                    (unsigned long long)device->spec->info.limits.memory_size);
    *memory = (struct gantry_drv_memory){
        .address = (uintptr_t)start,
        .host = kind == GANTRY_MEMORY_DEVICE ? NULL : start,
        .direct = kind == GANTRY_MEMORY_DEVICE && device->spec->direct ? start : NULL,
        .size = whole,
        .kind = kind,
        .driver = start,
    };
    atomic_fetch_add(&instance->books.memories, 1);
    return GANTRY_OK;
}

static void check_guard(struct gantry_drv_device *device, const unsigned char *guard,
                        const char *where)
{
    for (size_t i = 0; i < guard_size(device); i++) {
        if (guard[i] != GUARD_BYTE) {
            fault(device->instance, "something was written %s a block of memory", where);
            return;
        }
    }
}

void memory_free(struct gantry_drv_device *device, struct gantry_drv_memory *memory)
{
    unsigned char *start = memory->driver;
    check_unused(device, memory, "block of memory");
    atomic_fetch_sub(&device->instance->books.memories, 1);
    if (memory->kind == GANTRY_MEMORY_REGISTERED)
        return;
    check_guard(device, start - guard_size(device), "before");
    check_guard(device, start + memory->size, "behind");
    free(start - guard_size(device));
    atomic_fetch_sub(&device->used, memory->size);
}

enum gantry_status memory_register(struct gantry_drv_device *device, void *pointer, uint64_t size,
                                   struct gantry_drv_memory *memory)
{
    struct gantry_drv_instance *instance = device->instance;
    enum gantry_status status = enter(instance, device, ENTRY_memory_register);
    if (status != GANTRY_OK)
        return status;
    *memory = (struct gantry_drv_memory){
        .address = (uintptr_t)pointer,
        .host = pointer,
        .size = size,
        .kind = GANTRY_MEMORY_REGISTERED,
        .driver = pointer,
    };
    atomic_fetch_add(&instance->books.memories, 1);
    return GANTRY_OK;
}
