/* Where configuration comes from. */
#ifndef GANTRY_CORE_SOURCES_H
#define GANTRY_CORE_SOURCES_H

#include "policy.h"
#include "rules.h"

struct sources {
    struct rules *rules;
    const char **files; /* that were read, weakest first */
    uint32_t file_count;
};

/* Reads every source, weakest first:
 *
 * 1. built-in values;
 * 2. the shipped gpu.d/ *.ini;
 * 3. the system's gantry.ini and gpu.d/ *.ini;
 * 4. the application's file or text;
 * 5. the user's gantry.ini and gpu.d/ *.ini;
 * 6. the files that GANTRY_CONFIG lists, each a source of its own, the later the stronger; its word
 *    "none" leaves out everything from 2 on that stands above it, also files listed before it;
 * 7. the variables GANTRY_KEY;
 * 8. the application's override_text.
 *
 * The files of one folder are one source, gantry.ini before gpu.d, and that in the order of bytes.
 */
void sources_read(struct sources *sources, const struct policy_params *params);

#endif
