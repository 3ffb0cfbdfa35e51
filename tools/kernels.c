#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "FOLDER/TAIL/NAME" when such a file can be read, else NULL. */
static char *readable(const char *folder, size_t length, const char *tail, const char *name)
{
    size_t size = length + strlen(tail) + strlen(name) + 3;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%.*s/%s/%s", (int)length, folder, tail, name);
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* libtool keeps programs that are not installed in a folder .libs. */
char *kernels_find(const char *name)
{
    static const char *const tails[] = {"../kernels", "../../kernels", "../share/gantry/kernels"};
    char *own = realpath("/proc/self/exe", NULL), *found = NULL;
    const char *slash = own ? strrchr(own, '/') : NULL;

    for (size_t i = 0; slash && !found && i < sizeof tails / sizeof *tails; i++)
        found = readable(own, (size_t)(slash - own), tails[i], name);
    free(own);
    return found ? found : readable(GANTRY_KERNELSDIR, strlen(GANTRY_KERNELSDIR), ".", name);
}

const char *kernels_installed(void)
{
    return GANTRY_KERNELSDIR;
}
