/* A text that grows, for sentences that list things. */
#ifndef GANTRY_CORE_TEXT_H
#define GANTRY_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty text. When memory runs out the text stays as it was and `failed` is set, so
 * that it can be checked once, at the end. */
struct text {
    char *data; /* NULL while empty */
    size_t length, size;
    bool failed;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What was collected; "" when nothing was. Valid until the next text_add(). */
const char *text_get(const struct text *text);

/* Hands the text to the caller, who frees it; "" is a text too. NULL, and nothing left to free,
 * when memory ran out. */
char *text_take(struct text *text);
void text_free(struct text *text);

/* printf() into memory that the caller frees; NULL when there is none. */
char *text_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
