/* gantry: write a GPU kernel once, record launches into lists, run them through CUDA or Vulkan.
 *
 * This is the whole public API. Rules that hold for every function below:
 *
 * Errors. A function that can fail returns enum gantry_status, or an id or pointer whose zero value
 * means failure. After a failure gantry_last_error() holds one sentence that says what was asked,
 * the value, the limit and what to do. gantry never aborts, exits or raises, and prints nothing
 * unless a log callback or the variable GANTRY_LOG asks for it. Signals, the locale, the floating
 * point environment and a thread's current CUDA context are the program's and stay as they are;
 * errno may have any value after a call.
 *
 * Creation. Every create function takes a pointer to a params struct that is read only during the
 * call; NULL, or a struct of zeros, means the defaults. On failure NULL is stored in the handle.
 *
 * Destruction. Every destroy, close and unload function takes the address of the handle, accepts a
 * NULL handle or a NULL address, and stores NULL. Destroying an object that queued work still uses
 * is legal: its memory goes back after everything that was submitted to its device before the call.
 *
 * Lifetime. An object must not outlive the one it was made from: close devices before their
 * struct gantry, destroy queues, buffers, lists, kernels and modules before their device. A list
 * keeps the kernels that it launches alive, a kernel keeps its module. Launches hold raw device
 * addresses, so a list does NOT keep the buffers of its launches alive: submitting one that refers
 * to a destroyed buffer is the caller's error. (A copy, fill, upload or download of a destroyed
 * buffer is refused when it is submitted.)
 *
 * Threads. Different objects may be used from different threads at once. A queue may be used from
 * any thread, also from several at once. Every other object must not be used by two threads at
 * once, unless its comment says so. Strings that a function returns stay valid as its comment says.
 *
 * Processes. After fork() the child gets GANTRY_E_FORKED for every object that the parent made.
 * Destroying them there only forgets them: their locks and the driver's state are the parent's. The
 * child can open gantry anew, but where the parent had done so, drivers of GPUs don't work in the
 * child, and gantry_device_open() says so: fork before gantry_open(), or start the child with
 * exec(). Any other child should end by _exit(): the exit handlers of some drivers crash in it.
 *
 * Exit. Drivers shut down in exit handlers, so gantry registers one of its own with atexit() behind
 * theirs, in gantry_open() and gantry_device_open(), which only notes that the process is ending.
 * What the program does later (in a handler that it registered before opening, or in the destructor
 * of an older static object) gets GANTRY_E_INVALID_STATE, gantry_open() too, and destroying only
 * forgets. Handlers that were registered after the devices were opened run earlier and may do
 * everything. Leaving things open at the end of a process is legal.
 *
 * Sizes and offsets are bytes, 64 bits, and checked for overflow. Grids count blocks, blocks count
 * threads; launches state threads unless the name says blocks. */
#ifndef GANTRY_GANTRY_H
#define GANTRY_GANTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GANTRY_VERSION_MAJOR 0
#define GANTRY_VERSION_MINOR 1
#define GANTRY_VERSION_PATCH 0

#if defined(GANTRY_BUILDING)
#define GANTRY_API __attribute__((visibility("default")))
#else
#define GANTRY_API
#endif

/* ---- Status ------------------------------------------------------------------------------- */

/* One row per status: name, value, short text. Values are stable across versions. */
#define GANTRY_STATUS_MAP(X)                                                     \
    X(OK, 0, "success")                                                          \
    X(NOT_READY, 1, "the point has not been reached yet")                        \
    X(TIMEOUT, 2, "the time limit passed before the point was reached")          \
    X(E_INVALID_ARGUMENT, -1, "invalid argument")                                \
    X(E_INVALID_STATE, -2, "the object is in the wrong state for this call")     \
    X(E_WRONG_DEVICE, -3, "objects of different devices were mixed")             \
    X(E_LIMIT, -4, "a limit of the device or of gantry was exceeded")            \
    X(E_OVERFLOW, -5, "a size or an offset does not fit 64 bits")                \
    X(E_OUT_OF_HOST_MEMORY, -6, "out of host memory")                            \
    X(E_OUT_OF_MEMORY, -7, "out of device memory")                               \
    X(E_NOT_FOUND, -8, "not found")                                              \
    X(E_NO_DEVICE, -9, "no usable device")                                       \
    X(E_UNSUPPORTED, -10, "not supported by this device or backend")             \
    X(E_CONFIG, -11, "mistake in a configuration file or variable")              \
    X(E_PACKAGE, -12, "not a valid kernel package")                              \
    X(E_NO_IMAGE, -13, "no kernel image in the package runs on this device")     \
    X(E_LAYOUT, -14, "argument layout of the program and of the package differ") \
    X(E_IO, -15, "a file could not be read or written")                          \
    X(E_PLUGIN, -16, "a backend plugin could not be used")                       \
    X(E_DRIVER, -17, "the driver reported an error")                             \
    X(E_DEVICE_LOST, -18, "the device was lost")                                 \
    X(E_FORKED, -19, "the object belongs to the parent process")

enum gantry_status {
#define X(name, value, text) GANTRY_##name = value,
    GANTRY_STATUS_MAP(X)
#undef X
};

/* The status's name, as "GANTRY_E_LIMIT", and its short text. Never NULL; static. */
GANTRY_API const char *gantry_status_name(enum gantry_status status);
GANTRY_API const char *gantry_status_text(enum gantry_status status);

/* The sentence for this thread's latest failure, "" before any. Valid until the thread's next
 * gantry call. Calls that succeed leave it as it is. */
GANTRY_API const char *gantry_last_error(void);

/* "0.1.0"; static. */
GANTRY_API const char *gantry_version(void);

/* ---- Common types ------------------------------------------------------------------------- */

/* An address in a device's memory, as kernels see it. 0 is no address. */
typedef uint64_t gantry_ptr;

/* A number of threads or of blocks along three axes. In a launch an axis of 0 makes the launch
 * empty: it succeeds and runs nothing. Along axes that a kernel does not have (y and z of a
 * one-dimensional kernel) 0 and 1 mean the same, and more is an error: (struct gantry_size){.x = n}
 * will do. */
struct gantry_size {
    uint32_t x, y, z;
};

struct gantry;
struct gantry_device;
struct gantry_queue;
struct gantry_buffer;
struct gantry_module;
struct gantry_kernel;
struct gantry_list;

