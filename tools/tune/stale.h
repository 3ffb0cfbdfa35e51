/* Sections that were tuned, with the driver that runs or with another one. */
#ifndef GANTRY_TUNE_STALE_H
#define GANTRY_TUNE_STALE_H

#include <jansson.h>

#include <gantry/gantry.h>

/* A list of sentences, one for each section of the device's model in the files that were read and
 * each backend whose driver its "tuned:" comment names: those whose driver is another one now, or
 * those that are up to date. NULL: no memory. */
json_t *stale_sections(struct gantry *g, const struct gantry_device_info *info);
json_t *current_sections(struct gantry *g, const struct gantry_device_info *info);

/* Prints both, as lines that begin with "stale:" and "tuned:". */
void stale_print(struct gantry *g, const struct gantry_device_info *info);

#endif
