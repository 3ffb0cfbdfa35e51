/* The checks that a real plugin leaves to core. Here they are the test of core: each promise of
 * backend.h that does not hold is reported. */
#include "host.h"

static uint64_t volume(struct gantry_size size)
{
    return (uint64_t)size.x * size.y * size.z;
}

static bool within(struct gantry_size size, struct gantry_size limit)
{
    return volume(size) > 0 && size.x <= limit.x && size.y <= limit.y && size.z <= limit.z;
}

static bool inside(const struct gantry_drv_memory *memory, uint64_t offset, uint64_t size)
{
    return size > 0 && offset <= memory->size && size <= memory->size - offset;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* Each launch has room up to the next one's first block; a patched one may leave some of it. */
static const char *check_rooms(const struct gantry_fold_args *fold,
                               const struct gantry_fold_launch *launches)
{
    if (launches[0].first != 0 ||
        (fold->equal && fold->blocks > (uint64_t)fold->count * fold->equal))
        return "a folded launch has blocks that belong to no launch";
    for (uint32_t i = 0; i < fold->count; i++) {
        uint64_t end = i + 1 < fold->count ? launches[i + 1].first : fold->blocks;
        struct gantry_size size = {launches[i].x, launches[i].y, launches[i].z};
        if (fold->equal && launches[i].first != (uint64_t)i * fold->equal)
            return "a folded launch's launches are not as equal as it says";
        if (end < launches[i].first || volume(size) > end - launches[i].first)
            return "a launch has more blocks than room in its folded launch";
    }
    return NULL;
}

static const char *check_steps(const struct gantry_fold_args *fold,
                               const struct gantry_fold_launch *launches)
{
    for (uint32_t i = 0; i < fold->count; i++)
        if (launches[i].x > 1 || launches[i].y > 1 || launches[i].z > 1)
            return "a step of a chained launch has more than one block";
    return NULL;
}

static const char *check_launches(const struct gantry_op_launch *launch,
                                  const struct gantry_fold_launch *launches)
{
    return launch->kernel->entry == GANTRY_ENTRY_CHAINED ? check_steps(launch->args, launches)
                                                         : check_rooms(launch->args, launches);
}

static const char *check_fold(const struct gantry_plan *plan, const struct gantry_op_launch *launch)
{
    const struct gantry_fold_args *fold = launch->args;
    uint64_t size = plan->table_size;
    bool chained = launch->kernel->entry == GANTRY_ENTRY_CHAINED;
    if (launch->args_size != sizeof(*fold))
        return "a folded launch's arguments are not a struct gantry_fold_args";
    if (fold->count == 0 || fold->stride % 16 != 0 || fold->reserved != 0)
        return "a folded launch has no launches, or a bad stride";
    if (fold->launches % 8 != 0 || fold->args % 16 != 0)
        return "a folded launch's table is not aligned";
    if (fold->launches > size ||
        (size - fold->launches) / sizeof(struct gantry_fold_launch) < fold->count)
        return "a folded launch's launches are not inside the table";
    if (fold->args > size || (fold->stride && (size - fold->args) / fold->stride < fold->count))
        return "a folded launch's arguments are not inside the table";
    if (chained && volume(launch->blocks) != 1)
        return "a chained launch has more than one block";
    if (!chained && volume(launch->blocks) < fold->blocks)
        return "a folded launch has fewer blocks than its launches need";
    const unsigned char *launches = (const unsigned char *)plan->table + fold->launches;
    return check_launches(launch, (const struct gantry_fold_launch *)(const void *)launches);
}

static const char *check_launch(const struct gantry_limits *limits, const struct gantry_plan *plan,
                                const struct gantry_op *op)
{
    const struct gantry_op_launch *launch = &op->launch;
    if (!within(launch->blocks, limits->max_blocks))
        return "a grid is empty or beyond the limit";
    if (!within(launch->block, limits->max_block) ||
        volume(launch->block) > limits->max_threads_per_block)
        return "a block is empty or beyond the limit";
    if (launch->args_size > limits->inline_args_bytes)
        return "arguments are larger than the device takes inline";
    if (launch->shared_bytes > limits->max_shared_bytes)
        return "a block's shared memory is beyond the limit";
    if (op->folded != (launch->kernel->entry != GANTRY_ENTRY_DIRECT))
        return "a launch is folded and its kernel's entry is not, or the other way round";
    return op->folded ? check_fold(plan, launch) : NULL;
}

/* From the first byte of a copy's rows to the last one; 0: they overlap, or exceed 64 bits. */
static uint64_t extent(const struct gantry_op_copy *copy, uint64_t pitch)
{
    uint64_t size;
    if (copy->rows <= 1)
        return copy->size;
    if (pitch < copy->size || __builtin_mul_overflow(copy->rows - 1, pitch, &size) ||
        __builtin_add_overflow(size, copy->size, &size))
        return 0;
    return size;
}

/* Rows of one pitch may lie between each other. */
static bool interleave(const struct gantry_op_copy *copy)
{
    uint64_t to = copy->to_offset, from = copy->from_offset, pitch = copy->to_pitch;
    uint64_t between = copy->rows > 1 ? (to > from ? to - from : from - to) % pitch : 0;
    return copy->rows > 1 && pitch == copy->from_pitch && between >= copy->size &&
           pitch - between >= copy->size;
}

static const char *check_copy(const struct gantry_op_copy *copy)
{
    uint64_t to = extent(copy, copy->to_pitch), from = extent(copy, copy->from_pitch);
    if (!inside(copy->to, copy->to_offset, to) || !inside(copy->from, copy->from_offset, from))
        return "a copy is empty or leaves its memory";
    if (copy->to == copy->from && copy->to_offset < copy->from_offset + from &&
        copy->from_offset < copy->to_offset + to && !interleave(copy))
        return "a copy's ranges overlap";
    return NULL;
}

static const char *check_op(const struct gantry_limits *limits, const struct gantry_plan *plan,
                            uint32_t i)
{
    const struct gantry_op *op = &plan->ops[i];
    if (op->stage >= plan->stage_count || (i > 0 && op->stage < plan->ops[i - 1].stage))
        return "operations are not sorted by stage";
    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        return check_launch(limits, plan, op);
    case GANTRY_OP_COPY:
        return check_copy(&op->copy);
    case GANTRY_OP_FILL:
        if (op->fill.offset % 4 || op->fill.size % 4 ||
            !inside(op->fill.memory, op->fill.offset, op->fill.size))
            return "a fill is empty, not aligned or leaves its memory";
        return NULL;
    case GANTRY_OP_JOIN:
        return NULL;
    }
    return "an operation's kind is unknown";
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static const char *check_programmatic(const struct gantry_drv_device *device,
                                      const struct gantry_op *from, const struct gantry_op *to)
{
    if (!device->spec->info.programmatic)
        return "an edge is programmatic on a device that has no such edges";
    if (from->kind != GANTRY_OP_LAUNCH || to->kind != GANTRY_OP_LAUNCH)
        return "a programmatic edge does not join two launches";
    if (!to->launch.kernel->waits)
        return "a programmatic edge leads into a kernel that does not wait";
    return NULL;
}

static const char *check_edge(const struct gantry_drv_device *device,
                              const struct gantry_plan *plan, uint32_t i)
{
    const struct gantry_edge *edge = &plan->edges[i], *before = edge - 1;
    if (edge->to >= plan->op_count || edge->from >= edge->to)
        return "an edge does not point forward";
    if (i > 0 && (edge->to < before->to || (edge->to == before->to && edge->from <= before->from)))
        return "edges are not sorted";
    const struct gantry_op *from = &plan->ops[edge->from], *to = &plan->ops[edge->to];
    /* Within a stage an edge only lays operations on a chain. */
    if (from->stage > to->stage)
        return "an edge joins operations whose stages are not in its order";
    return edge->programmatic ? check_programmatic(device, from, to) : NULL;
}

void check_plan(struct gantry_drv_device *device, const struct gantry_plan *plan)
{
    const struct gantry_limits *limits = &device->spec->info.limits;
    const char *trouble = NULL;
    for (uint32_t i = 0; i < plan->op_count && !trouble; i++)
        trouble = check_op(limits, plan, i);
    for (uint32_t i = 0; i < plan->edge_count && !trouble; i++)
        trouble = check_edge(device, plan, i);
    if (trouble)
        fault(device->instance, "plan \"%s\": %s", plan->label ? plan->label : "", trouble);
}

/* ---- Submissions ----------------------------------------------------------------------------- */

bool check_patch(struct gantry_drv_device *device, const struct gantry_drv_plan *plan,
                 const struct gantry_backend_submission *submission)
{
    uint64_t offset = submission->patch_offset, size = submission->patch_size;
    if (size == 0)
        return true;
    if (!plan || plan->once || !plan->patchable) {
        fault(device->instance, "a patch was given for a plan that is not patchable");
        return false;
    }
    if (offset <= plan->table_size && size <= plan->table_size - offset && offset % 4 == 0 &&
        size % 4 == 0)
        return true;
    fault(device->instance, "a patch of %llu bytes at byte %llu does not fit a table of %llu bytes",
          (unsigned long long)size, (unsigned long long)offset,
          (unsigned long long)plan->table_size);
    return false;
}

void check_patched(struct gantry_drv_queue *queue, const struct gantry_drv_plan *plan)
{
    struct gantry_drv_instance *instance = queue->device->instance;
    for (struct gantry_drv_queue *other = queue->device->queues; other; other = other->next)
        if (other != queue && other->first && other->first->started && other->first->plan == plan)
            fault(instance, "a table was patched while another queue's submission reads it");
    for (uint32_t i = 0; i < plan->op_count; i++) {
        const struct gantry_op *op = &plan->ops[i];
        if (op->kind != GANTRY_OP_LAUNCH || !op->folded)
            continue;
        uintptr_t launches = ((const struct gantry_fold_args *)op->launch.args)->launches;
        const char *trouble =
            check_launches(&op->launch, (const struct gantry_fold_launch *)launches);
        if (trouble)
            fault(instance, "a patch: %s", trouble);
    }
}

void check_submission(struct gantry_drv_queue *queue,
                      const struct gantry_backend_submission *submission)
{
    struct gantry_drv_instance *instance = queue->device->instance;
    if (submission->value <= queue->submitted)
        fault(instance, "submission %llu follows submission %llu",
              (unsigned long long)submission->value, (unsigned long long)queue->submitted);
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        const struct gantry_backend_wait *wait = &submission->waits[i];
        if (wait->queue == queue)
            fault(instance, "a queue was told to wait for itself");
        else if (wait->queue->device != queue->device)
            fault(instance, "a queue was told to wait for another device's queue");
        else if (wait->value > wait->queue->submitted)
            fault(instance, "a queue was told to wait for what was not submitted");
    }
}

static bool op_uses(const struct gantry_op *op, const void *object)
{
    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        return op->launch.kernel == object;
    case GANTRY_OP_COPY:
        return op->copy.to == object || op->copy.from == object;
    case GANTRY_OP_FILL:
        return op->fill.memory == object;
    case GANTRY_OP_JOIN:
        break;
    }
    return false;
}

static bool plan_uses(const struct gantry_drv_plan *plan, const void *object)
{
    for (uint32_t i = 0; plan && i < plan->op_count; i++)
        if (op_uses(&plan->ops[i], object))
            return true;
    return plan && plan == object;
}

void check_unused(struct gantry_drv_device *device, const void *object, const char *kind)
{
    pthread_mutex_lock(&device->lock);
    bool used = false;
    if (!atomic_load(&device->lost))
        for (struct gantry_drv_queue *queue = device->queues; queue; queue = queue->next)
            for (struct submission *s = queue->first; s; s = s->next)
                used = used || plan_uses(s->plan, object);
    pthread_mutex_unlock(&device->lock);
    if (used)
        fault(device->instance, "a %s was destroyed while submitted work uses it", kind);
}
