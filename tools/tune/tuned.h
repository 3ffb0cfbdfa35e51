/* The comment by which a section says what it was tuned with:
 *
 *     ; tuned: cuda 13.0, vulkan 580.159.04, 2026-11-30, gantry 0.1.0
 *
 * A backend and its driver's version for each backend, the date, the version of gantry. A comma in
 * a driver's version is written as a blank. */
#ifndef GANTRY_TUNE_TUNED_H
#define GANTRY_TUNE_TUNED_H

#include <stdbool.h>
#include <stddef.h>

#include <gantry/gantry.h>

enum { TUNED_SIZE = 1024, TUNED_VERSION_SIZE = 96 };

struct tuned {
    struct {
        char backend[32], driver[TUNED_VERSION_SIZE];
    } drivers[GANTRY_MAX_DEVICE_BACKENDS];
    unsigned count;
    char date[16], gantry[16];
};

/* Sets the driver of a backend, adding it if need be. */
void tuned_set(struct tuned *tuned, const char *backend, const char *driver);

/* The driver of a backend, NULL when it was not tuned. */
const char *tuned_driver(const struct tuned *tuned, const char *backend);

/* Whether the version that a driver tells is the one that is written there. */
bool tuned_same_driver(const char *written, const char *driver);

/* "tuned: …", without the comment's mark; and reading it. False: it is another comment. */
void tuned_print(const struct tuned *tuned, char text[TUNED_SIZE]);
bool tuned_read(const char *text, size_t length, struct tuned *tuned);

#endif