/* A moment in a queue's work: reached when everything submitted to the queue up to and including
 * the submission that returned it has completed. {NULL, 0} is a point that is always reached.
 * A point must not be used after its queue was destroyed. */
struct gantry_point {
    struct gantry_queue *queue;
    uint64_t value;
};

enum gantry_log_level {
    GANTRY_LOG_OFF = 0,
    GANTRY_LOG_ERROR = 1,
    GANTRY_LOG_WARNING = 2,
    GANTRY_LOG_INFO = 3,
    GANTRY_LOG_DEBUG = 4,
};

/* ---- Opening ------------------------------------------------------------------------------ */

struct gantry_params {
    const char *app_name; /* shown to drivers; NULL: "gantry" */

    /* One more INI file, or INI text, weaker than the user's own files and the environment.
     * A mistake in either is an error. At most one of the two may be set. */
    const char *config_file;
    const char *config_text;

    /* INI text that is stronger than every file and variable, but not than what API calls demand:
     * for programs that compare values, such as `gantry tune`. A mistake in it is an error. */
    const char *override_text;

    /* Folders to search for plugins before any other, separated by ':'. A relative folder is an
     * error: the current directory is never searched. */
    const char *plugin_path;

    /* Called for messages at log_level and more severe, from any thread that calls gantry, one
     * message at a time. The text has no newline. The callback must not call gantry.
     * log_level 0 with a callback means GANTRY_LOG_WARNING. */
    void (*log)(void *user, enum gantry_log_level level, const char *text);
    void *log_user;
    enum gantry_log_level log_level;
};

/* Reads the configuration, loads the plugins of the backends that it names, and lists the devices.
 * Succeeds without any plugin, driver or device. Fails for mistakes in named configuration files
 * (GANTRY_E_CONFIG), bad params, and when host memory runs out. */
GANTRY_API enum gantry_status gantry_open(const struct gantry_params *params, struct gantry **g);

/* Closes everything. Devices that are still open are closed first, with all that belongs to them.
 */
GANTRY_API void gantry_close(struct gantry **g);

/* ---- What was found ----------------------------------------------------------------------- */

/* One backend that the configuration names, or that a searched folder holds. */
struct gantry_backend_info {
    const char *name; /* "cuda" */
    bool loaded;
    const char *path;    /* the plugin's file, NULL when none was found */
    const char *version; /* the plugin's own version, NULL when not loaded */
    const char *reason;  /* when not loaded, or loaded without a device: why, naming every place
                            that was searched; otherwise NULL */
    uint32_t device_count;
};

/* Strings stay valid until gantry_close(). */
GANTRY_API uint32_t gantry_backend_count(struct gantry *g);
GANTRY_API enum gantry_status gantry_backend_describe(struct gantry *g, uint32_t index,
                                                      struct gantry_backend_info *info);

/* What became of one place where a backend's plugin was looked for. X(NAME, value, text). */
#define GANTRY_ATTEMPT_MAP(X)                                             \
    X(LOADED, 0, "loaded")                                                \
    X(MISSING, 1, "not there")                                            \
    X(UNREADABLE, 2, "there, but can't be read")                          \
    X(NOT_A_LIBRARY, 3, "not a shared library for this machine")          \
    X(MISSING_DEPENDENCY, 4, "needs a library or symbol that is missing") \
    X(NO_DESCRIPTOR, 5, "a library, but no gantry plugin")                \
    X(WRONG_ABI, 6, "a plugin for another version of the contract")       \
    X(REFUSED, 7, "a plugin that can't be used for another reason")

enum gantry_attempt_outcome {
#define X(name, value, text) GANTRY_ATTEMPT_##name = value,
    GANTRY_ATTEMPT_MAP(X)
#undef X
};

/* "WRONG_ABI", …; static. */
GANTRY_API const char *gantry_attempt_name(enum gantry_attempt_outcome outcome);

struct gantry_backend_attempt {
    const char *path; /* of the file */
    enum gantry_attempt_outcome outcome;
    const char *text; /* the whole story: the loader's own words, both versions; "" when loaded */
};

/* The places that were searched for a backend, in their order. Strings stay valid until
 * gantry_close(). */
GANTRY_API uint32_t gantry_backend_attempt_count(struct gantry *g, uint32_t backend_index);
GANTRY_API enum gantry_status gantry_backend_attempt(struct gantry *g, uint32_t backend_index,
                                                     uint32_t i,
                                                     struct gantry_backend_attempt *attempt);

enum gantry_device_type {
    GANTRY_DEVICE_OTHER = 0,
    GANTRY_DEVICE_INTEGRATED = 1,
    GANTRY_DEVICE_DISCRETE = 2,
    GANTRY_DEVICE_VIRTUAL = 3,
    GANTRY_DEVICE_CPU = 4,
};

/* "discrete", …; static. */
GANTRY_API const char *gantry_device_type_name(enum gantry_device_type type);

/* What a device can do. X(NAME, bit, text). Kernels record what they need in the same bits. */
#define GANTRY_FEATURE_MAP(X)                                  \
    X(HALF, 0, "16-bit float arithmetic")                      \
    X(DOUBLE, 1, "64-bit float arithmetic")                    \
    X(INT64, 2, "64-bit integer arithmetic")                   \
    X(INT8, 3, "8-bit storage")                                \
    X(INT16, 4, "16-bit storage")                              \
    X(SUBGROUP_BALLOT, 5, "subgroup votes and ballots")        \
    X(SUBGROUP_SHUFFLE, 6, "subgroup shuffles")                \
    X(SUBGROUP_ARITHMETIC, 7, "subgroup reductions and scans") \
    X(ATOMIC_FLOAT_ADD, 8, "atomic addition of 32-bit floats") \
    X(ATOMIC_INT64, 9, "64-bit integer atomics")               \
    X(MEMORY_MODEL, 10, "the Vulkan memory model, device scope")

enum gantry_feature {
#define X(name, bit, text) GANTRY_FEATURE_##name = 1 << bit,
    GANTRY_FEATURE_MAP(X)
#undef X
};

