#include "pool.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pool_block {
    struct pool_block *next;
    max_align_t memory[];
};

void *pool_allocate(struct pool *pool, size_t count, size_t size)
{
    struct pool_block *block = NULL;
    if (size == 0 || count < (SIZE_MAX - sizeof(*block)) / size)
        block = calloc(1, sizeof(*block) + count * size);
    if (!block) {
        fprintf(stderr, "gantry: compile: out of memory\n");
        exit(1);
    }
    block->next = pool->blocks;
    pool->blocks = block;
    return block->memory;
}

char *pool_copy(struct pool *pool, const char *text, size_t size)
{
    char *copy = pool_allocate(pool, size + 1, 1);
    memcpy(copy, text, size);
    return copy;
}

char *pool_print(struct pool *pool, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = pool_allocate(pool, (size_t)size + 1, 1);
    va_start(list, format);
    vsnprintf(text, (size_t)size + 1, format, list);
    va_end(list);
    return text;
}

void pool_free(struct pool *pool)
{
    while (pool->blocks) {
        struct pool_block *block = pool->blocks;
        pool->blocks = block->next;
        free(block);
    }
}

void *pool_grow(struct pool *pool, void *items, size_t count, size_t size)
{
    /* Room is a power of two, so it is used up when the count is one. */
    if (count & (count - 1))
        return items;
    void *larger = pool_allocate(pool, count ? count * 2 : 1, size);
    if (items)
        memcpy(larger, items, count * size);
    return larger;
}

struct text text_new(struct pool *pool)
{
    return (struct text){.pool = pool, .data = pool_allocate(pool, 256, 1), .room = 256};
}

static void text_reserve(struct text *text, size_t more)
{
    size_t needed = text->size + more + 1;
    if (needed <= text->room)
        return;
    text->room = needed > text->room * 2 ? needed : text->room * 2;
    char *larger = pool_allocate(text->pool, text->room, 1);
    memcpy(larger, text->data, text->size);
    text->data = larger;
}

void text_add(struct text *text, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    text_reserve(text, size);
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = 0;
}

void text_print(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    text_reserve(text, (size_t)size);
    va_start(list, format);
    vsnprintf(text->data + text->size, (size_t)size + 1, format, list);
    va_end(list);
    text->size += (size_t)size;
}
