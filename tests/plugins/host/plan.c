/* Plans: a copy of core's plan, with what each operation waits for worked out. */
#include <string.h>

#include "host.h"

/* ---- Order ----------------------------------------------------------------------------------- */

/* A programmatic edge lets the later kernel start early, and one whose image does not wait would
 * then run before its predecessor's results are there: so it is no edge at all. */
static bool binds(const struct gantry_plan *plan, const struct gantry_edge *edge)
{
    const struct gantry_op *to = &plan->ops[edge->to];
    return !edge->programmatic || to->kind != GANTRY_OP_LAUNCH || to->launch.kernel->waits;
}

static bool copy_edges(struct gantry_drv_instance *instance, const struct gantry_plan *plan,
                       struct gantry_drv_plan *built)
{
    uint32_t *first = built->first_next =
        ALLOCATE(instance, (plan->op_count + 1) * sizeof(uint32_t));
    built->degree = ALLOCATE(instance, (plan->op_count + 1) * sizeof(uint32_t));
    built->next = ALLOCATE(instance, (plan->edge_count + 1) * sizeof(uint32_t));
    if (!first || !built->degree || !built->next)
        return false;
    for (uint32_t i = 0; i < plan->edge_count; i++) {
        const struct gantry_edge *edge = &plan->edges[i];
        if (binds(plan, edge)) {
            first[edge->from]++;
            built->degree[edge->to]++;
        }
    }
    /* Counts become ends; filling from behind turns each end into its beginning. */
    for (uint32_t i = 0; i < plan->op_count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = plan->edge_count; i-- > 0;)
        if (binds(plan, &plan->edges[i]))
            built->next[--first[plan->edges[i].from]] = plan->edges[i].to;
    return true;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static size_t args_room(const struct gantry_op *op)
{
    return op->kind == GANTRY_OP_LAUNCH ? (op->launch.args_size + 15) / 16 * 16 : 0;
}

static void relocate(struct gantry_fold_args *fold, uint64_t table)
{
    fold->launches += table;
    fold->args += table;
}

static bool copy_ops(struct gantry_drv_instance *instance, const struct gantry_plan *plan,
                     struct gantry_drv_plan *built)
{
    size_t size = 0;
    for (uint32_t i = 0; i < plan->op_count; i++)
        size += args_room(&plan->ops[i]);
    built->ops = ALLOCATE(instance, (plan->op_count + 1) * sizeof(struct gantry_op));
    built->args = ALLOCATE(instance, size + 1);
    built->table = ALLOCATE(instance, plan->table_size + 1);
    if (!built->ops || !built->args || !built->table)
        return false;
    if (plan->table_size)
        memcpy(built->table, plan->table, plan->table_size);
    unsigned char *args = built->args;
    for (uint32_t i = 0; i < plan->op_count; i++) {
        struct gantry_op *op = &built->ops[i];
        *op = plan->ops[i];
        op->label = NULL;
        if (op->kind != GANTRY_OP_LAUNCH)
            continue;
        memcpy(args, op->launch.args, op->launch.args_size);
        if (op->folded)
            relocate((struct gantry_fold_args *)(void *)args, (uintptr_t)built->table);
        op->launch.args = args;
        args += args_room(op);
    }
    built->op_count = plan->op_count;
    built->table_size = plan->table_size;
    built->patchable = plan->patchable;
    return true;
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void plan_free(struct gantry_drv_instance *instance, struct gantry_drv_plan *plan)
{
    RELEASE(instance, plan->ops);
    RELEASE(instance, plan->degree);
    RELEASE(instance, plan->first_next);
    RELEASE(instance, plan->next);
    RELEASE(instance, plan->args);
    RELEASE(instance, plan->table);
    RELEASE(instance, plan);
}

enum gantry_status plan_make(struct gantry_drv_device *device, const struct gantry_plan *plan,
                             struct gantry_drv_plan **made)
{
    struct gantry_drv_instance *instance = device->instance;
    check_plan(device, plan);
    struct gantry_drv_plan *built = ALLOCATE(instance, sizeof(*built));
    if (!built)
        goto fail;
    built->device = device;
    if (!copy_ops(instance, plan, built))
        goto fail;
    if (!instance->by_stages && !copy_edges(instance, plan, built))
        goto fail;
    atomic_fetch_add(&instance->books.plans, 1);
    *made = built;
    return GANTRY_OK;

fail:
    if (built)
        plan_free(instance, built);
    return FAIL(instance, GANTRY_E_OUT_OF_HOST_MEMORY, "no memory for a plan of %u operations",
                plan->op_count);
}

void plan_drop(struct gantry_drv_plan *plan)
{
    struct gantry_drv_instance *instance = plan->device->instance;
    atomic_fetch_sub(&instance->books.plans, 1);
    plan_free(instance, plan);
}

enum gantry_status plan_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                              struct gantry_drv_plan **built)
{
    enum gantry_status status = enter(device->instance, device, ENTRY_plan_build);
    return status == GANTRY_OK ? plan_make(device, plan, built) : status;
}

void plan_destroy(struct gantry_drv_plan *built)
{
    check_unused(built->device, built, "plan");
    plan_drop(built);
}
