/* Submitting: the checks, the order among a list's submissions, and the plugin's call. */
#include <inttypes.h>
#include <stdlib.h>

#include "queue.h"
#include "retire.h"
#include "status.h"
#include "validate.h"

/* ---- Checks --------------------------------------------------------------------------------- */

static enum gantry_status check_objects(const struct gantry_queue *queue,
                                        const struct gantry_list *list)
{
    enum gantry_status status;

    if (!queue || !list)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_queue_submit: the %s is NULL",
                    queue ? "list" : "queue");
    status = device_usable(queue->object.device, "gantry_queue_submit");
    if (status != GANTRY_OK)
        return status;
    if (queue->object.device != list->object.device)
        return fail(GANTRY_E_WRONG_DEVICE,
                    "gantry_queue_submit: list \"%s\" belongs to device \"%s\", queue \"%s\" to "
                    "\"%s\"",
                    list->label, list->object.device->label, queue->label,
                    queue->object.device->label);
    return GANTRY_OK;
}

static enum gantry_status check_list(const struct gantry_queue *queue,
                                     const struct gantry_list *list)
{
    enum gantry_status status;

    if (list->state == LIST_FAILED)
        return list_failure(list);
    status = list_check_open(list, "gantry_queue_submit");
    if (status != GANTRY_OK)
        return status;
    if (queue->kind == GANTRY_QUEUE_TRANSFER && list->launch_count)
        return fail(
            GANTRY_E_INVALID_ARGUMENT,
            "gantry_queue_submit: list \"%s\" launches kernels %u times, but queue \"%s\" is "
            "a transfer queue; submit it to a compute queue",
            list->label, list->launch_count, queue->label);
    return list_check_buffers(list);
}

/* That the point is one to wait for; sends the batch that it may be in. */
static enum gantry_status check_wait(const struct gantry_queue *queue, struct gantry_point wait,
                                     uint32_t i)
{
    enum gantry_status status;

    if (!wait.queue)
        return GANTRY_OK;
    if (wait.queue->object.device != queue->object.device)
        return fail(
            GANTRY_E_WRONG_DEVICE,
            "gantry_queue_submit: wait %u is a point of device \"%s\", queue \"%s\" belongs "
            "to \"%s\"; wait for it on the host with gantry_wait",
            i, wait.queue->object.device->label, queue->label, queue->object.device->label);
    if (wait.value > atomic_load(&wait.queue->given))
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_queue_submit: wait %u is point %" PRIu64 " of queue \"%s\", which was "
                    "never given out; the last one is %" PRIu64,
                    i, wait.value, wait.queue->label, atomic_load(&wait.queue->given));
    /* Work is handed to a driver only after everything that it waits for. */
    stream_reach(wait.queue, wait.value, GANTRY_BATCH_ORDER);
    status = losses_find(&wait.queue->stream.losses, wait.value);
    if (status != GANTRY_OK)
        fail_context("gantry_queue_submit: wait %u will never be reached", i);
    return status;
}

/* ---- Waits ---------------------------------------------------------------------------------- */

/* A queue is in order, so its own points need no wait; points that were reached need none either.
 */
static void add_wait(struct waits *waits, const struct gantry_queue *queue,
                     struct gantry_queue *other, uint64_t value)
{
    if (!other || other == queue || queue_reached(other, value))
        return;
    waits->all[waits->count++] = (struct gantry_backend_wait){other->drv, value};
}

static enum gantry_status collect_waits(const struct gantry_queue *queue,
                                        const struct gantry_list *list,
                                        const struct gantry_point *points, uint32_t count,
                                        struct waits *waits)
{
    waits->count = 0;
    waits->all = waits->here;
    if (count >= INLINE_WAITS) {
        waits->all = calloc((size_t)count + 1, sizeof(*waits->all));
        if (!waits->all)
            return fail(GANTRY_E_OUT_OF_HOST_MEMORY,
                        "gantry_queue_submit: no host memory for %u waits", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        enum gantry_status status = check_wait(queue, points[i], i);

        if (status != GANTRY_OK)
            return status;
        add_wait(waits, queue, points[i].queue, points[i].value);
    }
    /* The submissions of one list run one after the other, whatever their queues. */
    add_wait(waits, queue, list->last_queue, list->last_value);
    return GANTRY_OK;
}

static void free_waits(struct waits *waits)
{
    if (waits->all != waits->here)
        free(waits->all);
}

/* ---- The call ------------------------------------------------------------------------------- */

static enum gantry_status add_deliveries(struct gantry_queue *queue,
                                         const struct list_instance *instance, uint64_t value)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; i < instance->download_count && status == GANTRY_OK; i++) {
        const struct transfer *transfer = &instance->downloads[i];
        const struct delivery delivery = {
            .value = value,
            .copy = {.to = transfer->host,
                     .from = (const uint8_t *)memory_host(&instance->readback) + transfer->staging,
                     .size = transfer->size,
                     .rows = transfer->rows,
                     .to_pitch = transfer->host_pitch,
                     .from_pitch = transfer->size}};

        status = deliveries_add(queue, &delivery);
    }
    return status;
}

static enum gantry_status call_plugin(struct gantry_queue *queue, struct gantry_list *list,
                                      struct list_instance *instance, const struct waits *waits,
                                      uint64_t value)
{
    const struct gantry_backend_ops *ops = queue->object.device->ops;
    struct gantry_backend_submission submission = {.waits = waits->all,
                                                   .wait_count = waits->count,
                                                   .value = value};
    enum gantry_status status;

    if (list->state != LIST_FINISHED) {
        status = list_plan(list, instance);
        return status == GANTRY_OK ? ops->submit_once(queue->drv, &list->plan.view, &submission)
                                   : status;
    }
    patch_submission(list, instance, &submission);
    status = ops->submit(queue->drv, instance->built, &submission);
    queue->stats.patches += status == GANTRY_OK && submission.patch_size;
    return status;
}

