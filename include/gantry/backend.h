/* The contract between gantry's core and a backend plugin.
 *
 * A plugin is a shared object that exports one data symbol, `gantry_backend`, of the type below.
 * Core reads magic, ABI numbers and size before it calls anything. A plugin must do nothing when it
 * is loaded: constructors run before core can check the descriptor.
 *
 * What plugins may rely on (core checked it, so do not check again):
 * - no argument is NULL unless its comment says so, objects belong together, states are right;
 * - sizes, offsets and grids are within the limits that the plugin reported, ranges are inside
 * their memory and do not overlap, alignments hold;
 * - an object is destroyed once, after the objects made from it and after its last submission has
 *   completed;
 * - calls for one queue are never made by two threads at once, except queue_completed and
 *   queue_wait, which may run at any time, also beside submit. Calls for different objects may be.
 *
 * What core relies on:
 * - an entry that fails reports one sentence through services->fail (what, the value, the limit,
 * the driver's own code), returns that status, stores nothing and leaks nothing;
 * - a lost device is GANTRY_E_DEVICE_LOST from then on, from every entry that would need it;
 * - nothing is printed, no signal handler is set, the caller's thread state (such as the current
 *   CUDA context) is as it was when an entry returns;
 * - a plugin links nothing of gantry and no driver: it opens the driver with dlopen. */
#ifndef GANTRY_BACKEND_H
#define GANTRY_BACKEND_H

#include <gantry/gantry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "gntB" in memory on a little-endian machine. */
#define GANTRY_BACKEND_MAGIC 0x42746e67u

/* The major number changes when a plugin must be changed, the minor one when entries are appended.
 */
#define GANTRY_BACKEND_ABI_MAJOR 2
#define GANTRY_BACKEND_ABI_MINOR 0

/* The plugin's own structs. */
struct gantry_drv_instance;
struct gantry_drv_device;
struct gantry_drv_queue;
struct gantry_drv_kernel;
struct gantry_drv_plan;

/* ---- What core lends to the plugin ---------------------------------------------------------- */

struct gantry_backend_image;

struct gantry_backend_services {
    uint32_t size; /* of this struct */
    void *context; /* pass it back */

