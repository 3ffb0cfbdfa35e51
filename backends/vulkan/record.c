#include <string.h>

#include "driver.h"

struct recorder {
    struct gantry_drv_device *device;
    VkCommandBuffer commands;
    VkPipeline bound;
    uint64_t table;
};

/* ---- Order ---------------------------------------------------------------------------------- */

#define LAUNCHES  VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
#define TRANSFERS VK_PIPELINE_STAGE_TRANSFER_BIT

static VkPipelineStageFlags op_kind(const struct gantry_op *op)
{
    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        return LAUNCHES;
    case GANTRY_OP_COPY:
    case GANTRY_OP_FILL:
        return TRANSFERS;
    case GANTRY_OP_JOIN:
        break;
    }
    return 0;
}

/* The end of the plan's stage that begins at operation `first`, and what kinds of work it does. */
static uint32_t stage_end(const struct gantry_plan *plan, uint32_t first,
                          VkPipelineStageFlags *kinds)
{
    uint32_t i = first;

    *kinds = 0;
    for (; i < plan->op_count && plan->ops[i].stage == plan->ops[first].stage; i++)
        *kinds |= op_kind(&plan->ops[i]);
    return i;
}

bool plan_works(const struct gantry_plan *plan)
{
    for (uint32_t i = 0; i < plan->op_count; i++)
        if (op_kind(&plan->ops[i]))
            return true;
    return false;
}

/* What gantry may have given to the family earlier. */
static VkPipelineStageFlags family_kinds(const struct family *family)
{
    return family->flags & VK_QUEUE_COMPUTE_BIT ? LAUNCHES | TRANSFERS : TRANSFERS;
}

static VkAccessFlags writes(VkPipelineStageFlags kinds)
{
    return (kinds & LAUNCHES ? VK_ACCESS_SHADER_WRITE_BIT : 0) |
           (kinds & TRANSFERS ? VK_ACCESS_TRANSFER_WRITE_BIT : 0);
}

static VkAccessFlags reads(VkPipelineStageFlags kinds)
{
    return (kinds & LAUNCHES ? VK_ACCESS_SHADER_READ_BIT : 0) |
           (kinds & TRANSFERS ? VK_ACCESS_TRANSFER_READ_BIT : 0) |
           (kinds & VK_PIPELINE_STAGE_HOST_BIT ? VK_ACCESS_HOST_READ_BIT : 0);
}

/* What ran in `from` is over, and everything written so far is seen, before anything runs in `to`.
 * Barriers are chained: each begins with the kinds of work that the one before it ended with, so
 * that nothing needs to name work further back. Memory barriers only: launches hold raw addresses,
 * so nobody knows which buffers they touch. */
static void barrier(struct recorder *r, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = writes(from),
        .dstAccessMask = reads(to) | writes(to),
    };

    r->device->vk.vkCmdPipelineBarrier(r->commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* The mutation build leaves it out, to show that the tests notice. */
static void barrier_between_stages(struct recorder *r, VkPipelineStageFlags from,
                                   VkPipelineStageFlags to)
{
#ifdef GANTRY_TEST_DROP_BARRIER
    (void)r;
    (void)from;
    (void)to;
#else
    barrier(r, from, to);
#endif
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

/* A rectangle is a region per row, given to the driver in pieces, so that its height needs no
 * memory here. Rows without gaps are one region. */
static void record_copy(struct recorder *r, const struct gantry_op_copy *copy)
{
    enum { PIECE = 128 };
    const struct block *to = copy->to->driver;
    const struct block *from = copy->from->driver;
    bool gapless = copy->to_pitch == copy->size && copy->from_pitch == copy->size;
    uint64_t rows = copy->rows > 1 && !gapless ? copy->rows : 1;
    uint64_t size = copy->rows > 1 && gapless ? copy->rows * copy->size : copy->size;
    VkBufferCopy regions[PIECE];
    uint32_t count = 0;

    for (uint64_t row = 0; row < rows; row++) {
        regions[count++] = (VkBufferCopy){
            .srcOffset = from->shift + copy->from_offset + row * copy->from_pitch,
            .dstOffset = to->shift + copy->to_offset + row * copy->to_pitch,
            .size = size,
        };
        if (count < PIECE && row + 1 < rows)
            continue;
        r->device->vk.vkCmdCopyBuffer(r->commands, from->buffer, to->buffer, count, regions);
        count = 0;
    }
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

    if (!r->device->instance->debug_utils || !*text)
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
    bool labelled = op->label && label_begin(r, op->label);

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

/* Earlier submissions to the same VkQueue may still run, so the first stage waits for them. A
 * semaphore makes writes available to the device only; the host needs to be named. */
static void record_stages(struct recorder *r, const struct family *family,
                          const struct gantry_plan *plan)
{
    VkPipelineStageFlags kinds, before = 0;

    for (uint32_t i = 0, end; i < plan->op_count; i = end) {
        end = stage_end(plan, i, &kinds);
        if (!kinds) /* joins only */
            continue;
        if (before)
            barrier_between_stages(r, before, kinds);
        else
            barrier(r, family_kinds(family), kinds);
        before = kinds;
        for (uint32_t op = i; op < end; op++)
            record_op(r, &plan->ops[op]);
    }
    if (plan->host_writes)
        barrier(r, before, VK_PIPELINE_STAGE_HOST_BIT);
}

enum gantry_status record(struct gantry_drv_device *device, const struct family *family,
                          VkCommandBuffer commands, VkCommandBufferUsageFlags usage,
                          const struct gantry_plan *plan, uint64_t table)
{
    struct recorder r = {.device = device, .commands = commands, .table = table};
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = usage,
    };
    enum gantry_status status = GANTRY_OK;
    bool labelled;

    VK(device, device->vk.vkBeginCommandBuffer(commands, &begin));
    labelled = plan->label && label_begin(&r, plan->label);
    record_stages(&r, family, plan);
    label_end(&r, labelled);
    VK(device, device->vk.vkEndCommandBuffer(commands));
fail:
    return status;
}

enum gantry_status record_patch(struct gantry_drv_device *device, VkCommandBuffer commands,
                                const struct span *from, const struct span *table, uint64_t offset,
                                uint64_t size)
{
    struct recorder r = {.device = device, .commands = commands};
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkBufferCopy region = {
        .srcOffset = from->offset,
        .dstOffset = table->offset + offset,
        .size = size,
    };
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkBeginCommandBuffer(commands, &begin));
    /* Earlier launches may still read the table. The plan's own first barrier waits for the copy.
     */
    barrier_between_stages(&r, LAUNCHES, TRANSFERS);
    device->vk.vkCmdCopyBuffer(commands, from->buffer, table->buffer, 1, &region);
    VK(device, device->vk.vkEndCommandBuffer(commands));
fail:
    return status;
}
