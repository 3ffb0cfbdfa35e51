/* An open gantry: what gantry_open() read, loaded and found. Immutable once opened, but for what
 * its locks guard, and for the devices that are described to it. */
#ifndef GANTRY_CORE_CONTEXT_H
#define GANTRY_CORE_CONTEXT_H

#include <pthread.h>

#include "choose.h"
#include "interned.h"
#include "profile.h"

struct gantry {
    uint32_t process; /* process_id() of the opener */
    char *app_name;
    struct log log;
    pthread_mutex_t log_lock;
    struct policy *policy;
    struct plugins plugins;
    struct registry registry;
    struct profiles profiles; /* devices that are not here */
    struct interned clamps;   /* texts that gantry_config_get() has handed out */

    pthread_mutex_t lock;          /* guards all that follows */
    struct gantry_device *devices; /* open ones */
    bool fallback_told; /* that a less preferred backend or a software device was taken */
};

/* GANTRY_OK when g may be used: not NULL, made by this process. Otherwise fails naming `what`, the
 * call. */
enum gantry_status context_usable(const struct gantry *g, const char *what);

/* The devices that are here, to be chosen from for the public function `call`. */
static inline struct machine context_machine(const struct gantry *g, const char *call)
{
    return (struct machine){call, g->policy, &g->plugins, &g->registry};
}

#endif
