#include "library_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the two classes of ELF headers have in common. */
struct start {
    unsigned char ident[EI_NIDENT];
    ElfW(Half) type, machine;
};

/* What this very code was built for. */
static bool read_own(struct start *own)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool whole = file >= 0 && read(file, own, sizeof(*own)) == (ssize_t)sizeof(*own);

    if (file >= 0)
        close(file);
    return whole;
}

static unsigned bits(const struct start *start)
{
    return start->ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
}

static enum library_verdict judge(const struct start *start, ssize_t length, char *why)
{
    struct start own;

    if (length < (ssize_t)sizeof(*start) || memcmp(start->ident, ELFMAG, SELFMAG) != 0) {
        snprintf(why, LIBRARY_WHY_SIZE, "is no shared library: it has no ELF header");
        return LIBRARY_BROKEN;
    }
    if (start->type != ET_DYN) {
        snprintf(why, LIBRARY_WHY_SIZE, "is no shared library but another kind of ELF file");
        return LIBRARY_BROKEN;
    }
    if (!read_own(&own) ||
        (start->ident[EI_CLASS] == own.ident[EI_CLASS] &&
         start->ident[EI_DATA] == own.ident[EI_DATA] && start->machine == own.machine))
        return LIBRARY_FITS;
    snprintf(why, LIBRARY_WHY_SIZE,
             "is a library for another processor (%u bits, ELF machine %u; this program has %u "
             "bits, machine %u)",
             bits(start), start->machine, bits(&own), own.machine);
    return LIBRARY_FOREIGN;
}

enum library_verdict library_file_check(const char *path, char why[LIBRARY_WHY_SIZE])
{
    struct start start;
    struct stat info;
    ssize_t length;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */

    why[0] = '\0';
    if (file < 0) {
        snprintf(why, LIBRARY_WHY_SIZE, "can't be read: %s", strerror(errno));
        return LIBRARY_UNREADABLE;
    }
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        snprintf(why, LIBRARY_WHY_SIZE, "is not a file");
        close(file);
        return LIBRARY_UNREADABLE;
    }
    length = read(file, &start, sizeof(start));
    close(file);
    return judge(&start, length, why);
}
