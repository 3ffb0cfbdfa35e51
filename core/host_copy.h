/* Copies between host memories: the caller's and staging memory. */
#ifndef GANTRY_CORE_HOST_COPY_H
#define GANTRY_CORE_HOST_COPY_H

#include <stdint.h>

struct host_copy {
    void *to;
    const void *from;
    uint64_t size;                 /* bytes of a row */
    uint64_t rows;                 /* at least 1 */
    uint64_t to_pitch, from_pitch; /* of several rows */
};

void host_copy(const struct host_copy *copy);

#endif
