#include <string.h>

#include "driver.h"

/* A command buffer for one queue family. */
struct recording {
    VkCommandPool pool;
    VkCommandBuffer commands;
};

/* The copy of the core's plan lies behind the struct: operations, then arguments and labels. */
struct gantry_drv_plan {
    struct gantry_drv_device *device;
    struct gantry_plan plan; /* without edges: barriers follow the stages */
    struct table table;
    pthread_mutex_t lock; /* guards the recordings */
    struct recording recordings[MAX_FAMILIES];
    struct gantry_op ops[];
};

/* ---- Copying -------------------------------------------------------------------------------- */

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t extra_size(const struct gantry_plan *plan)
{
    size_t size = text_size(plan->label);

    for (uint32_t i = 0; i < plan->op_count; i++) {
        size += text_size(plan->ops[i].label);
        if (plan->ops[i].kind == GANTRY_OP_LAUNCH)
            size += plan->ops[i].launch.args_size;
    }
    return size;
}

/* Copies into the space at *end and moves *end behind it. */
static void *append(char **end, const void *data, size_t size)
{
    void *copy = *end;

    if (size == 0)
        return NULL;
    memcpy(copy, data, size);
    *end += size;
    return copy;
}

static struct gantry_drv_plan *copy_plan(struct gantry_drv_device *device,
                                         const struct gantry_plan *plan)
{
    size_t ops_size = plan->op_count * sizeof(*plan->ops);
    struct gantry_drv_plan *made;
    char *end;

    made = host_allocate(device->services, sizeof(*made) + ops_size + extra_size(plan), "a plan");
    if (!made)
        return NULL;
    end = (char *)made->ops + ops_size;
    made->device = device;
    made->plan = *plan;
    made->plan.ops = made->ops;
    made->plan.edges = NULL;
    made->plan.edge_count = 0;
    made->plan.table = NULL; /* the device's copy is made->table */
    made->plan.label = append(&end, plan->label, text_size(plan->label));
    for (uint32_t i = 0; i < plan->op_count; i++) {
        struct gantry_op *op = &made->ops[i];
        *op = plan->ops[i];
        op->label = append(&end, op->label, text_size(op->label));
        if (op->kind == GANTRY_OP_LAUNCH)
            op->launch.args = append(&end, op->launch.args, op->launch.args_size);
    }
    pthread_mutex_init(&made->lock, NULL);
    return made;
}

/* ---- Recording ------------------------------------------------------------------------------ */

static enum gantry_status open_recording(struct gantry_drv_device *device,
                                         const struct family *family, struct recording *recording)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = family->index,
    };
    VkCommandBufferAllocateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkCreateCommandPool(device->handle, &pool, NULL, &recording->pool));
    buffer.commandPool = recording->pool;
    VK(device, device->vk.vkAllocateCommandBuffers(device->handle, &buffer, &recording->commands));
fail:
    return status;
}

static void close_recording(struct gantry_drv_device *device, struct recording *recording)
{
    if (recording->pool) /* frees the command buffer too */
        device->vk.vkDestroyCommandPool(device->handle, recording->pool, NULL);
    memset(recording, 0, sizeof(*recording));
}

static enum gantry_status make_recording(struct gantry_drv_plan *built, const struct family *family,
                                         struct recording *recording)
{
    enum gantry_status status;

    status = open_recording(built->device, family, recording);
    if (status == GANTRY_OK)
        status = record(built->device, family, recording->commands,
                        VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, &built->plan,
                        built->table.span.address);
    if (status != GANTRY_OK)
        close_recording(built->device, recording);
    return status;
}

enum gantry_status plan_commands(struct gantry_drv_plan *built, const struct family *family,
                                 struct gantry_queue_stats *stats, VkCommandBuffer *commands)
{
    struct recording *recording = &built->recordings[family - built->device->families];
    enum gantry_status status = GANTRY_OK;

    *commands = VK_NULL_HANDLE;
    if (!plan_works(&built->plan))
        return GANTRY_OK;
    pthread_mutex_lock(&built->lock);
    if (!recording->commands) {
        status = make_recording(built, family, recording);
        stats->builds += status == GANTRY_OK;
    }
    *commands = recording->commands;
    pthread_mutex_unlock(&built->lock);
    return status;
}

const struct span *plan_table(const struct gantry_drv_plan *built)
{
    return &built->table.span;
}

/* ---- Entries -------------------------------------------------------------------------------- */

enum gantry_status plan_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                              struct gantry_drv_plan **built)
{
    struct gantry_drv_plan *made = copy_plan(device, plan);
    enum gantry_status status;

    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    if (plan->table_size > 0) {
        status = table_take(device, plan->table_size, &made->table);
        if (status != GANTRY_OK) {
            plan_destroy(made);
            return status;
        }
        memcpy(made->table.span.host, plan->table, plan->table_size);
    }
    *built = made;
    return GANTRY_OK;
}

void plan_destroy(struct gantry_drv_plan *built)
{
    struct gantry_drv_device *device = built->device;

    for (uint32_t i = 0; i < MAX_FAMILIES; i++)
        close_recording(device, &built->recordings[i]);
    table_give(device, &built->table);
    pthread_mutex_destroy(&built->lock);
    device->services->release(device->services->context, built);
}
