/* What the files of the host plugin's own test share: the plugin's table, driven without core. */
#ifndef GANTRY_TESTS_HOST_SELFTEST_H
#define GANTRY_TESTS_HOST_SELFTEST_H

#include <gantry/backend.h>

extern const struct gantry_backend_ops *ops;
extern long *plugin_faults;

/* Lent to the plugin. What it asked for and has not given back; how often it may ask, -1: always.
 */
extern const struct gantry_backend_services services;
extern long live_allocations, allocations_left;

/* The plugin and a host image; false with a sentence on stderr. */
bool selftest_open(const char *plugin, const char *image);
void selftest_close(void);

/* ---- A device with memory and kernels -------------------------------------------------------- */

#define WORDS 256u

struct rig {
    struct gantry_drv_instance *instance;
    struct gantry_drv_device *device;
    struct gantry_drv_queue *queue;
    struct gantry_drv_memory memory;
    struct gantry_queue_stats stats;
    uint64_t submitted;
};

/* Of image.cpp's kernels. */
struct add_args {
    uint64_t x;
    uint32_t value, n;
};

/* Sets the plugin's variables. */
void set(const char *devices, const char *failures, const char *order, const char *seed);

enum gantry_status rig_open(struct rig *rig);

/* Returns the number of faults that the plugin found. */
long rig_close(struct rig *rig);

enum gantry_status make_kernel(struct rig *rig, const char *symbol, enum gantry_entry entry,
                               struct gantry_drv_kernel **kernel);

struct gantry_op launch(struct gantry_drv_kernel *kernel, uint32_t stage, const void *args,
                        uint32_t size);
struct gantry_op fill(struct rig *rig, uint32_t stage, uint32_t pattern);

/* Submits the plan and waits for it. */
enum gantry_status run_once(struct rig *rig, const struct gantry_plan *plan);

/* ---- The tests of selftest_fold.c ------------------------------------------------------------ */

void test_folded(void **state);
void test_chained(void **state);
void test_patches(void **state);
void test_bad_patches(void **state);

#endif
