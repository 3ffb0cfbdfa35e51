/* One backend plugin: its file loaded, its descriptor checked, its instance opened; or why not. */
#include "plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool plugin_check(const struct gantry_backend *backend, const char *name, struct text *why)
{
    if (backend->magic != GANTRY_BACKEND_MAGIC) {
        text_add(why, "has a descriptor with magic 0x%08x instead of 0x%08x", backend->magic,
                 GANTRY_BACKEND_MAGIC);
        return false;
    }
    if (backend->abi_major != GANTRY_BACKEND_ABI_MAJOR) {
        text_add(why, "has ABI %u.%u, this gantry needs %d.x; use a plugin of gantry %s",
                 backend->abi_major, backend->abi_minor, GANTRY_BACKEND_ABI_MAJOR,
                 gantry_version());
        return false;
    }
    if (backend->size < sizeof(*backend)) {
        text_add(why, "has a descriptor of %u bytes, ABI %d.%d needs %zu", backend->size,
                 GANTRY_BACKEND_ABI_MAJOR, GANTRY_BACKEND_ABI_MINOR, sizeof(*backend));
        return false;
    }
    if (!backend->name || strcmp(backend->name, name) != 0) {
        text_add(why, "calls itself \"%s\", its file's name says \"%s\"",
                 backend->name ? backend->name : "", name);
        return false;
    }
    if (!backend->version) {
        text_add(why, "states no version");
        return false;
    }
    return check_table(backend->ops, why);
}

/* ---- The file ------------------------------------------------------------------------------- */

/* dlopen would say less, or nothing, of these. */
static bool check_file(const char *path, struct text *why)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0) {
        text_add(why, "can't be read: %s", strerror(errno));
        return false;
    }
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        text_add(why, "is not a file");
        close(file);
        return false;
    }
    close(file);
    return true;
}

bool plugin_load(struct plugin *plugin, const char *path, struct text *why)
{
    const struct gantry_backend *backend;
    void *handle;

    if (!check_file(path, why))
        return false;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *error = dlerror();

        text_add(why, "can't be loaded: %s", error ? error : "dlopen gave no reason");
        return false;
    }
    backend = dlsym(handle, GANTRY_BACKEND_SYMBOL);
    if (!backend)
        text_add(why, "exports no descriptor " GANTRY_BACKEND_SYMBOL ": it is no gantry plugin");
    if (!backend || !plugin_check(backend, plugin->name, why)) {
        dlclose(handle);
        return false;
    }
    plugin->handle = handle;
    plugin->backend = backend;
    return true;
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
    return plugin->reason ? GANTRY_OK : fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory");
}

void plugin_close(struct plugin *plugin, const struct log *log)
{
    shared_leave(&plugin->instance, log);
    if (plugin->handle && !plugin->kept)
        dlclose(plugin->handle);
    free(plugin->name);
    free(plugin->path);
    free(plugin->reason);
    memset(plugin, 0, sizeof(*plugin));
}
