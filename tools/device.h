/* The device that --device names. */
#ifndef GANTRY_TOOLS_DEVICE_H
#define GANTRY_TOOLS_DEVICE_H

#include <gantry/gantry.h>

/* Opens gantry and the device of a selector; `what` is the subcommand, for messages. False: neither
 * is open, and why was said. Close the device before g. */
bool device_open(const char *what, const char *selector, struct gantry **g,
                 struct gantry_device **device, struct gantry_device_info *info);

#endif
