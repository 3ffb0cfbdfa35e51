/* Whether a file is a library that this process could load, told by its header: of a file for
 * another machine some loaders only say that it is not there. */
#ifndef GANTRY_CORE_LIBRARY_FILE_H
#define GANTRY_CORE_LIBRARY_FILE_H

enum library_verdict {
    LIBRARY_FITS,       /* nothing speaks against it so far */
    LIBRARY_UNREADABLE, /* it can't be read, or is no file at all */
    LIBRARY_BROKEN,     /* it is no library */
    LIBRARY_FOREIGN,    /* one for another machine */
};

enum { LIBRARY_WHY_SIZE = 160 };

/* `why` gets words that follow the path; "" when it fits. */
enum library_verdict library_file_check(const char *path, char why[LIBRARY_WHY_SIZE]);

#endif
