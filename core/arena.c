/* Memory that is freed all at once. */
#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t data[];
};

enum { BLOCK_SIZE = 8192 };

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *block;

    size = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    block = calloc(1, sizeof(*block) + size);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *arena_allocate(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->blocks;
    const size_t unit = sizeof(max_align_t);
    void *memory;

    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size = (size + unit - 1) / unit * unit;
    if (!block || block->size - block->used < size)
        block = add_block(arena, size);
    if (!block)
        return NULL;
    memory = (char *)block->data + block->used;
    block->used += size;
    return memory;
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_allocate(arena, length + 1);

    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0)
        text = arena_allocate(arena, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

/* Arrays double when their count is a power of two, so no capacity needs to be kept. */
void *arena_extend(struct arena *arena, void *items, size_t count, size_t size)
{
    size_t room = count ? 2 * count : 1;
    void *grown;

    if (count & (count - 1))
        return items;
    if (room > SIZE_MAX / 2 / size) {
        arena->failed = true;
        return NULL;
    }
    grown = arena_allocate(arena, room * size);
    if (grown && count)
        memcpy(grown, items, count * size);
    return grown;
}

void arena_release(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;

        arena->blocks = block->next;
        free(block);
    }
    arena->failed = false;
}
