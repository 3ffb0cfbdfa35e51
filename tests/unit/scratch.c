/* A folder of files that a test makes and that vanishes after it. */
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

static char folder[64];

static void need(int success, const char *what, const char *path)
{
    if (success)
        return;
    fprintf(stderr, "scratch: %s %s: ", what, path);
    perror(NULL);
    exit(1);
}

int scratch_open(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/gantry-unit-XXXXXX");
    need(mkdtemp(folder) != NULL, "mkdtemp", folder);
    return 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

int scratch_close(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const char *name)
{
    static char paths[8][PATH_SIZE];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

const char *scratch_write_bytes(const char *name, const void *data, size_t size)
{
    const char *path = scratch_path(name);
    char parent[PATH_SIZE];
    FILE *file;

    snprintf(parent, sizeof(parent), "%s", path);
    for (char *slash = parent + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(parent, 0700);
    }
    file = fopen(path, "wb");
    need(file != NULL, "fopen", path);
    need(fwrite(data, 1, size, file) == size && fclose(file) == 0, "write", path);
    return path;
}

const char *scratch_write(const char *name, const char *text)
{
    return scratch_write_bytes(name, text, strlen(text));
}
