#include "optimise.h"

/* The passes of -O, cut behind the loop unroller: it copies instructions without their decorations.
 * None before the cut folds arithmetic, other than of constants. */
static const char *const unroll_passes[] = {
    "--strip-debug",
    "--wrap-opkill",
    "--eliminate-dead-branches",
    "--merge-return",
    "--inline-entry-points-exhaustive",
    "--eliminate-dead-functions",
    "--eliminate-dead-code-aggressive",
    "--private-to-local",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--eliminate-dead-code-aggressive",
    "--scalar-replacement=100",
    "--convert-local-access-chains",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--eliminate-dead-code-aggressive",
    "--ssa-rewrite",
    "--eliminate-dead-code-aggressive",
    "--ccp",
    "--eliminate-dead-code-aggressive",
    "--loop-unroll",
};

/* No pass behind the cut copies float operations. */
static const char *const optimise_passes[] = {
    "--eliminate-dead-branches",
    "--redundancy-elimination",
    "--combine-access-chains",
    "--simplify-instructions",
    "--scalar-replacement=100",
    "--convert-local-access-chains",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--eliminate-dead-code-aggressive",
    "--ssa-rewrite",
    "--eliminate-dead-code-aggressive",
    "--vector-dce",
    "--eliminate-dead-inserts",
    "--eliminate-dead-branches",
    "--simplify-instructions",
    "--if-conversion",
    "--copy-propagate-arrays",
    "--reduce-load-size",
    "--eliminate-dead-code-aggressive",
    "--merge-blocks",
    "--redundancy-elimination",
    "--eliminate-dead-branches",
    "--merge-blocks",
    "--simplify-instructions",
    "--compact-ids",
};

static struct command passes_command(struct compilation *c, const char *const *passes, size_t count,
                                     const char *path)
{
    struct command command = command_new(c->pool, c->settings->spirv_opt);
    command_add(&command, "--target-env=vulkan1.2");
    for (size_t i = 0; i < count; i++)
        command_add(&command, passes[i]);
    command_add(&command, path);
    command_add(&command, "-o");
    command_add(&command, path);
    return command;
}

struct command unroll_command(struct compilation *c, const char *path)
{
    return passes_command(c, unroll_passes, sizeof(unroll_passes) / sizeof(unroll_passes[0]), path);
}

struct command optimise_command(struct compilation *c, const char *path)
{
    return passes_command(c, optimise_passes, sizeof(optimise_passes) / sizeof(optimise_passes[0]),
                          path);
}
