/* Statuses and the sentence for a thread's latest failure. */
#include "status.h"

#include <stdio.h>
#include <string.h>

/* Room for a report of every image of a package and why it was refused. Static per thread, so that
 * running out of memory can be reported too. */
enum { SENTENCE_SIZE = 4096 };

static const char ellipsis[] = "…";

static _Thread_local char sentence[SENTENCE_SIZE];

/* Ends a cut text in "…", without leaving half a UTF-8 character in front of it. */
static void mark_cut(char *text)
{
    size_t end = SENTENCE_SIZE - sizeof(ellipsis);

    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(text + end, ellipsis, sizeof(ellipsis));
}

/* The arguments may point into the current sentence, so the new one is made beside it. */
enum gantry_status fail_va(enum gantry_status status, const char *format, va_list args)
{
    char text[SENTENCE_SIZE];
    int length = vsnprintf(text, sizeof(text), format, args);

    if (length < 0)
        snprintf(text, sizeof(text), "%s", gantry_status_text(status));
    else if (length >= SENTENCE_SIZE)
        mark_cut(text);
    memcpy(sentence, text, strlen(text) + 1);
    return status;
}

enum gantry_status fail(enum gantry_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_va(status, format, args);
    va_end(args);
    return status;
}

void fail_context(const char *format, ...)
{
    char text[SENTENCE_SIZE];
    va_list args;
    int front, back;

    va_start(args, format);
    front = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (front < 0)
        return;
    if (front < SENTENCE_SIZE) {
        back = snprintf(text + front, sizeof(text) - (size_t)front, ": %s", sentence);
        front = back < 0 ? front : front + back;
    }
    if (front >= SENTENCE_SIZE)
        mark_cut(text);
    memcpy(sentence, text, strlen(text) + 1);
}

const char *gantry_last_error(void)
{
    return sentence;
}

const char *gantry_status_name(enum gantry_status status)
{
    switch (status) {
#define X(name, value, text) \
    case GANTRY_##name:      \
        return "GANTRY_" #name;
        GANTRY_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

const char *gantry_status_text(enum gantry_status status)
{
    switch (status) {
#define X(name, value, text) \
    case GANTRY_##name:      \
        return text;
        GANTRY_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}
