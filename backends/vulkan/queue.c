#include <inttypes.h>
#include <string.h>

#include "driver.h"

/* ---- Creation ------------------------------------------------------------------------------- */

static enum gantry_status create_timeline(struct gantry_drv_queue *queue, const char *label)
{
    struct gantry_drv_device *device = queue->device;
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkCreateSemaphore(device->handle, &info, NULL, &queue->timeline));
    device_name(device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)queue->timeline, label);
fail:
    return status;
}

enum gantry_status queue_create(struct gantry_drv_device *device,
                                const struct gantry_backend_queue_params *params,
                                struct gantry_drv_queue **queue)
{
    struct gantry_drv_queue *made;
    enum gantry_status status;

    status = device_check(device);
    if (status != GANTRY_OK)
        return status;
    made = host_allocate(device->services, sizeof(*made), "a queue");
    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    made->device = device;
    made->family = params->kind == GANTRY_QUEUE_TRANSFER ? device->transfer : device->compute;
    made->slot = slot_take(device, made->family, params->priority);
    made->stats = params->stats;
    status = create_timeline(made, params->label);
    if (status == GANTRY_OK)
        status = shots_open(made);
    if (status != GANTRY_OK) {
        queue_destroy(made);
        return status;
    }
    *queue = made;
    return GANTRY_OK;
}

static void free_waits(struct gantry_drv_queue *queue)
{
    const struct gantry_backend_services *services = queue->device->services;

    services->release(services->context, queue->waits.semaphores);
    services->release(services->context, queue->waits.values);
    services->release(services->context, queue->waits.stages);
    memset(&queue->waits, 0, sizeof(queue->waits));
}

/* lavapipe's submission thread (Mesa 22.3) still touches the semaphores that a submission waited
 * for after it has signalled the submission as complete. It has one VkQueue: when that is idle, the
 * thread is past them. */
static void settle(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;

    if (device->physical->info.type != GANTRY_DEVICE_CPU)
        return;
    pthread_mutex_lock(&queue->slot->lock);
    device->vk.vkQueueWaitIdle(queue->slot->handle);
    pthread_mutex_unlock(&queue->slot->lock);
}

void queue_destroy(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;

    settle(queue);
    shots_close(queue);
    if (queue->timeline)
        device->vk.vkDestroySemaphore(device->handle, queue->timeline, NULL);
    slot_return(device, queue->slot);
    free_waits(queue);
    device->services->release(device->services->context, queue);
}

void queue_native(struct gantry_drv_queue *queue, struct gantry_native_queue *native)
{
    native->backend = "vulkan";
    native->vk_queue = queue->slot->handle;
    native->vk_family = queue->family->index;
    native->vk_timeline = (uint64_t)queue->timeline;
}

/* ---- Progress ------------------------------------------------------------------------------- */

enum gantry_status queue_completed(struct gantry_drv_queue *queue, uint64_t *value)
{
    struct gantry_drv_device *device = queue->device;
    enum gantry_status status;
    uint64_t counter;

    status = device_check(device);
    if (status != GANTRY_OK)
        return status;
    VK(device, device->vk.vkGetSemaphoreCounterValue(device->handle, queue->timeline, &counter));
    /* A lost device may signal everything, with a value that was never submitted. */
    if (counter > atomic_load(&queue->submitted))
        return device_call_failed(device, VK_ERROR_DEVICE_LOST, "vkGetSemaphoreCounterValue");
    *value = counter;
fail:
    return status;
}

enum gantry_status queue_wait(struct gantry_drv_queue *queue, uint64_t value, uint64_t timeout_ns)
{
    struct gantry_drv_device *device = queue->device;
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &queue->timeline,
        .pValues = &value,
    };
    enum gantry_status status;
    uint64_t completed;
    VkResult result;

    status = device_check(device);
    if (status != GANTRY_OK)
        return status;
    result = device->vk.vkWaitSemaphores(device->handle, &info, timeout_ns);
    if (result == VK_TIMEOUT)
        return GANTRY_TIMEOUT;
    if (result != VK_SUCCESS)
        return device_call_failed(device, result, "vkWaitSemaphores");
    return queue_completed(queue, &completed); /* success may also mean that the device was lost */
}

/* ---- Submission ----------------------------------------------------------------------------- */

