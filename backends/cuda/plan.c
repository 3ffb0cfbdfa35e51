/* Plans: built once and replayed, or run once. */
#include "block.h"
#include "context.h"
#include "graph.h"
#include "operation.h"
#include "queue.h"
#include "status.h"

#include <string.h>

/* ---- Building ------------------------------------------------------------------------------- */

static enum gantry_status fill_table(struct gantry_drv_device *device,
                                     const struct gantry_drv_memory *memory, const void *bytes,
                                     uint64_t size)
{
    enum gantry_status status;

    pthread_mutex_lock(&device->transfer_lock);
    status = CU(device, cuMemcpyHtoDAsync(memory->address, bytes, size, device->transfer));
    if (status == GANTRY_OK)
        status = CU(device, cuStreamSynchronize(device->transfer));
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

static bool has_programmatic(const struct gantry_plan *plan)
{
    for (uint32_t i = 0; i < plan->edge_count; i++) {
        if (plan->edges[i].programmatic)
            return true;
    }
    return false;
}

static bool is_refusal(enum gantry_status status)
{
    return status == GANTRY_E_DRIVER || status == GANTRY_E_OUT_OF_MEMORY;
}

/* Two tries at most: as the plan wants it, then with full edges. */
static enum gantry_status make_graph(struct gantry_drv_plan *built, const struct gantry_plan *plan)
{
    struct gantry_drv_device *device = built->device;
    bool wanted = has_programmatic(plan);
    enum gantry_status status = GANTRY_E_DRIVER;

    if (wanted && device->info.programmatic)
        status = graph_build(device, plan, built->table.address, true, &built->graph);
    if (!wanted || is_refusal(status)) {
        built->programmatic_lost = wanted;
        status = graph_build(device, plan, built->table.address, false, &built->graph);
    }
    if (is_refusal(status)) {
        built->refused = true;
        LOG(device->instance, GANTRY_LOG_WARNING,
            "list %s: the driver refused a graph of %u operations, so they are launched one by one "
            "(log = debug tells its reason)",
            plan->label ? plan->label : "without a name", plan->op_count);
        status = GANTRY_OK;
    }
    return status;
}

static enum gantry_status make(struct gantry_drv_plan *built, const struct gantry_plan *plan)
{
    enum gantry_status status = make_table(built, plan);

    if (status == GANTRY_OK && built->device->submit != GANTRY_SUBMIT_STREAM && plan->op_count > 0)
        status = make_graph(built, plan);
    if (status == GANTRY_OK && !built->graph) {
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

    if (scope_enter_anyway(device, &scope)) {
        if (built->graph)
            device->instance->cu.cuGraphExecDestroy(built->graph);
        scope_leave(device, &scope);
    }
    if (built->table.address)
        memory_free(device, &built->table);
    host_release(device->instance, built->ops);
    host_release(device->instance, built);
}

/* ---- Submitting ----------------------------------------------------------------------------- */

static enum gantry_status wait_for_all(struct gantry_drv_queue *queue,
                                       const struct gantry_backend_submission *submission)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; i < submission->wait_count && status == GANTRY_OK; i++)
        status = queue_wait_for(queue, &submission->waits[i]);
    return status;
}

/* A graph is made when no queue is known, and so counted by the first that runs it. */
static void count(struct gantry_queue_stats *stats, struct gantry_drv_plan *built)
{
    if (built->graph && !built->counted)
        stats->builds++;
    built->counted = true;
    if (built->refused)
        stats->fallbacks[GANTRY_FALLBACK_NO_GRAPH]++;
    if (built->programmatic_lost)
        stats->fallbacks[GANTRY_FALLBACK_NO_PROGRAMMATIC]++;
}

static enum gantry_status run_built(struct gantry_drv_queue *queue, struct gantry_drv_plan *built)
{
    count(queue->stats, built);
    if (!built->graph)
        return operations_run(queue, built->ops, built->table.address);
    queue->stats->driver_submits++;
    return CU(queue->device, cuGraphLaunch(built->graph, queue->stream));
}

enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                          const struct gantry_backend_submission *submission)
{
    struct scope scope;
    enum gantry_status status = scope_enter(queue->device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = wait_for_all(queue, submission);
    if (status == GANTRY_OK)
        status = run_built(queue, built);
    if (status == GANTRY_OK)
        status = queue_signal(queue, submission->value);
    if (status != GANTRY_OK)
        queue_drain(queue);
    scope_leave(queue->device, &scope);
    return status;
}

static enum gantry_status run_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                                   uint64_t value)
{
    struct block *block = NULL;
    enum gantry_status status = GANTRY_OK;

    if (plan->table_size > 0)
        status = block_take(queue, plan->table_size, &block);
    if (status != GANTRY_OK)
        return status;
    if (block) {
        memcpy(block->memory.host, plan->table, plan->table_size);
        block->value = value;
    }
    return operations_run(queue, plan, block ? block->memory.address : 0);
}

enum gantry_status submit_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               const struct gantry_backend_submission *submission)
{
    struct scope scope;
    enum gantry_status status = scope_enter(queue->device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = wait_for_all(queue, submission);
    if (status == GANTRY_OK)
        status = run_once(queue, plan, submission->value);
    if (status == GANTRY_OK)
        status = queue_signal(queue, submission->value);
    if (status != GANTRY_OK)
        queue_drain(queue);
    scope_leave(queue->device, &scope);
    return status;
}