struct gantry_limits {
    uint64_t max_buffer_size;       /* bytes */
    uint64_t memory_size;           /* bytes of device memory */
    uint32_t max_threads_per_block; /* product of the three axes */
    struct gantry_size max_block;   /* threads per axis */
    struct gantry_size max_blocks;  /* blocks per axis; larger grids are split by gantry */
    uint32_t max_shared_bytes;      /* per block */
    uint32_t max_args_bytes;        /* argument struct */
    uint32_t inline_args_bytes;     /* larger ones go through a table in memory */
    uint32_t subgroup_size;         /* the usual one */
    uint32_t subgroup_min, subgroup_max;
    uint32_t compute_units;    /* 0: unknown */
    uint32_t threads_per_unit; /* resident threads per compute unit, 0: unknown */
};

#define GANTRY_MAX_DEVICE_BACKENDS 8

/* One physical GPU. When several backends see it, they are listed in the order of preference. */
struct gantry_device_info {
    uint32_t index;
    const char *name;
    enum gantry_device_type type;
    const char *uuid;   /* "GPU-xxxxxxxx-…" in lower case; NULL: unknown */
    const char *pci;    /* "0000:01:00.0"; NULL: unknown */
    uint32_t vendor_id; /* PCI vendor: 0x10de; above 0xffff Khronos's number; 0: unknown */
    uint32_t backend_count;
    struct {
        const char *backend;        /* "cuda" */
        uint32_t index;             /* its number there: cuda:0 */
        const char *driver_version; /* as the driver writes it */
        const char *arch;           /* "sm_90"; "" where the backend has no such notion */
        const char *skipped;        /* why this view can't be used; NULL: it can */
    } backends[GANTRY_MAX_DEVICE_BACKENDS];

    /* What gantry_device_open() would choose for this device. */
    const char *chosen_backend;  /* NULL: none can be used */
    const char *chosen_section;  /* "[gpu NVIDIA H200] at FILE:LINE", "built-in" */
    struct gantry_limits limits; /* of the chosen backend's view */
    uint32_t features;           /* enum gantry_feature bits */

    /* Where block sizes and grid sizes that nobody set come from, for people: which query of the
     * driver, or what it does not tell. NULL: unknown. */
    const char *occupancy_source;
};

/* Strings stay valid until gantry_close(). Safe from any thread. Besides the devices below the
 * count, the indices that gantry_config_device() and gantry_config_profile() return can be
 * described. */
GANTRY_API uint32_t gantry_device_count(struct gantry *g);
GANTRY_API enum gantry_status gantry_device_describe(struct gantry *g, uint32_t index,
                                                     struct gantry_device_info *info);

/* ---- Configuration ------------------------------------------------------------------------ */

/* One effective value of the configuration. */
struct gantry_config_value {
    const char *key;
    const char *value;   /* as text, in the key's own notation */
    const char *origin;  /* "built-in", "FILE:LINE" or "environment NAME" */
    const char *section; /* the section whose rule won, as "[policy]"; NULL for built-in values and
                            the environment */
    uint32_t override_count;
    const char *const *overrides; /* what it beat, strongest first: "VALUE (ORIGIN, [SECTION])" */
    const char *clamped; /* what a limit of the device makes of the value, and which one: "1024: the
                            device takes …"; NULL: it holds as it stands */
};

/* The keys and their effective values for one device, or with device_index UINT32_MAX the values
 * that hold where no section for a device does. Strings stay valid until gantry_close(). */
GANTRY_API uint32_t gantry_config_count(struct gantry *g, uint32_t device_index);
GANTRY_API enum gantry_status gantry_config_get(struct gantry *g, uint32_t device_index, uint32_t i,
                                                struct gantry_config_value *value);

/* The files that were read, weakest first; NULL past the end. Valid until gantry_close(). */
GANTRY_API const char *gantry_config_file(struct gantry *g, uint32_t i);

struct gantry_device_params;

/* Finds the device and backend that gantry_device_open() would open with these params, and opens
 * nothing. *index is for gantry_device_describe(), gantry_config_count() and gantry_config_get():
 * the device's own, or another when the backend is not the one that is chosen by itself. Where
 * devices have been described with gantry_config_profile(), they are chosen from. Fails as
 * gantry_device_open() does; *index is then UINT32_MAX. Any thread. */
GANTRY_API enum gantry_status
gantry_config_device(struct gantry *g, const struct gantry_device_params *params, uint32_t *index);

/* Describes a device that is not here, so that the configuration can be asked what it would get:
 * *index is for gantry_device_describe(), gantry_config_count() and gantry_config_get() only. Of
 * the profile, name, type, uuid, pci, vendor_id, limits and backends (each one's backend, index,
 * arch and skipped) count; it is seen through chosen_backend, or when that is NULL through the
 * first that the configuration allows and that is not skipped. Members that are zero or NULL are
 * unknown. Several devices so described are those of one machine. Everything is copied. Fails with
 * GANTRY_E_INVALID_ARGUMENT for what no device can be like. Not while another thread asks about
 * this g's configuration. */
GANTRY_API enum gantry_status
gantry_config_profile(struct gantry *g, const struct gantry_device_info *profile, uint32_t *index);

/* One remark on a configuration file. Strings are valid during the callback. */
struct gantry_config_remark {
    const char *file;
    uint32_t line; /* from 1; 0: the whole file */
    bool mistake;  /* false: legal, but doubtful */
    const char *text;
};

struct gantry_config_check_params {
    const char *file; /* a file … */
    const char *text; /* … or text of `size` bytes; then file is what remarks call it */
    size_t size;

    /* Packages whose kernels block_size.KERNEL keys are compared with: names that none of them has,
     * and blocks that the kernel can't take, are remarked on. */
    const struct gantry_package *const *packages;
    uint32_t package_count;

    void (*remark)(void *user, const struct gantry_config_remark *remark); /* may be NULL */
    void *user;
};

/* Reads INI text as gantry_open() would read a file that somebody named, and passes every remark to
 * the callback, in the order of the lines. Changes nothing. GANTRY_OK when there is no mistake,
 * GANTRY_E_CONFIG when there is one, GANTRY_E_IO when the file can't be read. Any thread. */
GANTRY_API enum gantry_status gantry_config_check(const struct gantry_config_check_params *params);

/* ---- Devices ------------------------------------------------------------------------------ */

