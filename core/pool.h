/* The blocks of one kind of memory, and what of them is taken. A pool knows neither locks nor
 * plugins: memory.c holds the device's lock, fetches blocks and gives them back.
 *
 * Small requests share blocks, large ones (over half a block) get one of their own. Blocks that
 * became empty are kept for later requests, up to a bound. */
#ifndef GANTRY_CORE_POOL_H
#define GANTRY_CORE_POOL_H

#include "memory.h"
#include "ranges.h"

/* Ranges begin at its multiples, so that neighbours share no line of a cache and no word, and what
 * is rounded up to words stays inside. */
#define POOL_GRANULE 256

/* Kinds of memory that have pools. */
#define POOL_COUNT 3

struct pool_block {
    struct gantry_drv_memory memory;  /* what operations name */
    bool own;                         /* for one request at a time */
    struct range *whole;              /* while empty: its one range */
    struct pool_block *older, *newer; /* among the empty ones */
};

struct pool {
    uint64_t block_size; /* of shared blocks at most; 0: no request shares, and nothing is kept */
    uint64_t next_size;  /* of the next shared block: they begin small and double */
    struct ranges shared, own;
    struct pool_block *oldest, *newest; /* empty ones */
    uint64_t used, peak;                /* bytes as they were asked for, and most there ever were */
    uint64_t reserved;                  /* bytes of all blocks */
    uint64_t empty;                     /* bytes of empty blocks */
};

/* Bytes that a request occupies; 0 when they don't fit 64 bits. */
uint64_t pool_round(uint64_t size);

void pool_open(struct pool *pool, uint64_t block_size);

/* No block is left. */
void pool_close(struct pool *pool);

/* Takes memory from a block that is there; false when none has room. */
bool pool_take(struct pool *pool, uint64_t size, struct memory *memory);

/* Bytes of the block to fetch for a request that found no room: at least pool_round(size). */
uint64_t pool_wants(const struct pool *pool, uint64_t size);

/* Adds an empty block for a request of so many bytes, its `memory` filled in. False when there is
 * no host memory: then the block is still the caller's. */
bool pool_add(struct pool *pool, struct pool_block *block, uint64_t size);

/* Gives memory back. */
void pool_give(struct pool *pool, const struct memory *memory);

/* Whether empty blocks hold more than is worth keeping. */
bool pool_has_excess(const struct pool *pool);

/* Takes out the block that has been empty for longest; NULL when there is none. */
struct pool_block *pool_drop(struct pool *pool);

/* Free bytes in the blocks, and the largest request that they have room for. */
uint64_t pool_cached(const struct pool *pool);
uint64_t pool_largest(const struct pool *pool);

#endif
