/* Where configuration comes from. */
#include "sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls are made with remarks.named set as the source is. */

static void mistake(struct sources *sources, const char *what, const char *detail)
{
    remark(&sources->rules->remarks, REMARK_MISTAKE, 0, "%s%s", what, detail);
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* Bytes of an open file, at most `size`; -1 when it can't be read. */
static ssize_t read_all(int fd, char *text, size_t size)
{
    size_t length = 0;
    ssize_t more = 1;

    while (more > 0 && length < size) {
        more = read(fd, text + length, size - length);
        if (more > 0)
            length += (size_t)more;
        else if (more < 0 && errno == EINTR)
            more = 1;
    }
    return more < 0 ? -1 : (ssize_t)length;
}

static void keep_file(struct sources *sources, const char *path)
{
    const char **files = arena_extend(sources->rules->arena, sources->files, sources->file_count,
                                      sizeof(const char *));

    if (!files)
        return;
    sources->files = files;
    files[sources->file_count++] = path;
}

static void read_open_file(struct sources *sources, int fd, const char *path)
{
    char *text = malloc(SOURCE_SIZE_MAX + 1);
    ssize_t length = text ? read_all(fd, text, SOURCE_SIZE_MAX + 1) : 0;

    if (!text)
        sources->rules->arena->failed = true;
    else if (length < 0)
        mistake(sources, "the file can't be read: ", strerror(errno));
    else if (length > SOURCE_SIZE_MAX)
        mistake(sources, "the file is larger than 256 KiB, so it is no configuration", "");
    else {
        keep_file(sources, path);
        rules_read(sources->rules, text, (size_t)length);
    }
    free(text);
}

/* Default files may be missing, named ones may not. */
static void read_file(struct sources *sources, const char *path)
{
    struct remarks *remarks = &sources->rules->remarks;
    struct stat info;
    int fd;

    remarks->file = arena_copy(sources->rules->arena, path, strlen(path));
    if (!remarks->file)
        return;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR) && !remarks->named)
        return;
    if (fd < 0 || fstat(fd, &info) != 0)
        mistake(sources, "the file can't be read: ", strerror(errno));
    else if (S_ISDIR(info.st_mode))
        mistake(sources, "this is a folder: name a file", "");
    else
        read_open_file(sources, fd, remarks->file);
    if (fd >= 0)
        close(fd);
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

    if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
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

static void read_application(struct sources *sources, const struct policy_params *params)
{
    struct rules *rules = sources->rules;

    rules->source++;
    rules->remarks.named = true;
    if (params->config_file)
        read_file(sources, params->config_file);
    if (params->config_text) {
        rules->remarks.file = "config_text";
        rules_read(rules, params->config_text, strlen(params->config_text));
    }
    rules->remarks.named = false;
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
}
