/* Reading and writing whole files, and the folder for intermediate ones. All complain on stderr. */
#ifndef GANTRY_COMPILE_FILE_H
#define GANTRY_COMPILE_FILE_H

#include <stdbool.h>

#include "pool.h"

bool file_exists(const char *path);
bool file_read(const char *path, struct text *text);

/* The file appears whole, under its name, or not at all. */
bool file_write(struct pool *pool, const char *path, const void *data, size_t size);

/* "a/b.gk" → "a", "b.gk" → "."; "b.gk"; "b" */
const char *path_folder(struct pool *pool, const char *path);
const char *path_name(const char *path);
const char *path_stem(struct pool *pool, const char *path);

/* The folder for intermediate files: `keep`, made if need be and left behind, or with NULL one of
 * its own that workdir_remove(), or the program's end, removes. Returns NULL on failure. */
const char *workdir_open(struct pool *pool, const char *keep);
void workdir_remove(void);

#endif
