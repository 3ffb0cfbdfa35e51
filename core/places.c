/* The folders in which gantry looks for what belongs to it. */
#include "places.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "status.h"
#include "text.h"

static enum gantry_status no_memory(void)
{
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY,
                "no host memory for the folders of gantry's own files");
}

/* The folder of the file that holds this code, symbolic links resolved, so that a folder with the
 * library and its plugins can be moved and linked to. NULL when it can't be told. */
static enum gantry_status find_own(char **folder)
{
    struct link_map *map = NULL;
    Dl_info info;
    char *path, *slash;

    *folder = NULL;
    if (!dladdr1((void *)(uintptr_t)find_own, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return GANTRY_OK;
    /* The program itself, with gantry linked into it, has no name here; argv[0] would mislead. */
    path = realpath(map->l_name[0] ? map->l_name : "/proc/self/exe", NULL);
    if (!path)
        return errno == ENOMEM ? no_memory() : GANTRY_OK;
    slash = strrchr(path, '/');
    slash[slash == path] = '\0';
    *folder = path;
    return GANTRY_OK;
}

static bool listed(const struct places *places, const char *folder, size_t length)
{
    for (uint32_t i = 0; i < places->count; i++) {
        const char *other = places->items[i].folder;

        if (strlen(other) == length && memcmp(other, folder, length) == 0)
            return true;
    }
    return false;
}

static enum gantry_status add(struct places *places, const char *folder, size_t length,
                              const char *origin)
{
    struct place *items, *place;

    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (listed(places, folder, length))
        return GANTRY_OK;
    items = realloc(places->items, (places->count + 1) * sizeof(*items));
    if (!items)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory for the plugin folders");
    places->items = items;
    place = &items[places->count++];
    place->folder = strndup(folder, length);
    place->origin = strdup(origin);
    if (!place->folder || !place->origin)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory for the plugin folders");
    return GANTRY_OK;
}

/* Empty parts, as "a::b" or a trailing ':' leave, name nothing and are passed over. */
static enum gantry_status add_list(struct places *places, const char *list, const char *origin,
                                   enum gantry_status relative)
{
    enum gantry_status status = GANTRY_OK;

    while (status == GANTRY_OK && *list) {
        size_t length = strcspn(list, ":");

        if (length && list[0] != '/')
            return fail(relative,
                        "%s: plugin folder \"%.*s\" is relative; name it from the root, because "
                        "the current directory is never searched",
                        origin, (int)length, list);
        if (length)
            status = add(places, list, length, origin);
        list += length + (list[length] == ':');
    }
    return status;
}

static enum gantry_status add_own(struct places *places)
{
    char *own, *sub;
    enum gantry_status status = find_own(&own);

    if (!own)
        return status;
    sub = text_make("%s/gantry", own);
    status = sub ? add(places, own, strlen(own), "libgantry's folder") : no_memory();
    if (status == GANTRY_OK)
        status = add(places, sub, strlen(sub), "libgantry's folder");
    free(sub);
    free(own);
    return status;
}

enum gantry_status places_find(const char *plugin_path, const struct policy *policy,
                               struct places *places)
{
    const char *origin = "";
    const char *configured = policy_global(policy, "plugin_path", &origin);
    enum gantry_status status;

    memset(places, 0, sizeof(*places));
    status = add_list(places, plugin_path ? plugin_path : "", "gantry_params.plugin_path",
                      GANTRY_E_INVALID_ARGUMENT);
    if (status == GANTRY_OK)
        status = add_list(places, configured, origin, GANTRY_E_CONFIG);
    if (status == GANTRY_OK)
        status = add_own(places);
    if (status == GANTRY_OK)
        status = add(places, GANTRY_PKGLIBDIR, strlen(GANTRY_PKGLIBDIR), "the installation");
    if (status != GANTRY_OK)
        places_free(places);
    return status;
}

void places_free(struct places *places)
{
    for (uint32_t i = 0; i < places->count; i++) {
        free(places->items[i].folder);
        free(places->items[i].origin);
    }
    free(places->items);
    memset(places, 0, sizeof(*places));
}

/* The folder when it holds a gpu.d/; takes ownership of the text. */
static enum gantry_status with_gpu_d(char *folder, char **found)
{
    char *inner = folder ? text_make("%s/gpu.d", folder) : NULL;
    enum gantry_status status = inner ? GANTRY_OK : no_memory();
    struct stat info;

    if (inner && stat(inner, &info) == 0 && S_ISDIR(info.st_mode))
        *found = folder;
    else
        free(folder);
    free(inner);
    return status;
}

enum gantry_status places_shipped(char **folder)
{
    /* The second is for the folder of an architecture, as /usr/lib/x86_64-linux-gnu. */
    static const char *const from_library[] = {"../share/gantry", "../../share/gantry"};
    char *own;
    enum gantry_status status = find_own(&own);

    *folder = NULL;
    for (size_t i = 0; own && !*folder && status == GANTRY_OK &&
                       i < sizeof(from_library) / sizeof(from_library[0]);
         i++)
        status = with_gpu_d(text_make("%s/%s", own, from_library[i]), folder);
    free(own);
    return *folder || status != GANTRY_OK ? status : with_gpu_d(strdup(GANTRY_PKGDATADIR), folder);
}
