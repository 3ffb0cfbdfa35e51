/* One backend plugin: its file loaded, its descriptor checked, its instance opened; or why not. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "library_file.h"
#include "status.h"

enum { NAME_MAX_LENGTH = 31 };

bool plugin_name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

    return name[0] >= 'a' && name[0] <= 'z' && name[length] == '\0' && length <= NAME_MAX_LENGTH;
}

/* ---- The descriptor ------------------------------------------------------------------------- */

/* The entries that a plugin must have. */
#define MANDATORY_MAP(X) \
    X(instance_open)     \
    X(instance_close)    \
    X(device_count)      \
    X(device_describe)   \
    X(device_open)       \
    X(device_close)      \
    X(device_native)     \
    X(memory_allocate)   \
    X(memory_free)       \
    X(kernel_create)     \
    X(kernel_destroy)    \
    X(queue_create)      \
    X(queue_destroy)     \
    X(queue_completed)   \
    X(queue_wait)        \
    X(queue_native)      \
    X(plan_build)        \
    X(plan_destroy)      \
    X(submit)            \
    X(submit_once)

static const char *missing_entry(const struct gantry_backend_ops *ops)
{
#define X(entry)     \
    if (!ops->entry) \
        return #entry;
    MANDATORY_MAP(X)
#undef X
    return NULL;
}

static bool check_table(const struct gantry_backend_ops *ops, struct text *why)
{
    const char *missing;

    if (!ops) {
        text_add(why, "has a descriptor without a table of entries");
        return false;
    }
    if (ops->size < sizeof(*ops)) {
        text_add(why, "has a table of %u bytes, ABI %d.%d needs %zu; rebuild it for this gantry",
                 ops->size, GANTRY_BACKEND_ABI_MAJOR, GANTRY_BACKEND_ABI_MINOR, sizeof(*ops));
        return false;
    }
    missing = missing_entry(ops);
    if (missing)
        text_add(why, "lacks the mandatory entry %s", missing);
    return !missing;
}

enum gantry_attempt_outcome plugin_check(const struct gantry_backend *backend, const char *name,
                                         struct text *why)
{
    if (backend->magic != GANTRY_BACKEND_MAGIC) {
        text_add(why, "has a descriptor with magic 0x%08x instead of 0x%08x", backend->magic,
                 GANTRY_BACKEND_MAGIC);
        return GANTRY_ATTEMPT_REFUSED;
    }
    if (backend->abi_major != GANTRY_BACKEND_ABI_MAJOR) {
        text_add(why, "has ABI %u.%u, this gantry needs %d.x; use a plugin of gantry %s",
                 backend->abi_major, backend->abi_minor, GANTRY_BACKEND_ABI_MAJOR,
                 gantry_version());
        return GANTRY_ATTEMPT_WRONG_ABI;
    }
    if (backend->size < sizeof(*backend)) {
        text_add(why, "has a descriptor of %u bytes, ABI %d.%d needs %zu", backend->size,
                 GANTRY_BACKEND_ABI_MAJOR, GANTRY_BACKEND_ABI_MINOR, sizeof(*backend));
        return GANTRY_ATTEMPT_REFUSED;
    }
    if (!backend->name || strcmp(backend->name, name) != 0) {
        text_add(why, "calls itself \"%s\", its file's name says \"%s\"",
                 backend->name ? backend->name : "", name);
        return GANTRY_ATTEMPT_REFUSED;
    }
    if (!backend->version) {
        text_add(why, "states no version");
        return GANTRY_ATTEMPT_REFUSED;
    }
    return check_table(backend->ops, why) ? GANTRY_ATTEMPT_LOADED : GANTRY_ATTEMPT_REFUSED;
}

/* ---- The file ------------------------------------------------------------------------------- */

static enum gantry_attempt_outcome check_file(const char *path, struct text *why)
{
    static const enum gantry_attempt_outcome outcomes[] = {
        [LIBRARY_FITS] = GANTRY_ATTEMPT_LOADED,
        [LIBRARY_UNREADABLE] = GANTRY_ATTEMPT_UNREADABLE,
        [LIBRARY_BROKEN] = GANTRY_ATTEMPT_NOT_A_LIBRARY,
        [LIBRARY_FOREIGN] = GANTRY_ATTEMPT_NOT_A_LIBRARY,
    };
    char words[LIBRARY_WHY_SIZE];
    enum library_verdict verdict = library_file_check(path, words);

    text_add(why, "%s", words);
    return outcomes[verdict];
}

/* The loader begins with the file that is at fault. Of the plugin itself it misses a symbol, or
 * finds the file damaged, or the system does not permit to run what is in it. */
static enum gantry_attempt_outcome judge_error(const char *error, const char *path)
{
    size_t length = strlen(path);

    if (strncmp(error, path, length) != 0 || error[length] != ':')
        return GANTRY_ATTEMPT_MISSING_DEPENDENCY;
    if (strstr(error, "undefined symbol"))
        return GANTRY_ATTEMPT_MISSING_DEPENDENCY;
    return strstr(error, "failed to map") ? GANTRY_ATTEMPT_REFUSED : GANTRY_ATTEMPT_NOT_A_LIBRARY;
}

static enum gantry_attempt_outcome open_library(const char *path, void **handle, struct text *why)
{
    const char *error;

    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return GANTRY_ATTEMPT_LOADED;
    error = dlerror();
    text_add(why, "can't be loaded: %s", error ? error : "dlopen gave no reason");
    return error ? judge_error(error, path) : GANTRY_ATTEMPT_REFUSED;
}

enum gantry_attempt_outcome plugin_load(struct plugin *plugin, const char *path, struct text *why)
{
    const struct gantry_backend *backend;
    enum gantry_attempt_outcome outcome = check_file(path, why);
    void *handle = NULL;

    if (outcome == GANTRY_ATTEMPT_LOADED)
        outcome = open_library(path, &handle, why);
    if (outcome != GANTRY_ATTEMPT_LOADED)
        return outcome;
    backend = dlsym(handle, GANTRY_BACKEND_SYMBOL);
    if (backend) {
        outcome = plugin_check(backend, plugin->name, why);
    } else {
        text_add(why, "exports no descriptor " GANTRY_BACKEND_SYMBOL ": it is no gantry plugin");
        outcome = GANTRY_ATTEMPT_NO_DESCRIPTOR;
    }
    if (outcome != GANTRY_ATTEMPT_LOADED) {
        dlclose(handle);
        return outcome;
    }
    plugin->handle = handle;
    plugin->backend = backend;
    return outcome;
}

/* ---- The instance --------------------------------------------------------------------------- */

enum gantry_status plugin_open(struct plugin *plugin, const char *app_name, const struct log *log)
{
    enum gantry_status status = shared_join(plugin->backend, app_name, log, &plugin->instance);

    if (status == GANTRY_OK) {
        plugin->device_count = plugin->backend->ops->device_count(plugin->instance->drv);
        if (plugin->device_count > 0)
            return GANTRY_OK;
        plugin->reason = strdup("the driver lists no device");
    } else {
        plugin->reason = strdup(gantry_last_error());
    }
    return plugin->reason
               ? GANTRY_OK
               : fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for what became of a plugin");
}

void plugin_close(struct plugin *plugin, const struct log *log)
{
    shared_leave(&plugin->instance, log);
    if (plugin->handle && !plugin->kept)
        dlclose(plugin->handle);
    free(plugin->name);
    free(plugin->path);
    free(plugin->reason);
    attempts_free(&plugin->attempts);
    memset(plugin, 0, sizeof(*plugin));
}
