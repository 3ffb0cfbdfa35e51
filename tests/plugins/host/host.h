/* The host plugin's own structs. README.md says what the plugin is for and which variables it
 * reads. */
#ifndef GANTRY_TESTS_HOST_H
#define GANTRY_TESTS_HOST_H

#include <pthread.h>
#include <stdatomic.h>

#include <gantry/backend.h>
#include <gantry/kernel_host.h>

/* The look-alikes of other backends are the same code under another name. */
#ifndef GANTRY_HOST_NAME
#define GANTRY_HOST_NAME "host"
#endif

#define HOST_MAX_DEVICES 16

/* ---- What a device claims to be: spec.c ------------------------------------------------------ */

struct spec {
    struct gantry_backend_device_info info;
    bool waits;  /* its images begin with a wait, so that edges into them may be programmatic */
    bool direct; /* the host can write device memory */
};

/* Reads a text as README.md describes. Returns the number of devices, or -1 with a sentence. */
int spec_parse(const char *text, struct spec specs[HOST_MAX_DEVICES], char *error,
               size_t error_size);

/* GANTRY_HOST_KEY_NAME for this plugin's name, else GANTRY_HOST_KEY; NULL: neither is set. */
const char *setting(const char *key);

/* ---- Planned failures: fail.c ---------------------------------------------------------------- */

#define ENTRY_MAP(X)   \
    X(instance_open)   \
    X(device_describe) \
    X(device_open)     \
    X(device_memory)   \
    X(memory_allocate) \
    X(memory_register) \
    X(kernel_block)    \
    X(kernel_create)   \
    X(queue_create)    \
    X(queue_completed) \
    X(queue_wait)      \
    X(plan_build)      \
    X(submit)          \
    X(submit_once)

enum entry {
#define X(name) ENTRY_##name,
    ENTRY_MAP(X)
#undef X
        ENTRY_COUNT
};

extern const char *const entry_names[ENTRY_COUNT];

struct failure {
    uint64_t first; /* the call that fails, counted from 1; 0: none */
    bool onwards;   /* and every later one */
    enum gantry_status status;
};

struct failures {
    struct failure planned[ENTRY_COUNT];
    atomic_uint_fast64_t calls[ENTRY_COUNT];
};

/* Reads "ENTRY:COUNT[+][:STATUS],…". Returns false with a sentence. */
bool failures_parse(const char *text, struct failures *failures, char *error, size_t error_size);

/* ---- Objects --------------------------------------------------------------------------------- */

/* What is alive. Whatever is left when the instance is closed has leaked. */
struct books {
    atomic_long devices, memories, kernels, queues, plans, submissions;
    atomic_long faults; /* broken promises of core, each logged as an error */
};

struct gantry_drv_instance {
    const struct gantry_backend_services *services;
    struct failures failures;
    struct books books;
    uint32_t device_count;
    struct spec devices[HOST_MAX_DEVICES];
    bool by_stages; /* order by stages instead of by edges */
    uint64_t seed;
};

struct gantry_drv_device {
    struct gantry_drv_instance *instance;
    const struct spec *spec;
    pthread_mutex_t lock; /* guards the queues' submissions, and is held while operations run */
    struct gantry_drv_queue *queues;
    uint64_t random;
    atomic_uint_fast64_t used; /* bytes of device memory */
    atomic_bool lost;
};

struct gantry_drv_kernel {
    void *library;
    int file;
    gantry_host_entry *run;
    enum gantry_entry entry;
    char symbol[128];
    bool waits;
};

struct gantry_drv_plan {
    struct gantry_drv_device *device;
    struct gantry_op *ops;
    uint32_t op_count;
    uint32_t *degree;     /* per operation: how many others it waits for; NULL: ordered by stages */
    uint32_t *first_next; /* per operation and one more: where in `next` its successors begin */
    uint32_t *next;
    unsigned char *args;  /* of all launches; ops point into it */
    unsigned char *table; /* device addresses in folded arguments point into it */
    uint64_t table_size;
    bool patchable;
    bool once; /* freed with its submission */
    bool submitted;
};

struct submission {
    struct submission *next;
    struct gantry_drv_plan *plan;  /* gone before this when the device was lost */
    struct gantry_drv_plan *owned; /* the same when it is freed with this; or NULL */
    uint64_t value;
    struct gantry_backend_wait *waits;
    uint32_t wait_count;
    unsigned char *patch; /* to be written to the plan's table when the submission starts */
    uint64_t patch_offset, patch_size;
    bool started;
    uint32_t left;     /* operations to run */
    uint32_t *missing; /* per operation: predecessors to run first */
    uint32_t *ready;   /* operations that may run now */
    uint32_t ready_count;
    uint32_t stage_end; /* ordered by stages: the first operation of the next stage */
};

