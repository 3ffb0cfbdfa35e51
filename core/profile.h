/* Devices that are not here, only described. */
#ifndef GANTRY_CORE_PROFILE_H
#define GANTRY_CORE_PROFILE_H

#include "arena.h"
#include "registry.h"

/* All that were described, as if one machine had them. All zero is none. */
struct profiles {
    struct plugins plugins; /* the backends that the configuration names; none is loaded */
    struct registry registry;
    struct arena arena; /* has the backends that it does not name */
};

/* Adds a device, as gantry_config_profile() takes it. *view gets its chosen_backend's view, NULL
 * when it states none. Fails for descriptions that no device can have, and leaves the others as
 * they are. */
enum gantry_status profiles_add(struct profiles *profiles, const struct policy *policy,
                                const struct gantry_device_info *info, const struct card **card,
                                const struct view **view);
void profiles_close(struct profiles *profiles, const struct log *log);

#endif
