/* The plugins that an open gantry knows: searched for in its folders, in the configuration's order.
 */
#include "plugins.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "status.h"

#define FILE_PREFIX "gantry-"
#define FILE_SUFFIX ".so"

static enum gantry_status no_memory(void)
{
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory for the list of plugins");
}

struct plugin *plugins_find(const struct plugins *plugins, const char *name)
{
    for (uint32_t i = 0; i < plugins->count; i++) {
        if (strcmp(plugins->items[i].name, name) == 0)
            return &plugins->items[i];
    }
    return NULL;
}

static struct plugin *add(struct plugins *plugins, const char *name)
{
    struct plugin *items = realloc(plugins->items, (plugins->count + 1) * sizeof(*items));
    struct plugin *plugin;

    if (!items)
        return NULL;
    plugins->items = items;
    plugin = &items[plugins->count];
    memset(plugin, 0, sizeof(*plugin));
    plugin->name = strdup(name);
    if (!plugin->name)
        return NULL;
    plugins->count++;
    return plugin;
}

/* ---- Those that the configuration names ---------------------------------------------------- */

static enum gantry_status add_named(struct plugins *plugins, const char *name)
{
    if (strcmp(name, "auto") == 0) {
        enum gantry_status status = add_named(plugins, "cuda");

        return status == GANTRY_OK ? add_named(plugins, "vulkan") : status;
    }
    if (!plugin_name_valid(name))
        return fail(GANTRY_E_CONFIG,
                    "%s: backend \"%s\" is no name of a backend: use a list as \"cuda, vulkan\"",
                    plugins->origin, name);
    if (!plugins_find(plugins, name) && !add(plugins, name))
        return no_memory();
    return GANTRY_OK;
}

enum gantry_status plugins_name(const struct policy *policy, struct plugins *plugins)
{
    static const char blanks[] = ", \t";
    const char *origin = "";
    char *list = strdup(policy_global(policy, "backend", &origin));
    enum gantry_status status = GANTRY_OK;
    char *rest = NULL;

    memset(plugins, 0, sizeof(*plugins));
    plugins->origin = strdup(origin);
    if (!list || !plugins->origin)
        status = no_memory();
    for (char *name = list ? strtok_r(list, blanks, &rest) : NULL; status == GANTRY_OK && name;
         name = strtok_r(NULL, blanks, &rest))
        status = add_named(plugins, name);
    free(list);
    plugins->named = plugins->count;
    return status;
}

/* ---- Searching ----------------------------------------------------------------------------- */

/* "is there" counts also for files that can't be looked at. */
static bool is_missing(const struct place *place, const char *path, struct text *why)
{
    struct stat info;

    if (stat(path, &info) == 0 || errno == EACCES)
        return false;
    text_add(why, "is not there%s",
             stat(place->folder, &info) == 0 ? "" : ": there is no such folder");
    return true;
}

static enum gantry_attempt_outcome try_file(struct plugin *plugin, const struct place *place,
                                            const char *path, struct text *why)
{
    if (is_missing(place, path, why))
        return GANTRY_ATTEMPT_MISSING;
    free(plugin->path);
    plugin->path = strdup(path);
    return plugin_load(plugin, path, why);
}

/* Tries one folder, and notes what came of it. */
static enum gantry_status try_place(struct plugin *plugin, const struct place *place)
{
    char *path = text_make("%s/" FILE_PREFIX "%s" FILE_SUFFIX, place->folder, plugin->name);
    enum gantry_attempt_outcome outcome;
    struct text why = {0};
    char *text;

    if (!path)
        return no_memory();
    outcome = try_file(plugin, place, path, &why);
    if (outcome == GANTRY_ATTEMPT_LOADED)
        text = strdup("");
    else
        text = text_make("%s (%s) %s", path, place->origin, text_get(&why));
    text_free(&why);
    return attempts_add(&plugin->attempts, path, outcome, text) ? GANTRY_OK : no_memory();
}

