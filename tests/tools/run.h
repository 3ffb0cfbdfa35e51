/* Runs a program as a user would, and looks at what it says. */
#ifndef GANTRY_TESTS_TOOLS_RUN_H
#define GANTRY_TESTS_TOOLS_RUN_H

#include <jansson.h>
#include <stdbool.h>

struct outcome {
    int status; /* the exit status; -1: it was killed by a signal */
    char *out, *err;
};

/* Runs argv[0]; `environment` is what is changed in ours: "NAME=VALUE", or "NAME" to remove it;
 * both lists end with NULL, environment may be NULL. Fails the test when nothing could be run. */
struct outcome run(const char *const *argv, const char *const *environment);
void outcome_free(struct outcome *outcome);

/* The programs under test. */
const char *gantry_path(void);
const char *edge_path(void);

/* The JSON object that the output is; fails the test when it is none. */
json_t *outcome_json(const struct outcome *outcome);

/* Whether stderr is one line that begins with `start` and contains `part`. */
bool one_line(const struct outcome *outcome, const char *start, const char *part);

#endif
