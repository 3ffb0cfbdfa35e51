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

void log_write(const struct log *log, enum gantry_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
