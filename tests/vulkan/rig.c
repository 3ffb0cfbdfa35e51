#include "rig.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig rig;

static _Thread_local char error[4096];
static atomic_long live;
static atomic_long until_failure = -1;

/* ---- Services ------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static enum gantry_status
service_fail(void *context, enum gantry_status status, const char *format, ...)
{
    va_list args;

    (void)context;
    va_start(args, format);
    vsnprintf(error, sizeof(error), format, args);
    va_end(args);
    return status;
}

__attribute__((format(printf, 3, 4))) static void
service_log(void *context, enum gantry_log_level level, const char *format, ...)
{
    (void)context;
    (void)level;
    (void)format;
}

static void *service_allocate(void *context, size_t size)
{
    void *memory = NULL;

    (void)context;
    if (until_failure < 0 || until_failure-- > 0)
        memory = calloc(1, size);
    if (memory)
        live++;
    return memory;
}

static void service_release(void *context, void *memory)
{
    (void)context;
    if (memory)
        live--;
    free(memory);
}

const char *rig_error(void)
{
    return error;
}

long rig_live(void)
{
    return live;
}

void rig_fail_after(long allocations)
{
    until_failure = allocations;
}

/* ---- The plugin ----------------------------------------------------------------------------- */

bool rig_load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    rig.backend = dlsym(library, GANTRY_BACKEND_SYMBOL);
    if (!rig.backend) {
        fprintf(stderr, "%s exports no " GANTRY_BACKEND_SYMBOL "\n", path);
        return false;
    }
    rig.ops = rig.backend->ops;
    rig.services = (struct gantry_backend_services){
        .size = sizeof(rig.services),
        .log = service_log,
        .fail = service_fail,
        .allocate = service_allocate,
        .release = service_release,
    };
    return true;
}

bool rig_open(void)
{
    if (rig.ops->instance_open(&rig.services, "test", &rig.instance) == GANTRY_OK)
        return true;
    fprintf(stderr, "no Vulkan: %s\n", error);
    return false;
}

void rig_close(void)
{
    rig.ops->instance_close(rig.instance);
    rig.instance = NULL;
}

int rig_setup_device(void **state)
{
    struct gantry_backend_device_params params = {
        .size = sizeof(params),
        .queue_family = GANTRY_FAMILY_AUTO,
        .transfer_family = GANTRY_FAMILY_AUTO,
    };

    (void)state;
    return rig.ops->device_open(rig.instance, rig.device_index, &params, &rig.device);
}

int rig_teardown_device(void **state)
{
    (void)state;
    rig.ops->device_close(rig.device);
    rig.device = NULL;
    return 0;
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static const uint32_t direct_words[] = {
#include "tests/vulkan/step_direct.inc"
};

static const uint32_t folded_words[] = {
#include "tests/vulkan/step_folded.inc"
};

static const uint32_t chained_words[] = {
#include "tests/vulkan/step_chained.inc"
};

const struct gantry_kernel_source step_source = {
    .name = "step",
    .args_name = "step_args",
    .args_size = sizeof(struct step_args),
    .dimensions = 1,
};

const struct gantry_backend_image step_images[3] = {
    {.kind = GANTRY_IMAGE_SPIRV,
     .entry = GANTRY_ENTRY_DIRECT,
     .isa_version = 15,
     .name = "",
     .data = direct_words,
     .size = sizeof(direct_words)},
    {.kind = GANTRY_IMAGE_SPIRV,
     .entry = GANTRY_ENTRY_FOLDED,
     .isa_version = 15,
     .name = "",
     .data = folded_words,
     .size = sizeof(folded_words)},
    {.kind = GANTRY_IMAGE_SPIRV,
     .entry = GANTRY_ENTRY_CHAINED,
     .isa_version = 15,
     .features = GANTRY_FEATURE_MEMORY_MODEL,
     .name = "",
     .data = chained_words,
     .size = sizeof(chained_words)},
};

struct gantry_drv_kernel *rig_kernel(enum gantry_entry entry)
{
    struct gantry_backend_kernel_params params = {
        .source = &step_source,
        .entry = entry,
        .symbol = "step",
        .block = {STEP_BLOCK, 1, 1},
        .images = step_images,
        .image_count = 3,
    };
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;

    assert_ok(rig.ops->kernel_create(rig.device, &params, &kernel, &info));
    return kernel;
}

/* ---- Memory --------------------------------------------------------------------------------- */

struct gantry_drv_memory rig_memory(enum gantry_memory kind, uint64_t size)
{
    struct gantry_drv_memory memory;

    assert_ok(rig.ops->memory_allocate(rig.device, kind, size, &memory));
    return memory;
}

void rig_free(struct gantry_drv_memory *memory)
{
    rig.ops->memory_free(rig.device, memory);
}

/* ---- Queues and plans ----------------------------------------------------------------------- */

void line_open(struct line *line, enum gantry_queue_kind kind)
{
    struct gantry_backend_queue_params params = {
        .kind = kind,
        .label = "test queue",
        .stats = &line->stats,
    };

    memset(line, 0, sizeof(*line));
    assert_ok(rig.ops->queue_create(rig.device, &params, &line->queue));
}

void line_close(struct line *line)
{
    line_wait(line);
    rig.ops->queue_destroy(line->queue);
}

void line_submit(struct line *line, struct gantry_drv_plan *plan)
{
    struct gantry_backend_submission submission = {.value = line->value + 1};

    assert_ok(rig.ops->submit(line->queue, plan, &submission));
    line->value++;
}

void line_patch(struct line *line, struct gantry_drv_plan *plan, uint64_t offset, const void *patch,
                uint64_t size)
{
    struct gantry_backend_submission submission = {
        .value = line->value + 1,
        .patch = patch,
        .patch_offset = offset,
        .patch_size = size,
    };

    assert_ok(rig.ops->submit(line->queue, plan, &submission));
    line->value++;
}

void line_once(struct line *line, const struct gantry_plan *plan)
{
    struct gantry_backend_submission submission = {.value = line->value + 1};

    assert_ok(rig.ops->submit_once(line->queue, plan, &submission));
    line->value++;
}

void line_wait(struct line *line)
{
    assert_ok(rig.ops->queue_wait(line->queue, line->value, GANTRY_FOREVER));
}

void line_spin(struct line *line)
{
    uint64_t completed;

    do
        assert_ok(rig.ops->queue_completed(line->queue, &completed));
    while (completed < line->value);
}

struct gantry_op op_step(uint32_t stage, struct gantry_drv_kernel *kernel,
                         const struct step_args *args)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_LAUNCH,
        .stage = stage,
        .label = "step",
        .launch = {.kernel = kernel,
                   .blocks = {(args->n + STEP_BLOCK - 1) / STEP_BLOCK, 1, 1},
                   .block = {STEP_BLOCK, 1, 1},
                   .args = args,
                   .args_size = sizeof(*args)},
    };
}

