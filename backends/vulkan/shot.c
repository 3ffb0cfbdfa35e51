#include <string.h>

#include "driver.h"

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
    table_give(device, &shot->outgrown);
    device->services->release(device->services->context, shot);
}

static void destroy_all(struct gantry_drv_device *device, struct shot *first)
{
    while (first) {
        struct shot *shot = first;
        first = shot->next;
        destroy_shot(device, shot);
    }
}

void shots_close(struct gantry_drv_queue *queue)
{
    struct gantry_drv_device *device = queue->device;
    struct shots *shots = &queue->shots;

    destroy_all(device, shots->idle);
    destroy_all(device, shots->busy);
    table_give(device, &shots->ring.place);
    if (shots->pool) /* frees the command buffers too */
        device->vk.vkDestroyCommandPool(device->handle, shots->pool, NULL);
}

/* ---- Taking and giving back ----------------------------------------------------------------- */

static void make_idle(struct shots *shots, struct shot *shot)
{
    shot->next = shots->idle;
    shots->idle = shot;
}

static enum gantry_status add_shot(struct gantry_drv_queue *queue)
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
    make_idle(&queue->shots, made);
    return GANTRY_OK;
fail:
    destroy_shot(device, made);
    return status;
}

/* Makes the shots idle whose submissions have completed. */
static enum gantry_status collect(struct gantry_drv_queue *queue)
{
    struct shots *shots = &queue->shots;
    enum gantry_status status;
    uint64_t completed;

    if (!shots->busy)
        return GANTRY_OK;
    status = queue_completed(queue, &completed);
    while (status == GANTRY_OK && shots->busy && shots->busy->value <= completed) {
        struct shot *shot = shots->busy;
        shots->busy = shot->next;
        ring_give(&shots->ring, &shot->slice);
        table_give(queue->device, &shot->outgrown);
        make_idle(shots, shot);
    }
    if (!shots->busy)
        shots->youngest = NULL;
    return status;
}

/* Replaces the ring. Busy shots use the old one; when the youngest of them is over, all are. If it
 * already carries one, then nothing was submitted since and nobody uses this one. */
static enum gantry_status grow_ring(struct gantry_drv_queue *queue, uint64_t size)
{
    struct shots *shots = &queue->shots;
    struct table old;
    enum gantry_status status = ring_grow(queue->device, &shots->ring, size, &old);

    if (status != GANTRY_OK)
        return status;
    queue->stats->allocations++;
    if (shots->youngest && !shots->youngest->outgrown.chunk)
        shots->youngest->outgrown = old;
    else
        table_give(queue->device, &old);
    return GANTRY_OK;
}

static enum gantry_status take_slice(struct gantry_drv_queue *queue, uint64_t size,
                                     struct slice *slice)
{
    struct ring *ring = &queue->shots.ring;
    enum gantry_status status = GANTRY_OK;

    memset(slice, 0, sizeof(*slice));
    if (size == 0 || ring_take(ring, size, slice))
        return GANTRY_OK;
    status = collect(queue);
    if (status == GANTRY_OK && ring_take(ring, size, slice))
        return GANTRY_OK;
    if (status == GANTRY_OK)
        status = grow_ring(queue, size);
    if (status == GANTRY_OK)
        ring_take(ring, size, slice);
    return status;
}

/* A shot with `size` bytes copied from `data`. */
static enum gantry_status take(struct gantry_drv_queue *queue, const void *data, uint64_t size,
                               struct shot **shot)
{
    struct shots *shots = &queue->shots;
    struct shot *taken;
    enum gantry_status status;

    /* Always: asking for the counter costs less than recording into memory that is long out of the
     * caches, as that of the shot that was idle longest. */
    status = collect(queue);
    if (status == GANTRY_OK && !shots->idle)
        status = add_shot(queue);
    if (status != GANTRY_OK)
        return status;
    taken = shots->idle; /* out of the list first: taking a slice may put others into it */
    shots->idle = taken->next;
    status = take_slice(queue, size, &taken->slice);
    if (status != GANTRY_OK) {
        make_idle(shots, taken);
        return status;
    }
    if (size > 0)
        memcpy(taken->slice.span.host, data, size);
    *shot = taken;
    return GANTRY_OK;
}

void shot_unused(struct gantry_drv_queue *queue, struct shot *shot)
{
    ring_untake(&queue->shots.ring, &shot->slice);
    make_idle(&queue->shots, shot);
}

void shot_used(struct gantry_drv_queue *queue, struct shot *shot, uint64_t value)
{
    struct shots *shots = &queue->shots;

    shot->value = value;
    shot->next = NULL;
    if (shots->youngest)
        shots->youngest->next = shot;
    else
        shots->busy = shot;
    shots->youngest = shot;
}

/* ---- Recording ------------------------------------------------------------------------------ */

/* Operations, a rectangle counting as many as it has rows. */
static uint64_t weight(const struct gantry_plan *plan)
{
    uint64_t sum = plan->op_count;

    for (uint32_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].kind == GANTRY_OP_COPY)
            sum += plan->ops[i].copy.rows;
    return sum;
}

/* Beginning a command buffer again costs time for all the memory that it has grown to: 60 µs on
 * NVIDIA's driver after 2048 launches. One that is much too large gives its memory back first. */
static void fit(struct gantry_drv_device *device, struct shot *shot, uint64_t operations)
{
    enum { SMALL = 64, TOO_LARGE = 16 };

    if (shot->room > SMALL && shot->room / TOO_LARGE > operations) {
        /* A failure only leaves the memory where it is; beginning reports what is wrong. */
        device->vk.vkResetCommandBuffer(shot->commands,
                                        VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT);
        shot->room = 0;
    }
    if (operations > shot->room)
        shot->room = operations;
}

enum gantry_status shot_record(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               struct shot **shot)
{
    enum gantry_status status = take(queue, plan->table, plan->table_size, shot);

    if (status != GANTRY_OK)
        return status;
    fit(queue->device, *shot, weight(plan));
    /* Beginning resets the command buffer. */
    status = record(queue->device, queue->family, (*shot)->commands,
                    VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, plan, (*shot)->slice.span.address);
    if (status != GANTRY_OK)
        shot_unused(queue, *shot);
    else
        queue->stats->builds++;
    return status;
}

enum gantry_status shot_patch(struct gantry_drv_queue *queue, const struct gantry_drv_plan *built,
                              const struct gantry_backend_submission *submission,
                              struct shot **shot)
{
    enum gantry_status status = take(queue, submission->patch, submission->patch_size, shot);

    if (status != GANTRY_OK)
        return status;
    fit(queue->device, *shot, 1);
    status = record_patch(queue->device, (*shot)->commands, &(*shot)->slice.span, plan_table(built),
                          submission->patch_offset, submission->patch_size);
    if (status != GANTRY_OK)
        shot_unused(queue, *shot);
    return status;
}