    void (*log)(void *context, enum gantry_log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

    /* Sets the thread's error sentence and returns status, so that `return fail(…)` reads well. */
    enum gantry_status (*fail)(void *context, enum gantry_status status, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

    /* Zeroed host memory; NULL when there is none left. release takes NULL. */
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory);

    /* Says why an image that kernel_create was given can't be used, in words that follow its name.
     * The sentence of a failure is to be complete without it. NULL: nobody asks. */
    void (*refuse)(void *context, const struct gantry_backend_image *image, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
};

/* ---- Devices -------------------------------------------------------------------------------- */

struct gantry_backend_device_info {
    char name[256];
    enum gantry_device_type type;
    bool has_uuid;
    uint8_t uuid[16];
    bool has_pci;
    uint32_t pci_domain, pci_bus, pci_device, pci_function;
    uint32_t vendor_id;      /* PCI vendor, or Khronos's number for those without; 0: unknown */
    char arch[32];           /* "sm_90"; "" where there is no such notion */
    uint32_t arch_number;    /* 90; 0 */
    char driver_version[64]; /* as the driver writes it */
    char skipped[256];       /* why the device can't be used, naming what is missing; "": it can */
    uint32_t features;       /* enum gantry_feature bits */
    struct gantry_limits limits;
    uint32_t memory_alignment;  /* of blocks from memory_allocate; at least 256 */
    bool programmatic;          /* kernel-to-kernel edges can start early */
    uint32_t family_count;      /* queue families, 0 where there is no such notion */
    uint32_t max_memory_blocks; /* blocks that may exist at once, 0: no limit is known */
    char occupancy_source[128]; /* where kernel_block and compute_units come from, or what the
                                   driver does not tell; "": nothing to say */
};

enum {
    GANTRY_FAMILY_COMPUTE =
        -1, /* a family that computes but does not draw, else any that computes */
    GANTRY_FAMILY_GRAPHICS = -2, /* the family that draws and computes */
    GANTRY_FAMILY_AUTO = -3,     /* the plugin's choice */
};

enum gantry_submit_mode {
    GANTRY_SUBMIT_AUTO = 0,
    GANTRY_SUBMIT_GRAPH = 1,  /* always as a graph, where there are graphs */
    GANTRY_SUBMIT_STREAM = 2, /* always as single launches */
};

/* The policy's values that a plugin honours. */
struct gantry_backend_device_params {
    uint32_t size;
    int32_t queue_family;    /* an index, or one of the constants above */
    int32_t transfer_family; /* likewise */
    enum gantry_submit_mode submit;
};

/* ---- Memory --------------------------------------------------------------------------------- */

/* A block of memory. Core fills nothing in; the plugin fills everything. Core cuts buffers out of
 * blocks: operations name a block and an offset into it. */
struct gantry_drv_memory {
    uint64_t address; /* on the device */
    void *host;       /* coherent host mapping, NULL for device memory */
    void *direct;     /* device memory that the host can write at speed: its coherent mapping, for
                         writing only, visible to submissions made after the write; else NULL */
    uint64_t size;    /* at least what was asked for, a multiple of 4 */
    enum gantry_memory kind;
    void *driver; /* the plugin's own, e.g. a struct with the VkBuffer */
};

/* ---- Kernels -------------------------------------------------------------------------------- */

/* The other entries' symbols in CUDA images are the kernel's name with these behind it. */
#define GANTRY_FOLDED_SUFFIX  "_folded"
#define GANTRY_CHAINED_SUFFIX "_chained"

/* Shared memory that a chained entry takes beside its kernel's own, at most; bytes. */
#define GANTRY_CHAINED_SHARED 2048

struct gantry_backend_image {
    enum gantry_image_kind kind;
    enum gantry_entry entry; /* ALL where the image holds every entry */
    uint32_t arch;           /* as in gantry_image_info */
    uint32_t isa_version;
    uint32_t features;
    const char *name; /* a source file's name; otherwise "" */
    const void *data; /* lives as long as the kernel; PTX and source have a zero behind them */
    size_t size;
    bool packaged; /* made by gantry compile, so that from arch 90 on every thread of its entries
                      begins with griddepcontrol.wait; false: the user's own, nothing is known */
};

struct gantry_backend_kernel_params {
    const struct gantry_kernel_source *source;
    enum gantry_entry entry;  /* DIRECT, FOLDED or CHAINED: a drv_kernel is one entry */
    const char *symbol;       /* of the entry in CUDA and host images */
    struct gantry_size block; /* all axes at least 1 */
    const struct gantry_backend_image *images; /* those that may hold this kernel, best first where
                                                  the package says so */
    uint32_t image_count;
};

struct gantry_backend_kernel_info {
    char image[64];           /* "cubin sm_90" */
    uint32_t max_threads;     /* per block, for this kernel */
    uint32_t registers;       /* per thread, 0: unknown */
    uint32_t spill_bytes;     /* per thread */
    uint32_t shared_bytes;    /* per block, at the block size asked for */
    uint32_t blocks_per_unit; /* resident, 0: unknown */
    const char *limited_by;   /* static text, or NULL */
    bool waits;               /* the loaded image is known to begin with griddepcontrol.wait, or its
                                 like, in every thread: an edge into it may be programmatic */
};

/* ---- Plans ---------------------------------------------------------------------------------- */

enum gantry_op_kind {
    GANTRY_OP_LAUNCH = 0,
    GANTRY_OP_COPY = 1,
    GANTRY_OP_FILL = 2,
    GANTRY_OP_JOIN = 3, /* does nothing; joins edges so that wide stages need few of them */
};

struct gantry_op_launch {
    struct gantry_drv_kernel *kernel;
    struct gantry_size blocks, block; /* every axis at least 1, within the limits */
    const void *args; /* inline arguments: for a folded entry a struct gantry_fold_args
                         whose addresses are relative to the table: see below */
    uint32_t args_size;
    uint32_t shared_bytes; /* dynamic: SHARED_BLOCK's element size times the block's threads */
};

struct gantry_op_copy {
    struct gantry_drv_memory *to, *from;
    uint64_t to_offset, from_offset;
    uint64_t size;                 /* bytes of a row */
    uint64_t rows;                 /* 0 or 1: a plain copy, whose pitches don't count */
    uint64_t to_pitch, from_pitch; /* bytes from one row to the next, at least size */
};

struct gantry_op_fill {
    struct gantry_drv_memory *memory;
    uint64_t offset, size; /* multiples of 4 */
    uint32_t pattern;
};

struct gantry_op {
    enum gantry_op_kind kind;
    bool folded;    /* a launch of the folded or the chained entry: its arguments need relocation */
    uint32_t stage; /* operations of one stage are independent; ops are sorted by stage */
    uint32_t chain; /* within its section; a backend may give each chain a stream */
    uint32_t command;  /* the first list command in it */
    const char *label; /* may be NULL */
    union {
        struct gantry_op_launch launch;
        struct gantry_op_copy copy;
        struct gantry_op_fill fill;
    };
};

/* `to` starts after `from`. With edges a backend needs no stages, with stages it needs no edges:
 * either order is sufficient. Edges point forward in the array of operations and are sorted by
 * `to`, then `from`; `programmatic` ones join two launches. Within a stage edges ask for more than
 * the list does: they lay its operations on a few chains. */
struct gantry_edge {
    uint32_t from, to;
    bool programmatic;
};

/* The inline arguments of a folded entry, the same bytes on host and device (kernel.h asserts
 * them). The table holds, at `launches`, one gantry_fold_launch per launch, and at `args` the
 * argument structs, `stride` bytes apart. Block i of the operation's grid is the linear block y *
 * grid.x + x; it belongs to the last launch whose `first` is not above it; linear blocks from
 * `blocks` on leave at once, and so does a block whose number within its launch is not below the
 * launch's x * y * z: a launch may have been patched to fewer blocks than `first` leaves room for.
 *
 * The chained entry takes the same. It runs on one block, which runs the `count` launches one after
 * the other, each of one block, with a barrier that orders global and shared memory between them; a
 * launch with a zero among x, y and z is skipped.
 *
 * In a plan `launches` and `args` are offsets into the plan's table: the
 * backend adds the address at which it keeps the table. */
struct gantry_fold_args {
    uint64_t launches; /* address of struct gantry_fold_launch[count], a multiple of 8 */
    uint64_t args;     /* address of the argument structs, a multiple of 16 */
    uint64_t blocks;   /* linear blocks in all */
    uint32_t count;    /* launches */
    uint32_t stride;   /* bytes from one argument struct to the next, a multiple of 16 */
    uint32_t equal;    /* blocks of each launch where all are the same: found by a division;
                          0: by a binary search */
    uint32_t reserved; /* 0 */
};

struct gantry_fold_launch {
    uint64_t first;   /* linear number of the launch's first block */
    uint32_t x, y, z; /* its grid in blocks */
    uint32_t reserved;
};

struct gantry_plan {
    const struct gantry_op *ops;
    uint32_t op_count;
    const struct gantry_edge *edges;
    uint32_t edge_count;
    uint32_t stage_count;
    const void *table;   /* argument table of folded operations; the plugin keeps a copy in memory
                            that   the device reads fast */
    uint64_t table_size; /* bytes, 0: none */
    bool patchable;      /* submissions of the built plan may patch the table */
    bool host_writes;    /* some operation writes readback memory */
    const char *label;   /* the list's */
};

/* ---- Queues --------------------------------------------------------------------------------- */

struct gantry_backend_queue_params {
    enum gantry_queue_kind kind;
    int priority;
    const char *label;
    struct gantry_queue_stats
        *stats; /* lives as long as the queue; the plugin adds to builds, rebuilds,
                   driver_submits, allocations and fallbacks while it submits */
};

/* Work that must be done before a submission starts. */
struct gantry_backend_wait {
    struct gantry_drv_queue *queue; /* never the submitting one */
    uint64_t value;                 /* was submitted before */
};

struct gantry_backend_submission {
    const struct gantry_backend_wait *waits;
    uint32_t wait_count;
    uint64_t value; /* the queue's counter must read this when the work is done; greater than that
                       of the submission before, mostly by one: values of lost work are left out */

    /* Bytes to write into the built plan's table before it runs, after all earlier work of the
     * queue; they are copied before submit returns. patch_size 0: none. Multiples of 4. */
    const void *patch;
    uint64_t patch_offset, patch_size;
};

/* ---- The entries ---------------------------------------------------------------------------- */

struct gantry_backend_ops {
    uint32_t size; /* of this struct as the plugin was compiled */

    /* Instance. Opening finds the driver; GANTRY_E_NO_DEVICE with a sentence when the machine has
     * none. Not called twice without a close between. */
    enum gantry_status (*instance_open)(const struct gantry_backend_services *services,
                                        const char *app_name,
                                        struct gantry_drv_instance **instance);
    void (*instance_close)(struct gantry_drv_instance *instance);

    /* Devices. The count includes devices that can't be used; describe says why. */
    uint32_t (*device_count)(struct gantry_drv_instance *instance);
    enum gantry_status (*device_describe)(struct gantry_drv_instance *instance, uint32_t index,
                                          struct gantry_backend_device_info *info);
    enum gantry_status (*device_open)(struct gantry_drv_instance *instance, uint32_t index,
                                      const struct gantry_backend_device_params *params,
                                      struct gantry_drv_device **device);
    void (*device_close)(struct gantry_drv_device *device);
    void (*device_native)(struct gantry_drv_device *device, struct gantry_native_device *native);

    /* Free and total bytes of device memory. Optional. NULL: unknown. */
    enum gantry_status (*device_memory)(struct gantry_drv_device *device, uint64_t *available,
                                        uint64_t *total);

    /* What the driver tells of the loss of a device, in sentences: addresses, the vendor's text.
     * Called once after an entry failed with GANTRY_E_DEVICE_LOST. Optional. NULL: nothing. */
    void (*device_fault)(struct gantry_drv_device *device, char *text, size_t size);

    /* Memory. GANTRY_E_OUT_OF_MEMORY leaves the device usable. */
    enum gantry_status (*memory_allocate)(struct gantry_drv_device *device, enum gantry_memory kind,
                                          uint64_t size, struct gantry_drv_memory *memory);
    void (*memory_free)(struct gantry_drv_device *device, struct gantry_drv_memory *memory);

    /* Lends the caller's own memory to the device: fills in memory (kind GANTRY_MEMORY_REGISTERED,
     * host == pointer, size at least `size`), which memory_free gives back. Any alignment.
     * GANTRY_E_UNSUPPORTED with the reason where it can't be had. Optional. NULL: never. */
    enum gantry_status (*memory_register)(struct gantry_drv_device *device, void *pointer,
                                          uint64_t size, struct gantry_drv_memory *memory);

    /* Kernels. kernel_block proposes a number of threads per block for the entry, at most the
     * kernel's own maximum. Optional. NULL: core proposes 256, clamped. */
    enum gantry_status (*kernel_block)(struct gantry_drv_device *device,
                                       const struct gantry_backend_kernel_params *params,
                                       uint32_t *threads);
    enum gantry_status (*kernel_create)(struct gantry_drv_device *device,
                                        const struct gantry_backend_kernel_params *params,
                                        struct gantry_drv_kernel **kernel,
                                        struct gantry_backend_kernel_info *info);
    void (*kernel_destroy)(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel);

    /* Queues. queue_completed never sleeps and is cheap enough to spin on. queue_wait sleeps until
     * the counter reaches value; timeout_ns is from now, GANTRY_FOREVER for none; GANTRY_TIMEOUT
     * when it passed. Of a lost device queue_completed may still store what is known to have
     * completed before the loss, which then narrows down what was in flight. */
    enum gantry_status (*queue_create)(struct gantry_drv_device *device,
                                       const struct gantry_backend_queue_params *params,
                                       struct gantry_drv_queue **queue);
    void (*queue_destroy)(struct gantry_drv_queue *queue);
    enum gantry_status (*queue_completed)(struct gantry_drv_queue *queue, uint64_t *value);
    enum gantry_status (*queue_wait)(struct gantry_drv_queue *queue, uint64_t value,
                                     uint64_t timeout_ns);
    void (*queue_native)(struct gantry_drv_queue *queue, struct gantry_native_queue *native);

    /* Plans. plan_build copies what it needs from the plan; it may go on referring to drv_kernels,
     * which outlive the drv_plan, and to drv_memory structs, which outlive its last submission. A
     * built plan may be submitted to any queue of its device, also while an earlier submission of
     * it runs; core orders two queues by waits. submit_once runs a plan without building it;
     * everything that it keeps it frees by itself after completion. A submission of zero operations
     * only signals. On failure nothing was submitted. */
    enum gantry_status (*plan_build)(struct gantry_drv_device *device,
                                     const struct gantry_plan *plan,
                                     struct gantry_drv_plan **built);
    void (*plan_destroy)(struct gantry_drv_plan *built);
    enum gantry_status (*submit)(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                                 const struct gantry_backend_submission *submission);
    enum gantry_status (*submit_once)(struct gantry_drv_queue *queue,
                                      const struct gantry_plan *plan,
                                      const struct gantry_backend_submission *submission);
};

/* The plugin's descriptor: `const struct gantry_backend gantry_backend = {…};` */
struct gantry_backend {
    uint32_t magic;                /* GANTRY_BACKEND_MAGIC */
    uint16_t abi_major, abi_minor; /* GANTRY_BACKEND_ABI_MAJOR, …_MINOR */
    uint32_t size;                 /* of this struct */
    const char *name;              /* "cuda" */
    const char *version;           /* the plugin's own */
    const struct gantry_backend_ops *ops;
};

#define GANTRY_BACKEND_SYMBOL "gantry_backend"

#ifdef __cplusplus
}
#endif

#endif /* GANTRY_BACKEND_H */
