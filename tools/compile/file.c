#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void complain(const char *what, const char *path)
{
    fprintf(stderr, "gantry: compile: can't %s %s: %s\n", what, path, strerror(errno));
}

bool file_exists(const char *path)
{
    return access(path, R_OK) == 0;
}

bool file_read(const char *path, struct text *text)
{
    char part[65536];
    size_t size;
    FILE *file = fopen(path, "rb");
    if (!file) {
        complain("open", path);
        return false;
    }
    while ((size = fread(part, 1, sizeof(part), file)) > 0)
        text_add(text, part, size);
    bool good = !ferror(file);
    if (!good)
        complain("read", path);
    fclose(file);
    return good;
}

/* mkstemp() makes private files; a package is to be as readable as any other output. */
static bool open_to_all(int descriptor)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(descriptor, 0666 & ~mask) == 0;
}

bool file_write(struct pool *pool, const char *path, const void *data, size_t size)
{
    char *draft = pool_print(pool, "%s.XXXXXX", path);
    int descriptor = mkstemp(draft);
    if (descriptor < 0) {
        complain("write", path);
        return false;
    }
    FILE *file = fdopen(descriptor, "wb");
    if (!file) {
        close(descriptor);
        goto fail;
    }
    bool good = open_to_all(descriptor) && fwrite(data, 1, size, file) == size;
    if (fclose(file) == 0 && good && rename(draft, path) == 0)
        return true;
fail:
    complain("write", path);
    unlink(draft);
    return false;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_folder(struct pool *pool, const char *path)
{
    const char *name = path_name(path);
    if (name == path)
        return ".";
    return name - path == 1 ? "/" : pool_copy(pool, path, (size_t)(name - path) - 1);
}

const char *path_stem(struct pool *pool, const char *path)
{
    const char *name = path_name(path);
    const char *dot = strrchr(name, '.');
    return pool_copy(pool, name, dot && dot != name ? (size_t)(dot - name) : strlen(name));
}

/* ---- The folder for intermediate files
 * ------------------------------------------------------------ */

static char workdir[4096];

void workdir_remove(void)
{
    DIR *folder = workdir[0] ? opendir(workdir) : NULL;
    if (!folder)
        return;
    struct dirent *entry;
    while ((entry = readdir(folder)))
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(workdir);
    workdir[0] = 0;
}

const char *workdir_open(struct pool *pool, const char *keep)
{
    if (keep) {
        if (mkdir(keep, 0777) == 0 || errno == EEXIST)
            return keep;
        complain("make the folder", keep);
        return NULL;
    }
    const char *parent = getenv("TMPDIR");
    char *path = pool_print(pool, "%s/gantry-XXXXXX", parent && *parent ? parent : "/tmp");
    if (strlen(path) >= sizeof(workdir) || !mkdtemp(path)) {
        complain("make the folder", path);
        return NULL;
    }
    strcpy(workdir, path);
    atexit(workdir_remove);
    return path;
}
