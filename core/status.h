#ifndef GANTRY_CORE_STATUS_H
#define GANTRY_CORE_STATUS_H

#include <stdarg.h>

#include <gantry/gantry.h>

/* Sets gantry_last_error() of this thread and returns status, so that `return fail(…)` reads well.
 * Needs no memory. Sentences that are too long end in "…". */
enum gantry_status fail(enum gantry_status status, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));
enum gantry_status fail_va(enum gantry_status status, const char *format, va_list args);

/* Puts "text: " in front of the sentence. */
void fail_context(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
