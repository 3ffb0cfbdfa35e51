/* Choosing the size of a kernel's blocks: BLOCK() in the source, the caller, the policy, the
 * device. */
#ifndef GANTRY_CORE_WISH_H
#define GANTRY_CORE_WISH_H

#include "block.h"
#include "module.h"

/* The block that is to be tried, and who wants it. */
struct wish {
    struct gantry_size block;
    const char *origin; /* as in gantry_kernel_info; static, or of the policy */
    enum {
        WISH_DEMAND, /* the source's or the caller's: nothing else will do */
        WISH_POLICY,
        WISH_DEVICE,
    } rank;
};

/* The strongest wish that satisfies the rules. A demand that breaks them fails; a policy's value
 * that does is logged with its FILE:LINE and not used. `asked` is the caller's block, {0, 0, 0} for
 * none. */
enum gantry_status wish_choose(const struct gantry_kernel *kernel, const struct block_rules *rules,
                               struct gantry_size asked, struct wish *wish);

/* Another wish after the made kernel has refused the last one, for the reason `why`. */
enum gantry_status wish_again(const struct gantry_kernel *kernel, const struct block_rules *rules,
                              const char *why, struct wish *wish);

#endif
