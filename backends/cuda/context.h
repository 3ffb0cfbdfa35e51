/* Making the device's context current, and leaving the caller's thread as it was. */
#ifndef GANTRY_CUDA_CONTEXT_H
#define GANTRY_CUDA_CONTEXT_H

#include "driver.h"

/* What an entry must put back. */
struct scope {
    bool pushed, relaxed;
    CUstreamCaptureMode mode; /* the thread's own */
};

/* Makes the device's context current. Also makes the thread's calls safe for whoever captures a
 * stream at this moment: an allocation or a query here would otherwise end the capture of a thread
 * that never heard of gantry. Fails for a lost device; on failure nothing has to be left. Scopes
 * nest. */
enum gantry_status scope_enter(struct gantry_drv_device *device, struct scope *scope);

/* Only the context, for calls that give work to gantry's own streams: they touch no capture, and
 * are too many to pay for more. What else is needed on the way takes a whole scope inside. */
enum gantry_status scope_enter_work(struct gantry_drv_device *device, struct scope *scope);

/* The whole for destroying things, which must also go on after a loss. False, without a sentence
 * and noted in device->gone: the context was destroyed and with it all that it held. */
bool scope_enter_anyway(struct gantry_drv_device *device, struct scope *scope);

void scope_leave(struct gantry_drv_device *device, const struct scope *scope);

#endif
