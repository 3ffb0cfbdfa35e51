/* The loss of a device: who finds it says at once what was in flight. */
#ifndef GANTRY_CORE_LOSS_H
#define GANTRY_CORE_LOSS_H

#include "device.h"

/* With the device's lock held, once: fills in device->loss and device->loss_sentence, makes the
 * thread's sentence, which is the driver's, name the first candidates, and logs that. `during` is
 * what was being done, with `name`, which may be NULL. */
void loss_report(struct gantry_device *device, const char *during, const char *name);

#endif
