/* What one submission of a list occupies: staging memory for its host transfers, and for a finished
 * list the plan that the backend built over that memory. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "host_copy.h"
#include "list.h"
#include "queue.h"
#include "status.h"

enum gantry_status list_check_buffers(const struct gantry_list *list)
{
    for (uint32_t i = 0; i < list->buffer_count; i++)
        if (list->buffers[i]->destroyed)
            return fail(GANTRY_E_INVALID_STATE,
                        "list \"%s\" copies from or to buffer \"%s\", which was destroyed after it "
                        "was recorded; keep the buffer or record a new list",
                        list->label, list->buffers[i]->label);
    return GANTRY_OK;
}

/* ---- Staging -------------------------------------------------------------------------------- */

static enum gantry_status reserve_staging(struct gantry_device *device, enum gantry_memory kind,
                                          uint64_t size, struct memory *memory)
{
    if (memory->size >= size)
        return GANTRY_OK;
    memory_free(device, memory);
    return memory_allocate(device, kind, size,
                           kind == GANTRY_MEMORY_UPLOAD ? "the staging of a list's uploads"
                                                        : "the staging of a list's downloads",
                           memory);
}

/* The instance is free: nobody reads its downloads. */
static enum gantry_status note_downloads(const struct gantry_list *list,
                                         struct list_instance *instance)
{
    uint32_t count = 0;

    free(instance->downloads);
    instance->downloads = NULL;
    instance->download_count = 0;
    if (list->transfer_count == 0)
        return GANTRY_OK;
    instance->downloads = calloc(list->transfer_count, sizeof(*instance->downloads));
    if (!instance->downloads)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for %u transfers",
                    list->transfer_count);
    for (uint32_t i = 0; i < list->command_count; i++) {
        const struct command_transfer *transfer = &list->commands[i].transfer;

        if (list->commands[i].kind == COMMAND_DOWNLOAD)
            instance->downloads[count++] = (struct transfer){.host = transfer->host,
                                                             .staging = transfer->staging,
                                                             .size = transfer->size,
                                                             .rows = transfer->rows,
                                                             .host_pitch = transfer->host_pitch};
    }
    instance->download_count = count;
    return GANTRY_OK;
}

static enum gantry_status prepare_transfers(struct gantry_list *list,
                                            struct list_instance *instance)
{
    struct gantry_device *device = list->object.device;
    enum gantry_status status =
        reserve_staging(device, GANTRY_MEMORY_UPLOAD, list->upload_size, &instance->upload);

    if (status == GANTRY_OK)
        status = reserve_staging(device, GANTRY_MEMORY_READBACK, list->readback_size,
                                 &instance->readback);
    if (status == GANTRY_OK)
        status = note_downloads(list, instance);
    return status;
}

static void stage_uploads(const struct gantry_list *list, struct list_instance *instance)
{
    uint8_t *staging = memory_host(&instance->upload);

    for (uint32_t i = 0; i < list->command_count; i++) {
        const struct command_transfer *transfer = &list->commands[i].transfer;

        if (list->commands[i].kind == COMMAND_UPLOAD)
            host_copy(&(struct host_copy){.to = staging + transfer->staging,
                                          .from = transfer->host,
                                          .size = transfer->size,
                                          .rows = transfer->rows,
                                          .to_pitch = transfer->size,
                                          .from_pitch = transfer->host_pitch});
    }
}

/* ---- Building ------------------------------------------------------------------------------- */

static void note_plan(struct gantry_list *list)
{
    const struct plan *plan = &list->plan;

    list->plan_info.operations = plan->view.op_count;
    list->plan_info.stages = plan->view.stage_count;
    list->plan_info.edges = plan->view.edge_count;
    list->plan_info.programmatic_edges = plan->programmatic_edges;
    list->plan_info.folded = plan->fold.folded;
    list->plan_info.chained = plan->fold.chained;
}

static enum gantry_status build_instance(struct gantry_list *list, struct list_instance *instance)
{
    struct gantry_device *device = list->object.device;
    enum gantry_status status = prepare_transfers(list, instance);

    if (status == GANTRY_OK)
        status = list_plan(list, instance);
    if (status == GANTRY_OK)
        status = patch_keep(list);
    if (status == GANTRY_OK) {
        note_plan(list);
        status = device->ops->plan_build(device->drv, &list->plan.view, &instance->built);
    }
    plan_clear(&list->plan);
    return status;
}

enum gantry_status list_build_first(struct gantry_list *list)
{
    enum gantry_status status = build_instance(list, &list->instances[0]);

    if (status != GANTRY_OK)
        patch_forget(list);
    return status;
}

/* ---- One submission ------------------------------------------------------------------------- */

static bool is_free(const struct list_instance *instance)
{
    return !instance->queue || queue_reached(instance->queue, instance->value);
}

static struct list_instance *oldest_instance(struct gantry_list *list)
{
    struct list_instance *oldest = &list->instances[0];

    for (uint32_t i = 1; i < list->instance_count; i++)
        if (list->instances[i].serial < oldest->serial)
            oldest = &list->instances[i];
    return oldest;
}

/* A free instance, a new one, or the oldest one once its submission has completed. */
static enum gantry_status find_instance(struct gantry_list *list, struct list_instance **found,
                                        bool *waited)
{
    for (uint32_t i = 0; i < list->instance_count; i++) {
        *found = &list->instances[i];
        if (is_free(*found))
            return GANTRY_OK;
    }
    if (list->instance_count < LIST_INSTANCES) {
        *found = &list->instances[list->instance_count++];
        return GANTRY_OK;
    }
    *waited = true;
    *found = oldest_instance(list);
    return queue_wait((*found)->queue, (*found)->value, GANTRY_FOREVER);
}

enum gantry_status list_acquire(struct gantry_list *list, struct list_instance **instance,
                                bool *waited)
{
    enum gantry_status status;

    *waited = false;
    *instance = &list->instances[0];
    if (list->transfer_count == 0)
        return GANTRY_OK;
    status = find_instance(list, instance, waited);
    if (status != GANTRY_OK)
        return status;
    if (list->state != LIST_FINISHED)
        status = prepare_transfers(list, *instance);
    else if (!(*instance)->built)
        status = build_instance(list, *instance);
    if (status == GANTRY_OK)
        stage_uploads(list, *instance);
    return status;
}

/* Points a held reference to another queue. */
static void hold_queue(struct gantry_queue **held, struct gantry_queue *queue)
{
    if (*held == queue)
        return;
    queue_ref(queue);
    if (*held)
        queue_unref(*held);
    *held = queue;
}

void list_submitted(struct gantry_list *list, struct list_instance *instance,
                    struct gantry_queue *queue, uint64_t value)
{
    hold_queue(&instance->queue, queue);
    instance->value = value;
    instance->serial = ++list->submissions;
    instance->dirty_from = instance->dirty_to = 0;
    hold_queue(&list->last_queue, queue);
    list->last_value = value;
}
