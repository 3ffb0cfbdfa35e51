/* An open gantry: what gantry_open() read, loaded and found. Immutable once opened, but for what
 * its lock guards. */
#ifndef GANTRY_CORE_CONTEXT_H
#define GANTRY_CORE_CONTEXT_H

#include <pthread.h>

#include "registry.h"

struct gantry {
    uint32_t process; /* process_id() of the opener */
    char *app_name;
    struct log log;
    pthread_mutex_t log_lock;
    struct policy *policy;
    struct plugins plugins;
    struct registry registry;

    pthread_mutex_t lock;          /* guards all that follows */
    struct gantry_device *devices; /* open ones */
    bool fallback_told; /* that a less preferred backend or a software device was taken */
};

/* GANTRY_OK when g may be used: not NULL, made by this process. Otherwise fails naming `what`, the
 * call. */
enum gantry_status context_usable(const struct gantry *g, const char *what);

#endif
