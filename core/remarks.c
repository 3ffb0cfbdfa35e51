/* What was found wrong in configuration texts. */
#include "remarks.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_SIZE = 1024 };

void remark(struct remarks *remarks, enum remark_kind kind, uint32_t line, const char *format, ...)
{
    struct remark *items =
        arena_extend(remarks->arena, remarks->items, remarks->count, sizeof(*items));
    char text[TEXT_SIZE];
    char *whole;
    va_list args;

    if (!items)
        return;
    remarks->items = items;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (line)
        whole = arena_format(remarks->arena, "%s:%u: %s", remarks->file, line, text);
    else
        whole = arena_format(remarks->arena, "%s: %s", remarks->file, text);
    if (!whole)
        return;
    items[remarks->count++] = (struct remark){
        .kind = kind,
        .named = remarks->named,
        .file = remarks->file,
        .line = line,
        .text = whole,
    };
}
