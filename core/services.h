/* What core lends to a plugin, and the plugin's open instance, which all of the process's struct
 * gantry share: the contract promises a plugin that it is not opened twice. */
#ifndef GANTRY_CORE_SERVICES_H
#define GANTRY_CORE_SERVICES_H

#include <gantry/backend.h>

#include "log.h"

struct shared_instance {
    struct shared_instance *next;
    const struct gantry_backend *backend; /* which plugin */
    struct gantry_drv_instance *drv;
    struct gantry_backend_services services;
    pthread_mutex_t lock;    /* guards logs */
    const struct log **logs; /* of its users; messages go to each */
    uint32_t user_count;
};

/* From now on what plugins say in this thread of images that they refuse goes into the text, one in
 * the place of another; NULL: nobody listens. */
void services_listen(char *text, size_t size);

/* Opens the plugin's instance, or joins the one that is open. Fails with the plugin's status and
 * sentence; a later call tries again. */
enum gantry_status shared_join(const struct gantry_backend *backend, const char *app_name,
                               const struct log *log, struct shared_instance **instance);

/* Closes it when nobody else uses it. `log` is the one that shared_join() got. Accepts NULL. */
void shared_leave(struct shared_instance **instance, const struct log *log);

#endif
