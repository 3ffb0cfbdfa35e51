/* The stand-in driver's own structs. README.md says what it is for.
 *
 * Types and prototypes are those of the plugin's symbol table, which is checked against NVIDIA's
 * cuda.h where there is one. One lock guards everything: entries take it, and kernels run under it.
 */
#ifndef GANTRY_TESTS_STANDIN_H
#define GANTRY_TESTS_STANDIN_H

#include "../../../backends/cuda/symbols.h"

#include <gantry/kernel_host.h>

#define EXPORT __attribute__((visibility("default")))

/* Results that the plugin has no name for. */
enum {
    STANDIN_INVALID_VALUE = 1,
    STANDIN_NOT_INITIALIZED = 3,
    STANDIN_INVALID_DEVICE = 101,
    STANDIN_NO_BINARY_FOR_GPU = 209,
    STANDIN_INVALID_PTX = 218,
    STANDIN_INVALID_HANDLE = 400,
};

/* ---- Settings: settings.c -------------------------------------------------------------------- */

enum { MAX_DEVICES = 16, MAX_OVERRIDES = 16 };

struct device {
    char name[128];
    int arch;
    unsigned char uuid[16];
    int pci_domain, pci_bus, pci_device;
    uint64_t memory;
    struct {
        int attribute, value;
    } overrides[MAX_OVERRIDES];
    int override_count;
};

struct settings {
    struct device devices[MAX_DEVICES];
    int device_count;
    int driver;
    uint64_t seed;
    bool eager, strict;
};

/* Read at the first call of any entry. A mistake is a fault and leaves the default. */
const struct settings *settings(void);

/* ---- Books: books.c -------------------------------------------------------------------------- */

/* The entries that the plugin does not use, but tests do: columns as in CUDA_DRIVER_MAP. */
#define EXTRA_MAP(X)                                                                  \
    X(cuDriverGetVersion, cuDriverGetVersion, 2020, "", NEEDED, (int *))              \
    X(cuGetProcAddress, cuGetProcAddress, 11030, "", NEEDED,                          \
      (const char *, void **, int, cuuint64_t))                                       \
    X(cuGetProcAddress_12000, cuGetProcAddress, 12000, "_v2", OPTIONAL,               \
      (const char *, void **, int, cuuint64_t, int *))                                \
    X(cuCtxSetCurrent, cuCtxSetCurrent, 4000, "", NEEDED, (CUcontext))                \
    X(cuMemcpyDtoH, cuMemcpyDtoH, 3020, "_v2", NEEDED, (void *, CUdeviceptr, size_t)) \
    X(cuCtxSynchronize, cuCtxSynchronize, 2000, "", NEEDED, (void))                   \
    X(cuGetExportTable, cuGetExportTable, 3000, "", NEEDED, (const void **, const CUuuid *))

enum entry {
#define X(member, base, pinned, suffix, need, prototype) ENTRY_##member,
    CUDA_DRIVER_MAP(X) EXTRA_MAP(X)
#undef X
        ENTRY_COUNT
};

extern const char *const entry_names[ENTRY_COUNT];

/* The entries have the plugin's names in C, and the driver's in the library. Those that only newer
 * drivers have are found through cuGetProcAddress alone, which knows what age is asked for. */
#define EXPORT_NEEDED EXPORT
#define EXPORT_OPTIONAL
#define X(member, base, pinned, suffix, need, prototype) \
    EXPORT_##need CUresult member prototype __asm__(#base suffix);
CUDA_DRIVER_MAP(X)
EXTRA_MAP(X)
#undef X

/* Something was used wrongly, or left behind. */
void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Every entry begins with one of these: takes the lock until the function is left, counts, fails
 * the call if that is planned, if cuInit() was not called, or if the device was lost. */
struct visit {
    CUresult result;
};
struct visit visit_enter(enum entry entry, bool initialised);
void visit_leave(const struct visit *visit);

