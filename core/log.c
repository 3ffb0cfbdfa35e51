/* Messages to the program's callback, or to standard error when only GANTRY_LOG asks. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "status.h"

enum { MESSAGE_SIZE = 4096 };

static const char *const level_names[] = {
    [GANTRY_LOG_OFF] = "off",   [GANTRY_LOG_ERROR] = "error", [GANTRY_LOG_WARNING] = "warning",
    [GANTRY_LOG_INFO] = "info", [GANTRY_LOG_DEBUG] = "debug",
};

enum { LEVEL_COUNT = sizeof(level_names) / sizeof(level_names[0]) };

const char *log_level_name(enum gantry_log_level level)
{
    return (unsigned)level < LEVEL_COUNT ? level_names[level] : "unknown";
}

bool log_level_parse(const char *text, enum gantry_log_level *level)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        bool number = text[0] == '0' + i && text[1] == '\0';

        if (number || strcasecmp(text, level_names[i]) == 0) {
            *level = (enum gantry_log_level)i;
            return true;
        }
    }
    return false;
}

enum gantry_status log_environment(enum gantry_log_level *level)
{
    const char *text = secure_getenv("GANTRY_LOG");

    *level = GANTRY_LOG_OFF;
    if (!text || text[0] == '\0' || log_level_parse(text, level))
        return GANTRY_OK;
    return fail(GANTRY_E_CONFIG,
                "environment GANTRY_LOG: \"%s\" is no log level: use off, error, warning, info or "
                "debug, or 0 to 4",
                text);
}

void log_write(const struct log *log, enum gantry_log_level level, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    va_list args;

    if (!log || level == GANTRY_LOG_OFF || level > log->level)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    if (log->lock)
        pthread_mutex_lock(log->lock);
    if (log->callback)
        log->callback(log->user, level, text);
    else
        fprintf(stderr, "gantry: %s: %s\n", log_level_name(level), text);
    if (log->lock)
        pthread_mutex_unlock(log->lock);
}