struct gantry_device_params {
    /* Which device: "auto", an index, a name pattern, "uuid:…", "pci:…" or "cuda:0". NULL: what the
     * configuration says. A selector that matches nothing is an error that lists the devices.
     * Unless one is named, a CPU device is taken only when there is no other. */
    const char *device;
    const char *backend; /* "cuda" or "vulkan": a demand. NULL: the configuration's order */
    const char *label;   /* for messages; NULL: the device's name; copied */
};

/* Fails with GANTRY_E_NO_DEVICE when there is none, naming what was found and why it was refused.
 */
GANTRY_API enum gantry_status gantry_device_open(struct gantry *g,
                                                 const struct gantry_device_params *params,
                                                 struct gantry_device **device);

/* Waits for the device's work, then frees it. Objects of the device that still exist become
 * invalid; destroying them afterwards is an error that only a debugger sees, so destroy them first.
 */
GANTRY_API void gantry_device_close(struct gantry_device **device);

/* As gantry_device_describe(), for an open device: chosen_* say how it was opened. */
GANTRY_API enum gantry_status gantry_device_info(struct gantry_device *device,
                                                 struct gantry_device_info *info);

/* Driver handles, for programs that mix gantry with their own driver code. */
struct gantry_native_device {
    const char *backend; /* says which members count */
    int cuda_device;
    void *cuda_context; /* CUcontext, the device's primary context */
    void *vk_instance;  /* VkInstance, VkPhysicalDevice, VkDevice */
    void *vk_physical_device;
    void *vk_device;
};
GANTRY_API enum gantry_status gantry_device_native(struct gantry_device *device,
                                                   struct gantry_native_device *native);

/* What is known of the loss of a device, several lines: which call found it, the driver's words,
 * the submissions that had not completed, each with its queue, list and launches (kernel, label,
 * arguments; inside a graph or a fold that is a set, and is called so). NULL: it is not lost. Valid
 * until the device is closed. Any thread. */
GANTRY_API const char *gantry_device_loss(struct gantry_device *device);

/* ---- Queues ------------------------------------------------------------------------------- */

enum gantry_queue_kind {
    GANTRY_QUEUE_COMPUTE = 0,
    GANTRY_QUEUE_TRANSFER = 1, /* copies and fills only; may share hardware with compute */
};

struct gantry_queue_params {
    enum gantry_queue_kind kind;
    int priority;      /* 0 normal, > 0 more urgent, < 0 less; a hint */
    const char *label; /* for messages and traces; NULL: "queue N"; copied */
};

/* A queue runs what is submitted to it in the order of submission. Several queues of one device may
 * share one of the driver's. */
GANTRY_API enum gantry_status gantry_queue_create(struct gantry_device *device,
                                                  const struct gantry_queue_params *params,
                                                  struct gantry_queue **queue);

/* Waits for the queue's work. Must not overlap with another call that uses the queue, which
 * includes submissions of lists whose last submission was to this queue. */
GANTRY_API void gantry_queue_destroy(struct gantry_queue **queue);

struct gantry_native_queue {
    const char *backend;
    void *cuda_stream; /* CUstream */
    void *vk_queue;    /* VkQueue; gantry may submit to it at any time from other threads */
    uint32_t vk_family;
    uint64_t vk_timeline; /* VkSemaphore of type timeline, counting the queue's points */
};
GANTRY_API enum gantry_status gantry_queue_native(struct gantry_queue *queue,
                                                  struct gantry_native_queue *native);

/* Why a slower way was taken. X(NAME, text). */
#define GANTRY_FALLBACK_MAP(X)                                                                \
    X(ARGS_IN_TABLE, "arguments larger than the device takes inline, read from a table")      \
    X(GRID_LAID_OUT, "grid over the device's limit, laid out in two dimensions")              \
    X(NO_GRAPH, "list run as single launches: the driver refused a graph")                    \
    X(NO_PROGRAMMATIC, "programmatic edges made full: the driver or an image lacks them")     \
    X(LIST_BUSY, "replay waited: every instance of a list with host transfers was in flight") \
    X(GRAPH_REBUILT, "a recycled graph was built anew: the driver refused an update")         \
    X(NO_CHAIN, "dependent single blocks not folded: the image or the device can't order them")

enum gantry_fallback {
#define X(name, text) GANTRY_FALLBACK_##name,
    GANTRY_FALLBACK_MAP(X)
#undef X
        GANTRY_FALLBACK_COUNT
};

/* Why an open batch of streamed commands went out. X(NAME, text). */
#define GANTRY_BATCH_MAP(X)                                    \
    X(IDLE, "the device had nothing to do")                    \
    X(FULL, "it held enough: commands or bytes of a transfer") \
    X(TIME, "its estimated time reached batch_max_ms")         \
    X(FLUSH, "gantry_queue_flush, or the end of the queue")    \
    X(LOOK, "someone waited for or polled a point inside it")  \
    X(ORDER, "a list was submitted behind it, or another queue waits for it")

enum gantry_batch {
#define X(name, text) GANTRY_BATCH_##name,
    GANTRY_BATCH_MAP(X)
#undef X
        GANTRY_BATCH_COUNT
};

/* Counters since the queue was created. */
struct gantry_queue_stats {
    uint64_t submissions; /* lists and batches that reached the driver: replays and oneshots */
    uint64_t launches;    /* kernel launches in them */
    uint64_t replays;     /* submissions of finished lists */
    uint64_t oneshots;    /* submissions of unfinished lists and of batches */
    uint64_t streamed;    /* launches among them that came through gantry_queue_launch */
    uint64_t batches[GANTRY_BATCH_COUNT]; /* batches, by the reason why they went out */
    uint64_t folded;                      /* launches that shared an operation with others */
    uint64_t patches;                     /* submissions that began with a patch */
    uint64_t rebuilds;                    /* graphs built anew because an update was refused */
    uint64_t builds;                      /* graphs instantiated or command buffers recorded */
    uint64_t driver_submits; /* cuGraphLaunch, cuLaunchKernel and vkQueueSubmit calls */
    uint64_t allocations;    /* driver memory allocated while submitting */
    uint64_t spins;          /* waits that ended while spinning */
    uint64_t blocking_waits; /* waits that slept */
    uint64_t fallbacks[GANTRY_FALLBACK_COUNT];
};
/* Any thread; the open batch is not counted before it goes out. */
GANTRY_API enum gantry_status gantry_queue_stats(struct gantry_queue *queue,
                                                 struct gantry_queue_stats *stats);

