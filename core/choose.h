/* Which device to open, and through which backend. */
#ifndef GANTRY_CORE_CHOOSE_H
#define GANTRY_CORE_CHOOSE_H

#include "context.h"

/* Views to be tried, best first. */
struct choice {
    const struct view **views;
    uint32_t count;
    bool demanded; /* one device and backend was asked for: no other may stand in */
};

/* `device` and `backend` as in gantry_device_params; NULL: the configuration's.
 *
 * Selectors: "auto"; a number of gantry_device_describe(); BACKEND:NUMBER, which is that backend's
 * view; anything else is what a [gpu …] section takes: a pattern for the name, "uuid:…", "pci:…".
 * Of several devices that match, the first of the list is meant.
 *
 * Fails with GANTRY_E_INVALID_ARGUMENT when a selector names no device that is there, and with
 * GANTRY_E_NO_DEVICE when there is none, when the one that was selected can't be used, or when the
 * demanded backend does not see it. The sentence lists the devices, and why backends have none. */
enum gantry_status choose(struct gantry *g, const char *device, const char *backend,
                          struct choice *choice);
void choice_free(struct choice *choice);

/* Adds every backend that has no device, with its reason, and every device with what is against it.
 */
void choice_report(const struct gantry *g, struct text *text);

#endif
