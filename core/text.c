/* A text that grows, for sentences that list things. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *text, size_t more)
{
    size_t needed = text->length + more + 1;
    size_t size = text->size ? text->size : 128;
    char *data;

    if (needed <= text->size)
        return true;
    while (size < needed)
        size *= 2;
    data = realloc(text->data, size);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->size = size;
    return true;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args, again;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

const char *text_get(const struct text *text)
{
    return text->data ? text->data : "";
}

char *text_take(struct text *text)
{
    char *data = NULL;

    text_add(text, "%s", "");
    if (!text->failed) {
        data = text->data;
        text->data = NULL;
    }
    text_free(text);
    return data;
}

void text_free(struct text *text)
{
    free(text->data);
    memset(text, 0, sizeof(*text));
}

char *text_make(const char *format, ...)
{
    va_list args;
    char *data;
    int length;

    va_start(args, format);
    length = vasprintf(&data, format, args);
    va_end(args);
    return length < 0 ? NULL : data;
}
