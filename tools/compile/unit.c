#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mistake(struct unit *unit, struct place place, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s:%u: error: ", place.file, place.line);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    unit->mistakes++;
}

struct record *unit_record(const struct unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->record_count; i++)
        if (!strcmp(unit->records[i]->name, name))
            return unit->records[i];
    return NULL;
}

bool token_is(const struct token *token, const char *text)
{
    return !strcmp(token->text, text);
}
