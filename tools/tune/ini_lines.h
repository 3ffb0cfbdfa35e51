/* The lines of an INI file, as far as the sections of one model of GPU are concerned. The library
 * reads such files strictly; here they are only found their way in, and what is not understood is
 * left alone. */
#ifndef GANTRY_TUNE_INI_LINES_H
#define GANTRY_TUNE_INI_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* The name under which drivers of all kinds know a device's model: "h200". "" when nothing is left
 * of it, or it is too long. */
enum { MODEL_SIZE = 256 };
void ini_model(const char *device_name, char model[MODEL_SIZE]);

enum ini_kind { INI_OTHER, INI_SECTION, INI_KEY, INI_COMMENT };

/* Texts are parts of the file's, without a zero at their end. */
struct ini_line {
    const char *text;
    size_t length; /* without the line's end */
    size_t whole;  /* with it */
    enum ini_kind kind;
    bool own;         /* in a [gpu …] section of the model, or its header */
    const char *name; /* of a key; what stands behind the mark of a comment */
    size_t name_length;
    const char *value; /* of a key, without blanks around and the comment behind */
    size_t value_length;
};

struct ini_lines {
    struct ini_line *items;
    size_t count;
};

/* False: no memory. Free it in either case. */
bool ini_lines_read(const char *text, size_t size, const char *model, struct ini_lines *lines);
void ini_lines_free(struct ini_lines *lines);

#endif
