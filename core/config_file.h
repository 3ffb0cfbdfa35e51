/* Configuration files, as bytes. */
#ifndef GANTRY_CORE_CONFIG_FILE_H
#define GANTRY_CORE_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* A configuration file is not larger than this; what is, is something else. */
enum { CONFIG_FILE_MAX = 256 * 1024 };

struct config_file {
    char *text; /* for free(); no zero ends it */
    size_t size;
    bool missing;   /* there is no such file */
    bool no_memory; /* `why` says so too */
    char why[160];  /* why it was not read: a sentence without the path */
};

/* False when it was not read: then text is NULL. */
bool config_file_read(const char *path, struct config_file *file);

#endif
