/* Plans that are run once: cut into pieces, each a recycled graph or single launches. */
#include "context.h"
#include "operation.h"
#include "pool.h"
#include "queue.h"
#include "shape.h"
#include "staging.h"
#include "status.h"

#include <string.h>

enum {
    /* Launches that pay for a graph: one costs the host 2.3 µs on an H200, a launch by itself 4.2.
     */
    GRAPH_LEAST = 1,

    /* Bytes of a table that the device reads where it was put, over the bus; a larger one is copied
     * to the device's memory, which costs one more call. On an H200 28 KiB of launches side by side
     * took as long either way. */
    PINNED_TABLE_MOST = 32 << 10,
};

/* One submission on its way. */
struct once {
    struct gantry_drv_queue *queue;
    uint64_t value; /* the submission's */
    uint64_t table; /* the address of its table */
};

/* A chain reads one launch after the other: each would wait for the bus, 2 µs on an H200. */
static bool has_chain(const struct gantry_plan *plan)
{
    for (uint32_t i = 0; i < plan->op_count; i++) {
        const struct gantry_op *op = &plan->ops[i];
        const struct gantry_fold_args *fold = op->launch.args;

        if (op->kind == GANTRY_OP_LAUNCH && op->folded && fold->count > fold->blocks)
            return true;
    }
    return false;
}

static enum gantry_status place_table(struct once *once, const struct gantry_plan *plan)
{
    struct gantry_drv_queue *queue = once->queue;
    struct staged staged;
    enum gantry_status status;
    bool copied;

    if (plan->table_size == 0)
        return GANTRY_OK;
    copied = plan->table_size > PINNED_TABLE_MOST || has_chain(plan);
    status = staging_take(queue, plan->table_size, once->value, copied, &staged);
    if (status != GANTRY_OK)
        return status;
    memcpy(staged.host, plan->table, plan->table_size);
    once->table = copied ? staged.twin : staged.address;
    if (copied)
        status = CU(queue->device,
                    cuMemcpyHtoDAsync(staged.twin, staged.host, plan->table_size, queue->stream));
    return status;
}

/* *ran: the piece was given to the stream. */
static enum gantry_status run_graph(const struct once *once, const struct cut *cut, uint32_t length,
                                    bool wanted, bool *ran)
{
    struct gantry_drv_queue *queue = once->queue;
    struct shape shape;
    struct piece piece = {&shape, cut->plan->ops + cut->op, once->table, once->value, wanted};
    CUgraphExec exec = NULL;
    enum gantry_status status;

    if (!shape_read(cut, length, &shape))
        return GANTRY_OK;
    status = pool_take(queue, &piece, &exec);
    *ran = status == GANTRY_OK && exec;
    if (!*ran)
        return status;
    queue->stats->driver_submits++;
    return CU(queue->device, cuGraphLaunch(exec, queue->stream));
}

/* The largest power of two that is not above it. */
static uint32_t round_down(uint32_t length)
{
    while (length & (length - 1))
        length &= length - 1;
    return length;
}

/* Runs what begins at the cut, or a part of it, and sets *length. A chain whose length has no graph
 * is cut down to a power of two: these are few, so that every chain finds graphs. */
static enum gantry_status run_piece(const struct once *once, const struct cut *cut,
                                    uint32_t *length)
{
    enum gantry_submit_mode mode = once->queue->device->submit;
    enum cut_kind kind = cut_measure(cut, length);
    bool always = mode == GANTRY_SUBMIT_GRAPH;
    bool graph =
        kind != CUT_OTHER && mode != GANTRY_SUBMIT_STREAM && (always || *length >= GRAPH_LEAST);
    bool whole = always || kind != CUT_CHAIN || *length == round_down(*length);
    bool ran = false;
    enum gantry_status status = GANTRY_OK;

    if (graph)
        status = run_graph(once, cut, *length, always || (whole && kind == CUT_CHAIN), &ran);
    if (graph && !whole && !ran && status == GANTRY_OK) {
        *length = round_down(*length);
        status = run_graph(once, cut, *length, true, &ran);
    }
    if (!ran && status == GANTRY_OK)
        status = operations_run(once->queue, cut->plan->ops + cut->op, *length, once->table);
    return status;
}

static enum gantry_status run_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                                   uint64_t value)
{
    struct once once = {.queue = queue, .value = value};
    struct cut cut = {.plan = plan};
    enum gantry_status status = place_table(&once, plan);

    while (cut.op < plan->op_count && status == GANTRY_OK) {
        uint32_t length;

        status = run_piece(&once, &cut, &length);
        cut_advance(&cut, length);
    }
    return status;
}

enum gantry_status submit_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               const struct gantry_backend_submission *submission)
{
    struct scope scope;
    enum gantry_status status = scope_enter_work(queue->device, &scope);

    if (status != GANTRY_OK)
        return status;
    status = queue_wait_for_all(queue, submission);
    if (status == GANTRY_OK)
        status = run_once(queue, plan, submission->value);
    if (status == GANTRY_OK)
        status = queue_signal(queue, submission->value);
    if (status != GANTRY_OK)
        queue_drain(queue);
    scope_leave(queue->device, &scope);
    return status;
}