struct gantry_drv_queue {
    struct gantry_drv_device *device;
    struct gantry_drv_queue *next;
    struct gantry_queue_stats *stats;
    struct submission *first, *last; /* not completed, oldest first; guarded by the device's lock */
    uint64_t submitted;
    atomic_uint_fast64_t completed;
};

/* ---- books.c --------------------------------------------------------------------------------- */

/* A promise of core was broken: says so as an error and counts it. */
void fault(struct gantry_drv_instance *instance, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Names what is still alive. */
void books_close(struct gantry_drv_instance *instance);

/* Fails the call if that was planned, or if the device, which may be NULL, is lost. */
enum gantry_status enter(struct gantry_drv_instance *instance, struct gantry_drv_device *device,
                         enum entry entry);

#define FAIL(instance, ...) ((instance)->services->fail((instance)->services->context, __VA_ARGS__))
#define ALLOCATE(instance, size) \
    ((instance)->services->allocate((instance)->services->context, (size)))
#define RELEASE(instance, memory) \
    ((instance)->services->release((instance)->services->context, (memory)))

/* ---- The entries, one file a noun ------------------------------------------------------------ */

uint32_t device_count(struct gantry_drv_instance *instance);
enum gantry_status device_describe(struct gantry_drv_instance *instance, uint32_t index,
                                   struct gantry_backend_device_info *info);
enum gantry_status device_open(struct gantry_drv_instance *instance, uint32_t index,
                               const struct gantry_backend_device_params *params,
                               struct gantry_drv_device **device);
void device_close(struct gantry_drv_device *device);
void device_native(struct gantry_drv_device *device, struct gantry_native_device *native);
enum gantry_status device_memory(struct gantry_drv_device *device, uint64_t *available,
                                 uint64_t *total);

enum gantry_status memory_allocate(struct gantry_drv_device *device, enum gantry_memory kind,
                                   uint64_t size, struct gantry_drv_memory *memory);
void memory_free(struct gantry_drv_device *device, struct gantry_drv_memory *memory);
enum gantry_status memory_register(struct gantry_drv_device *device, void *pointer, uint64_t size,
                                   struct gantry_drv_memory *memory);

enum gantry_status kernel_block(struct gantry_drv_device *device,
                                const struct gantry_backend_kernel_params *params,
                                uint32_t *threads);
enum gantry_status kernel_create(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info);
void kernel_destroy(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel);

enum gantry_status queue_create(struct gantry_drv_device *device,
                                const struct gantry_backend_queue_params *params,
                                struct gantry_drv_queue **queue);
void queue_destroy(struct gantry_drv_queue *queue);
enum gantry_status queue_completed(struct gantry_drv_queue *queue, uint64_t *value);
enum gantry_status queue_wait(struct gantry_drv_queue *queue, uint64_t value, uint64_t timeout_ns);
void queue_native(struct gantry_drv_queue *queue, struct gantry_native_queue *native);

enum gantry_status plan_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                              struct gantry_drv_plan **built);
void plan_destroy(struct gantry_drv_plan *built);
enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                          const struct gantry_backend_submission *submission);
enum gantry_status submit_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               const struct gantry_backend_submission *submission);

/* A plan without the entry's bookkeeping of calls: submit_once needs one too. */
enum gantry_status plan_make(struct gantry_drv_device *device, const struct gantry_plan *plan,
                             struct gantry_drv_plan **made);
void plan_drop(struct gantry_drv_plan *plan);

/* ---- schedule.c: all with the device's lock held --------------------------------------------- */

/* Runs one operation of those that may run now, chosen at random, or completes a submission that
 * has none left. Returns false when nothing could move. */
bool schedule_step(struct gantry_drv_device *device);

void submission_free(struct gantry_drv_device *device, struct submission *submission);

/* ---- check.c --------------------------------------------------------------------------------- */

/* Each reports the promises of the contract that are broken. */
void check_plan(struct gantry_drv_device *device, const struct gantry_plan *plan);
void check_submission(struct gantry_drv_queue *queue,
                      const struct gantry_backend_submission *submission);

/* Returns false when the submission's patch can't be written to the plan, which may be NULL. */
bool check_patch(struct gantry_drv_device *device, const struct gantry_drv_plan *plan,
                 const struct gantry_backend_submission *submission);

/* What a patch has made of a plan's table, which no other queue may be reading. */
void check_patched(struct gantry_drv_queue *queue, const struct gantry_drv_plan *plan);
void check_unused(struct gantry_drv_device *device, const void *object, const char *kind);

#endif
