/* What single calls of the driver cost the host: these bound what the plugin can reach. */
#include "harness.h"

#include <time.h>

#include "../../backends/cuda/symbols.h"

enum { BATCH = 64, MOST_BATCHES = 100, COPY_MOST = 65536 };

/* What the calls need. */
struct calls {
    struct symbols cu;
    CUcontext context;
    CUstream stream;
    CUevent event;
    struct gantry_drv_memory device, pinned;
    unsigned char *pageable;
    size_t copy_size;
};

static void get_current(struct calls *calls)
{
    CUcontext context;

    calls->cu.cuCtxGetCurrent(&context);
}

static void push_and_pop(struct calls *calls)
{
    CUcontext context;

    calls->cu.cuCtxPushCurrent(calls->context);
    calls->cu.cuCtxPopCurrent(&context);
}

static void exchange_twice(struct calls *calls)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    calls->cu.cuThreadExchangeStreamCaptureMode(&mode);
    calls->cu.cuThreadExchangeStreamCaptureMode(&mode);
}

static void query(struct calls *calls)
{
    calls->cu.cuStreamQuery(calls->stream);
}

static void record(struct calls *calls)
{
    calls->cu.cuEventRecord(calls->event, calls->stream);
}

static void write_value(struct calls *calls)
{
    if (calls->cu.cuStreamWriteValue64)
        calls->cu.cuStreamWriteValue64(calls->stream, calls->pinned.address, 1,
                                       CU_STREAM_WRITE_VALUE_DEFAULT);
}

static void copy_pinned(struct calls *calls)
{
    calls->cu.cuMemcpyHtoDAsync(calls->device.address, calls->pinned.host, calls->copy_size,
                                calls->stream);
}

static void copy_pageable(struct calls *calls)
{
    calls->cu.cuMemcpyHtoDAsync(calls->device.address, calls->pageable, calls->copy_size,
                                calls->stream);
}

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The best batch, which no other work on the machine held up; the stream is empty at first. */
static void time_call(struct bench *bench, struct calls *calls, const char *what,
                      void (*call)(struct calls *calls))
{
    int batches = bench->untimed ? 2 : MOST_BATCHES;
    double best = 1e18;

    for (int i = 0; i < batches; i++) {
        double start = now_ns();

        for (int k = 0; k < BATCH; k++)
            call(calls);
        start = (now_ns() - start) / BATCH;
        best = start < best ? start : best;
        calls->cu.cuStreamSynchronize(calls->stream);
    }
    printf("  %-32s %8.1f ns\n", what, best);
}

static void time_all(struct bench *bench, struct calls *calls)
{
    static const size_t sizes[] = {32, 1024, 4096, 16384, COPY_MOST};
    char text[64];

    printf("calls of the driver, host time\n");
    time_call(bench, calls, "cuCtxGetCurrent", get_current);
    time_call(bench, calls, "cuCtxPushCurrent + PopCurrent", push_and_pop);
    time_call(bench, calls, "exchange capture mode, twice", exchange_twice);
    time_call(bench, calls, "cuStreamQuery", query);
    time_call(bench, calls, "cuEventRecord", record);
    time_call(bench, calls, "cuStreamWriteValue64", write_value);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        calls->copy_size = sizes[i];
        snprintf(text, sizeof(text), "copy of %zu bytes, pinned", sizes[i]);
        time_call(bench, calls, text, copy_pinned);
        snprintf(text, sizeof(text), "copy of %zu bytes, pageable", sizes[i]);
        time_call(bench, calls, text, copy_pageable);
    }
}

void measure_calls(struct bench *bench)
{
    struct gantry_native_device native = {0};
    struct calls calls = {0};
    CUcontext context;
    char reason[256];

    CHECK(symbols_open(&calls.cu, reason, sizeof(reason)));
    bench->ops->device_native(bench->device, &native);
    calls.context = native.cuda_context;
    calls.pageable = calloc(1, COPY_MOST);
    calls.pinned = allocate(bench, GANTRY_MEMORY_UPLOAD, COPY_MOST);
    calls.device = allocate(bench, GANTRY_MEMORY_DEVICE, COPY_MOST);
    CHECK(calls.pageable && calls.cu.cuCtxPushCurrent(calls.context) == CUDA_SUCCESS);
    CHECK(calls.cu.cuStreamCreateWithPriority(&calls.stream, CU_STREAM_NON_BLOCKING, 0) ==
          CUDA_SUCCESS);
    CHECK(calls.cu.cuEventCreate(&calls.event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    time_all(bench, &calls);
    calls.cu.cuEventDestroy(calls.event);
    calls.cu.cuStreamDestroy(calls.stream);
    CHECK(calls.cu.cuCtxPopCurrent(&context) == CUDA_SUCCESS);
    bench->ops->memory_free(bench->device, &calls.pinned);
    bench->ops->memory_free(bench->device, &calls.device);
    free(calls.pageable);
}
