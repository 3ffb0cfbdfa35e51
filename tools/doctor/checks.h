/* What the doctor looks at through the library. */
#ifndef GANTRY_DOCTOR_CHECKS_H
#define GANTRY_DOCTOR_CHECKS_H

#include <gantry/gantry.h>

#include "../arguments.h"
#include "machine.h"

/* INI text, stronger than any file, with which gantry opens without touching a driver: there is no
 * plugin of this name. */
#define NO_BACKEND "[gantry]\nbackend = none\n"

/* The configuration: files, variables, and whether gantry opens with them. */
void check_config(struct report *report);

/* A gantry that was opened on all backends, and what to look at. */
struct patient {
    const struct machine *machine;
    const char *device;                   /* the selector of --device; NULL: none */
    const struct argument_list *packages; /* files */
    const char *override; /* INI text that leaves out a driver that crashed; NULL: none */
    bool refused;         /* the configuration can't be used, which was found */
    struct gantry *g;
};

void check_plugins(struct report *report, const struct patient *patient);
void check_devices(struct report *report, const struct patient *patient);
void check_packages(struct report *report, const struct patient *patient);

/* The selector of the i-th device: "0". */
enum { SELECTOR_SIZE = 16 };
void device_selector(uint32_t index, char selector[SELECTOR_SIZE]);

/* Whether a device is to be looked at: the one that was selected, or else all that can be used,
 * software devices only where there is nothing else. */
bool device_wanted(const struct patient *patient, const struct gantry_device_info *info);

#endif
