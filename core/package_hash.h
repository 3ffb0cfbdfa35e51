/* The hash that a package's header states. */
#ifndef GANTRY_CORE_PACKAGE_HASH_H
#define GANTRY_CORE_PACKAGE_HASH_H

#include <stddef.h>
#include <string.h>

#include <xxhash.h>

#include "package_format.h"

/* The XXH64 of all that lies behind the header, seeded with the XXH64 (seed 0) of the header, whose
 * field `hash` counts as zero: so every bit of the file is covered. At least a header is there. */
static inline uint64_t gpk_hash(const void *package, size_t size)
{
    struct gpk_header header;

    memcpy(&header, package, sizeof(header));
    header.hash = 0;
    return XXH64((const uint8_t *)package + sizeof(header), size - sizeof(header),
                 XXH64(&header, sizeof(header), 0));
}

#endif