/* ---- Memory ------------------------------------------------------------------------------- */

/* The memory of an open device, as this struct gantry_device sees it. Bytes. */
struct gantry_memory_info {
    uint64_t total;        /* the device has; 0: unknown */
    uint64_t budget;       /* this process can have, what it has included; 0: unknown */
    uint64_t used;         /* in buffers and in gantry's own needs, as they were asked for */
    uint64_t reserved;     /* taken from the driver: used, cached and lost to rounding */
    uint64_t cached;       /* reserved and free for new buffers */
    uint64_t largest_free; /* the largest buffer that fits into what is cached */
    uint64_t peak;         /* most that was ever used */
    uint64_t host_used;    /* upload and readback memory, of which the above count nothing */
    uint32_t blocks;       /* blocks from the driver, of all kinds of memory */
    uint32_t buffers;      /* live */
};

/* Any thread. */
GANTRY_API enum gantry_status gantry_device_memory(struct gantry_device *device,
                                                   struct gantry_memory_info *info);

/* Gives cached memory back to the driver. Waits for nothing: memory of destroyed buffers that work
 * still uses stays. gantry does so by itself before it reports that there is no memory left, and
 * with what is more than worth keeping (docs/memory.md) while the device is idle. Any thread. */
GANTRY_API enum gantry_status gantry_device_trim(struct gantry_device *device);

/* ---- Buffers ------------------------------------------------------------------------------ */

enum gantry_memory {
    GANTRY_MEMORY_DEVICE = 0,     /* the device's own memory; no host address */
    GANTRY_MEMORY_UPLOAD = 1,     /* host memory that the device reads; written by the host */
    GANTRY_MEMORY_READBACK = 2,   /* host memory that the device writes; cached for host reads */
    GANTRY_MEMORY_REGISTERED = 3, /* the caller's own: only through gantry_host_register() */
};

struct gantry_buffer_params {
    uint64_t size; /* bytes, 1 .. limits.max_buffer_size */
    enum gantry_memory memory;
    bool zero; /* fill with zeros before the call returns; otherwise contents are undefined */
    const char *label; /* for messages; may be NULL; copied */
};

/* A buffer is a range of memory that one device can address; its address is a multiple of 256. */
GANTRY_API enum gantry_status gantry_buffer_create(struct gantry_device *device,
                                                   const struct gantry_buffer_params *params,
                                                   struct gantry_buffer **buffer);
GANTRY_API void gantry_buffer_destroy(struct gantry_buffer **buffer);

/* The address to put into kernel arguments; any address inside the buffer is as good. 0 for NULL.
 */
GANTRY_API gantry_ptr gantry_buffer_address(const struct gantry_buffer *buffer);

/* The host's view of an upload or readback buffer, NULL for device memory. Always coherent: no
 * flush is needed, but reads must wait for the point of the work that wrote. */
GANTRY_API void *gantry_buffer_host(const struct gantry_buffer *buffer);
GANTRY_API uint64_t gantry_buffer_size(const struct gantry_buffer *buffer);

struct gantry_host_params {
    void *pointer; /* the caller's memory; any alignment */
    uint64_t size; /* bytes, at least 1 */
    const char *label;
};

/* Makes the caller's memory a buffer: the device reads and writes it where it is, copies to and
 * from it go at the speed of the bus, and recorded uploads and downloads of host memory inside it
 * need no staging. The memory must stay mapped until the buffer is destroyed;
 * gantry_buffer_destroy() waits for the work that was given to the device before, so that the
 * memory is the caller's alone when it returns. Fails with GANTRY_E_UNSUPPORTED where the driver
 * can't take foreign memory, or not this one (such as read-only mappings), and says why; with
 * GANTRY_E_INVALID_STATE where a part of it is registered already. The memory is then as it was.
 * Page-locking costs time and memory that the system can't swap: register what is used often. */
GANTRY_API enum gantry_status gantry_host_register(struct gantry_device *device,
                                                   const struct gantry_host_params *params,
                                                   struct gantry_buffer **buffer);

/* ---- Packages, modules and kernels -------------------------------------------------------- */

enum gantry_scalar {
    GANTRY_SCALAR_POINTER = 0, /* 8 bytes, a gantry_ptr */
    GANTRY_SCALAR_INT8 = 1,
    GANTRY_SCALAR_UINT8 = 2,
    GANTRY_SCALAR_INT16 = 3,
    GANTRY_SCALAR_UINT16 = 4,
    GANTRY_SCALAR_INT32 = 5,
    GANTRY_SCALAR_UINT32 = 6,
    GANTRY_SCALAR_INT64 = 7,
    GANTRY_SCALAR_UINT64 = 8,
    GANTRY_SCALAR_HALF = 9,
    GANTRY_SCALAR_FLOAT = 10,
    GANTRY_SCALAR_DOUBLE = 11,
};

/* "pointer", "int8", …; static. */
GANTRY_API const char *gantry_scalar_name(enum gantry_scalar type);

struct gantry_field_info {
    const char *name;
    enum gantry_scalar type;
    uint32_t offset, size; /* bytes; size is of the whole field */
    uint32_t count;        /* elements of an array, 1 for a plain field */
    const char *pointee;   /* for a pointer: the type it points to, as the source writes it */

    /* For a pointer, what validation holds a launch against (see the key validate): */
    uint32_t pointee_size; /* bytes of one element; 0: unknown */
    bool may_be_null;
    bool written;         /* some code of the kernel can write through it; true when unknown */
    uint32_t reach_count; /* factors of the number of elements that the kernel can reach, at most 3;
                             0: not stated */
    struct {
        int32_t field; /* of the argument struct, a whole number; -1: the number below counts */
        uint64_t number;
    } reach[3];
};

enum gantry_image_kind {
    GANTRY_IMAGE_SPIRV = 1,  /* one entry of one kernel, entry point "main" */
    GANTRY_IMAGE_CUBIN = 2,  /* every kernel of the file, for one architecture */
    GANTRY_IMAGE_FATBIN = 3, /* likewise, several */
    GANTRY_IMAGE_PTX = 4,    /* every entry of one kernel, as text */
    GANTRY_IMAGE_SOURCE =
        5,                 /* CUDA C++ for NVRTC: the first is the main file, others are included */
    GANTRY_IMAGE_HOST = 6, /* an ELF shared object for the host's processor (tests) */
};

