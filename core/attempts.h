/* What became of the places where one plugin was looked for. */
#ifndef GANTRY_CORE_ATTEMPTS_H
#define GANTRY_CORE_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include <gantry/gantry.h>

struct attempts {
    struct attempt {
        char *path;
        enum gantry_attempt_outcome outcome;
        char *text; /* "PATH (who named the folder) WHY"; "" when loaded */
    } * items;
    uint32_t count;
};

/* Takes both texts, which may be NULL for want of memory: then, and when there is none for the
 * list, it is false and both are freed. */
bool attempts_add(struct attempts *attempts, char *path, enum gantry_attempt_outcome outcome,
                  char *text);

/* What came of all that failed, separated by "; ". The caller frees it; NULL: no memory. */
char *attempts_sentence(const struct attempts *attempts);

void attempts_free(struct attempts *attempts);

#endif
