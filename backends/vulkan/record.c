#include <string.h>

#include "driver.h"

struct recorder {
    struct gantry_drv_device *device;
    VkCommandBuffer commands;
    VkPipelineStageFlags stages; /* in which the plan's operations run */
    VkPipeline bound;
    uint64_t table;
};

/* ---- Order ---------------------------------------------------------------------------------- */

static VkPipelineStageFlags plan_stages(const struct gantry_plan *plan)
{
    VkPipelineStageFlags stages = 0;

    for (uint32_t i = 0; i < plan->op_count; i++) {
        if (plan->ops[i].kind == GANTRY_OP_LAUNCH)
            stages |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        else if (plan->ops[i].kind != GANTRY_OP_JOIN)
            stages |= VK_PIPELINE_STAGE_TRANSFER_BIT;
    }
    return stages;
}

bool plan_works(const struct gantry_plan *plan)
{
    return plan_stages(plan) != 0;
}

/* What ran in `from` is over, and its writes are seen, before anything runs in `to`. Memory
 * barriers only: launches hold raw addresses, so nobody knows which buffers they touch. */
static void barrier(struct recorder *r, VkPipelineStageFlags from, VkPipelineStageFlags to,
                    VkAccessFlags reads)
{
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = reads,
    };

    r->device->vk.vkCmdPipelineBarrier(r->commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

#define ANY_ACCESS (VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT)

/* Earlier submissions to the same VkQueue may still run, ours or another's. */
static void barrier_first(struct recorder *r)
{
    barrier(r, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, r->stages, ANY_ACCESS);
}

/* The mutation build leaves it out, to show that the tests notice. */
static void barrier_between_stages(struct recorder *r)
{
#ifdef GANTRY_TEST_DROP_BARRIER
    (void)r;
#else
    barrier(r, r->stages, r->stages, ANY_ACCESS);
#endif
}

/* A semaphore makes writes available to the device only; the host needs to be named. */
static void barrier_to_host(struct recorder *r)
{
    barrier(r, r->stages, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

/* ---- Operations ----------------------------------------------------------------------------- */

static void push(struct recorder *r, VkPipelineLayout layout, const void *args, uint32_t size)
{
    const struct VolkDeviceTable *vk = &r->device->vk;
    uint32_t whole = size & ~UINT32_C(3);
    uint32_t tail = 0;

    if (whole > 0)
        vk->vkCmdPushConstants(r->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, whole, args);
    if (size > whole) {
        memcpy(&tail, (const char *)args + whole, size - whole);
        vk->vkCmdPushConstants(r->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, whole,
                               sizeof(tail), &tail);
    }
}

/* The table's addresses are known only now. */
static void push_relocated(struct recorder *r, const struct gantry_op_launch *launch)
{
    struct gantry_fold_args args;

    memcpy(&args, launch->args, sizeof(args));
    args.launches += r->table;
    args.args += r->table;
    push(r, launch->kernel->layout, &args, sizeof(args));
}

static void record_launch(struct recorder *r, const struct gantry_op *op)
{
    const struct VolkDeviceTable *vk = &r->device->vk;
    const struct gantry_op_launch *launch = &op->launch;

    if (r->bound != launch->kernel->pipeline) {
        r->bound = launch->kernel->pipeline;
        vk->vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->bound);
    }
    if (op->folded)
        push_relocated(r, launch);
    else
        push(r, launch->kernel->layout, launch->args, launch->args_size);
    vk->vkCmdDispatch(r->commands, launch->blocks.x, launch->blocks.y, launch->blocks.z);
}

static void record_copy(struct recorder *r, const struct gantry_op_copy *copy)
{
    const struct block *to = copy->to->driver;
    const struct block *from = copy->from->driver;
    VkBufferCopy region = {
        .srcOffset = from->shift + copy->from_offset,
        .dstOffset = to->shift + copy->to_offset,
        .size = copy->size,
    };

    r->device->vk.vkCmdCopyBuffer(r->commands, from->buffer, to->buffer, 1, &region);
}

static void record_fill(struct recorder *r, const struct gantry_op_fill *fill)
{
    const struct block *block = fill->memory->driver;

    r->device->vk.vkCmdFillBuffer(r->commands, block->buffer, block->shift + fill->offset,
                                  fill->size, fill->pattern);
}

/* ---- Labels --------------------------------------------------------------------------------- */

static bool label_begin(struct recorder *r, const char *text)
{
    VkDebugUtilsLabelEXT label = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
        .pLabelName = text,
    };

    if (!r->device->instance->debug_utils || !text || !*text)
        return false;
    vkCmdBeginDebugUtilsLabelEXT(r->commands, &label);
    return true;
}

static void label_end(struct recorder *r, bool begun)
{
    if (begun)
        vkCmdEndDebugUtilsLabelEXT(r->commands);
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void record_op(struct recorder *r, const struct gantry_op *op)
{
    bool labelled = label_begin(r, op->label);

    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        record_launch(r, op);
        break;
    case GANTRY_OP_COPY:
        record_copy(r, &op->copy);
        break;
    case GANTRY_OP_FILL:
        record_fill(r, &op->fill);
        break;
    case GANTRY_OP_JOIN: /* barriers have no use for it */
        break;
    }
    label_end(r, labelled);
}

static void record_ops(struct recorder *r, const struct gantry_plan *plan)
{
    bool labelled = label_begin(r, plan->label);
    uint32_t stage = plan->ops[0].stage;

    barrier_first(r);
    for (uint32_t i = 0; i < plan->op_count; i++) {
        if (plan->ops[i].stage != stage)
            barrier_between_stages(r);
        stage = plan->ops[i].stage;
        record_op(r, &plan->ops[i]);
    }
    if (plan->host_writes)
        barrier_to_host(r);
    label_end(r, labelled);
}

enum gantry_status record(struct gantry_drv_device *device, VkCommandBuffer commands,
                          VkCommandBufferUsageFlags usage, const struct gantry_plan *plan,
                          uint64_t table)
{
    struct recorder r = {
        .device = device,
        .commands = commands,
        .stages = plan_stages(plan),
        .table = table,
    };
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = usage,
    };
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkBeginCommandBuffer(commands, &begin));
    record_ops(&r, plan);
    VK(device, device->vk.vkEndCommandBuffer(commands));
fail:
    return status;
}
