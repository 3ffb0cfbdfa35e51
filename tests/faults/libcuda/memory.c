/* Memory: malloc'ed, between guards, full of garbage at first. */
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { GUARD_BYTES = 512, GUARD_BYTE = 0xfd, GARBAGE_BYTE = 0xcd };
#define GARBAGE_LIMIT ((size_t)64 << 20) /* larger blocks are not worth the time */

static struct memory *make(struct CUctx_st *context, size_t size, enum memory_owner owner)
{
    struct memory *memory = calloc(1, sizeof(*memory));
    void *base = NULL;
    if (!memory || size > SIZE_MAX - 2 * GUARD_BYTES ||
        posix_memalign(&base, GUARD_BYTES, size + 2 * GUARD_BYTES)) {
        free(memory);
        return NULL;
    }
    memory->start = (unsigned char *)base + GUARD_BYTES;
    memory->size = size;
    memory->owner = owner;
    memset(base, GUARD_BYTE, GUARD_BYTES);
    memset(memory->start, GARBAGE_BYTE, size < GARBAGE_LIMIT ? size : GARBAGE_LIMIT);
    memset(memory->start + size, GUARD_BYTE, GUARD_BYTES);
    object_add(&memory->object, KIND_MEMORY, context);
    return memory;
}

static struct memory *find_start(const void *start)
{
    for (struct object *object = objects(); object; object = object->next) {
        struct memory *memory = (struct memory *)object;
        if (object->kind == KIND_MEMORY && memory->start == start)
            return memory;
    }
    return NULL;
}

const struct memory *memory_find(uint64_t address, size_t size)
{
    for (struct object *object = objects(); object; object = object->next) {
        const struct memory *memory = (const struct memory *)object;
        if (object->kind != KIND_MEMORY)
            continue;
        uint64_t start = (uintptr_t)memory->start;
        if (address >= start && address - start <= memory->size &&
            size <= memory->size - (address - start))
            return memory;
    }
    return NULL;
}

static void check_guard(const unsigned char *guard, const char *where)
{
    for (int i = 0; i < GUARD_BYTES; i++) {
        if (guard[i] != GUARD_BYTE) {
            fault("something was written %s a block of memory", where);
            return;
        }
    }
}

static CUresult destroy(const void *start, enum memory_owner owner)
{
    static const char *const words[] = {"device", "host", "registered"};
    struct memory *memory = find_start(start);
    if (!memory || memory->owner != owner)
        return MISUSE(STANDIN_INVALID_VALUE, "%s memory was given back that is not allocated",
                      words[owner]);
    if (work_is_queued_on(memory))
        fault("%s memory was given back while queued work uses it", words[owner]);
    if (owner != MEMORY_REGISTERED) {
        check_guard(memory->start - GUARD_BYTES, "before");
        check_guard(memory->start + memory->size, "behind");
        free(memory->start - GUARD_BYTES);
    }
    if (owner == MEMORY_DEVICE)
        memory->object.context->used -= memory->size;
    object_kill(&memory->object);
    return CUDA_SUCCESS;
}

/* ---- Entries --------------------------------------------------------------------------------- */

CUresult cuMemGetInfo(size_t *available, size_t *total)
{
    VISIT_CONTEXT(cuMemGetInfo);
    *total = context->device->memory;
    *available = context->device->memory - context->used;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t size)
{
    VISIT_CONTEXT(cuMemAlloc);
    if (size == 0)
        return MISUSE(STANDIN_INVALID_VALUE, "an allocation of 0 bytes");
    if (size > context->device->memory - context->used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const struct memory *made = make(context, size, MEMORY_DEVICE);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->used += size;
    *address = (uintptr_t)made->start;
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address)
{
    VISIT_CONTEXT(cuMemFree);
    return destroy((const void *)(uintptr_t)address, MEMORY_DEVICE);
}

CUresult cuMemHostAlloc(void **host, size_t size, unsigned flags)
{
    VISIT_CONTEXT(cuMemHostAlloc);
    (void)flags;
    if (size == 0)
        return MISUSE(STANDIN_INVALID_VALUE, "an allocation of 0 bytes");
    const struct memory *made = make(context, size, MEMORY_HOST);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *host = made->start;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *host)
{
    VISIT_CONTEXT(cuMemFreeHost);
    return destroy(host, MEMORY_HOST);
}

static bool is_registered(const unsigned char *start, size_t size)
{
    for (struct object *object = objects(); object; object = object->next) {
        const struct memory *memory = (const struct memory *)object;
        if (object->kind == KIND_MEMORY && memory->start < start + size &&
            start < memory->start + memory->size)
            return true;
    }
    return false;
}

CUresult cuMemHostRegister(void *start, size_t size, unsigned flags)
{
    VISIT_CONTEXT(cuMemHostRegister);
    if (!start || size == 0 ||
        flags != (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP))
        return MISUSE(STANDIN_INVALID_VALUE, "%zu bytes registered with flags %u", size, flags);
    if (is_registered(start, size))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    struct memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->start = start;
    memory->size = size;
    memory->owner = MEMORY_REGISTERED;
    object_add(&memory->object, KIND_MEMORY, context);
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *start)
{
    VISIT_CONTEXT(cuMemHostUnregister);
    return destroy(start, MEMORY_REGISTERED);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *host, unsigned flags)
{
    VISIT_CONTEXT(cuMemHostGetDevicePointer);
    const struct memory *memory = memory_find((uintptr_t)host, 1);
    if (flags != 0 || !memory || memory->owner == MEMORY_DEVICE)
        return MISUSE(STANDIN_INVALID_VALUE, "the device address of unknown host memory");
    *address = (uintptr_t)host;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *host, CUdeviceptr address, size_t size)
{
    VISIT_CONTEXT(cuMemcpyDtoH);
    CUresult result = run_all(context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!memory_find(address, size))
        return MISUSE(STANDIN_INVALID_VALUE, "a copy from memory that is not allocated");
    memcpy(host, (const void *)(uintptr_t)address, size);
    return CUDA_SUCCESS;
}