static void count_submission(struct gantry_queue *queue, const struct gantry_list *list)
{
    struct gantry_queue_stats *stats = &queue->stats;

    stats->submissions++;
    stats->launches += list->launch_count;
    if (list->state == LIST_FINISHED)
        stats->replays++;
    else
        stats->oneshots++;
    stats->fallbacks[GANTRY_FALLBACK_ARGS_IN_TABLE] += list->folded_args;
    stats->fallbacks[GANTRY_FALLBACK_GRID_LAID_OUT] += list->folded_grids;
    stats->fallbacks[GANTRY_FALLBACK_NO_CHAIN] += list->unchained;
    stats->folded += list->folded;
}

enum gantry_status queue_hand_over(struct gantry_queue *queue, struct gantry_list *list,
                                   struct list_instance *instance, const struct waits *waits,
                                   uint64_t value)
{
    enum gantry_status status;

    /* First, because a driver may find a loss when it has taken some of the launches. */
    flights_add(&queue->flights, list, value, atomic_load(&queue->completed));
    status = call_plugin(queue, list, instance, waits, value);
    status = device_check(queue->object.device, status, "submitting to queue", queue->label);
    if (status != GANTRY_OK) {
        flights_drop(&queue->flights, value);
        return status;
    }
    atomic_store(&queue->submitted, value);
    count_submission(queue, list);
    return GANTRY_OK;
}

/* With the queue's lock held. */
static enum gantry_status submit_locked(struct gantry_queue *queue, struct gantry_list *list,
                                        struct list_instance *instance, const struct waits *waits)
{
    enum gantry_status status = stream_send(queue, GANTRY_BATCH_ORDER);
    uint64_t value = atomic_load(&queue->given) + 1;

    if (status == GANTRY_OK && list->transfer_count)
        status = add_deliveries(queue, instance, value);
    if (status == GANTRY_OK)
        status = queue_hand_over(queue, list, instance, waits, value);
    if (status != GANTRY_OK) {
        deliveries_drop(queue, value, UINT32_MAX);
        fail_context("list \"%s\" can't be submitted to queue \"%s\"", list->label, queue->label);
        return status;
    }
    atomic_store(&queue->given, value);
    list_submitted(list, instance, queue, value);
    return GANTRY_OK;
}

static enum gantry_status submit(struct gantry_queue *queue, struct gantry_list *list,
                                 const struct gantry_point *points, uint32_t count,
                                 struct gantry_point *point)
{
    struct list_instance *instance;
    struct waits waits;
    bool waited;
    enum gantry_status status = list_acquire(list, &instance, &waited);

    if (status != GANTRY_OK)
        return device_check(queue->object.device, status, "preparing list", list->label);
    status = collect_waits(queue, list, points, count, &waits);
    if (status == GANTRY_OK) {
        lock_take(&queue->lock);
        status = submit_locked(queue, list, instance, &waits);
        queue->stats.fallbacks[GANTRY_FALLBACK_LIST_BUSY] += waited;
        lock_release(&queue->lock);
    }
    free_waits(&waits);
    if (status != GANTRY_OK)
        return status;
    *point = (struct gantry_point){queue, list->last_value};
    if (list->state == LIST_RECORDING)
        list_reset(list);
    return GANTRY_OK;
}

enum gantry_status gantry_queue_submit(struct gantry_queue *queue, struct gantry_list *list,
                                       const struct gantry_point *waits, uint32_t count,
                                       struct gantry_point *point)
{
    /* Written last: the caller's point may also be the one to wait for. */
    struct gantry_point made = {NULL, 0};
    enum gantry_status status = check_objects(queue, list);

    if (status == GANTRY_OK && count && !waits)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "gantry_queue_submit: %u points to wait for were announced, but the array is "
                      "NULL",
                      count);
    if (status == GANTRY_OK)
        status = check_list(queue, list);
    if (status == GANTRY_OK && validates(list->object.device))
        status = validate_list(list);
    if (status == GANTRY_OK)
        status = submit(queue, list, waits, count, &made);
    if (point)
        *point = made;
    return status;
}

/* ---- gantry's own work ---------------------------------------------------------------------- */

static enum gantry_status submit_plan(struct gantry_queue *queue, const struct gantry_plan *plan)
{
    struct gantry_backend_submission submission = {0};
    enum gantry_status status;

    lock_take(&queue->lock);
    submission.value = atomic_load(&queue->given) + 1;
    status = queue->object.device->ops->submit_once(queue->drv, plan, &submission);
    if (status == GANTRY_OK) {
        atomic_store(&queue->submitted, submission.value);
        atomic_store(&queue->given, submission.value);
    }
    lock_release(&queue->lock);
    return status == GANTRY_OK
               ? queue_wait(queue, submission.value, GANTRY_FOREVER)
               : device_check(queue->object.device, status, "submitting to queue", queue->label);
}

enum gantry_status queue_fill_now(struct gantry_device *device, struct gantry_drv_memory *memory,
                                  uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct gantry_op op = {
        .kind = GANTRY_OP_FILL,
        .fill = {.memory = memory, .offset = offset, .size = size, .pattern = pattern}};
    struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1, .label = "zero"};
    struct gantry_queue *queue;
    enum gantry_status status = device_service_queue(device, &queue);

    return status == GANTRY_OK ? submit_plan(queue, &plan) : status;
}
