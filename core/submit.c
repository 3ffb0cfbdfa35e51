/* Submitting: the checks, the order among a list's submissions, and the plugin's call. */
#include <inttypes.h>
#include <stdlib.h>

#include "queue.h"
#include "retire.h"
#include "status.h"

/* Waits that a submission hands to the plugin; most have few. */
#define INLINE_WAITS 8

struct waits {
    struct gantry_backend_wait *all;
    struct gantry_backend_wait here[INLINE_WAITS];
    uint32_t count;
};

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

static enum gantry_status check_wait(const struct gantry_queue *queue, struct gantry_point wait,
                                     uint32_t i)
{
    if (!wait.queue)
        return GANTRY_OK;
    if (wait.queue->object.device != queue->object.device)
        return fail(
            GANTRY_E_WRONG_DEVICE,
            "gantry_queue_submit: wait %u is a point of device \"%s\", queue \"%s\" belongs "
            "to \"%s\"; wait for it on the host with gantry_wait",
            i, wait.queue->object.device->label, queue->label, queue->object.device->label);
    if (wait.value > atomic_load(&wait.queue->submitted))
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_queue_submit: wait %u is point %" PRIu64 " of queue \"%s\", which was "
                    "never given out; the last one is %" PRIu64,
                    i, wait.value, wait.queue->label, atomic_load(&wait.queue->submitted));
    return GANTRY_OK;
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

/* Before the driver is asked, so that whoever sees the value completed finds the delivery. */
static enum gantry_status push_delivery(struct gantry_queue *queue, uint64_t value,
                                        struct list_instance *instance)
{
    enum gantry_status status = GANTRY_OK;

    pthread_mutex_lock(&queue->delivery_lock);
    if (queue->delivery_count == queue->delivery_capacity) {
        uint32_t capacity = queue->delivery_capacity ? 2 * queue->delivery_capacity : 16;
        struct delivery *grown = realloc(queue->deliveries, capacity * sizeof(*grown));

        if (grown) {
            queue->deliveries = grown;
            queue->delivery_capacity = capacity;
        } else {
            status = fail(GANTRY_E_OUT_OF_HOST_MEMORY,
                          "gantry_queue_submit: no host memory for %u pending downloads", capacity);
        }
    }
    if (status == GANTRY_OK)
        queue->deliveries[queue->delivery_count++] = (struct delivery){value, instance};
    pthread_mutex_unlock(&queue->delivery_lock);
    return status;
}

static void pop_delivery(struct gantry_queue *queue)
{
    pthread_mutex_lock(&queue->delivery_lock);
    queue->delivery_count--;
    pthread_mutex_unlock(&queue->delivery_lock);
}

static enum gantry_status call_plugin(struct gantry_queue *queue, struct gantry_list *list,
                                      struct list_instance *instance, const struct waits *waits,
                                      uint64_t value)
{
    const struct gantry_backend_ops *ops = queue->object.device->ops;
    struct gantry_backend_submission submission = {.waits = waits->all,
                                                   .wait_count = waits->count,
                                                   .value = value};
    struct plan plan;
    enum gantry_status status;

    if (list->state == LIST_FINISHED)
        return ops->submit(queue->drv, instance->built, &submission);
    status = list_plan(list, instance, &plan);
    if (status != GANTRY_OK)
        return status;
    status = ops->submit_once(queue->drv, &plan.view, &submission);
    plan_clear(&plan);
    return status;
}

static void count_submission(struct gantry_queue *queue, const struct gantry_list *list,
                             bool waited)
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
    stats->fallbacks[GANTRY_FALLBACK_LIST_BUSY] += waited;
}

/* With the queue's lock held. */
static enum gantry_status submit_locked(struct gantry_queue *queue, struct gantry_list *list,
                                        struct list_instance *instance, const struct waits *waits)
{
    uint64_t value = atomic_load(&queue->submitted) + 1;
    bool downloads = list->transfer_count && instance->download_count;
    enum gantry_status status = GANTRY_OK;

    if (downloads)
        status = push_delivery(queue, value, instance);
    if (status != GANTRY_OK)
        return status;
    status = call_plugin(queue, list, instance, waits, value);
    if (status != GANTRY_OK) {
        if (downloads)
            pop_delivery(queue);
        fail_context("list \"%s\" can't be submitted to queue \"%s\"", list->label, queue->label);
        return device_check(queue->object.device, status);
    }
    atomic_store(&queue->submitted, value);
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
        return device_check(queue->object.device, status);
    status = collect_waits(queue, list, points, count, &waits);
    if (status == GANTRY_OK) {
        pthread_mutex_lock(&queue->lock);
        status = submit_locked(queue, list, instance, &waits);
        if (status == GANTRY_OK) {
            count_submission(queue, list, waited);
            *point = (struct gantry_point){queue, list->last_value};
        }
        pthread_mutex_unlock(&queue->lock);
    }
    free_waits(&waits);
    if (status == GANTRY_OK && list->state == LIST_RECORDING)
        list_reset(list);
    return status;
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

    pthread_mutex_lock(&queue->lock);
    submission.value = atomic_load(&queue->submitted) + 1;
    status = queue->object.device->ops->submit_once(queue->drv, plan, &submission);
    if (status == GANTRY_OK)
        atomic_store(&queue->submitted, submission.value);
    pthread_mutex_unlock(&queue->lock);
    return status == GANTRY_OK ? queue_wait(queue, submission.value, GANTRY_FOREVER)
                               : device_check(queue->object.device, status);
}

enum gantry_status queue_fill_now(struct gantry_device *device, struct gantry_drv_memory *memory,
                                  uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct gantry_op op = {
        .kind = GANTRY_OP_FILL,
        .fill = {.memory = memory, .offset = offset, .size = size, .pattern = pattern}};
    struct gantry_plan plan = {.ops = &op, .op_count = 1, .stage_count = 1, .label = "zero"};
    struct gantry_queue *queue = device_service_queue(device);

    return queue ? submit_plan(queue, &plan) : GANTRY_E_DRIVER;
}
