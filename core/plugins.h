/* The plugins that an open gantry knows: searched for in its folders, in the configuration's order.
 */
#ifndef GANTRY_CORE_PLUGINS_H
#define GANTRY_CORE_PLUGINS_H

#include "places.h"
#include "plugin.h"

/* Those that the configuration's `backend` names, in its order of preference, then others that the
 * searched folders hold: these are not loaded. */
struct plugins {
    struct plugin *items;
    uint32_t count;
    uint32_t named; /* the first ones */
    char *origin;   /* of the configuration's list: "built-in", "FILE:LINE", "environment NAME" */
};

/* Fails only for mistakes in names and folders and when host memory runs out; a plugin that can't
 * be used has its reason. `log` must outlive the plugins. */
enum gantry_status plugins_open(const char *plugin_path, const struct policy *policy,
                                const char *app_name, const struct log *log,
                                struct plugins *plugins);

/* Only names those that the configuration names; none is searched for. */
enum gantry_status plugins_name(const struct policy *policy, struct plugins *plugins);

void plugins_close(struct plugins *plugins, const struct log *log);

/* NULL when there is none of this name. */
struct plugin *plugins_find(const struct plugins *plugins, const char *name);

#endif
