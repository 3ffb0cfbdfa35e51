/* A folder of files that a test makes and that vanishes after it. */
#ifndef GANTRY_TESTS_UNIT_SCRATCH_H
#define GANTRY_TESTS_UNIT_SCRATCH_H

#include <stddef.h>

/* Makes the folder, or removes it with all that is in it. Fit for cmocka's setup and teardown. */
int scratch_open(void **state);
int scratch_close(void **state);

/* The path of a file in the folder. One of the latest eight is valid. */
const char *scratch_path(const char *name);

/* Write a file, and the folders that its name needs. Both return its path. */
const char *scratch_write(const char *name, const char *text);
const char *scratch_write_bytes(const char *name, const void *data, size_t size);

#endif
