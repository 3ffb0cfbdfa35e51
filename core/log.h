#ifndef GANTRY_CORE_LOG_H
#define GANTRY_CORE_LOG_H

#include <pthread.h>

#include <gantry/gantry.h>

/* Where an open gantry's messages go: the program's callback, or standard error when only the
 * variable GANTRY_LOG asks. */
struct log {
    void (*callback)(void *user, enum gantry_log_level level, const char *text);
    void *user;
    enum gantry_log_level level;
    pthread_mutex_t *lock; /* one message at a time */
};

/* Drops what is less severe than log->level. log may be NULL. Keeps no more than 4 KiB of a
 * message. */
void log_write(const struct log *log, enum gantry_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "off", "error", "warning", "info", "debug"; static. */
const char *log_level_name(enum gantry_log_level level);

/* Reads such a name in any case, or its number. */
bool log_level_parse(const char *text, enum gantry_log_level *level);

/* The level that the variable GANTRY_LOG asks for, GANTRY_LOG_OFF when it is unset or empty. Needed
 * before the configuration is read; afterwards policy_global("log") knows more. */
enum gantry_status log_environment(enum gantry_log_level *level);

#endif
