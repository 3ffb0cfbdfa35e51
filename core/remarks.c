/* What was found wrong in configuration texts. */
#include "remarks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "status.h"
#include "utf8.h"

enum { TEXT_SIZE = 1024 };

/* Texts quote what was read, and cut it anywhere. */
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
    utf8_mend(text);
    if (line)
        whole = arena_format(remarks->arena, "%s:%u: %s", remarks->file, line, text);
    else
        whole = arena_format(remarks->arena, "%s: %s", remarks->file, text);
    if (!whole)
        return;
    items[remarks->count] = (struct remark){
        .kind = kind,
        .named = remarks->named,
        .file = remarks->file,
        .line = line,
        .order = remarks->count,
        .text = whole,
        .what = whole + strlen(whole) - strlen(text),
    };
    remarks->count++;
}

bool remark_fatal(const struct remark *remark)
{
    return remark->named && remark->kind == REMARK_MISTAKE;
}

enum gantry_status remarks_status(const struct remarks *remarks)
{
    const struct remark *first = NULL;
    uint32_t more = 0;

    for (uint32_t i = 0; i < remarks->count; i++) {
        if (!remark_fatal(&remarks->items[i]))
            continue;
        more += first ? 1 : 0;
        first = first ? first : &remarks->items[i];
    }
    if (!first)
        return GANTRY_OK;
    if (!more)
        return fail(GANTRY_E_CONFIG, "%s", first->text);
    return fail(GANTRY_E_CONFIG, "%s (and %u more mistake%s)", first->text, more,
                more == 1 ? "" : "s");
}
