/* What the tests of the Vulkan plugin share: the plugin loaded without core, services that keep
 * books, and short ways to say what core would say.
 *
 * Driving the plugin directly shows what core hides: that a refused call leaves nothing behind, and
 * what happens to plans that core would never make on this machine. */
#ifndef GANTRY_TEST_VULKAN_RIG_H
#define GANTRY_TEST_VULKAN_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gantry/backend.h>

struct rig {
    const struct gantry_backend *backend;
    const struct gantry_backend_ops *ops;
    struct gantry_backend_services services;
    struct gantry_drv_instance *instance;
    uint32_t device_index; /* which the tests run on */
    struct gantry_backend_device_info info;
    struct gantry_drv_device *device; /* open in groups that ask for it */
};

extern struct rig rig;

/* Loads the plugin's file, and opens the instance. Print what is wrong and return false. */
bool rig_load(const char *path);
bool rig_open(void);
void rig_close(void);

/* The thread's latest error sentence. */
const char *rig_error(void);

/* Host memory: what is allocated now, and after how many allocations the next one fails (-1:
 * never). */
long rig_live(void);
void rig_fail_after(long allocations);

/* Group setup and teardown: the device under test, opened with the default families. */
int rig_setup_device(void **state);
int rig_teardown_device(void **state);

#define assert_ok(call) assert_int_equal(call, GANTRY_OK)
#define assert_error(call, status, words)            \
    do {                                             \
        assert_int_equal(call, status);              \
        assert_non_null(strstr(rig_error(), words)); \
    } while (0)

/* ---- Kernels -------------------------------------------------------------------------------- */

/* step.comp's arguments. */
struct step_args {
    gantry_ptr x, y;
    uint32_t a, b, n, shift;
};

enum {
    STEP_BLOCK = 64, /* threads */
};

extern const struct gantry_kernel_source step_source;
extern const struct gantry_backend_image step_images[3]; /* direct, folded, chained */

struct gantry_drv_kernel *rig_kernel(enum gantry_entry entry);

/* ---- Memory --------------------------------------------------------------------------------- */

struct gantry_drv_memory rig_memory(enum gantry_memory kind, uint64_t size);
void rig_free(struct gantry_drv_memory *memory);

/* ---- Queues and plans ----------------------------------------------------------------------- */

/* A queue with the counter that core would keep. */
struct line {
    struct gantry_drv_queue *queue;
    struct gantry_queue_stats stats;
    uint64_t value; /* of the last submission */
};

void line_open(struct line *line, enum gantry_queue_kind kind);
void line_close(struct line *line); /* waits first */
void line_submit(struct line *line, struct gantry_drv_plan *plan);
void line_patch(struct line *line, struct gantry_drv_plan *plan, uint64_t offset, const void *patch,
                uint64_t size); /* submits with a patch */
void line_once(struct line *line, const struct gantry_plan *plan);
void line_wait(struct line *line);
void line_spin(struct line *line); /* the same by asking again and again */

struct gantry_op op_step(uint32_t stage, struct gantry_drv_kernel *kernel,
                         const struct step_args *args);
struct gantry_op op_copy(uint32_t stage, struct gantry_drv_memory *to,
                         struct gantry_drv_memory *from, uint64_t size);
struct gantry_op op_fill(uint32_t stage, struct gantry_drv_memory *memory, uint64_t offset,
                         uint64_t size, uint32_t pattern);

/* The operations as a plan; stages are those of the operations. */
struct gantry_plan plan_of(const struct gantry_op *ops, uint32_t count);
struct gantry_drv_plan *built_of(const struct gantry_op *ops, uint32_t count);

/* ---- Folded launches ------------------------------------------------------------------------ */

enum { FOLD_STRIDE = 48 }; /* bytes from one argument struct to the next */

/* A table as core makes it: the launches first, their arguments behind. */
struct fold {
    uint32_t count, blocks; /* launches, and blocks of all of them */
    uint64_t size;          /* of the table */
    struct gantry_fold_launch *table;
    struct gantry_fold_args inline_args;
};

void fold_open(struct fold *fold, uint32_t count);
void fold_close(struct fold *fold);

/* Appends a launch with room for `blocks` blocks. */
void fold_add(struct fold *fold, const struct step_args *args, uint32_t blocks);

/* The arguments of a launch: in the table here, and how far behind its start. */
struct step_args *fold_args(const struct fold *fold, uint32_t launch);
uint64_t fold_offset(const struct fold *fold, uint32_t launch);

/* The operation that runs the whole table on `kernel`, on at least `blocks` blocks. */
struct gantry_op fold_op(const struct fold *fold, struct gantry_drv_kernel *kernel,
                         uint32_t blocks);
struct gantry_plan fold_plan(const struct fold *fold, const struct gantry_op *op);

/* ---- The groups ----------------------------------------------------------------------------- */

int run_device_tests(void);
int run_memory_tests(void);
int run_kernel_tests(void);
int run_plan_tests(void);
int run_fold_tests(void);
int run_queue_tests(void);
int run_bench(void);
int run_memory_bench(void);

#endif