struct gantry_op op_copy(uint32_t stage, struct gantry_drv_memory *to,
                         struct gantry_drv_memory *from, uint64_t size)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_COPY,
        .stage = stage,
        .copy = {.to = to, .from = from, .size = size},
    };
}

struct gantry_op op_fill(uint32_t stage, struct gantry_drv_memory *memory, uint64_t offset,
                         uint64_t size, uint32_t pattern)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_FILL,
        .stage = stage,
        .fill = {.memory = memory, .offset = offset, .size = size, .pattern = pattern},
    };
}

struct gantry_plan plan_of(const struct gantry_op *ops, uint32_t count)
{
    return (struct gantry_plan){
        .ops = ops,
        .op_count = count,
        .stage_count = count ? ops[count - 1].stage + 1 : 0,
        .host_writes = true,
        .label = "test plan",
    };
}

struct gantry_drv_plan *built_of(const struct gantry_op *ops, uint32_t count)
{
    struct gantry_plan plan = plan_of(ops, count);
    struct gantry_drv_plan *built;

    assert_ok(rig.ops->plan_build(rig.device, &plan, &built));
    return built;
}

/* ---- Folded launches ------------------------------------------------------------------------ */

void fold_open(struct fold *fold, uint32_t count)
{
    uint64_t launches = (count * sizeof(*fold->table) + 15) / 16 * 16;

    memset(fold, 0, sizeof(*fold));
    fold->size = launches + count * FOLD_STRIDE;
    fold->table = test_calloc(1, fold->size);
    fold->inline_args = (struct gantry_fold_args){.args = launches, .stride = FOLD_STRIDE};
}

void fold_close(struct fold *fold)
{
    test_free(fold->table);
}

struct step_args *fold_args(const struct fold *fold, uint32_t launch)
{
    return (struct step_args *)((char *)fold->table + fold_offset(fold, launch));
}

uint64_t fold_offset(const struct fold *fold, uint32_t launch)
{
    return fold->inline_args.args + launch * FOLD_STRIDE;
}

void fold_add(struct fold *fold, const struct step_args *args, uint32_t blocks)
{
    uint32_t used = (args->n + STEP_BLOCK - 1) / STEP_BLOCK;
    uint32_t launch = fold->count++;

    fold->table[launch] = (struct gantry_fold_launch){fold->blocks, used, 1, 1, 0};
    *fold_args(fold, launch) = *args;
    fold->blocks += blocks;
    fold->inline_args.count = fold->count;
    fold->inline_args.blocks = fold->blocks;
}

struct gantry_op fold_op(const struct fold *fold, struct gantry_drv_kernel *kernel, uint32_t blocks)
{
    return (struct gantry_op){
        .kind = GANTRY_OP_LAUNCH,
        .folded = true,
        .launch = {.kernel = kernel,
                   .blocks = {blocks, 1, 1},
                   .block = {STEP_BLOCK, 1, 1},
                   .args = &fold->inline_args,
                   .args_size = sizeof(fold->inline_args)},
    };
}

struct gantry_plan fold_plan(const struct fold *fold, const struct gantry_op *op)
{
    struct gantry_plan plan = plan_of(op, 1);

    plan.table = fold->table;
    plan.table_size = fold->size;
    plan.patchable = true;
    return plan;
}
