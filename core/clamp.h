/* What the limits of a device make of the configuration's values. */
#ifndef GANTRY_CORE_CLAMP_H
#define GANTRY_CORE_CLAMP_H

#include "registry.h"

enum { CLAMP_TEXT_SIZE = 320 };

/* staging_mib as it is used: no more than a buffer may have. */
uint32_t clamp_staging_mib(const struct gantry_limits *limits, uint32_t staging_mib);

/* Whether the library does something else than the value says on a device that is opened through
 * this view, because of what the device can do. The text gets what, and why: "auto: it has 2048
 * threads, more than the 1024 that the device takes". The key and value are of
 * gantry_config_get(). What a device or a profile does not tell changes nothing. */
bool clamp_value(const struct view *view, const char *key, const char *value,
                 char text[CLAMP_TEXT_SIZE]);

#endif