/* "spirv", …; static. */
GANTRY_API const char *gantry_image_kind_name(enum gantry_image_kind kind);

enum gantry_entry {
    GANTRY_ENTRY_DIRECT = 0,  /* takes its arguments by value */
    GANTRY_ENTRY_FOLDED = 1,  /* takes them from a table in device memory */
    GANTRY_ENTRY_ALL = 2,     /* the image holds every entry */
    GANTRY_ENTRY_CHAINED = 3, /* one block runs several launches one after the other, arguments from
                                 a table; only for kernels without early_return */
};

struct gantry_image_info {
    enum gantry_image_kind kind;
    enum gantry_entry entry;
    const char *kernel;   /* NULL: every kernel of the package */
    const char *name;     /* a source file's name; otherwise "" */
    uint32_t arch;        /* 90 for sm_90 (cubin) or compute_90 (PTX); 0: none */
    uint32_t isa_version; /* PTX: 63 for .version 6.3; SPIR-V: 15 for 1.5; otherwise 0 */
    uint32_t features;    /* enum gantry_feature bits that this image needs */
    uint64_t size;        /* bytes */
};

/* What a package says of one kernel. Also what a user states who brings images without a package.
 */
struct gantry_kernel_source {
    const char *name;
    const char *args_name;
    uint32_t args_size; /* bytes */
    uint32_t field_count;
    const struct gantry_field_info *fields;
    uint32_t dimensions;        /* 1 to 3 */
    struct gantry_size block;   /* BLOCK(); {0, 0, 0}: chosen for the device */
    uint32_t block_multiple;    /* threads per block must be a multiple; 0 or 1: any */
    uint32_t block_max;         /* threads per block at most; 0: the device's limit */
    bool block_pow2;            /* threads per block must be a power of two */
    bool grid_stride;           /* may run on fewer blocks than threads / block */
    bool early_return;          /* a thread can return before a BARRIER or a subgroup operation */
    uint32_t shared_bytes;      /* fixed */
    uint32_t shared_per_thread; /* SHARED_BLOCK element, bytes */
    uint32_t features;          /* enum gantry_feature bits that every image needs */
    double tolerance;           /* largest relative difference between backends; 0: bit-equal */
    uint64_t layout_hash;       /* of the argument struct: names, types, offsets */
};

/* A package read without a device, for tools. Strings and arrays stay valid until it is closed. */
struct gantry_package;
struct gantry_package_params {
    const char *file; /* either a file … */
    const void *data; /* … or bytes, copied */
    size_t size;
};
GANTRY_API enum gantry_status gantry_package_open(const struct gantry_package_params *params,
                                                  struct gantry_package **package);
GANTRY_API void gantry_package_close(struct gantry_package **package);
GANTRY_API const char *gantry_package_name(const struct gantry_package *package);
GANTRY_API uint32_t gantry_package_kernel_count(const struct gantry_package *package);
GANTRY_API enum gantry_status gantry_package_kernel(const struct gantry_package *package,
                                                    uint32_t i, struct gantry_kernel_source *info);
GANTRY_API uint32_t gantry_package_image_count(const struct gantry_package *package);
GANTRY_API enum gantry_status gantry_package_image(const struct gantry_package *package, uint32_t i,
                                                   struct gantry_image_info *info,
                                                   const void **data);

/* One image that the user made without gantry compile. */
struct gantry_user_image {
    enum gantry_image_kind kind; /* SPIRV, CUBIN, FATBIN or PTX; direct entries only */
    const void *data;
    size_t size;
    uint32_t arch; /* cubin: 90 for sm_90; 0: unknown, it is tried */
};

struct gantry_module_params {
    const char *file; /* a package: a file … */
    const void *data; /* … or bytes, copied */
    size_t size;

    /* Or, instead of a package: one kernel with the images that implement it. Everything is copied.
     * The entry point is source->name ("main" in SPIR-V, where local sizes are the specialization
     * constants 0, 1, 2 and the arguments are push constants). */
    const struct gantry_kernel_source *source;
    const struct gantry_user_image *images;
    uint32_t image_count;

    const char *label; /* for messages and "block_size.LABEL/kernel"; NULL: the package's name */
};

/* A module is a set of kernels on one device. Nothing is sent to the driver before a kernel is
 * made. */
GANTRY_API enum gantry_status gantry_module_load(struct gantry_device *device,
                                                 const struct gantry_module_params *params,
                                                 struct gantry_module **module);
GANTRY_API void gantry_module_unload(struct gantry_module **module);

struct gantry_kernel_params {
    struct gantry_size block; /* a demand, for kernels without BLOCK(); {0, 0, 0}: policy, then the
                                 device's occupancy. Zero axes of a partly set block count as 1. */
    uint64_t layout_hash;     /* from the generated header; 0: not compared */
};

/* Fails with GANTRY_E_NOT_FOUND (the text lists the module's kernels), GANTRY_E_LAYOUT,
 * GANTRY_E_UNSUPPORTED (a feature that the device lacks), GANTRY_E_LIMIT (block or shared memory),
 * GANTRY_E_NO_IMAGE (the text lists every image and why it was refused). */
GANTRY_API enum gantry_status gantry_kernel_create(struct gantry_module *module, const char *name,
                                                   const struct gantry_kernel_params *params,
                                                   struct gantry_kernel **kernel);
GANTRY_API void gantry_kernel_destroy(struct gantry_kernel **kernel);

struct gantry_kernel_info {
    const char *name;
    struct gantry_size block;
    const char
        *block_origin;     /* "BLOCK() in the source", "caller", "FILE:LINE", "device occupancy" */
    const char *image;     /* the image that was taken: "cubin sm_90" */
    uint32_t max_threads;  /* per block, for this kernel on this device */
    uint32_t registers;    /* per thread; 0: unknown */
    uint32_t spill_bytes;  /* local memory per thread */
    uint32_t shared_bytes; /* per block */
    uint32_t blocks_per_unit; /* resident blocks per compute unit; 0: unknown */
    double occupancy;         /* 0 to 1; 0: unknown */
    const char *limited_by;   /* "threads", "registers", "shared memory", "blocks"; NULL: unknown */
};

