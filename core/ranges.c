#include "ranges.h"

#include <stdlib.h>

/* Enough for buffers that come and go; more would only hold memory. */
#define MOST_SPARE 256

/* ---- Structs -------------------------------------------------------------------------------- */

/* Not zeroed. */
static struct range *get_struct(struct ranges *ranges)
{
    struct range *range = ranges->spare;

    if (!range)
        return malloc(sizeof(*range));
    ranges->spare = range->after;
    ranges->spare_count--;
    return range;
}

static void put_struct(struct ranges *ranges, struct range *range)
{
    if (ranges->spare_count == MOST_SPARE) {
        free(range);
        return;
    }
    range->after = ranges->spare;
    ranges->spare = range;
    ranges->spare_count++;
}

void ranges_close(struct ranges *ranges)
{
    while (ranges->spare)
        free(get_struct(ranges));
    *ranges = (struct ranges){0};
}

/* ---- The tree ------------------------------------------------------------------------------- */

static bool is_less(const struct range *a, const struct range *b)
{
    if (a->size != b->size)
        return a->size < b->size;
    return a->age != b->age ? a->age < b->age : a->offset < b->offset;
}

/* Marsaglia's xorshift. */
static uint32_t next_weight(struct ranges *ranges)
{
    uint32_t x = ranges->seed ? ranges->seed : 2463534242u;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    ranges->seed = x;
    return x;
}

/* Hangs what is less than `range` under it on the one side, the rest on the other. */
static void split(struct range *tree, struct range *range)
{
    struct range **less = &range->less, **more = &range->more;

    while (tree) {
        if (is_less(tree, range)) {
            *less = tree;
            less = &tree->more;
            tree = *less;
        } else {
            *more = tree;
            more = &tree->less;
            tree = *more;
        }
    }
    *less = *more = NULL;
}

static struct range *join(struct range *less, struct range *more)
{
    struct range *root = NULL, **end = &root;

    while (less && more) {
        if (less->weight >= more->weight) {
            *end = less;
            end = &less->more;
            less = *end;
        } else {
            *end = more;
            end = &more->less;
            more = *end;
        }
    }
    *end = less ? less : more;
    return root;
}

static void hang(struct ranges *ranges, struct range *range)
{
    struct range **at = &ranges->root;

    range->free = true;
    range->weight = next_weight(ranges);
    while (*at && (*at)->weight >= range->weight)
        at = is_less(range, *at) ? &(*at)->less : &(*at)->more;
    split(*at, range);
    *at = range;
    ranges->free += range->size;
}

static void unhang(struct ranges *ranges, struct range *range)
{
    struct range **at = &ranges->root;

    while (*at != range)
        at = is_less(range, *at) ? &(*at)->less : &(*at)->more;
    *at = join(range->less, range->more);
    range->free = false;
    ranges->free -= range->size;
}

struct range *ranges_find(const struct ranges *ranges, uint64_t size)
{
    struct range *at = ranges->root, *found = NULL;

    while (at) {
        if (at->size >= size)
            found = at;
        at = at->size >= size ? at->less : at->more;
    }
    return found;
}

uint64_t ranges_largest(const struct ranges *ranges)
{
    const struct range *at = ranges->root;

    while (at && at->more)
        at = at->more;
    return at ? at->size : 0;
}

/* ---- Spaces and their parts ----------------------------------------------------------------- */

struct range *ranges_add(struct ranges *ranges, void *space, uint64_t size)
{
    struct range *range = get_struct(ranges);

    if (!range)
        return NULL;
    *range = (struct range){.space = space, .size = size, .age = ranges->spaces++};
    hang(ranges, range);
    return range;
}

void ranges_remove(struct ranges *ranges, struct range *range)
{
    unhang(ranges, range);
    put_struct(ranges, range);
}

bool ranges_take(struct ranges *ranges, struct range *range, uint64_t size)
{
    struct range *rest = NULL;

    if (range->size > size) {
        rest = get_struct(ranges);
        if (!rest)
            return false;
    }
    unhang(ranges, range);
    if (!rest)
        return true;
    *rest = (struct range){.space = range->space,
                           .offset = range->offset + size,
                           .size = range->size - size,
                           .before = range,
                           .after = range->after,
                           .age = range->age};
    if (rest->after)
        rest->after->before = rest;
    range->after = rest;
    range->size = size;
    hang(ranges, rest);
    return true;
}

/* Makes `range` longer by its neighbour behind. */
static void swallow(struct ranges *ranges, struct range *range)
{
    struct range *gone = range->after;

    range->size += gone->size;
    range->after = gone->after;
    if (range->after)
        range->after->before = range;
    put_struct(ranges, gone);
}

struct range *ranges_give(struct ranges *ranges, struct range *range)
{
    if (range->after && range->after->free) {
        unhang(ranges, range->after);
        swallow(ranges, range);
    }
    if (range->before && range->before->free) {
        range = range->before;
        unhang(ranges, range);
        swallow(ranges, range);
    }
    hang(ranges, range);
    return range;
}
