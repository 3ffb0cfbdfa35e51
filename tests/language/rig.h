/* A device through its plugin's table, without core, and the entries of a package's kernels. */
#ifndef GANTRY_TESTS_RIG_H
#define GANTRY_TESTS_RIG_H

#include <gantry/backend.h>

enum { RIG_SKIPPED = 77 };

struct rig {
    const struct gantry_backend_ops *ops;
    struct gantry_drv_instance *instance;
    struct gantry_drv_device *device;
    struct gantry_backend_device_info info;
    struct gantry_package *package;
};

extern struct rig rig;

/* Opens the package and the first device of the plugin that can be used. 0, or the exit status
 * after saying why there is none. */
int rig_open(const char *plugin, const char *package);
void rig_close(void);

/* Fails the test with the plugin's sentence. */
void rig_check(enum gantry_status status);

/* The entry of a kernel, from the images that the device has the features for. */
struct gantry_drv_kernel *rig_kernel(const char *name, enum gantry_entry entry,
                                     struct gantry_size block);

/* Runs a plan to its end, on a queue of its own. */
void rig_run(const struct gantry_plan *plan);

#endif
