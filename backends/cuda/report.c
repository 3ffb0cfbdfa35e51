#include "report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void report_add(struct report *report, const char *format, ...)
{
    size_t room = sizeof(report->text) - report->length;
    va_list args;
    int added;

    va_start(args, format);
    added = vsnprintf(report->text + report->length, room, format, args);
    va_end(args);
    if (added > 0)
        report->length += (size_t)added < room ? (size_t)added : room - 1;
}

void report_add_folded(struct report *report, const char *text, size_t limit)
{
    size_t end = sizeof(report->text) - 1;
    bool blank = true;

    if (limit < end - report->length)
        end = report->length + limit;
    for (; *text && report->length < end; text++) {
        bool space = isspace((unsigned char)*text);

        if (!space || !blank)
            report->text[report->length++] = space ? ' ' : *text;
        blank = space;
    }
    while (report->length > 0 && report->text[report->length - 1] == ' ')
        report->length--;
    report->text[report->length] = '\0';
}
