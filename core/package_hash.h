/* The hash that a package's header states. */
#ifndef GANTRY_CORE_PACKAGE_HASH_H
#define GANTRY_CORE_PACKAGE_HASH_H

#include <stddef.h>

#include <xxhash.h>

#include "package_format.h"

/* XXH64, seed 0, of a whole package whose field `hash` counts as zero. At least a header is there. */
static inline uint64_t gpk_hash(const void *package, size_t size)
{
    static const uint64_t zero;
    const uint8_t *bytes = package;
    const size_t at = offsetof(struct gpk_header, hash), behind = at + sizeof(zero);
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    XXH64_update(&state, bytes, at);
    XXH64_update(&state, &zero, sizeof(zero));
    XXH64_update(&state, bytes + behind, size - behind);
    return XXH64_digest(&state);
}

#endif
