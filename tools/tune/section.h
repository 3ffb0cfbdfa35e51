/* The section of one model of GPU in an INI file: what tuning writes there, and into an existing
 * file without touching the rest. */
#ifndef GANTRY_TUNE_SECTION_H
#define GANTRY_TUNE_SECTION_H

#include "ini_lines.h"
#include "tuned.h"

enum {
    SECTION_KEYS = 32,
    SECTION_NAME_SIZE = 200,
    SECTION_LINE_SIZE = SECTION_NAME_SIZE + 32,
    SECTION_VALUE_SIZE = 24,
    SECTION_COMMENT_SIZE = 640
};

/* A key that was tuned. */
struct section_key {
    char key[SECTION_NAME_SIZE]; /* without a backend in front */

    /* What it is to be: one line for all backends, or one for each that needs it, or none, and then
     * the lines that are there stay. */
    struct {
        char name[SECTION_LINE_SIZE]; /* "chains", "cuda.chains" */
        char value[SECTION_VALUE_SIZE];
    } lines[GANTRY_MAX_DEVICE_BACKENDS];
    unsigned count;
    bool complete; /* the lines leave no backend without: a plain one beside them has no effect */

    const char *backends[GANTRY_MAX_DEVICE_BACKENDS];                /* that it was tuned through */
    char comments[GANTRY_MAX_DEVICE_BACKENDS][SECTION_COMMENT_SIZE]; /* "tuned KEY through B: …" */
    unsigned backend_count;
};

struct section {
    const char *model;
    struct tuned tuned;
    struct section_key keys[SECTION_KEYS];
    unsigned count;
};

/* The text of the file with the section in it: `text`, of `size` bytes, with what concerns the
 * section's keys replaced, everything else byte for byte as it was. *size gets the new text's.
 * NULL: no memory. Free it. */
char *section_put(const struct section *section, const char *text, size_t *size);

/* "h200.ini": the file that is the model's. */
void section_file_name(const char *model, char name[MODEL_SIZE]);

#endif
