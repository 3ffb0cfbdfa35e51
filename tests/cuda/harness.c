#include "harness.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

static _Thread_local char sentence[4096];
static atomic_long live, until_failure;

_Noreturn void check_failed(const char *file, int line, const char *text)
{
    fprintf(stderr, "%s:%d: failed: %s\n  last error: %s\n", file, line, text, sentence);
    exit(1);
}

void check_equal(const char *file, int line, const char *text, unsigned long long got,
                 unsigned long long wanted)
{
    if (got == wanted)
        return;
    fprintf(stderr, "%s:%d: %s is %llu, wanted %llu\n", file, line, text, got, wanted);
    check_failed(file, line, text);
}

_Noreturn void skip(const char *reason)
{
    printf("skipped: %s\n", reason);
    exit(77);
}

/* ---- What core would lend ------------------------------------------------------------------- */

static void log_message(void *context, enum gantry_log_level level, const char *format, ...)
{
    va_list args;

    (void)context;
    if (level > GANTRY_LOG_WARNING)
        return;
    printf("  log %d: ", (int)level);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static enum gantry_status fail(void *context, enum gantry_status status, const char *format, ...)
{
    va_list args;

    (void)context;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return status;
}

static void *allocate_host(void *context, size_t size)
{
    void *memory;

    (void)context;
    if (atomic_load(&until_failure) > 0 && atomic_fetch_sub(&until_failure, 1) == 1)
        return NULL;
    memory = calloc(1, size ? size : 1);
    if (memory)
        atomic_fetch_add(&live, 1);
    return memory;
}

static void release_host(void *context, void *memory)
{
    (void)context;
    if (memory)
        atomic_fetch_sub(&live, 1);
    free(memory);
}

static const struct gantry_backend_services services = {
    .size = sizeof(services),
    .log = log_message,
    .fail = fail,
    .allocate = allocate_host,
    .release = release_host,
};

const char *last_error(void)
{
    return sentence;
}

long allocations(void)
{
    return atomic_load(&live);
}

void fail_allocation(long n)
{
    atomic_store(&until_failure, n);
}

/* ---- The bench ------------------------------------------------------------------------------ */

static const struct gantry_backend_ops *load_plugin(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct gantry_backend *backend;

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    backend = dlsym(library, GANTRY_BACKEND_SYMBOL);
    CHECK(backend && backend->magic == GANTRY_BACKEND_MAGIC);
    CHECK(backend->abi_major == GANTRY_BACKEND_ABI_MAJOR);
    CHECK_EQUAL(backend->ops->size, sizeof(*backend->ops));
    return backend->ops;
}

static void open_first_usable(struct bench *bench, enum gantry_submit_mode submit)
{
    struct gantry_backend_device_params params = {.size = sizeof(params), .submit = submit};

    for (uint32_t i = 0; i < bench->ops->device_count(bench->instance); i++) {
        CHECK_OK(bench->ops->device_describe(bench->instance, i, &bench->info));
        bench->index = i;
        if (bench->info.skipped[0] == '\0') {
            CHECK_OK(bench->ops->device_open(bench->instance, i, &params, &bench->device));
            return;
        }
        printf("%s: %s\n", bench->info.name, bench->info.skipped);
    }
    skip("no device can be used");
}

void bench_open(struct bench *bench, const char *plugin, enum gantry_submit_mode submit)
{
    struct gantry_backend_queue_params params = {.label = "bench", .stats = &bench->stats};
    enum gantry_status status;
    unsigned major, minor;

    memset(bench, 0, sizeof(*bench));
    bench->ops = load_plugin(plugin);
    bench->graphs = submit != GANTRY_SUBMIT_STREAM;
    status = bench->ops->instance_open(&services, "selftest", &bench->instance);
    if (status == GANTRY_E_NO_DEVICE)
        skip(sentence);
    CHECK_OK(status);
    open_first_usable(bench, submit);
    CHECK(sscanf(bench->info.driver_version, "%u.%u", &major, &minor) == 2);
    bench->driver = major * 100 + minor;
    CHECK_OK(bench->ops->queue_create(bench->device, &params, &bench->queue));
}

void bench_switch(struct bench *bench, enum gantry_submit_mode submit)
{
    struct gantry_backend_device_params device = {.size = sizeof(device), .submit = submit};
    struct gantry_backend_queue_params queue = {.label = "bench", .stats = &bench->stats};

    bench->ops->queue_destroy(bench->queue);
    bench->ops->device_close(bench->device);
    memset(&bench->stats, 0, sizeof(bench->stats));
    bench->value = 0;
    bench->graphs = submit != GANTRY_SUBMIT_STREAM;
    CHECK_OK(bench->ops->device_open(bench->instance, bench->index, &device, &bench->device));
    CHECK_OK(bench->ops->queue_create(bench->device, &queue, &bench->queue));
}

bool bench_try_open(struct bench *bench, const char *plugin)
{
    struct gantry_backend_device_params device = {.size = sizeof(device)};
    struct gantry_backend_queue_params queue = {.label = "bench", .stats = &bench->stats};

    memset(bench, 0, sizeof(*bench));
    bench->ops = load_plugin(plugin);
    if (bench->ops->instance_open(&services, "selftest", &bench->instance) != GANTRY_OK)
        return false;
    if (bench->ops->device_describe(bench->instance, 0, &bench->info) != GANTRY_OK)
        return false;
    if (bench->ops->device_open(bench->instance, 0, &device, &bench->device) != GANTRY_OK)
        return false;
    return bench->ops->queue_create(bench->device, &queue, &bench->queue) == GANTRY_OK;
}

void bench_try_close(struct bench *bench)
{
    if (bench->queue)
        bench->ops->queue_destroy(bench->queue);
    if (bench->device)
        bench->ops->device_close(bench->device);
    if (bench->instance)
        bench->ops->instance_close(bench->instance);
    CHECK_EQUAL(allocations(), 0);
}

void bench_close(struct bench *bench)
{
    bench->ops->queue_destroy(bench->queue);
    bench->ops->device_close(bench->device);
    bench->ops->instance_close(bench->instance);
    CHECK_EQUAL(allocations(), 0);
}

/* ---- Shorthands ----------------------------------------------------------------------------- */

struct gantry_drv_memory allocate(struct bench *bench, enum gantry_memory kind, uint64_t size)
{
    struct gantry_drv_memory memory = {0};

    CHECK_OK(bench->ops->memory_allocate(bench->device, kind, size, &memory));
    CHECK_EQUAL(memory.address % 256, 0);
    CHECK(memory.size >= size && memory.size % 4 == 0 && memory.kind == kind);
    CHECK((memory.host == NULL) == (kind == GANTRY_MEMORY_DEVICE));
    return memory;
}

uint32_t args_size_of(const char *kernel)
{
    static const struct {
        const char *kernel;
        uint32_t size;
    } rows[] = {
        {"affine", sizeof(struct affine_args)},
        {"affine_folded", sizeof(struct affine_args)},
        {"affine_chained", sizeof(struct affine_args)},
        {"several", sizeof(struct several_args)},
        {"reverse", sizeof(uint64_t)},
        {"spin", sizeof(struct spin_args)},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].kernel, kernel) == 0)
            return rows[i].size;
    }
    return 0;
}

