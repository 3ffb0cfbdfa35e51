/* Memory that is freed all at once. */
#ifndef GANTRY_CORE_ARENA_H
#define GANTRY_CORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

/* All zero is an empty arena. `failed` is set when memory ran out, and stays, so that a reader of
 * long texts can go on and be asked once, at its end. */
struct arena {
    struct arena_block *blocks;
    bool failed;
};

/* Zeroed, aligned for anything; NULL when there is none. */
void *arena_allocate(struct arena *arena, size_t size);

/* A copy of length bytes, and a zero behind them. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for one more element behind the `count` that an array from here holds. NULL for
 * `items` when count is 0. The array may move; on failure it returns NULL and the old one stays. */
void *arena_extend(struct arena *arena, void *items, size_t count, size_t size);

/* Frees everything; the arena is empty again. */
void arena_release(struct arena *arena);

#endif
