/* Copies as one would write them by hand. */
#include "raw_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "stopwatch.h"

struct copy_way {
    struct way way;
    struct raw_cuda *cuda;
    struct raw_copy copy;
    void *pageable; /* what is copied up, when it is not the page-locked memory */
};

/* In rows; a single row is a plain copy. */
static bool copy_once(struct copy_way *self)
{
    struct raw_cuda *cuda = self->cuda;
    const struct raw_copy *copy = &self->copy;
    const bool up = copy->route == RAW_UP, down = copy->route == RAW_DOWN;
    const CUDA_MEMCPY3D_v2 rows = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = up ? cuda->copied_host_address : cuda->copied[0],
        .srcPitch = up ? copy->width : copy->pitch,
        .srcHeight = copy->rows,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = down ? cuda->copied_host_address : cuda->copied[up ? 0 : 1],
        .dstPitch = up ? copy->pitch : copy->width,
        .dstHeight = copy->rows,
        .WidthInBytes = copy->width,
        .Height = copy->rows,
        .Depth = 1,
    };

    if (copy->route == RAW_UP_PAGEABLE)
        return CU(cuda,
                  cuMemcpyHtoDAsync(cuda->copied[0], self->pageable, copy->width, cuda->stream));
    if (copy->rows > 1)
        return CU(cuda, cuMemcpy3DAsync(&rows, cuda->stream));
    return CU(cuda, cuMemcpyAsync(rows.dstDevice, rows.srcDevice, copy->width, cuda->stream));
}

static bool copy_and_wait(struct copy_way *self)
{
    bool done = true;

    for (unsigned i = 0; i < self->copy.times && done; i++)
        done = copy_once(self);
    return done && raw_cuda_wait(self->cuda, raw_cuda_finish(self->cuda));
}

static bool run(struct way *way, struct timing *timing)
{
    struct copy_way *self = (struct copy_way *)way;
    uint64_t start;
    bool done;

    if (!raw_cuda_enter(self->cuda))
        return false;
    start = stopwatch_read();
    done = copy_and_wait(self);
    timing->ns = stopwatch_between(start, stopwatch_read());
    raw_cuda_leave(self->cuda);
    return done;
}

static void destroy(struct way *way)
{
    struct copy_way *self = (struct copy_way *)way;

    free(self->pageable);
    free(self);
}

/* The pages are touched, or the kernel would map the same page of zeros everywhere. */
static bool make_pageable(struct copy_way *self)
{
    self->pageable = malloc(self->copy.width);
    if (self->pageable)
        memset(self->pageable, 1, self->copy.width);
    return self->pageable != NULL;
}

bool raw_cuda_copy(struct raw *raw, const struct raw_copy *copy, struct ways *ways)
{
    struct copy_way *self = calloc(1, sizeof *self);
    bool pageable = copy->route == RAW_UP_PAGEABLE;

    if (self)
        *self = (struct copy_way){.way = {.run = run, .destroy = destroy},
                                  .cuda = (struct raw_cuda *)raw,
                                  .copy = *copy};
    if (!self || (pageable && !make_pageable(self))) {
        output_error("bench: out of memory for a raw copy");
        free(self);
        return false;
    }
    snprintf(self->way.how, sizeof self->way.how, "%s",
             pageable         ? "cuMemcpyHtoDAsync from pageable memory"
             : copy->rows > 1 ? "cuMemcpy3DAsync"
                              : "cuMemcpyAsync");
    return ways_add(ways, &self->way);
}

static bool make_host(struct raw_cuda *cuda, uint64_t size)
{
    if (!CU(cuda, cuMemHostAlloc(&cuda->copied_host, size, CU_MEMHOSTALLOC_DEVICEMAP)) ||
        !CU(cuda, cuMemHostGetDevicePointer(&cuda->copied_host_address, cuda->copied_host, 0)))
        return false;
    memset(cuda->copied_host, 1, size);
    return true;
}

bool raw_cuda_reserve_copies(struct raw *raw, uint64_t device, uint64_t host)
{
    struct raw_cuda *cuda = (struct raw_cuda *)raw;
    bool made;

    if (!raw_cuda_enter(cuda))
        return false;
    made = CU(cuda, cuMemAlloc(&cuda->copied[0], device)) &&
           CU(cuda, cuMemAlloc(&cuda->copied[1], device)) &&
           CU(cuda, cuMemsetD32Async(cuda->copied[0], 1, device / 4, cuda->stream)) &&
           CU(cuda, cuStreamSynchronize(cuda->stream)) && (host == 0 || make_host(cuda, host));
    raw_cuda_leave(cuda);
    return made;
}
