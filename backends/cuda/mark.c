#include "mark.h"

#include "context.h"
#include "status.h"

/* Whoever sleeps on a mark sleeps in the kernel, not in a loop: spinning is core's part. */
enum { MARK_FLAGS = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING };

static enum gantry_status create_event(struct gantry_drv_device *device, CUevent *event)
{
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = CU(device, cuEventCreate(event, MARK_FLAGS));
    scope_leave(device, &scope);
    return status;
}

enum gantry_status mark_record(struct gantry_drv_queue *queue, struct mark **mark)
{
    struct mark *slot = &queue->marks[queue->next_mark];
    enum gantry_status status = GANTRY_OK;

    if (!slot->event)
        status = create_event(queue->device, &slot->event);
    if (status == GANTRY_OK)
        status = CU(queue->device, cuEventRecord(slot->event, queue->stream));
    if (status != GANTRY_OK)
        return status;
    slot->value = queue->submitted;
    queue->next_mark = (queue->next_mark + 1) % MARK_COUNT;
    *mark = slot;
    return GANTRY_OK;
}

struct mark *mark_find(struct gantry_drv_queue *queue, uint64_t value)
{
    for (uint32_t i = 0; i < MARK_COUNT; i++) {
        struct mark *mark = &queue->marks[(queue->next_mark + i) % MARK_COUNT];

        if (mark->value >= value && mark->value != 0)
            return mark;
    }
    return NULL;
}

enum gantry_status mark_completed(struct gantry_drv_queue *queue, uint64_t *value)
{
    struct gantry_drv_device *device = queue->device;

    *value = 0;
    for (uint32_t i = 0; i < MARK_COUNT; i++) {
        struct mark *mark = &queue->marks[(queue->next_mark + i) % MARK_COUNT];
        CUresult result;

        if (mark->value == 0)
            continue;
        result = device->instance->cu.cuEventQuery(mark->event);
        if (result == CUDA_ERROR_NOT_READY)
            break;
        if (result != CUDA_SUCCESS)
            return driver_status(device->instance, device, result, "cuEventQuery(mark->event)");
        *value = mark->value;
    }
    return GANTRY_OK;
}

void marks_destroy(struct gantry_drv_queue *queue)
{
    for (uint32_t i = 0; i < MARK_COUNT; i++) {
        if (queue->marks[i].event)
            queue->device->instance->cu.cuEventDestroy(queue->marks[i].event);
    }
}
