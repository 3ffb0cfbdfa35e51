/* Plans that are built once and replayed. */
#include "context.h"
#include "graph.h"
#include "operation.h"
#include "queue.h"
#include "staging.h"
#include "status.h"

#include <string.h>

struct gantry_drv_plan {
    struct gantry_drv_device *device;
    struct graph graph;      /* without exec: the operations are launched one by one */
    struct gantry_plan *ops; /* the copy for that, NULL where there is a graph */
    struct gantry_drv_memory table;
    bool refused; /* the driver did not take the graph */
    bool counted; /* the build is in a queue's statistics */
};

/* ---- Building ------------------------------------------------------------------------------- */

static enum gantry_status fill_table(struct gantry_drv_device *device,
                                     const struct gantry_drv_memory *memory, const void *bytes,
                                     uint64_t size)
{
    enum gantry_status status;

    pthread_mutex_lock(&device->transfer_lock);
    status = CU(device, cuMemcpyHtoDAsync(memory->address, bytes, size, device->transfer));
    if (status == GANTRY_OK)
        status = transfer_finish(device);
    pthread_mutex_unlock(&device->transfer_lock);
    return status;
}

static enum gantry_status make_table(struct gantry_drv_plan *built, const struct gantry_plan *plan)
{
    enum gantry_status status;

    if (plan->table_size == 0)
        return GANTRY_OK;
    status = memory_allocate(built->device, GANTRY_MEMORY_DEVICE, plan->table_size, &built->table);
    if (status == GANTRY_OK)
        status = fill_table(built->device, &built->table, plan->table, plan->table_size);
    return status;
}

/* A graph pays at every size: one launch in a graph costs the host less than one by itself. */
static enum gantry_status make_graph(struct gantry_drv_plan *built, const struct gantry_plan *plan)
{
    struct gantry_drv_device *device = built->device;
    enum gantry_status status = graph_build(device, plan, built->table.address, &built->graph);

    if (!graph_is_refusal(status)) {
        graph_seal(device, &built->graph);
        return status;
    }
    built->refused = true;
    LOG(device->instance, GANTRY_LOG_WARNING,
        "list %s: the driver refused a graph of %u operations, so they are launched one by one "
        "(log = debug tells its reason)",
        plan->label ? plan->label : "without a name", plan->op_count);
    return GANTRY_OK;
}

static enum gantry_status make(struct gantry_drv_plan *built, const struct gantry_plan *plan)
{
    enum gantry_status status = make_table(built, plan);

    if (status == GANTRY_OK && built->device->submit != GANTRY_SUBMIT_STREAM && plan->op_count > 0)
        status = make_graph(built, plan);
    if (status == GANTRY_OK && !built->graph.exec) {
        built->ops = operations_copy(built->device->instance, plan);
        if (!built->ops)
            status = GANTRY_E_OUT_OF_HOST_MEMORY;
    }
    return status;
}

enum gantry_status plan_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                              struct gantry_drv_plan **built)
{
    struct gantry_drv_plan *made;
    struct scope scope;
    enum gantry_status status = scope_enter(device, &scope);

    if (status != GANTRY_OK)
        return status;
    made = host_allocate(device->instance, sizeof(*made));
    if (made) {
        made->device = device;
        status = make(made, plan);
    } else {
        status = GANTRY_E_OUT_OF_HOST_MEMORY;
    }
    scope_leave(device, &scope);
    if (status == GANTRY_OK)
        *built = made;
    else if (made)
        plan_destroy(made);
    return status;
}

/* Takes a half-made plan. */
void plan_destroy(struct gantry_drv_plan *built)
{
    struct gantry_drv_device *device = built->device;
    struct scope scope;
    bool entered = scope_enter_anyway(device, &scope);

    graph_destroy(device, &built->graph);
    if (entered)
        scope_leave(device, &scope);
    if (built->table.address)
        memory_free(device, &built->table);
    host_release(device->instance, built->ops);
    host_release(device->instance, built);
}

/* ---- Submitting ----------------------------------------------------------------------------- */

/* The stream's order puts the copy behind all earlier work, which still sees the old bytes. */
static enum gantry_status patch(struct gantry_drv_queue *queue, const struct gantry_drv_plan *built,
                                const struct gantry_backend_submission *submission)
{
    uint64_t to = built->table.address + submission->patch_offset;
    uint64_t size = submission->patch_size;
    struct staged staged;
    enum gantry_status status;

    if (size == 0)
        return GANTRY_OK;
    status = staging_take(queue, size, submission->value, false, &staged);
    if (status != GANTRY_OK)
        return status;
    memcpy(staged.host, submission->patch, size);
    return CU(queue->device, cuMemcpyHtoDAsync(to, staged.host, size, queue->stream));
}

/* A graph is made when no queue is known, and so counted by the first that runs it. */
static void count(struct gantry_queue_stats *stats, struct gantry_drv_plan *built)
{
    if (built->graph.exec && !built->counted)
        stats->builds++;
    built->counted = true;
    if (built->refused)
        stats->fallbacks[GANTRY_FALLBACK_NO_GRAPH]++;
    if (built->graph.programmatic_lost)
        stats->fallbacks[GANTRY_FALLBACK_NO_PROGRAMMATIC]++;
}

static enum gantry_status run(struct gantry_drv_queue *queue, struct gantry_drv_plan *built)
{
    count(queue->stats, built);
    if (!built->graph.exec)
        return operations_run(queue, built->ops->ops, built->ops->op_count, built->table.address);
    queue->stats->driver_submits++;
    return CU(queue->device, cuGraphLaunch(built->graph.exec, queue->stream));
}

enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                          const struct gantry_backend_submission *submission)
{
    struct scope scope;
    enum gantry_status status = scope_enter_work(queue->device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = queue_wait_for_all(queue, submission);
    if (status == GANTRY_OK)
        status = patch(queue, built, submission);
    if (status == GANTRY_OK)
        status = run(queue, built);
    if (status == GANTRY_OK)
        status = queue_signal(queue, submission->value);
    if (status != GANTRY_OK)
        queue_drain(queue);
    scope_leave(queue->device, &scope);
    return status;
}
