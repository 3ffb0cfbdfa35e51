/* The profile of a machine: what `gantry info --json` printed there. */
#ifndef GANTRY_TOOLS_PROFILE_H
#define GANTRY_TOOLS_PROFILE_H

#include <gantry/gantry.h>

/* More devices than any machine has. */
enum { PROFILE_DEVICES_MAX = 1024 };

struct profile {
    struct json_t *root; /* has the texts of the devices */
    struct gantry_device_info *devices;
    uint32_t count; /* at least 1 */
};

/* Reads a file; `what` is the subcommand, for messages. False when it is no profile, and that was
 * said. What it says beside the devices does not count, nor do members that are not known; limits
 * and other members that gantry_config_profile() can do without may be missing or null.
 * chosen_backend is NULL in each device, because how that machine was configured does not count. */
bool profile_read(const char *what, const char *file, struct profile *profile);
void profile_free(struct profile *profile);

#endif
