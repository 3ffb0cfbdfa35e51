/* Which device to open, and through which backend. */
#ifndef GANTRY_CORE_CHOOSE_H
#define GANTRY_CORE_CHOOSE_H

#include "registry.h"

/* What there is to choose from, for the public function `call`. */
struct machine {
    const char *call;
    const struct policy *policy;
    const struct plugins *plugins;
    const struct registry *registry;
};

/* Views to be tried, best first. */
struct choice {
    const struct view **views;
    uint32_t count; /* at least 1 */
    bool demanded;  /* one device and backend was asked for: no other may stand in */
};

/* The device and backend of the params; NULL: the configuration's.
 *
 * Selectors: "auto"; a number of gantry_device_describe(); BACKEND:NUMBER, which is that backend's
 * view; anything else is what a [gpu …] section takes: a pattern for the name, "uuid:…", "pci:…".
 * Of several devices that match, the first of the list is meant.
 *
 * Fails with GANTRY_E_INVALID_ARGUMENT when a selector names no device that is there, and with
 * GANTRY_E_NO_DEVICE when there is none, when the one that was selected can't be used, or when the
 * demanded backend does not see it. The sentence lists the devices, and why backends have none. */
enum gantry_status choose(const struct machine *machine, const struct gantry_device_params *params,
                          struct choice *choice);
void choice_free(struct choice *choice);

#endif
