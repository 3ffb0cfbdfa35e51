/* Queues: submissions in order, run when somebody looks. */
#include <string.h>
#include <time.h>

#include "host.h"

enum gantry_status queue_create(struct gantry_drv_device *device,
                                const struct gantry_backend_queue_params *params,
                                struct gantry_drv_queue **queue)
{
    struct gantry_drv_instance *instance = device->instance;
    enum gantry_status status = enter(instance, device, ENTRY_queue_create);
    if (status != GANTRY_OK)
        return status;
    struct gantry_drv_queue *made = ALLOCATE(instance, sizeof(*made));
    if (!made)
        return FAIL(instance, GANTRY_E_OUT_OF_HOST_MEMORY, "no memory for a queue");
    made->device = device;
    made->stats = params->stats;
    pthread_mutex_lock(&device->lock);
    made->next = device->queues;
    device->queues = made;
    pthread_mutex_unlock(&device->lock);
    atomic_fetch_add(&instance->books.queues, 1);
    *queue = made;
    return GANTRY_OK;
}

void queue_destroy(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;
    pthread_mutex_lock(&device->lock);
    if (queue->first && !atomic_load(&device->lost))
        fault(device->instance, "a queue was destroyed before submission %llu had completed",
              (unsigned long long)queue->first->value);
    while (queue->first) {
        struct submission *dropped = queue->first;
        queue->first = dropped->next;
        submission_free(device, dropped);
    }
    struct gantry_drv_queue **link = &device->queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    pthread_mutex_unlock(&device->lock);
    atomic_fetch_sub(&device->instance->books.queues, 1);
    RELEASE(device->instance, queue);
}

void queue_native(struct gantry_drv_queue *queue, struct gantry_native_queue *native)
{
    (void)queue;
    *native = (struct gantry_native_queue){.backend = GANTRY_HOST_NAME};
}

/* ---- Progress -------------------------------------------------------------------------------- */

/* Another thread that runs something already makes progress, so that nobody sleeps here. */
enum gantry_status queue_completed(struct gantry_drv_queue *queue, uint64_t *value)
{
    struct gantry_drv_device *device = queue->device;
    enum gantry_status status = enter(device->instance, device, ENTRY_queue_completed);
    if (status != GANTRY_OK)
        return status;
    if (pthread_mutex_trylock(&device->lock) == 0) {
        schedule_step(device);
        pthread_mutex_unlock(&device->lock);
    }
    *value = atomic_load(&queue->completed);
    return GANTRY_OK;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

enum gantry_status queue_wait(struct gantry_drv_queue *queue, uint64_t value, uint64_t timeout_ns)
{
    struct gantry_drv_device *device = queue->device;
    struct gantry_drv_instance *instance = device->instance;
    enum gantry_status status = enter(instance, device, ENTRY_queue_wait);
    uint64_t start = now_ns();
    while (status == GANTRY_OK && atomic_load(&queue->completed) < value) {
        pthread_mutex_lock(&device->lock);
        bool moved = schedule_step(device);
        pthread_mutex_unlock(&device->lock);
        if (atomic_load(&device->lost))
            return FAIL(instance, GANTRY_E_DEVICE_LOST, "the device was lost");
        if (!moved && atomic_load(&queue->completed) < value) {
            fault(instance, "a wait for value %llu of a queue can never end",
                  (unsigned long long)value);
            return FAIL(instance, GANTRY_E_DRIVER, "value %llu was never submitted",
                        (unsigned long long)value);
        }
        if (timeout_ns != GANTRY_FOREVER && now_ns() - start >= timeout_ns)
            return atomic_load(&queue->completed) < value ? GANTRY_TIMEOUT : GANTRY_OK;
    }
    return status;
}

/* ---- Submission ------------------------------------------------------------------------------ */

static struct submission *make_submission(struct gantry_drv_instance *instance,
                                          struct gantry_drv_plan *plan,
                                          const struct gantry_backend_submission *given)
{
    struct submission *made = ALLOCATE(instance, sizeof(*made));
    if (!made)
        return NULL;
    size_t count = plan ? plan->op_count : 0;
    atomic_fetch_add(&instance->books.submissions, 1);
    made->value = given->value;
    made->wait_count = given->wait_count;
    made->left = (uint32_t)count;
    made->waits = ALLOCATE(instance, (given->wait_count + 1) * sizeof(*made->waits));
    made->missing = ALLOCATE(instance, (count + 1) * sizeof(uint32_t));
    made->ready = ALLOCATE(instance, (count + 1) * sizeof(uint32_t));
    made->patch = ALLOCATE(instance, given->patch_size + 1);
    made->plan = plan;
    made->owned = plan && plan->once ? plan : NULL;
    if (made->waits && given->wait_count)
        memcpy(made->waits, given->waits, given->wait_count * sizeof(*made->waits));
    if (made->patch && given->patch_size)
        memcpy(made->patch, given->patch, given->patch_size);
    made->patch_offset = given->patch_offset;
    made->patch_size = given->patch_size;
    return made;
}

static enum gantry_status append(struct gantry_drv_queue *queue, struct gantry_drv_plan *plan,
                                 const struct gantry_backend_submission *given)
{
    struct gantry_drv_device *device = queue->device;
    struct submission *made = make_submission(device->instance, plan, given);
    if (!made || !made->waits || !made->missing || !made->ready || !made->patch) {
        if (made) {
            made->owned = NULL; /* stays the caller's */
            submission_free(device, made);
        }
        return FAIL(device->instance, GANTRY_E_OUT_OF_HOST_MEMORY, "no memory for a submission");
    }
    pthread_mutex_lock(&device->lock);
    check_submission(queue, given);
    if (!check_patch(device, plan, given))
        made->patch_size = 0;
    queue->submitted = given->value;
    if (queue->last)
        queue->last->next = made;
    else
        queue->first = made;
    queue->last = made;
    queue->stats->driver_submits++;
    if (plan && !plan->submitted)
        queue->stats->builds++;
    if (plan)
        plan->submitted = true;
    pthread_mutex_unlock(&device->lock);
    return GANTRY_OK;
}

enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                          const struct gantry_backend_submission *submission)
{
    enum gantry_status status = enter(queue->device->instance, queue->device, ENTRY_submit);
    return status == GANTRY_OK ? append(queue, built, submission) : status;
}

enum gantry_status submit_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               const struct gantry_backend_submission *submission)
{
    struct gantry_drv_plan *made;
    enum gantry_status status = enter(queue->device->instance, queue->device, ENTRY_submit_once);
    if (status == GANTRY_OK)
        status = plan_make(queue->device, plan, &made);
    if (status != GANTRY_OK)
        return status;
    made->once = true;
    status = append(queue, made, submission);
    if (status != GANTRY_OK)
        plan_drop(made);
    return status;
}
