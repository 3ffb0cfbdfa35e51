#include "icd_search.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool icd_contains(const struct manifests *manifests, const char *path)
{
    for (size_t i = 0; i < manifests->count; i++) {
        if (strcmp(manifests->items[i], path) == 0)
            return true;
    }
    return false;
}

static void add(struct manifests *manifests, const char *path)
{
    char *copy = NULL;

    if (manifests->count < MOST_MANIFESTS && !icd_contains(manifests, path))
        copy = strdup(path);
    if (copy)
        manifests->items[manifests->count++] = copy;
}

void icd_free(struct manifests *manifests)
{
    for (size_t i = 0; i < manifests->count; i++)
        free(manifests->items[i]);
    manifests->count = 0;
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static void add_folder(struct manifests *manifests, const char *folder)
{
    char path[MACHINE_PATH_SIZE];
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_json, alphasort);

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        add(manifests, path);
        free(entries[i]);
    }
    free(entries);
}

/* ---- Named ---------------------------------------------------------------------------------- */

const char *icd_variable(void)
{
    static const char *const names[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return names[i];
    }
    return NULL;
}

static void add_named(struct manifests *manifests, const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        add_folder(manifests, path);
    else
        add(manifests, path);
}

/* Calls add_one(path) for each part of a list like PATH. */
static void for_each(struct manifests *manifests, const char *list,
                     void (*add_one)(struct manifests *manifests, const char *path))
{
    char path[MACHINE_PATH_SIZE];

    while (*list) {
        size_t length = strcspn(list, ":");

        snprintf(path, sizeof path, "%.*s", (int)length, list);
        if (path[0])
            add_one(manifests, path);
        list += length + (list[length] == ':');
    }
}

void icd_find_named(const char *variable, struct manifests *manifests)
{
    const char *list = getenv(variable);

    for_each(manifests, list ? list : "", add_named);
}

/* ---- Installed ------------------------------------------------------------------------------ */

static void add_base(struct manifests *manifests, const char *base)
{
    char *folder;

    if (asprintf(&folder, "%s/vulkan/icd.d", base) < 0)
        return;
    add_folder(manifests, folder);
    free(folder);
}

/* The folder of a variable, or one of the user's home when it is unset. */
static void add_home(struct manifests *manifests, const char *variable, const char *fallback)
{
    const char *value = getenv(variable), *home = getenv("HOME");
    char base[MACHINE_PATH_SIZE];

    if (value && *value) {
        add_base(manifests, value);
    } else if (home && *home) {
        snprintf(base, sizeof base, "%s/%s", home, fallback);
        add_base(manifests, base);
    }
}

/* The folders of a variable, or the system's when it is unset. */
static void add_system(struct manifests *manifests, const struct machine *machine,
                       const char *variable, const char *const *fallbacks)
{
    const char *value = getenv(variable);
    char base[MACHINE_PATH_SIZE];

    if (value && *value) {
        for_each(manifests, value, add_base);
        return;
    }
    for (; *fallbacks; fallbacks++) {
        machine_path(machine, *fallbacks, base);
        add_base(manifests, base);
    }
}

void icd_find_installed(const struct machine *machine, struct manifests *manifests)
{
    static const char *const config[] = {"/etc/xdg", NULL};
    static const char *const data[] = {"/usr/local/share", "/usr/share", NULL};
    const char *added = getenv("VK_ADD_DRIVER_FILES");
    char base[MACHINE_PATH_SIZE];

    for_each(manifests, added ? added : "", add_named);
    add_home(manifests, "XDG_CONFIG_HOME", ".config");
    add_system(manifests, machine, "XDG_CONFIG_DIRS", config);
    machine_path(machine, "/usr/local/etc", base);
    add_base(manifests, base);
    machine_path(machine, "/etc", base);
    add_base(manifests, base);
    add_home(manifests, "XDG_DATA_HOME", ".local/share");
    add_system(manifests, machine, "XDG_DATA_DIRS", data);
}