static enum gantry_status reserve_waits(struct gantry_drv_queue *queue, uint32_t count)
{
    const struct gantry_backend_services *services = queue->device->services;
    struct waits *waits = &queue->waits;

    if (count <= waits->capacity)
        return GANTRY_OK;
    free_waits(queue);
    waits->semaphores = host_allocate(services, count * sizeof(*waits->semaphores), "waits");
    waits->values = host_allocate(services, count * sizeof(*waits->values), "waits");
    waits->stages = host_allocate(services, count * sizeof(*waits->stages), "waits");
    if (!waits->semaphores || !waits->values || !waits->stages) {
        free_waits(queue);
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    }
    waits->capacity = count;
    return GANTRY_OK;
}

static enum gantry_status collect_waits(struct gantry_drv_queue *queue,
                                        const struct gantry_backend_submission *submission)
{
    enum gantry_status status = reserve_waits(queue, submission->wait_count);

    if (status != GANTRY_OK)
        return status;
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        queue->waits.semaphores[i] = submission->waits[i].queue->timeline;
        queue->waits.values[i] = submission->waits[i].value;
        queue->waits.stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    return GANTRY_OK;
}

static VkResult queue_submit(struct gantry_drv_queue *queue, const VkSubmitInfo *info)
{
    struct slot *slot = queue->slot;
    VkResult result;

    pthread_mutex_lock(&slot->lock);
    result = queue->device->vk.vkQueueSubmit(slot->handle, 1, info, VK_NULL_HANDLE);
    pthread_mutex_unlock(&slot->lock);
    return result;
}

/* One vkQueueSubmit: the waits, the commands, the signal. The counter may move before vkQueueSubmit
 * returns, so `submitted` moves first. */
static enum gantry_status submit_commands(struct gantry_drv_queue *queue,
                                          const VkCommandBuffer *commands, uint32_t count,
                                          const struct gantry_backend_submission *submission)
{
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = submission->wait_count,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &submission->value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = submission->wait_count,
        .commandBufferCount = count,
        .pCommandBuffers = commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &queue->timeline,
    };
    enum gantry_status status;
    VkResult result;

    status = collect_waits(queue, submission);
    if (status != GANTRY_OK)
        return status;
    timeline.pWaitSemaphoreValues = queue->waits.values;
    info.pWaitSemaphores = queue->waits.semaphores;
    info.pWaitDstStageMask = queue->waits.stages;
    atomic_store(&queue->submitted, submission->value);
    result = queue_submit(queue, &info);
    if (result != VK_SUCCESS) {
        atomic_store(&queue->submitted, submission->value - 1);
        return device_call_failed(queue->device, result, "vkQueueSubmit");
    }
    queue->stats->driver_submits++;
    return GANTRY_OK;
}

/* The same with a shot in front of `commands`, which may be VK_NULL_HANDLE. */
static enum gantry_status submit_shot(struct gantry_drv_queue *queue, struct shot *shot,
                                      VkCommandBuffer commands,
                                      const struct gantry_backend_submission *submission)
{
    const VkCommandBuffer both[] = {shot->commands, commands};
    enum gantry_status status;

    status = submit_commands(queue, both, commands ? 2 : 1, submission);
    if (status == GANTRY_OK)
        shot_used(queue, shot, submission->value);
    else
        shot_unused(queue, shot);
    return status;
}

enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                          const struct gantry_backend_submission *submission)
{
    VkCommandBuffer commands;
    struct shot *patch;
    enum gantry_status status;

    status = device_check(queue->device);
    if (status == GANTRY_OK)
        status = plan_commands(built, queue->family, queue->stats, &commands);
    if (status != GANTRY_OK)
        return status;
    if (submission->patch_size == 0)
        return submit_commands(queue, &commands, commands ? 1 : 0, submission);
    status = shot_patch(queue, built, submission, &patch);
    if (status == GANTRY_OK)
        status = submit_shot(queue, patch, commands, submission);
    return status;
}

enum gantry_status submit_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               const struct gantry_backend_submission *submission)
{
    struct shot *shot;
    enum gantry_status status;

    status = device_check(queue->device);
    if (status != GANTRY_OK)
        return status;
    if (!plan_works(plan))
        return submit_commands(queue, NULL, 0, submission);
    status = shot_record(queue, plan, &shot);
    if (status == GANTRY_OK)
        status = submit_shot(queue, shot, VK_NULL_HANDLE, submission);
    return status;
}
