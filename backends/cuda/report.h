/* A text that grows piece by piece, for errors that have a reason per image. */
#ifndef GANTRY_CUDA_REPORT_H
#define GANTRY_CUDA_REPORT_H

#include <stddef.h>

/* What does not fit is cut: core's own sentence has a limit as well. */
struct report {
    size_t length;
    char text[3072];
};

void report_add(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds text with its line ends and runs of blanks made single blanks, at most `limit` bytes. */
void report_add_folded(struct report *report, const char *text, size_t limit);

#endif