static enum gantry_entry entry_of(const char *symbol)
{
    if (strstr(symbol, GANTRY_FOLDED_SUFFIX))
        return GANTRY_ENTRY_FOLDED;
    return strstr(symbol, GANTRY_CHAINED_SUFFIX) ? GANTRY_ENTRY_CHAINED : GANTRY_ENTRY_DIRECT;
}

enum gantry_status try_kernel(struct bench *bench, const char *name, uint32_t threads,
                              uint32_t shared_per_thread, struct gantry_drv_kernel **kernel,
                              struct gantry_backend_kernel_info *info)
{
    struct gantry_kernel_source source = {.name = name,
                                          .args_size = args_size_of(name),
                                          .shared_per_thread = shared_per_thread};
    const char *ptx = entry_of(name) == GANTRY_ENTRY_CHAINED ? chained_ptx : kernels_ptx;
    struct gantry_backend_image image = {
        .kind = GANTRY_IMAGE_PTX,
        .entry = GANTRY_ENTRY_ALL,
        .arch = 75,
        .isa_version = 63,
        .name = "",
        .data = ptx,
        .size = strlen(ptx),
    };
    struct gantry_backend_kernel_params params = {
        .source = &source,
        .entry = entry_of(name),
        .symbol = name,
        .block = {threads, 1, 1},
        .images = &image,
        .image_count = 1,
    };

    return bench->ops->kernel_create(bench->device, &params, kernel, info);
}

