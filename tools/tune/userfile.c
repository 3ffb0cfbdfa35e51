#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../output.h"

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

char *userfile_path(const char *variable, const char *fallback, const char *name)
{
    const char *folder = getenv(variable), *home = getenv("HOME");
    char *base = NULL, *inner = NULL, *path = NULL;

    if (folder && folder[0] == '/')
        base = strdup(folder);
    else if (home && home[0] == '/')
        base = join(home, fallback);
    else
        output_error("%s: neither %s nor HOME names a folder from the root (set one)",
                     output_subcommand(), variable);
    if (base)
        inner = join(base, "gantry");
    if (inner)
        path = join(inner, name);
    free(base);
    free(inner);
    return path;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static char *read_all(FILE *file, size_t *size)
{
    char *text = NULL;
    FILE *copy = open_memstream(&text, size);
    char part[4096];
    size_t got;
    bool failed;

    if (!copy)
        return NULL;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        fwrite(part, 1, got, copy);
    failed = ferror(file) != 0;
    failed |= fclose(copy) != 0;
    if (!failed)
        return text;
    free(text);
    return NULL;
}

char *userfile_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text;

    *size = 0;
    if (!file && errno == ENOENT)
        return calloc(1, 1);
    text = file ? read_all(file, size) : NULL;
    if (!text)
        output_error("%s: %s can't be read: %s", output_subcommand(), path, strerror(errno));
    if (file)
        fclose(file);
    return text;
}

/* ---- Replacing ------------------------------------------------------------------------------ */

/* The path of a link's target. NULL: it is no link. */
static char *target_of(const char *path)
{
    char target[4096];
    ssize_t length = readlink(path, target, sizeof target - 1);
    const char *slash = strrchr(path, '/');
    char *folder, *joined;

    if (length < 0)
        return NULL;
    target[length] = '\0';
    if (target[0] == '/' || !slash)
        return strdup(target);
    folder = strndup(path, (size_t)(slash - path));
    joined = folder ? join(folder, target) : NULL;
    free(folder);
    return joined;
}

/* The file behind all links; it need not exist. */
static char *follow(const char *path)
{
    enum { MOST_LINKS = 40 }; /* as the kernel */
    char *at = strdup(path), *next;

    for (int i = 0; at && i < MOST_LINKS && (next = target_of(at)); i++) {
        free(at);
        at = next;
    }
    return at;
}

/* Makes each folder that the path goes through. */
static bool make_folders(const char *path)
{
    char *folder = strdup(path);
    bool made = folder != NULL;

    for (char *slash = folder ? strchr(folder + 1, '/') : NULL; slash && made;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        made = mkdir(folder, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    free(folder);
    return made;
}

/* What the file has now, or what a new one would get. */
static mode_t mode_for(const char *path)
{
    struct stat info;
    mode_t mask;

    if (stat(path, &info) == 0)
        return info.st_mode & 07777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool write_all(int file, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, text, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        text += written;
        size -= (size_t)written;
    }
    return true;
}

/* The name is safe only when its folder is, too. A file system that can't do that does it anyway.
 */
static void sync_folder(const char *folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY);

    if (file >= 0) {
        fsync(file);
        close(file);
    }
}

/* `folder` is where the path's file is; `temporary` gets its name there. */
static bool write_beside(const char *path, char *temporary, const char *text, size_t size)
{
    int file = mkostemp(temporary, O_CLOEXEC), code;
    bool written;

    if (file < 0)
        return false;
    written = fchmod(file, mode_for(path)) == 0 && write_all(file, text, size) && fsync(file) == 0;
    code = errno;
    written = close(file) == 0 && written;
    if (written && rename(temporary, path) == 0)
        return true;
    code = written ? errno : code;
    unlink(temporary);
    errno = code;
    return false;
}

static bool replace(const char *path, const char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
    char *temporary = folder ? join(folder, ".gantry-XXXXXX") : NULL;
    bool replaced = temporary && make_folders(path) && write_beside(path, temporary, text, size);

    if (replaced)
        sync_folder(folder);
    free(temporary);
    free(folder);
    return replaced;
}

bool userfile_replace(const char *path, const char *text, size_t size)
{
    char *file = follow(path);
    bool replaced;

    errno = ENOMEM;
    replaced = file && replace(file, text, size);
    if (!replaced)
        output_error("%s: %s can't be written: %s (its folder must be there and writable)",
                     output_subcommand(), path, strerror(errno));
    free(file);
    return replaced;
}
