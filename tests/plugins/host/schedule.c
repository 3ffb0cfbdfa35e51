/* When operations run: late, and in any order that is legal.
 *
 * Nothing runs at submission. Each look at a queue runs one operation of those that may run now on
 * any queue of the device, chosen at random, so that a dependency that core forgot changes results
 * sooner or later. The seed makes a run repeatable. */
#include <string.h>

#include "host.h"

static uint64_t random_below(struct gantry_drv_device *device, uint64_t limit)
{
    uint64_t x = device->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    device->random = x;
    return (x >> 11) % limit;
}

/* ---- What may run ---------------------------------------------------------------------------- */

static bool waits_are_over(const struct submission *submission)
{
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        const struct gantry_backend_wait *wait = &submission->waits[i];
        if (atomic_load(&wait->queue->completed) < wait->value)
            return false;
    }
    return true;
}

/* By stages: the whole next stage. */
static void enter_stage(struct submission *submission)
{
    const struct gantry_drv_plan *plan = submission->plan;
    uint32_t i = submission->stage_end, stage = plan->ops[i].stage;
    for (; i < plan->op_count && plan->ops[i].stage == stage; i++)
        submission->ready[submission->ready_count++] = i;
    submission->stage_end = i;
}

static void start(struct gantry_drv_queue *queue, struct submission *submission)
{
    const struct gantry_drv_plan *plan = submission->plan;
    submission->started = true;
    if (submission->patch_size > 0) {
        memcpy(plan->table + submission->patch_offset, submission->patch, submission->patch_size);
        check_patched(queue, plan);
    }
    if (!plan || plan->op_count == 0)
        return;
    if (!plan->degree) {
        enter_stage(submission);
        return;
    }
    memcpy(submission->missing, plan->degree, plan->op_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < plan->op_count; i++)
        if (plan->degree[i] == 0)
            submission->ready[submission->ready_count++] = i;
}

static void finish(struct submission *submission, uint32_t done)
{
    const struct gantry_drv_plan *plan = submission->plan;
    submission->left--;
    if (!plan->degree) {
        if (submission->ready_count == 0 && submission->left > 0)
            enter_stage(submission);
        return;
    }
    for (uint32_t i = plan->first_next[done]; i < plan->first_next[done + 1]; i++)
        if (--submission->missing[plan->next[i]] == 0)
            submission->ready[submission->ready_count++] = plan->next[i];
}

/* ---- Running --------------------------------------------------------------------------------- */

static void run_launch(struct gantry_drv_device *device, const struct gantry_op_launch *launch)
{
    const uint32_t blocks[] = {launch->blocks.x, launch->blocks.y, launch->blocks.z};
    const uint32_t block[] = {launch->block.x, launch->block.y, launch->block.z};
    const char *trouble = launch->kernel->run(launch->args, blocks, block, launch->shared_bytes,
                                              device->spec->info.limits.subgroup_size);
    if (trouble)
        device->instance->services->log(device->instance->services->context, GANTRY_LOG_ERROR,
                                        "kernel %s did not run: %s", launch->kernel->symbol,
                                        trouble);
}

static unsigned char *bytes(struct gantry_drv_memory *memory, uint64_t offset)
{
    return (unsigned char *)memory->driver + offset;
}

static void run_fill(const struct gantry_op_fill *fill)
{
    unsigned char *to = bytes(fill->memory, fill->offset);
    for (uint64_t i = 0; i < fill->size; i += sizeof(fill->pattern))
        memcpy(to + i, &fill->pattern, sizeof(fill->pattern));
}

static void run_copy(const struct gantry_op_copy *copy)
{
    unsigned char *to = bytes(copy->to, copy->to_offset);
    const unsigned char *from = bytes(copy->from, copy->from_offset);
    for (uint64_t row = 0; row == 0 || row < copy->rows; row++)
        memcpy(to + row * copy->to_pitch, from + row * copy->from_pitch, copy->size);
}

static void run(struct gantry_drv_device *device, const struct gantry_op *op)
{
    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        run_launch(device, &op->launch);
        break;
    case GANTRY_OP_COPY:
        run_copy(&op->copy);
        break;
    case GANTRY_OP_FILL:
        run_fill(&op->fill);
        break;
    case GANTRY_OP_JOIN:
        break;
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

void submission_free(struct gantry_drv_device *device, struct submission *submission)
{
    struct gantry_drv_instance *instance = device->instance;
    if (submission->owned)
        plan_drop(submission->owned);
    RELEASE(instance, submission->waits);
    RELEASE(instance, submission->patch);
    RELEASE(instance, submission->missing);
    RELEASE(instance, submission->ready);
    RELEASE(instance, submission);
    atomic_fetch_sub(&instance->books.submissions, 1);
}

static void complete(struct gantry_drv_queue *queue)
{
    struct submission *done = queue->first;
    queue->first = done->next;
    if (!queue->first)
        queue->last = NULL;
    atomic_store(&queue->completed, done->value);
    submission_free(queue->device, done);
}

/* Starts and completes what can be; adds up the operations that may run. */
static bool advance(struct gantry_drv_device *device, uint64_t *ready)
{
    bool moved = false;
    *ready = 0;
    for (struct gantry_drv_queue *queue = device->queues; queue; queue = queue->next) {
        struct submission *first = queue->first;
        if (!first)
            continue;
        if (!first->started && waits_are_over(first))
            start(queue, first);
        if (first->started && first->left == 0) {
            complete(queue);
            moved = true;
        } else {
            *ready += first->ready_count;
        }
    }
    return moved;
}

static void run_chosen(struct gantry_drv_device *device, uint64_t chosen)
{
    struct gantry_drv_queue *queue = device->queues;
    while (!queue->first || chosen >= queue->first->ready_count) {
        chosen -= queue->first ? queue->first->ready_count : 0;
        queue = queue->next;
    }
    struct submission *first = queue->first;
    uint32_t op = first->ready[chosen];
    first->ready[chosen] = first->ready[--first->ready_count];
    run(device, &first->plan->ops[op]);
    finish(first, op);
    if (first->left == 0)
        complete(queue);
}

bool schedule_step(struct gantry_drv_device *device)
{
    uint64_t ready;
    if (advance(device, &ready))
        return true;
    if (ready == 0)
        return false;
    run_chosen(device, random_below(device, ready));
    return true;
}