struct gantry_drv_kernel *make_kernel(struct bench *bench, const char *name, uint32_t threads,
                                      uint32_t shared_per_thread)
{
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;

    CHECK_OK(try_kernel(bench, name, threads, shared_per_thread, &kernel, &info));
    CHECK(info.max_threads >= threads && info.registers > 0 && info.blocks_per_unit > 0);
    CHECK(info.limited_by && !info.waits);
    CHECK(strcmp(info.image, "ptx compute_75 (.version 6.3)") == 0);
    return kernel;
}

struct gantry_drv_kernel *make_early_kernel(struct bench *bench, const char *ptx)
{
    struct gantry_kernel_source source = {.name = "affine",
                                          .args_size = sizeof(struct affine_args)};
    struct gantry_backend_image image = {.kind = GANTRY_IMAGE_PTX,
                                         .entry = GANTRY_ENTRY_ALL,
                                         .arch = 90,
                                         .isa_version = 78,
                                         .name = "",
                                         .data = ptx,
                                         .size = strlen(ptx),
                                         .packaged = true};
    struct gantry_backend_kernel_params params = {.source = &source,
                                                  .symbol = "affine",
                                                  .block = {256, 1, 1},
                                                  .images = &image,
                                                  .image_count = 1};
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;

    CHECK_OK(bench->ops->kernel_create(bench->device, &params, &kernel, &info));
    CHECK(info.waits);
    return kernel;
}

struct gantry_op launch_op(struct gantry_drv_kernel *kernel, uint32_t blocks, uint32_t threads,
                           const void *args, uint32_t size)
{
    return (struct gantry_op){.kind = GANTRY_OP_LAUNCH,
                              .launch = {.kernel = kernel,
                                         .blocks = {blocks, 1, 1},
                                         .block = {threads, 1, 1},
                                         .args = args,
                                         .args_size = size}};
}

struct gantry_op copy_op(struct gantry_drv_memory *to, uint64_t to_offset,
                         struct gantry_drv_memory *from, uint64_t from_offset, uint64_t size)
{
    return (struct gantry_op){.kind = GANTRY_OP_COPY,
                              .copy = {to, from, to_offset, from_offset, size}};
}

struct gantry_op fill_op(struct gantry_drv_memory *memory, uint64_t offset, uint64_t size,
                         uint32_t pattern)
{
    return (struct gantry_op){.kind = GANTRY_OP_FILL, .fill = {memory, offset, size, pattern}};
}

void run_once(struct bench *bench, const struct gantry_plan *plan)
{
    struct gantry_backend_submission submission = {.value = ++bench->value};

    CHECK_OK(bench->ops->submit_once(bench->queue, plan, &submission));
    CHECK_OK(bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER));
}

void run_ops(struct bench *bench, struct gantry_op *ops, uint32_t count)
{
    struct gantry_edge edges[8];
    struct gantry_plan plan = {.ops = ops,
                               .op_count = count,
                               .edges = edges,
                               .edge_count = count - 1,
                               .stage_count = count};

    CHECK(count <= sizeof(edges) / sizeof(edges[0]));
    for (uint32_t i = 0; i < count; i++) {
        ops[i].stage = i;
        if (i > 0)
            edges[i - 1] = (struct gantry_edge){i - 1, i, false};
    }
    run_once(bench, &plan);
}

void run_built(struct bench *bench, struct gantry_drv_plan *built)
{
    struct gantry_backend_submission submission = {.value = ++bench->value};

    CHECK_OK(bench->ops->submit(bench->queue, built, &submission));
    CHECK_OK(bench->ops->queue_wait(bench->queue, bench->value, GANTRY_FOREVER));
}

void upload(struct bench *bench, struct gantry_drv_memory *to, const void *bytes, uint64_t size)
{
    struct gantry_drv_memory staging = allocate(bench, GANTRY_MEMORY_UPLOAD, size);
    struct gantry_op op = copy_op(to, 0, &staging, 0, size);

    memcpy(staging.host, bytes, size);
    run_ops(bench, &op, 1);
    bench->ops->memory_free(bench->device, &staging);
}

void download(struct bench *bench, struct gantry_drv_memory *from, void *bytes, uint64_t size)
{
    struct gantry_drv_memory staging = allocate(bench, GANTRY_MEMORY_READBACK, size);
    struct gantry_op op = copy_op(&staging, 0, from, 0, size);

    run_ops(bench, &op, 1);
    memcpy(bytes, staging.host, size);
    bench->ops->memory_free(bench->device, &staging);
}
