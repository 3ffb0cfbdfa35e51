/* Which buffer an address of a device lies in: what validation asks. Kept only for a device that
 * validates. */
#ifndef GANTRY_CORE_ADDRESSES_H
#define GANTRY_CORE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

struct gantry_buffer;
struct gantry_device;

/* Bytes first to end - 1. */
struct address_range {
    uint64_t first, end;
    struct gantry_buffer *buffer;
};

/* A buffer that was destroyed. */
struct address_ghost {
    uint64_t first, end;
    char label[48];
};

#define ADDRESSES_GHOSTS 32

/* All zero: no buffer. Guarded by the device's lock, as are the functions without a device. */
struct addresses {
    struct address_range *live; /* in ascending order; no two share a byte */
    uint32_t count, capacity;
    uint64_t destroyed; /* buffers, ever: what was found live is so while this stays the same */
    struct address_ghost ghosts[ADDRESSES_GHOSTS]; /* the latest ones: a ring */
};

/* False when there is no memory. */
bool addresses_add(struct addresses *addresses, struct gantry_buffer *buffer);

/* The buffer is being destroyed; remembers where it was. */
void addresses_remove(struct addresses *addresses, const struct gantry_buffer *buffer);

/* The range that holds the address; NULL when none does. */
const struct address_range *addresses_find(const struct addresses *addresses, uint64_t address);

void addresses_close(struct addresses *addresses);

/* One sentence's end about an address that lies in no live buffer of the device, as "points into
 * buffer \"x\", which was destroyed": of this device, else of another, else the nearest. Takes
 * locks. */
void addresses_explain(struct gantry_device *device, uint64_t address, char *text, unsigned size);

#endif
