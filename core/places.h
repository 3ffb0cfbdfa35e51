/* The folders in which gantry looks for what belongs to it. */
#ifndef GANTRY_CORE_PLACES_H
#define GANTRY_CORE_PLACES_H

#include "policy.h"

/* Folders that are searched for plugins, in order, each once. */
struct places {
    struct place {
        char *folder; /* absolute */
        char *origin; /* who named it: "gantry_params.plugin_path", "FILE:LINE", "libgantry's
                         folder" */
    } * items;
    uint32_t count;
};

/* plugin_path of the application, then the policy's, then the folder of libgantry's own file, that
 * folder's subfolder "gantry", and the folder of the installation. The current directory is never
 * among them: a relative folder is an error that names who asked for it. */
enum gantry_status places_find(const char *plugin_path, const struct policy *policy,
                               struct places *places);
void places_free(struct places *places);

/* The folder that holds the shipped gpu.d/, looked for relative to libgantry's own file and then
 * where it was installed. The caller frees it; NULL when there is none. */
enum gantry_status places_shipped(char **folder);

#endif
