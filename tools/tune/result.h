/* What the trials come to: the lines of the section. */
#ifndef GANTRY_TUNE_RESULT_H
#define GANTRY_TUNE_RESULT_H

#include "section.h"
#include "tuner.h"

/* `file` is where the section is going to be, NULL: nowhere. A key is set when its winner is not
 * what is in force, or is in force because of that file. */
void result_section(const struct tuner *tuner, const char *file, struct section *section);

#endif