/* Loads the plugin from the first folder whose file can be used. */
static enum gantry_status search(struct plugin *plugin, const struct places *places,
                                 const struct log *log)
{
    enum gantry_status status = GANTRY_OK;
    char *failures;

    for (uint32_t i = 0; status == GANTRY_OK && i < places->count && !plugin->backend; i++)
        status = try_place(plugin, &places->items[i]);
    failures = attempts_sentence(&plugin->attempts);
    if (status != GANTRY_OK || !failures) {
        free(failures);
        return no_memory();
    }
    if (!plugin->backend) {
        plugin->reason = failures;
        return GANTRY_OK;
    }
    log_write(log, GANTRY_LOG_DEBUG, "backend %s: loaded %s%s%s", plugin->name, plugin->path,
              failures[0] ? " after " : "", failures);
    free(failures);
    return GANTRY_OK;
}

static enum gantry_status open_named(struct plugins *plugins, const struct places *places,
                                     const char *app_name, const struct log *log)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; status == GANTRY_OK && i < plugins->named; i++) {
        struct plugin *plugin = &plugins->items[i];

        status = search(plugin, places, log);
        if (status == GANTRY_OK && plugin->backend)
            status = plugin_open(plugin, app_name, log);
        if (status == GANTRY_OK && plugin->reason)
            log_write(log, GANTRY_LOG_INFO, "backend %s can't be used: %s", plugin->name,
                      plugin->reason);
    }
    return status;
}

/* ---- Others that are there ----------------------------------------------------------------- */

/* The NAME of gantry-NAME.so; the caller frees it. NULL when the file is called otherwise. */
static char *name_of_file(const char *file)
{
    size_t front = strlen(FILE_PREFIX), back = strlen(FILE_SUFFIX), length = strlen(file);
    char *name;

    if (length <= front + back || strncmp(file, FILE_PREFIX, front) != 0 ||
        strcmp(file + length - back, FILE_SUFFIX) != 0)
        return NULL;
    name = strndup(file + front, length - front - back);
    if (name && !plugin_name_valid(name)) {
        free(name);
        return NULL;
    }
    return name;
}

static enum gantry_status add_other(struct plugins *plugins, const char *folder, const char *file)
{
    char *name = name_of_file(file);
    struct plugin *plugin;

    if (!name || plugins_find(plugins, name)) {
        free(name);
        return GANTRY_OK;
    }
    plugin = add(plugins, name);
    free(name);
    if (!plugin)
        return no_memory();
    plugin->path = text_make("%s/%s", folder, file);
    plugin->reason = text_make("the configuration does not name it (backend, %s)", plugins->origin);
    return plugin->path && plugin->reason ? GANTRY_OK : no_memory();
}

static enum gantry_status add_others(struct plugins *plugins, const struct places *places)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; status == GANTRY_OK && i < places->count; i++) {
        DIR *folder = opendir(places->items[i].folder);
        struct dirent *entry;

        if (!folder && errno == ENOMEM)
            status = no_memory();
        while (folder && status == GANTRY_OK && (entry = readdir(folder)))
            status = add_other(plugins, places->items[i].folder, entry->d_name);
        if (folder)
            closedir(folder);
    }
    return status;
}

enum gantry_status plugins_open(const char *plugin_path, const struct policy *policy,
                                const char *app_name, const struct log *log,
                                struct plugins *plugins)
{
    struct places places;
    enum gantry_status status = places_find(plugin_path, policy, &places);

    memset(plugins, 0, sizeof(*plugins));
    if (status == GANTRY_OK)
        status = plugins_name(policy, plugins);
    if (status == GANTRY_OK)
        status = open_named(plugins, &places, app_name, log);
    if (status == GANTRY_OK)
        status = add_others(plugins, &places);
    places_free(&places);
    if (status != GANTRY_OK)
        plugins_close(plugins, log);
    return status;
}

void plugins_close(struct plugins *plugins, const struct log *log)
{
    for (uint32_t i = 0; i < plugins->count; i++)
        plugin_close(&plugins->items[i], log);
    free(plugins->items);
    free(plugins->origin);
    memset(plugins, 0, sizeof(*plugins));
}