#define VISIT_ANYTIME(entry)                                         \
    __attribute__((cleanup(visit_leave))) const struct visit visit = \
        visit_enter(ENTRY_##entry, false);                           \
    if (visit.result != CUDA_SUCCESS)                                \
    return visit.result
#define VISIT(entry)                                                 \
    __attribute__((cleanup(visit_leave))) const struct visit visit = \
        visit_enter(ENTRY_##entry, true);                            \
    if (visit.result != CUDA_SUCCESS)                                \
    return visit.result

/* The same, with the current context in `context`; none is a fault. */
#define VISIT_CONTEXT(entry)                                    \
    VISIT(entry);                                               \
    struct CUctx_st *context = context_required(ENTRY_##entry); \
    if (!context)                                               \
    return CUDA_ERROR_INVALID_CONTEXT

/* A kernel broke a context: every call in it fails from now on. poisoned() is that error, or
 * success. */
struct CUctx_st;
void poison_with(struct CUctx_st *context, CUresult result);
CUresult poisoned(const struct CUctx_st *context);

/* A fault, and its result. */
#define MISUSE(code, ...) (fault(__VA_ARGS__), (CUresult)(code))

/* ---- Objects --------------------------------------------------------------------------------- */

enum kind { KIND_MEMORY, KIND_STREAM, KIND_EVENT, KIND_MODULE, KIND_GRAPH, KIND_EXEC, KIND_COUNT };

/* The dead are kept, so that using one again is noticed. */
struct object {
    struct object *next;
    struct CUctx_st *context;
    enum kind kind;
    bool alive;
};

void object_add(struct object *object, enum kind kind, struct CUctx_st *context);

/* False, with a fault, for NULL, a dead object, or one of another context. */
bool object_check(const struct object *object, enum kind kind, const struct CUctx_st *context);
void object_kill(struct object *object);

/* The first of the living. */
struct object *objects(void);
const char *kind_name(enum kind kind);

struct CUctx_st {
    const struct device *device;
    int retained;
    CUresult poison; /* a sticky error */
    uint64_t used;   /* bytes of device memory */
};

/* What cuDeviceGetAttribute says; 0 for unknown ones. */
int attribute_of(const struct device *device, CUdevice_attribute attribute);

/* The thread's current context, or NULL; the same for entries that need one, with a fault. */
struct CUctx_st *context_current(void);
struct CUctx_st *context_required(enum entry entry);
struct CUctx_st *context_of_device(CUdevice device);

/* Faults for contexts that are still retained. */
void contexts_close(void);

/* A sticky error: the current context is broken, or without one all of them are. */
void contexts_break(CUresult result);

/* ---- Memory: memory.c ------------------------------------------------------------------------ */

enum memory_owner { MEMORY_DEVICE, MEMORY_HOST, MEMORY_REGISTERED };

struct memory {
    struct object object;
    unsigned char *start;
    size_t size;
    enum memory_owner owner; /* registered memory is the program's, without guards */
};

/* The allocation that holds the whole range; NULL: there is none alive. */
const struct memory *memory_find(uint64_t address, size_t size);

/* ---- Modules: image.c, module.c -------------------------------------------------------------- */

struct CUfunc_st {
    struct CUfunc_st *next;
    struct CUmod_st *module;
    char *name;
    gantry_host_entry *body; /* NULL: no host image has one */
    size_t args_size;        /* of the parameters */
    int static_shared, max_dynamic_shared, max_threads;
    bool waits; /* begins with griddepcontrol.wait */
};

struct CUmod_st {
    struct object object;
    struct CUfunc_st *functions;
    const char *refusal; /* why the image was not taken, for the JIT log */
};

/* Reads a cubin, PTX or fatbin and adds what it holds to the module. */
CUresult image_read(const void *data, const struct device *device, struct CUmod_st *module);
void functions_free(struct CUmod_st *module);

/* A kernel was left in its midst, with its image's lock held: modules that are loaded from now on
 * get their bodies from fresh copies. */
void host_images_renew(void);

/* ---- Work: work.c, stream.c, graph.c --------------------------------------------------------- */

enum work_kind { WORK_NOTHING, WORK_LAUNCH, WORK_COPY, WORK_FILL, WORK_WRITE };

/* What a stream or a graph's node does. */
struct work {
    enum work_kind kind;
    struct CUfunc_st *function;
    uint32_t blocks[3], block[3], shared;
    void *args; /* owned; of a copy: the source's bytes, when they were taken at once */
    size_t args_size;
    uint64_t to, from, value;
    size_t size;                       /* bytes, of a copy in a row; of a fill: elements of 4 */
    size_t rows, to_pitch, from_pitch; /* of a copy; rows at least 1 */
};

/* Each checks its arguments and fills in the work. */
CUresult work_launch(struct work *work, CUfunction function, const unsigned blocks[3],
                     const unsigned block[3], unsigned shared, void **params, void **extra);
CUresult work_copy(struct work *work, uint64_t to, uint64_t from, size_t size);
CUresult work_copy_rows(struct work *work, const CUDA_MEMCPY3D_v2 *params,
                        const struct CUctx_st *context);
CUresult work_fill(struct work *work, uint64_t to, uint32_t value, size_t count);

/* Its memory must still be there. */
void work_run(const struct work *work);
bool work_uses(const struct work *work, const void *object);

struct CUgraphNode_st {
    struct CUgraph_st *graph;
    uint32_t number;
    struct work work;
};

struct CUgraphExec_st {
    struct object object;
    struct CUgraph_st *source;
    uint32_t node_count;
    struct work *work;    /* of each node */
    uint32_t *degree;     /* per node: how many others it waits for */
    uint32_t *first_next; /* per node and one more: where in `next` its successors begin */
    uint32_t *next;
    uint32_t queued;  /* launches that have not completed */
    uint32_t running; /* of these, that have started */
};

enum task_kind { TASK_WORK, TASK_WAIT, TASK_GRAPH };

struct task {
    struct task *next;
    enum task_kind kind;
    struct work work;
    struct CUstream_st *awaited; /* TASK_WAIT: until that stream has done `number` tasks */
    uint64_t number;
    struct CUgraphExec_st *exec;
    bool started;
    uint32_t left;     /* nodes to run */
    uint32_t *missing; /* per node: predecessors to run first */
    uint32_t *ready;   /* nodes that may run now */
    uint32_t ready_count;
};

struct CUstream_st {
    struct object object;
    struct task *first, *last;
    uint64_t enqueued, done; /* tasks */
};

struct CUevent_st {
    struct object object;
    struct CUstream_st *stream; /* NULL: never recorded, and so complete */
    uint64_t number;
};

CUresult stream_enqueue(struct CUstream_st *stream, const struct task *task);

/* Lets the device work a little, if it likes. */
void progress(uint32_t most);
CUresult run_until(const struct CUstream_st *stream, uint64_t number);

/* Runs everything that the context has. */
CUresult run_all(const struct CUctx_st *context);

/* Whether queued work refers to a function, a module, an exec or memory. */
bool work_is_queued_on(const void *object);

#endif
