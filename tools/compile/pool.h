/* Memory that lives as long as one run of the compiler: nothing is freed by itself. */
#ifndef GANTRY_COMPILE_POOL_H
#define GANTRY_COMPILE_POOL_H

#include <stddef.h>

struct pool {
    struct pool_block *blocks;
};

/* Zeroed memory; never NULL: without memory the program says so and exits with status 1. */
void *pool_allocate(struct pool *pool, size_t count, size_t size);
char *pool_copy(struct pool *pool, const char *text, size_t size);
char *pool_print(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pool_free(struct pool *pool);

/* Returns `items`, or a larger copy of it, with room for one item more. */
void *pool_grow(struct pool *pool, void *items, size_t count, size_t size);

/* Bytes that grow. data is always ended by a zero that does not count. */
struct text {
    struct pool *pool;
    char *data;
    size_t size, room;
};

struct text text_new(struct pool *pool);
void text_add(struct text *text, const void *bytes, size_t size);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
