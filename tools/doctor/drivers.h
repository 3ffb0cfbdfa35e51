/* The drivers below gantry's plugins, asked directly. Each is asked in a process of its own. */
#ifndef GANTRY_DOCTOR_DRIVERS_H
#define GANTRY_DOCTOR_DRIVERS_H

#include "machine.h"

/* That a driver may take to answer: the first start after a boot takes several. */
enum { DRIVER_SECONDS = 60 };

/* False: it crashed or hung, so that it must not be asked again. */
bool check_cuda(struct report *report, const struct machine *machine);

#if GANTRY_DOCTOR_VULKAN
bool check_vulkan(struct report *report);

/* The manifests of Vulkan drivers, as the loader searches for them. */
void check_icds(struct report *report, const struct machine *machine);
#endif

#endif
