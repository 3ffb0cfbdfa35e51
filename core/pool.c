#include "pool.h"

#include <stdlib.h>

/* The first shared block: a program with a few small buffers takes no more. */
#define FIRST_SIZE (UINT64_C(1) << 20)

/* Empty blocks that are kept, counted in blocks of full size. */
#define KEPT_BLOCKS 2

uint64_t pool_round(uint64_t size)
{
    uint64_t rounded = (size + POOL_GRANULE - 1) / POOL_GRANULE * POOL_GRANULE;

    return rounded >= size ? rounded : 0;
}

static uint64_t first_size(const struct pool *pool)
{
    return pool->block_size < FIRST_SIZE ? pool->block_size : FIRST_SIZE;
}

void pool_open(struct pool *pool, uint64_t block_size)
{
    *pool = (struct pool){.block_size = block_size / POOL_GRANULE * POOL_GRANULE};
    pool->next_size = first_size(pool);
}

void pool_close(struct pool *pool)
{
    ranges_close(&pool->shared);
    ranges_close(&pool->own);
}

/* ---- Empty blocks --------------------------------------------------------------------------- */

static bool is_worth_keeping(const struct pool *pool, uint64_t bytes)
{
    return bytes <= KEPT_BLOCKS * pool->block_size;
}

/* As the newest, but as the oldest if it must go anyway: others need not go before it. */
static void note_empty(struct pool *pool, struct range *whole)
{
    struct pool_block *block = whole->space;
    bool last = is_worth_keeping(pool, block->memory.size);

    block->whole = whole;
    block->older = last ? pool->newest : NULL;
    block->newer = last ? NULL : pool->oldest;
    *(block->older ? &block->older->newer : &pool->oldest) = block;
    *(block->newer ? &block->newer->older : &pool->newest) = block;
    pool->empty += block->memory.size;
}

static void note_filled(struct pool *pool, struct pool_block *block)
{
    *(block->older ? &block->older->newer : &pool->oldest) = block->newer;
    *(block->newer ? &block->newer->older : &pool->newest) = block->older;
    block->whole = NULL;
    pool->empty -= block->memory.size;
}

bool pool_has_excess(const struct pool *pool)
{
    return !is_worth_keeping(pool, pool->empty);
}

struct pool_block *pool_drop(struct pool *pool)
{
    struct pool_block *block = pool->oldest;
    struct range *whole;

    if (!block)
        return NULL;
    whole = block->whole;
    note_filled(pool, block);
    ranges_remove(block->own ? &pool->own : &pool->shared, whole);
    pool->reserved -= block->memory.size;
    if (pool->reserved == 0)
        pool->next_size = first_size(pool);
    return block;
}

/* ---- Taking and giving ---------------------------------------------------------------------- */

static bool shares(const struct pool *pool, uint64_t rounded)
{
    return rounded <= pool->block_size / 2;
}

static struct ranges *ranges_of(struct pool *pool, const struct pool_block *block)
{
    return block->own ? &pool->own : &pool->shared;
}

/* A block of its own is taken whole. It may be larger than the request, but not by much. */
static struct range *find_own(const struct pool *pool, uint64_t rounded)
{
    struct range *range = ranges_find(&pool->own, rounded);

    return range && range->size - rounded <= rounded / 8 ? range : NULL;
}

static bool take(struct pool *pool, struct range *range, uint64_t size, struct memory *memory)
{
    struct pool_block *block = range->space;
    bool was_empty = block->whole;

    if (!ranges_take(ranges_of(pool, block), range, block->own ? range->size : pool_round(size)))
        return false;
    if (was_empty)
        note_filled(pool, block);
    *memory = (struct memory){&block->memory, range->offset, size, range};
    pool->used += size;
    if (pool->used > pool->peak)
        pool->peak = pool->used;
    return true;
}

bool pool_take(struct pool *pool, uint64_t size, struct memory *memory)
{
    uint64_t rounded = pool_round(size);
    struct range *range;

    if (rounded == 0)
        return false;
    range = shares(pool, rounded) ? NULL : find_own(pool, rounded);
    if (!range)
        range = ranges_find(&pool->shared, rounded);
    return range && take(pool, range, size, memory);
}

void pool_give(struct pool *pool, const struct memory *memory)
{
    struct pool_block *block = memory->range->space;
    struct range *free = ranges_give(ranges_of(pool, block), memory->range);

    pool->used -= memory->size;
    if (range_is_space(free))
        note_empty(pool, free);
}

/* ---- New blocks ----------------------------------------------------------------------------- */

uint64_t pool_wants(const struct pool *pool, uint64_t size)
{
    uint64_t rounded = pool_round(size), wants = pool->next_size;

    if (!shares(pool, rounded))
        return rounded;
    while (wants < rounded)
        wants *= 2;
    return wants < pool->block_size ? wants : pool->block_size;
}

bool pool_add(struct pool *pool, struct pool_block *block, uint64_t size)
{
    uint64_t rounded = pool_round(size);
    struct range *whole;

    block->own = !shares(pool, rounded);
    /* A plugin may give more than was asked for. */
    whole = ranges_add(ranges_of(pool, block), block,
                       block->own ? rounded : block->memory.size / POOL_GRANULE * POOL_GRANULE);
    if (!whole)
        return false;
    note_empty(pool, whole);
    pool->reserved += block->memory.size;
    if (!block->own && pool->next_size < 2 * whole->size)
        pool->next_size = 2 * whole->size;
    return true;
}

uint64_t pool_cached(const struct pool *pool)
{
    return pool->shared.free + pool->own.free;
}

uint64_t pool_largest(const struct pool *pool)
{
    uint64_t shared = ranges_largest(&pool->shared), own = ranges_largest(&pool->own);

    return shared > own ? shared : own;
}
