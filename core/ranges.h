/* Which bytes of some spaces are taken: best fit, and neighbours that are free are one. What the
 * spaces are is the caller's business.
 *
 * Free ranges hang in a treap, ordered by size, then by the age of their space, then by offset: the
 * smallest that fits is found in the time of a search, and of equals the one in the oldest space is
 * taken, so that younger spaces become empty. Weights come from a generator with a fixed seed: the
 * same calls give the same offsets in every run. */
#ifndef GANTRY_CORE_RANGES_H
#define GANTRY_CORE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range {
    void *space;                  /* as given to ranges_add() */
    uint64_t offset, size;        /* in the space; size is never 0 */
    struct range *before, *after; /* neighbours in the space; NULL at its ends */
    bool free;
    uint64_t age;              /* number of the space: older ones are less */
    struct range *less, *more; /* in the tree, while free */
    uint32_t weight;           /* a parent's is not less than its children's */
};

/* All zero is none. Not for two threads at once. */
struct ranges {
    struct range *root;  /* of the tree */
    struct range *spare; /* unused structs, chained by `after` */
    uint32_t spare_count;
    uint32_t seed;
    uint64_t spaces; /* ever added */
    uint64_t free;   /* bytes */
};

/* Adds a space, all free, and returns its one range; NULL when there is no memory. */
struct range *ranges_add(struct ranges *ranges, void *space, uint64_t size);

/* Takes out a space that is all free, by its one range. */
void ranges_remove(struct ranges *ranges, struct range *range);

/* The smallest free range of at least so many bytes; NULL when there is none. */
struct range *ranges_find(const struct ranges *ranges, uint64_t size);

/* Takes the first `size` bytes of a free range, which `range` then is; the rest stays free. False
 * when there is no memory for the rest's struct, with nothing changed. */
bool ranges_take(struct ranges *ranges, struct range *range, uint64_t size);

/* Gives a taken range back. Returns the free range that it is part of now. */
struct range *ranges_give(struct ranges *ranges, struct range *range);

/* Bytes of the largest free range, 0: there is none. */
uint64_t ranges_largest(const struct ranges *ranges);

/* Whether the range is all of its space. */
static inline bool range_is_space(const struct range *range)
{
    return !range->before && !range->after;
}

/* Frees what is kept; every space was removed. */
void ranges_close(struct ranges *ranges);

#endif
