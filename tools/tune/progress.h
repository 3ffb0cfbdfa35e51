/* What the user sees while it runs: a bar with the time that is left on a terminal, otherwise a
 * line for each step; on stderr. And how the user ends it. */
#ifndef GANTRY_TUNE_PROGRESS_H
#define GANTRY_TUNE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool terminal;
    unsigned steps, step;  /* from 0 */
    uint64_t begin, drawn; /* of the step; when the bar was drawn last */
    uint64_t length;       /* of the step, in ns */
    char what[200];
};

void progress_open(struct progress *progress, unsigned steps);

/* A step begins that takes about so many ns. */
void progress_begin(struct progress *progress, unsigned step, const char *what, uint64_t length);

/* Time has passed. Cheap: call it often. */
void progress_tick(struct progress *progress);

/* The step has ended, with this outcome. */
void progress_end(struct progress *progress, const char *outcome);

/* Takes the bar off the terminal, so that something else can be said. */
void progress_clear(const struct progress *progress);

/* Ctrl-C, or being told to end: from now on progress_stopped() is true the first time, the second
 * time the program is killed as usual. */
void progress_catch_signals(void);
bool progress_stopped(void);

#endif
