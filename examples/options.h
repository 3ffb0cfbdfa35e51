/* The command line of edge. */
#ifndef GANTRY_EXAMPLES_OPTIONS_H
#define GANTRY_EXAMPLES_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* What the exit status says. */
enum {
    DONE = 0,
    FAILED = 1,
    USAGE = 2,
};

struct options {
    const char *input, *output, *test_picture; /* output may be NULL with --all */
    const char *config, *device, *backend;     /* NULL: not given */
    const char *kernels;                       /* a package; NULL: the one in the program */
    uint32_t repeat;
    bool all;
};

/* DONE: go on. USAGE: the mistake was reported. -1: help was asked for and printed. */
int options_read(struct options *options, int argc, char **argv);

#endif
