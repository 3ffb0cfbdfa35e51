/* How far a launch can reach through its pointers, by what its kernel states. */
#ifndef GANTRY_CORE_REACH_H
#define GANTRY_CORE_REACH_H

#include <gantry/gantry.h>

/* An argument that is a pointer. */
struct reach {
    const struct gantry_field_info *field;
    uint64_t address;
    uint64_t elements; /* that the kernel can reach at most; without a statement 1, as it takes a
                          pointer for something */
    uint64_t bytes;    /* the same, UINT64_MAX when they don't fit 64 bits */
    bool stated;
};

/* Field i of a kernel's arguments; false when it is no pointer. */
bool reach_read(const struct gantry_kernel_source *source, uint32_t i, const uint8_t *args,
                struct reach *reach);

/* "n * m = 12 elements of 4 bytes", as the kernel states it. */
void reach_describe(const struct gantry_kernel_source *source, const struct reach *reach,
                    char *text, unsigned size);

#endif
