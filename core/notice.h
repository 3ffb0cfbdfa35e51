/* What is said of the device that was chosen. */
#ifndef GANTRY_CORE_NOTICE_H
#define GANTRY_CORE_NOTICE_H

#include "context.h"

/* Logs how a device was opened, at INFO. Unless that was demanded, also says, once for each open
 * gantry, that a software device was taken, or another backend than the preferred one, and why: as
 * a WARNING, but at INFO when it is only the built-in order that was not followed. */
void notice_choice(struct gantry *g, const struct gantry_device_params *params,
                   const struct choice *choice, const struct view *view);

/* Puts the configuration's values that the plugin of a view has refused, with where each was set,
 * in front of the plugin's sentence. */
void notice_refused_values(const struct gantry *g, const struct view *view);

#endif
