/* What the tests of the CUDA plugin share: the plugin opened without core, its books, checks. */
#ifndef GANTRY_TESTS_CUDA_HARNESS_H
#define GANTRY_TESTS_CUDA_HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gantry/backend.h>

/* A failed check ends the process: what follows would only repeat it. */
#define CHECK(condition)                                  \
    do {                                                  \
        if (!(condition))                                 \
            check_failed(__FILE__, __LINE__, #condition); \
    } while (0)
#define CHECK_OK(call) CHECK((call) == GANTRY_OK)
#define CHECK_EQUAL(got, wanted) \
    check_equal(__FILE__, __LINE__, #got, (unsigned long long)(got), (unsigned long long)(wanted))

_Noreturn void check_failed(const char *file, int line, const char *text);
void check_equal(const char *file, int line, const char *text, unsigned long long got,
                 unsigned long long wanted);

/* Says why and ends the process with 77. */
_Noreturn void skip(const char *reason);

struct bench {
    const struct gantry_backend_ops *ops;
    struct gantry_drv_instance *instance;
    uint32_t index;
    struct gantry_backend_device_info info;
    struct gantry_drv_device *device;
    struct gantry_drv_queue *queue;
    struct gantry_queue_stats stats;
    uint64_t value;  /* of the queue's latest submission */
    bool graphs;     /* plans become graphs */
    unsigned driver; /* 1204: CUDA 12.4 */
    bool untimed;    /* the driver works when it is asked, not by itself */
};

/* Opens the plugin named by the first argument, its first usable device and a queue. */
void bench_open(struct bench *bench, const char *plugin, enum gantry_submit_mode submit);

/* Opens the device and the queue anew. */
void bench_switch(struct bench *bench, enum gantry_submit_mode submit);

/* The same in steps; false: the sentence says why. */
bool bench_try_open(struct bench *bench, const char *plugin);
void bench_try_close(struct bench *bench);

/* Closes all of it and checks that no host memory is left. */
void bench_close(struct bench *bench);

/* The sentence of this thread's latest failure. */
const char *last_error(void);

/* Host memory that the plugin holds at this moment, in pieces. */
long allocations(void);

/* The n-th allocation from now fails; 0: none does. */
void fail_allocation(long n);

/* ---- Shorthands ----------------------------------------------------------------------------- */

struct gantry_drv_memory allocate(struct bench *bench, enum gantry_memory kind, uint64_t size);
enum gantry_status try_kernel(struct bench *bench, const char *name, uint32_t threads,
                              uint32_t shared_per_thread, struct gantry_drv_kernel **kernel,
                              struct gantry_backend_kernel_info *info);

/* The kernel affine for sm_90 from one of the early_…_ptx. */
struct gantry_drv_kernel *make_early_kernel(struct bench *bench, const char *ptx);
struct gantry_drv_kernel *make_kernel(struct bench *bench, const char *name, uint32_t threads,
                                      uint32_t shared_per_thread);
struct gantry_op launch_op(struct gantry_drv_kernel *kernel, uint32_t blocks, uint32_t threads,
                           const void *args, uint32_t size);
struct gantry_op copy_op(struct gantry_drv_memory *to, uint64_t to_offset,
                         struct gantry_drv_memory *from, uint64_t from_offset, uint64_t size);
struct gantry_op fill_op(struct gantry_drv_memory *memory, uint64_t offset, uint64_t size,
                         uint32_t pattern);

/* Submits to the bench's queue and waits. */
void run_once(struct bench *bench, const struct gantry_plan *plan);
void run_ops(struct bench *bench, struct gantry_op *ops, uint32_t count);
void run_built(struct bench *bench, struct gantry_drv_plan *built);

/* Moves bytes between the host and device memory. */
void upload(struct bench *bench, struct gantry_drv_memory *to, const void *bytes, uint64_t size);
void download(struct bench *bench, struct gantry_drv_memory *from, void *bytes, uint64_t size);

/* ---- The kernels (kernels.c) ---------------------------------------------------------------- */

extern const char *const kernels_ptx;       /* for sm_75 and later */
extern const char *const chained_ptx;       /* its affine_chained */
extern const char *const early_start_ptx;   /* for sm_90: starts with griddepcontrol.wait */
extern const char *const early_trigger_ptx; /* the same, behind griddepcontrol.launch_dependents */
extern const char *const affine_source;     /* CUDA C++; includes … */
extern const char *const affine_header;     /* … "affine.h" */

/* Of affine: y[i] = y[i] * a + b for i < n; applied in another order it gives another result. */
struct affine_args {
    uint64_t y;
    uint32_t n, a, b;
};

/* Of several, which has them as four parameters: *y = a + b + n. */
struct several_args {
    uint64_t y;
    uint8_t a;
    uint64_t b;
    uint32_t n;
};

/* Of spin: y[0] = value, ns nanoseconds after it was started. */
struct spin_args {
    uint64_t y, ns;
    uint32_t value;
};

/* Bytes of the kernel's argument struct. */
uint32_t args_size_of(const char *kernel);

/* ---- A chain (chain.c) ---------------------------------------------------------------------- */

/* Steps y = y * a + b, each behind the one before it. */
struct chain {
    struct gantry_drv_kernel *kernel;
    struct gantry_drv_memory y;
    uint32_t steps, items;
    struct affine_args *args;
    struct gantry_op *ops;
    struct gantry_edge *edges;
    uint32_t *wanted; /* what y should hold */
    struct gantry_plan plan;
};

/* The kernel, affine, is the chain's from now on. y[i] is i. */
void chain_open(struct bench *bench, struct chain *chain, struct gantry_drv_kernel *kernel,
                uint32_t steps, uint32_t blocks, bool programmatic);
void chain_close(struct bench *bench, struct chain *chain);

/* Gives the steps other factors and terms. */
void chain_vary(struct chain *chain, uint32_t salt);

/* Makes the plan one of the first steps. */
void chain_cut(struct chain *chain, uint32_t steps);
void chain_reset(struct bench *bench, struct chain *chain);

/* Does to what is wanted what one run of the plan does to y. */
void chain_apply(struct chain *chain);

/* The number of items that are not what is wanted. */
uint32_t chain_wrong(struct bench *bench, struct chain *chain);

/* ---- The tests ------------------------------------------------------------------------------ */

void test_memory(struct bench *bench);
void test_kernel(struct bench *bench);
void test_plan(struct bench *bench);
void test_table(struct bench *bench);
void test_once(struct bench *bench);
void test_queue(struct bench *bench);

/* With a plugin that drops the order of launches: a chain's result must be wrong. */
void test_unordered(struct bench *bench);

/* With a driver that refuses graphs, or programmatic edges: the result is right and the slower way
 * counted. */
void test_refused(struct bench *bench);

/* With a driver that refuses to change graphs: the result is right, and nobody insists. */
void test_rebuilt(struct bench *bench);

/* Prints what the choices in the plugin rest on. */
void measure(struct bench *bench);

/* What single calls of the driver cost the host (measure_calls.c). */
void measure_calls(struct bench *bench);

/* Does a bit of everything and goes on whatever fails: nothing may be left. For a driver that fails
 * on purpose. */
void test_torture(const char *plugin);

/* Ends with a lost device; the bench stays open for bench_close(). */
void test_lost(struct bench *bench);

#endif
