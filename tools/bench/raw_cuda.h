/* CUDA without gantry. */
#ifndef GANTRY_BENCH_RAW_CUDA_H
#define GANTRY_BENCH_RAW_CUDA_H

#include "../../backends/cuda/symbols.h"
#include "raw.h"

struct raw_cuda {
    struct raw raw;
    struct symbols cu;
    CUdevice device;
    CUcontext context; /* the primary one, as gantry's */
    CUmodule modules[KERNEL_COUNT];
    CUfunction kernels[KERNEL_COUNT];
    bool programmatic; /* edges between kernels may be */
    CUstream stream;
    CUdeviceptr y;
    CUevent event;
    uint64_t submitted;
    _Atomic uint64_t *done; /* pinned: what the stream has reached */
    CUdeviceptr done_address;
    bool write_value;      /* the stream can write it */
    CUdeviceptr copied[2]; /* memory of copies */
    void *copied_host;
    CUdeviceptr copied_host_address;
};

/* The context is current only inside the raw side's calls: gantry's are timed as they are in a
 * program that does not use CUDA itself. */
bool raw_cuda_enter(struct raw_cuda *cuda);
void raw_cuda_leave(struct raw_cuda *cuda);

/* True for CUDA_SUCCESS; else says which call failed, and how. */
bool raw_cuda_check(struct raw_cuda *cuda, CUresult result, const char *call);
#define CU(cuda, call) raw_cuda_check(cuda, (cuda)->cu.call, #call)

/* How the host learns that the stream has finished. */
enum raw_finish {
    SPIN_ON_WRITE, /* the stream writes a number to pinned memory */
    POLL_EVENT,
};

/* The faster one of those that the driver has. */
enum raw_finish raw_cuda_finish(const struct raw_cuda *cuda);
const char *raw_cuda_finish_name(enum raw_finish finish);
bool raw_cuda_wait(struct raw_cuda *cuda, enum raw_finish finish);

/* The arguments of a launch as the driver takes them: `list` is for `extra`. Don't move it. */
struct raw_cuda_args {
    size_t size;
    void *list[5];
};
void raw_cuda_args_set(struct raw_cuda_args *args, struct launch *launch);

/* A graph whose stages are laid on so many chains and joined by empty nodes; a work of width 1 is
 * one chain. Instantiated and uploaded. `programmatic`: edges from kernel to kernel are. */
bool raw_cuda_graph(struct raw_cuda *cuda, const struct work *work, uint32_t chains,
                    bool programmatic, CUgraphExec *graph);

/* The entries of struct raw_ops; raw_cuda_ways.c. */
bool raw_cuda_replay(struct raw *raw, const struct work *work, struct ways *ways);
bool raw_cuda_oneshot(struct raw *raw, const struct work *work, struct ways *ways);
bool raw_cuda_roundtrip(struct raw *raw, const struct work *work, struct ways *ways);

/* Likewise; raw_cuda_copy.c. */
bool raw_cuda_reserve_copies(struct raw *raw, uint64_t device, uint64_t host);
bool raw_cuda_copy(struct raw *raw, const struct raw_copy *copy, struct ways *ways);

#endif
