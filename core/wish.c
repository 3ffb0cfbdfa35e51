/* Choosing the size of a kernel's blocks: BLOCK() in the source, the caller, the policy, the
 * device. */
#include "wish.h"

#include "context.h"
#include "entry.h"
#include "status.h"

static bool is_set(struct gantry_size block)
{
    return block.x || block.y || block.z;
}

static bool same(struct gantry_size a, struct gantry_size b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static enum gantry_status not_allowed(const struct gantry_kernel *kernel, const struct wish *wish,
                                      const char *why)
{
    char text[BLOCK_TEXT_SIZE];

    return fail(GANTRY_E_LIMIT, "kernel %s: block %s (%s) %s of \"%s\"; use another block",
                kernel->source->name, block_text(wish->block, text), wish->origin, why,
                kernel->object.device->label);
}

static enum gantry_status wish_of_caller(const struct gantry_kernel *kernel,
                                         const struct block_rules *rules, struct gantry_size block,
                                         struct wish *wish)
{
    const struct gantry_kernel_source *source = kernel->source;
    char asked[BLOCK_TEXT_SIZE], fixed[BLOCK_TEXT_SIZE];

    wish->rank = WISH_DEMAND;
    if (is_set(block))
        block = block_complete(rules, block, false);
    if (!is_set(source->block)) {
        wish->block = block;
        wish->origin = "caller";
        return GANTRY_OK;
    }
    if (is_set(block) && !same(block, source->block))
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "kernel %s: block %s was asked for, but BLOCK() in its source fixes %s",
                    source->name, block_text(block, asked), block_text(source->block, fixed));
    wish->block = source->block;
    wish->origin = "BLOCK() in the source";
    return GANTRY_OK;
}

static void log_unused(const struct gantry_kernel *kernel, const struct wish *wish, const char *why)
{
    char text[BLOCK_TEXT_SIZE];

    log_write(&kernel->object.device->g->log, GANTRY_LOG_WARNING,
              "%s: block_size %s is not used for kernel %s of module \"%s\": it %s", wish->origin,
              block_text(wish->block, text), kernel->source->name, kernel->module->label, why);
}

/* False when the policy states no block, or one that the kernel can't have: then that is said. */
static bool wish_of_policy(const struct gantry_kernel *kernel, const struct block_rules *rules,
                           struct wish *wish)
{
    const struct gantry_device *device = kernel->object.device;
    char why[BLOCK_WHY_SIZE];
    struct gantry_size block;

    policy_block_size(device->g->policy, &device->view->subject, kernel->module->label,
                      kernel->source->name, &block, &wish->origin);
    if (!is_set(block))
        return false;
    wish->block = block_complete(rules, block, true);
    wish->rank = WISH_POLICY;
    if (block_allowed(rules, wish->block, why))
        return true;
    log_unused(kernel, wish, why);
    return false;
}

static enum gantry_status wish_of_device(const struct gantry_kernel *kernel,
                                         const struct block_rules *rules, struct wish *wish)
{
    const struct gantry_kernel_source *source = kernel->source;
    uint32_t threads;
    enum gantry_status status = entry_propose(kernel, &threads);

    if (status != GANTRY_OK)
        return status;
    wish->block = block_near(rules, threads);
    wish->origin = "device occupancy";
    wish->rank = WISH_DEVICE;
    if (is_set(wish->block))
        return GANTRY_OK;
    return fail(GANTRY_E_LIMIT,
                "kernel %s: no block of at most %u threads and %u bytes of shared memory, which "
                "device \"%s\" takes, satisfies its rules (multiple of %u, at most %u%s; %u bytes "
                "of shared memory, and %u for each thread)",
                source->name,
                rules->max_threads ? rules->max_threads : rules->limits->max_threads_per_block,
                rules->limits->max_shared_bytes, kernel->object.device->label,
                source->block_multiple, source->block_max,
                source->block_pow2 ? ", a power of two" : "", source->shared_bytes,
                source->shared_per_thread);
}

enum gantry_status wish_choose(const struct gantry_kernel *kernel, const struct block_rules *rules,
                               struct gantry_size asked, struct wish *wish)
{
    char why[BLOCK_WHY_SIZE];
    enum gantry_status status;

    if (is_set(asked) || is_set(kernel->source->block)) {
        status = wish_of_caller(kernel, rules, asked, wish);
        if (status == GANTRY_OK && !block_allowed(rules, wish->block, why))
            status = not_allowed(kernel, wish, why);
        return status;
    }
    if (wish_of_policy(kernel, rules, wish))
        return GANTRY_OK;
    return wish_of_device(kernel, rules, wish);
}

enum gantry_status wish_again(const struct gantry_kernel *kernel, const struct block_rules *rules,
                              const char *why, struct wish *wish)
{
    if (wish->rank == WISH_DEMAND)
        return not_allowed(kernel, wish, why);
    if (wish->rank == WISH_POLICY)
        log_unused(kernel, wish, why);
    return wish_of_device(kernel, rules, wish);
}
