/* Sections that were tuned with another driver than the one that runs. */
#ifndef GANTRY_TUNE_STALE_H
#define GANTRY_TUNE_STALE_H

#include <jansson.h>

#include <gantry/gantry.h>

/* A list of sentences, one for each section of the device's model in the files that were read whose
 * "tuned:" comment names another driver than the device has now. Empty when all are up to date, and
 * where nothing was tuned. NULL: no memory. */
json_t *stale_sections(struct gantry *g, const struct gantry_device_info *info);

/* Prints them, a "stale: …" line each. */
void stale_print(struct gantry *g, const struct gantry_device_info *info);

#endif
