/* Files of the user's: where they are, and replacing them whole. */
#ifndef GANTRY_TUNE_USERFILE_H
#define GANTRY_TUNE_USERFILE_H

#include <stdbool.h>
#include <stddef.h>

/* "FOLDER/gantry/NAME" with the folder that the variable names, or with ~/FALLBACK when it is unset
 * or not absolute. NULL, and that was said: there is no home, or no memory. Free it. */
char *userfile_path(const char *variable, const char *fallback, const char *name);

/* The whole file with a zero behind it. A missing file is empty. NULL, and that was said: it can't
 * be read. Free it. */
char *userfile_read(const char *path, size_t *size);

/* Puts the text in the file's place at one stroke: others find the old file or the new one. Makes
 * the folders that are missing, keeps the file's permissions, and follows a link to the file behind
 * it. False, and that was said: all is as it was. */
bool userfile_replace(const char *path, const char *text, size_t size);

#endif