/* Strings stay valid until the kernel is destroyed. */
GANTRY_API enum gantry_status gantry_kernel_describe(struct gantry_kernel *kernel,
                                                     struct gantry_kernel_info *info);

/* What became of one image of a kernel on the module's device. */
struct gantry_image_verdict {
    struct gantry_image_info image;
    bool used;        /* gantry_kernel_create() takes this one for the direct entry */
    const char *text; /* why it can't be used; NULL: it can */
};

/* Tries every image that may hold the kernel's direct entry, one by one, and passes each verdict to
 * the callback, the preferred image first. Takes as long as loading them all. GANTRY_OK when one
 * can be used, otherwise the failure of gantry_kernel_create(). Strings are valid during the
 * callback. */
GANTRY_API enum gantry_status
gantry_module_examine(struct gantry_module *module, const char *kernel,
                      void (*verdict)(void *user, const struct gantry_image_verdict *verdict),
                      void *user);

/* ---- Launch lists ------------------------------------------------------------------------- */

struct gantry_list_params {
    const char *label; /* for messages and traces; NULL: "list"; copied */
};

/* A list records commands. By default each command waits for the one before it.
 *
 * Recording functions return the command's id (1, 2, …) or 0 on failure. The first failure stays in
 * the list: later recording calls fail at once, and finish and submit return its status.
 * Zero-sized copies, fills and launches succeed, get an id and do nothing. */
GANTRY_API enum gantry_status gantry_list_create(struct gantry_device *device,
                                                 const struct gantry_list_params *params,
                                                 struct gantry_list **list);
GANTRY_API void gantry_list_destroy(struct gantry_list **list);

/* Runs at least `threads` threads: ceil(threads / block) blocks along each axis, so kernels guard
 * their index. args is the kernel's argument struct, size its size; it is copied at once. */
GANTRY_API uint32_t gantry_list_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                                       struct gantry_size threads, const void *args, size_t size);

/* The same in blocks, for kernels with a fixed BLOCK(). */
GANTRY_API uint32_t gantry_list_launch_blocks(struct gantry_list *list,
                                              struct gantry_kernel *kernel,
                                              struct gantry_size blocks, const void *args,
                                              size_t size);

/* Ranges of one buffer must not overlap. */
GANTRY_API uint32_t gantry_list_copy(struct gantry_list *list, struct gantry_buffer *to,
                                     uint64_t to_offset, struct gantry_buffer *from,
                                     uint64_t from_offset, uint64_t size);

/* Writes the 32-bit pattern; offset and size are multiples of 4. */
GANTRY_API uint32_t gantry_list_fill(struct gantry_list *list, struct gantry_buffer *buffer,
                                     uint64_t offset, uint64_t size, uint32_t pattern);

/* The host memory is read between gantry_queue_submit() and the submission's point, anew on each
 * submission; it must stay as it is until then. */
GANTRY_API uint32_t gantry_list_upload(struct gantry_list *list, struct gantry_buffer *to,
                                       uint64_t offset, const void *from, uint64_t size);

/* The host memory has been written when gantry_wait() or gantry_poll() has found the submission's
 * point, or a later one of its queue, reached. Uploads that read it must be submitted after that.
 */
GANTRY_API uint32_t gantry_list_download(struct gantry_list *list, struct gantry_buffer *from,
                                         uint64_t offset, void *to, uint64_t size);

/* A rectangle of bytes: rows of one width, apart by a pitch that may differ between the two sides.
 * Rows of one side must not overlap. Zero rows, or rows of no bytes, are nothing. */
struct gantry_rect {
    uint64_t width; /* bytes of a row */
    uint64_t rows;
    uint64_t to_pitch, from_pitch; /* bytes from the start of one row to that of the next, at least
                                      width; 0: width */
};

/* As gantry_list_copy(), _upload() and _download(), for rectangles. The offsets are those of the
 * first row. Within one buffer no byte may belong to both sides of a copy: sides whose ranges, each
 * from its first byte to its last, meet are taken only when both have the same pitch and their
 * columns are apart. */
GANTRY_API uint32_t gantry_list_copy_rect(struct gantry_list *list, struct gantry_buffer *to,
                                          uint64_t to_offset, struct gantry_buffer *from,
                                          uint64_t from_offset, const struct gantry_rect *rect);
GANTRY_API uint32_t gantry_list_upload_rect(struct gantry_list *list, struct gantry_buffer *to,
                                            uint64_t offset, const void *from,
                                            const struct gantry_rect *rect);
GANTRY_API uint32_t gantry_list_download_rect(struct gantry_list *list, struct gantry_buffer *from,
                                              uint64_t offset, void *to,
                                              const struct gantry_rect *rect);

/* Names the commands that follow, up to the next label; NULL or "" ends it. Copied. */
GANTRY_API uint32_t gantry_list_label(struct gantry_list *list, const char *text);

/* Commands of a concurrent section do not wait for each other; the section waits for what came
 * before it, and what comes after waits for all of it. An ordered group inside a section is a
 * sequence of commands that do wait for each other. Neither nests. */
GANTRY_API enum gantry_status gantry_list_begin_concurrent(struct gantry_list *list);
GANTRY_API enum gantry_status gantry_list_end_concurrent(struct gantry_list *list);
GANTRY_API enum gantry_status gantry_list_begin_ordered(struct gantry_list *list);
GANTRY_API enum gantry_status gantry_list_end_ordered(struct gantry_list *list);

/* A launch whose arguments and number of threads can be changed between submissions of the finished
 * list, without rebuilding anything. It never runs more than max_threads (0 counts as 1 in axes
 * that are 0 in both, unless all are: then it never runs); threads is what it runs until
 * gantry_list_set_threads() says otherwise. A kernel marked GRID_STRIDE loops over what its blocks
 * leave: how far is up to its arguments, and threads only sizes its grid. */
GANTRY_API uint32_t gantry_list_launch_patchable(struct gantry_list *list,
                                                 struct gantry_kernel *kernel,
                                                 struct gantry_size threads,
                                                 struct gantry_size max_threads, const void *args,
                                                 size_t size);

/* Change a patchable launch of a finished list, by its id: `size` bytes of its arguments from
 * `offset`; all of them; its threads. Submissions made before the call keep the values that they
 * had. */
