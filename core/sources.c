/* Where configuration comes from. */
#include "sources.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_file.h"

/* Calls are made with remarks.named set as the source is. */

static void mistake(struct sources *sources, const char *what, const char *detail)
{
    remark(&sources->rules->remarks, REMARK_MISTAKE, 0, "%s%s", what, detail);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void keep_file(struct sources *sources, const char *path)
{
    const char **files = arena_extend(sources->rules->arena, sources->files, sources->file_count,
                                      sizeof(const char *));

    if (!files)
        return;
    sources->files = files;
    files[sources->file_count++] = path;
}

/* Default files may be missing, named ones may not. */
static void read_file(struct sources *sources, const char *path)
{
    struct rules *rules = sources->rules;
    struct config_file file;

    rules->remarks.file = arena_copy(rules->arena, path, strlen(path));
    if (!rules->remarks.file)
        return;
    if (config_file_read(path, &file)) {
        keep_file(sources, rules->remarks.file);
        rules_read(rules, file.text, file.size);
    } else if (file.no_memory) {
        rules->arena->failed = true;
    } else if (!file.missing || rules->remarks.named) {
        mistake(sources, file.why, "");
    }
    free(file.text);
}

/* ---- Folders -------------------------------------------------------------------------------- */

static int is_ini(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".ini") == 0;
}

/* Not alphasort(), which the program's locale would change. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_gpu_d(struct sources *sources, const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_ini, by_bytes);

    if (count < 0 && errno == ENOMEM) {
        sources->rules->arena->failed = true;
    } else if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
        sources->rules->remarks.file = arena_copy(sources->rules->arena, folder, strlen(folder));
        if (sources->rules->remarks.file)
            mistake(sources, "the folder can't be read: ", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        const char *path = arena_format(sources->rules->arena, "%s/%s", folder, entries[i]->d_name);

        if (path)
            read_file(sources, path);
        free(entries[i]);
    }
    free(entries);
}

/* A folder's gantry.ini and gpu.d as one source. */
static void read_folder(struct sources *sources, const char *folder)
{
    const char *file = arena_format(sources->rules->arena, "%s/gantry.ini", folder);
    const char *gpu_d = arena_format(sources->rules->arena, "%s/gpu.d", folder);

    sources->rules->source++;
    if (!file || !gpu_d)
        return;
    read_file(sources, file);
    read_gpu_d(sources, gpu_d);
}

/* ---- The sources ---------------------------------------------------------------------------- */

static void read_shipped(struct sources *sources, const char *folder)
{
    const char *gpu_d = arena_format(sources->rules->arena, "%s/gpu.d", folder);

    sources->rules->source++;
    if (gpu_d)
        read_gpu_d(sources, gpu_d);
}

/* A text of the application's, which may be NULL. */
static void read_text(struct sources *sources, const char *name, const char *text)
{
    struct rules *rules = sources->rules;

    if (!text)
        return;
    rules->source++;
    rules->remarks.named = true;
    rules->remarks.file = name;
    rules_read(rules, text, strlen(text));
    rules->remarks.named = false;
}

static void read_application(struct sources *sources, const struct policy_params *params)
{
    struct rules *rules = sources->rules;

    if (params->config_file) {
        rules->source++;
        rules->remarks.named = true;
        read_file(sources, params->config_file);
        rules->remarks.named = false;
    }
    read_text(sources, "config_text", params->config_text);
}

/* The XDG Base Directory Specification has relative folders ignored. */
static void read_user(struct sources *sources)
{
    const char *config = secure_getenv("XDG_CONFIG_HOME");
    const char *home = secure_getenv("HOME");
    const char *folder = NULL;

    if (config && config[0] == '/')
        folder = arena_format(sources->rules->arena, "%s/gantry", config);
    else if (home && home[0] == '/')
        folder = arena_format(sources->rules->arena, "%s/.config/gantry", home);
    if (folder)
        read_folder(sources, folder);
}

static bool is_none(const char *entry, size_t length)
{
    return length == strlen("none") && strncmp(entry, "none", length) == 0;
}

/* What stands behind the last "none" in the list; NULL when there is no "none". */
static const char *behind_none(const char *list)
{
    const char *behind = NULL;

    while (list) {
        const char *end = strchr(list, ':');

        if (is_none(list, end ? (size_t)(end - list) : strlen(list)))
            behind = end ? end + 1 : "";
        list = end ? end + 1 : NULL;
    }
    return behind;
}

static void read_named(struct sources *sources, const char *list)
{
    struct rules *rules = sources->rules;

    rules->remarks.named = true;
    while (list) {
        size_t length = strcspn(list, ":");
        const char *path = arena_copy(rules->arena, list, length);

        rules->source++;
        rules->remarks.file = "environment GANTRY_CONFIG";
        if (length == 0)
            mistake(sources, "an empty place in the list of files: leave its ':' out", "");
        else if (path)
            read_file(sources, path);
        list = list[length] ? list + length + 1 : NULL;
    }
    rules->remarks.named = false;
}

void sources_read(struct sources *sources, const struct policy_params *params)
{
    const char *list = secure_getenv("GANTRY_CONFIG");
    const char *rest = list ? behind_none(list) : NULL;

    rules_add_built_in(sources->rules);
    if (!rest) {
        if (params->shipped_dir)
            read_shipped(sources, params->shipped_dir);
        if (params->system_dir)
            read_folder(sources, params->system_dir);
        read_application(sources, params);
        read_user(sources);
        rest = list;
    }
    if (rest && *rest)
        read_named(sources, rest);
    sources->rules->source++;
    rules_read_environment(sources->rules);
    read_text(sources, "override_text", params->override_text);
}
