/* gantry inspect: what the command and its two ways of printing share. */
#ifndef GANTRY_TOOLS_INSPECT_H
#define GANTRY_TOOLS_INSPECT_H

#include <stdbool.h>

#include <gantry/gantry.h>

/* How a kernel does on the device. */
struct trial {
    struct gantry_kernel *kernel;   /* NULL: it can't be made there */
    struct gantry_kernel_info info; /* valid as long as the kernel */
    char *failure;                  /* then why; otherwise NULL */
};

struct inspection {
    const char *file;
    struct gantry_package *package;
    struct gantry_device *device;     /* NULL: none was asked for */
    struct gantry_device_info opened; /* of the device */
    struct trial *trials;             /* one a kernel of the package; NULL without a device */
};

void inspect_print_text(const struct inspection *inspection);

/* Prints one JSON object; returns the exit status: `status`, or TOOL_FAILED. */
int inspect_print_json(const struct inspection *inspection, int status);

#endif
