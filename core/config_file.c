/* Configuration files, as bytes. */
#include "config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(struct config_file *file, const char *why, const char *detail)
{
    snprintf(file->why, sizeof(file->why), "%s%s", why, detail);
    free(file->text);
    file->text = NULL;
    file->size = 0;
    return false;
}

/* Reads up to `size` bytes; false when reading fails. */
static bool read_all(int fd, struct config_file *file, size_t size)
{
    ssize_t more = 1;

    while (more > 0 && file->size < size) {
        more = read(fd, file->text + file->size, size - file->size);
        if (more > 0)
            file->size += (size_t)more;
        else if (more < 0 && errno == EINTR)
            more = 1;
    }
    return more >= 0;
}

static bool read_open(int fd, struct config_file *file)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return refuse(file, "the file can't be read: ", strerror(errno));
    if (S_ISDIR(info.st_mode))
        return refuse(file, "this is a folder: name a file", "");
    file->text = malloc(CONFIG_FILE_MAX + 1);
    file->no_memory = !file->text;
    if (!file->text)
        return refuse(file, "the file can't be read: ", strerror(ENOMEM));
    if (!read_all(fd, file, CONFIG_FILE_MAX + 1))
        return refuse(file, "the file can't be read: ", strerror(errno));
    if (file->size > CONFIG_FILE_MAX)
        return refuse(file, "the file is larger than 256 KiB, so it is no configuration", "");
    return true;
}

bool config_file_read(const char *path, struct config_file *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done;

    *file = (struct config_file){.missing = fd < 0 && (errno == ENOENT || errno == ENOTDIR)};
    if (fd < 0)
        return refuse(file, "the file can't be read: ", strerror(errno));
    done = read_open(fd, file);
    close(fd);
    return done;
}
