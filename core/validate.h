/* Validation, under the key `validate`: before anything is submitted, every pointer argument must
 * point into a live buffer of the device, with room for what the kernel states that it reaches
 * there. docs/validation.md tells users. */
#ifndef GANTRY_CORE_VALIDATE_H
#define GANTRY_CORE_VALIDATE_H

#include "list.h"
#include "module.h"

static inline bool validates(const struct gantry_device *device)
{
    return device->policy.validate;
}

/* The launches of a list that is about to be submitted, with the arguments that they have now.
 * Warns of races in its concurrent sections (races.h). GANTRY_E_INVALID_ARGUMENT names the first
 * bad one. A finished list that was good is looked at again only when it was patched or a buffer
 * was destroyed since. */
enum gantry_status validate_list(struct gantry_list *list);

/* A launch that is about to be streamed; `what` is the call. One that can't be recorded, or runs
 * nothing, passes: recording it has something to say, or nothing to do. */
enum gantry_status validate_launch(struct gantry_device *device, const struct gantry_kernel *kernel,
                                   struct gantry_size threads, const void *args, size_t size,
                                   const char *what);

#endif
