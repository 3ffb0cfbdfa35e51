/* What the command line and the environment ask for. */
#ifndef GANTRY_COMPILE_SETTINGS_H
#define GANTRY_COMPILE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

/* A CUDA image to make: 90 for a cubin of sm_90, 75 and ptx for PTX of compute_75. */
struct architecture {
    uint32_t number;
    bool ptx;
};

struct settings {
    const char *input, *output;
    const char *header;  /* NULL: none */
    const char *prefix;  /* of the header's C names, "" for none */
    const char *host_so; /* a copy of the host image; NULL: none */
    const char *depfile, *keep;
    bool embed;
    bool targets_given;
    bool spirv, cuda, source, host; /* images to make */
    const char *archs;              /* as given */
    struct architecture *architectures;
    size_t architecture_count;
    const char **folders; /* -I, then the folder of the language's headers */
    size_t folder_count;
    const char **defines; /* "X" or "X=Y" */
    size_t define_count;

    const char *glslc, *spirv_opt, *spirv_val, *nvcc, *ptxas, *cxx; /* NULL: there is none */
};

/* settings.c. Returns TOOL_DONE, TOOL_USAGE after a complaint, or -1 when help was printed. */
int settings_read(struct settings *settings, struct pool *pool, int argc, char **argv);

/* archs.c: turns settings->archs into architectures. False with a complaint. */
bool architectures_read(struct settings *settings, struct pool *pool);

#endif