GANTRY_API enum gantry_status gantry_list_set_arg(struct gantry_list *list, uint32_t id,
                                                  uint32_t offset, const void *data, size_t size);
GANTRY_API enum gantry_status gantry_list_set_args(struct gantry_list *list, uint32_t id,
                                                   const void *args, size_t size);
GANTRY_API enum gantry_status gantry_list_set_threads(struct gantry_list *list, uint32_t id,
                                                      struct gantry_size threads);

/* Makes the list immutable and ready to be submitted any number of times, also while earlier
 * submissions of it run, on any queue of its device (a second queue waits on the device). */
GANTRY_API enum gantry_status gantry_list_finish(struct gantry_list *list);

/* What finishing made of the list. */
struct gantry_list_info {
    bool finished;
    uint32_t commands; /* recorded, labels included */
    uint32_t launches;
    uint32_t operations; /* of the plan; 0 before finish */
    uint32_t stages;     /* groups of operations with a barrier between them */
    uint32_t edges, programmatic_edges;
    uint32_t folded;  /* launches that share an operation with others */
    uint32_t chained; /* of these, launches in runs of dependent single blocks */
};
GANTRY_API enum gantry_status gantry_list_describe(struct gantry_list *list,
                                                   struct gantry_list_info *info);

/* ---- Submitting and waiting --------------------------------------------------------------- */

/* Gives the list to the queue, to run after the queue's earlier work and after `count` points of
 * queues of the same device. *point, which may be NULL, gets the submission's point.
 *
 * A finished list is replayed. An unfinished one runs once and is empty afterwards, ready to record
 * again; its open sections must be closed. An empty list succeeds and its point is reached when
 * everything before it has been.
 *
 * Does not wait for the device, except for a finished list with uploads or downloads of which three
 * submissions are still running. A failure leaves the queue as it was. */
GANTRY_API enum gantry_status gantry_queue_submit(struct gantry_queue *queue,
                                                  struct gantry_list *list,
                                                  const struct gantry_point *waits, uint32_t count,
                                                  struct gantry_point *point);

/* Streaming: commands given to the queue one at a time. They gather in the queue's open batch,
 * which goes out by itself when the call finds the device idle (unless commands come faster than
 * they can be submitted), when it holds the policy's batch_size commands, when its estimated time
 * reaches batch_max_ms (few commands until some have been timed), and whenever someone looks at a
 * point inside it (gantry_wait, gantry_poll, another queue's wait, a list submitted behind it). A
 * program that stops calling must call gantry_queue_flush(): gantry has no threads of its own.
 *
 * Each command waits for the one before it, whichever thread gave it. *point, which may be NULL,
 * gets the command's point, which is that of its whole batch. A command that is refused, for its
 * arguments or want of memory, leaves the batch as it was. A batch that the driver refuses is lost:
 * the call that sent it and waits for its points return that failure, a warning is logged, and
 * later batches go on.
 *
 * An upload has copied the host memory when it returns; a download has written it when its point is
 * found reached by gantry_wait() or gantry_poll(). Both go through staging_mib of memory in pieces,
 * of which large ones go out at once, and wait for the device while all of it is in flight. Two
 * kinds go without: to and from registered memory (uploads only when they are larger than
 * staging_mib), and uploads to device memory that the host can write, when the queue has nothing
 * else to do. Zero-sized commands do nothing; their point is that of the work before them. What a
 * command uses may be destroyed when the call has returned. */
GANTRY_API enum gantry_status gantry_queue_launch(struct gantry_queue *queue,
                                                  struct gantry_kernel *kernel,
                                                  struct gantry_size threads, const void *args,
                                                  size_t size, struct gantry_point *point);
GANTRY_API enum gantry_status gantry_queue_upload(struct gantry_queue *queue,
                                                  struct gantry_buffer *to, uint64_t offset,
                                                  const void *from, uint64_t size,
                                                  struct gantry_point *point);
GANTRY_API enum gantry_status gantry_queue_download(struct gantry_queue *queue,
                                                    struct gantry_buffer *from, uint64_t offset,
                                                    void *to, uint64_t size,
                                                    struct gantry_point *point);
GANTRY_API enum gantry_status gantry_queue_copy(struct gantry_queue *queue,
                                                struct gantry_buffer *to, uint64_t to_offset,
                                                struct gantry_buffer *from, uint64_t from_offset,
                                                uint64_t size, struct gantry_point *point);
GANTRY_API enum gantry_status gantry_queue_fill(struct gantry_queue *queue,
                                                struct gantry_buffer *buffer, uint64_t offset,
                                                uint64_t size, uint32_t pattern,
                                                struct gantry_point *point);

/* The same for rectangles. */
GANTRY_API enum gantry_status
gantry_queue_copy_rect(struct gantry_queue *queue, struct gantry_buffer *to, uint64_t to_offset,
                       struct gantry_buffer *from, uint64_t from_offset,
                       const struct gantry_rect *rect, struct gantry_point *point);
GANTRY_API enum gantry_status gantry_queue_upload_rect(struct gantry_queue *queue,
                                                       struct gantry_buffer *to, uint64_t offset,
                                                       const void *from,
                                                       const struct gantry_rect *rect,
                                                       struct gantry_point *point);
GANTRY_API enum gantry_status
gantry_queue_download_rect(struct gantry_queue *queue, struct gantry_buffer *from, uint64_t offset,
                           void *to, const struct gantry_rect *rect, struct gantry_point *point);

/* Sends the open batch, if there is one; its failure when the driver refuses it. Does not wait for
 * the device. */
GANTRY_API enum gantry_status gantry_queue_flush(struct gantry_queue *queue);

#define GANTRY_FOREVER UINT64_MAX

/* Waits until the point is reached: GANTRY_OK, GANTRY_TIMEOUT after timeout_ns (the wait can be
 * repeated), GANTRY_E_DEVICE_LOST. Spins for the policy's spin_us, then sleeps. Any thread. */
GANTRY_API enum gantry_status gantry_wait(struct gantry_point point, uint64_t timeout_ns);

/* GANTRY_OK when the point is reached, GANTRY_NOT_READY when not. Never sleeps. Any thread. */
GANTRY_API enum gantry_status gantry_poll(struct gantry_point point);

#ifdef __cplusplus
}
#endif

#endif /* GANTRY_GANTRY_H */
