#include <string.h>

#include "driver.h"

/* Tables grow in these steps, so that lists of nearly one size reuse one block. */
#define TABLE_STEP 4096

enum gantry_status shots_open(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = queue->family->index,
    };
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkCreateCommandPool(device->handle, &info, NULL, &queue->shots.pool));
fail:
    return status;
}

static void destroy_shot(struct gantry_drv_device *device, struct shot *shot)
{
    block_destroy(device, &shot->table);
    device->services->release(device->services->context, shot);
}

void shots_close(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;
    struct shots *shots = &queue->shots;

    while (shots->first) {
        struct shot *shot = shots->first;
        shots->first = shot->next;
        destroy_shot(device, shot);
    }
    if (shots->pool) /* frees the command buffers too */
        device->vk.vkDestroyCommandPool(device->handle, shots->pool, NULL);
}

static enum gantry_status new_shot(struct gantry_drv_queue *queue, struct shot **shot)
{
    struct gantry_drv_device *device = queue->device;
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = queue->shots.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    struct shot *made = host_allocate(device->services, sizeof(*made), "a submission");
    enum gantry_status status = GANTRY_OK;

    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    VK(device, device->vk.vkAllocateCommandBuffers(device->handle, &info, &made->commands));
    *shot = made;
    return GANTRY_OK;
fail:
    destroy_shot(device, made);
    return status;
}

static enum gantry_status take(struct gantry_drv_queue *queue, struct shot **shot)
{
    struct shots *shots = &queue->shots;
    uint64_t completed;
    enum gantry_status status;

    if (!shots->first)
        return new_shot(queue, shot);
    status = queue_completed(queue, &completed);
    if (status != GANTRY_OK)
        return status;
    if (shots->first->value > completed)
        return new_shot(queue, shot);
    *shot = shots->first;
    shots->first = (*shot)->next;
    if (!shots->first)
        shots->last = NULL;
    return GANTRY_OK;
}

static enum gantry_status fill_table(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                                     struct shot *shot)
{
    enum gantry_status status;

    if (plan->table_size > shot->table.size) {
        uint64_t steps = (plan->table_size + TABLE_STEP - 1) / TABLE_STEP;
        block_destroy(queue->device, &shot->table);
        status = block_create(queue->device, USE_TABLE, steps * TABLE_STEP, &shot->table);
        if (status != GANTRY_OK)
            return status;
        queue->stats->allocations++;
    }
    if (plan->table_size > 0)
        memcpy(shot->table.host, plan->table, plan->table_size);
    return GANTRY_OK;
}

enum gantry_status shot_record(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               struct shot **shot)
{
    struct shot *taken;
    enum gantry_status status;

    status = take(queue, &taken);
    if (status != GANTRY_OK)
        return status;
    status = fill_table(queue, plan, taken);
    if (status == GANTRY_OK) /* beginning resets the command buffer */
        status = record(queue->device, taken->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                        plan, taken->table.address);
    if (status != GANTRY_OK) {
        shot_unused(queue, taken);
        return status;
    }
    queue->stats->builds++;
    *shot = taken;
    return GANTRY_OK;
}

void shot_unused(struct gantry_drv_queue *queue, struct shot *shot)
{
    struct shots *shots = &queue->shots;

    shot->value = 0;
    shot->next = shots->first;
    shots->first = shot;
    if (!shots->last)
        shots->last = shot;
}

void shot_used(struct gantry_drv_queue *queue, struct shot *shot, uint64_t value)
{
    struct shots *shots = &queue->shots;

    shot->value = value;
    shot->next = NULL;
    if (shots->last)
        shots->last->next = shot;
    else
        shots->first = shot;
    shots->last = shot;
}
