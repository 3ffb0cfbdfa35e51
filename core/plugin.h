/* One backend plugin: its file loaded, its descriptor checked, its instance opened; or why not. */
#ifndef GANTRY_CORE_PLUGIN_H
#define GANTRY_CORE_PLUGIN_H

#include <gantry/backend.h>

#include "attempts.h"
#include "services.h"
#include "text.h"

struct plugin {
    char *name;               /* "cuda" */
    char *path;               /* the file that was loaded, else one that was there; NULL: none */
    char *reason;             /* why it is not loaded, or has no device; NULL: neither */
    struct attempts attempts; /* the places that were searched, in their order */
    void *handle;             /* dlopen's */
    const struct gantry_backend *backend; /* NULL: not loaded */
    struct shared_instance *instance;     /* NULL: not loaded, or it found no driver */
    uint32_t device_count;
    bool kept; /* a device was opened: drivers leave threads and exit handlers, so never dlclose it
                */
};

/* Whether it may be the name of a backend: a small letter, then small letters, digits, '_' and '-',
 * 31 at most. */
bool plugin_name_valid(const char *name);

/* Loads a file that is there as the plugin. Unless the outcome is GANTRY_ATTEMPT_LOADED, says why
 * in words that follow the path, and leaves nothing loaded. */
enum gantry_attempt_outcome plugin_load(struct plugin *plugin, const char *path, struct text *why);

/* Whether core can work with a descriptor that was found in the file of plugin `name`:
 * GANTRY_ATTEMPT_LOADED, _WRONG_ABI or _REFUSED. */
enum gantry_attempt_outcome plugin_check(const struct gantry_backend *backend, const char *name,
                                         struct text *why);

/* Opens the instance of a loaded plugin and counts its devices. A failure becomes its reason; only
 * GANTRY_E_OUT_OF_HOST_MEMORY is returned. */
enum gantry_status plugin_open(struct plugin *plugin, const char *app_name, const struct log *log);

void plugin_close(struct plugin *plugin, const struct log *log);

#endif
