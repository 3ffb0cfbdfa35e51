/* Modules and the kernels made from them. */
#ifndef GANTRY_CORE_MODULE_H
#define GANTRY_CORE_MODULE_H

#include "device.h"
#include "package.h"

struct gantry_module {
    struct object object;
    unsigned refs; /* the handle, and one for each kernel; guarded by the device's lock */
    struct gantry_package *package; /* also holds what a user brought without a package */
    char *label;
};

/* An entry besides the direct one: folded or chained. Once made it stays as it is. */
struct kernel_entry {
    struct gantry_drv_kernel *drv; /* NULL: not made */
    struct gantry_backend_kernel_info info;
    bool missing; /* was tried in vain */
};

/* What a launch may state so that nothing of it needs to be checked or laid out: up to so many
 * threads along each axis, nothing for zero threads. An axis that the kernel lacks counts as 1
 * thread. All zero: no launch is plain. */
struct kernel_plain {
    uint32_t args_size;
    uint32_t lacks_y, lacks_z; /* 1: lacks the axis */
    struct gantry_size most;
    uint32_t stride; /* blocks along x at most, for a kernel that loops over the rest */
};

struct gantry_kernel {
    struct object object;
    unsigned
        refs; /* the handle, and one for each list that launches it; guarded by the device's lock */
    struct gantry_module *module;
    const struct gantry_kernel_source *source; /* in the module's package */
    uint32_t index;                            /* in the package */
    const struct package_image *only; /* the one image that may serve (of several sources the
                                         first); NULL: any */
    struct gantry_size block;
    struct kernel_plain plain;
    uint64_t threads; /* per block */
    char *block_origin;
    uint32_t shared_bytes;            /* dynamic */
    struct gantry_drv_kernel *direct; /* NULL when its arguments don't fit inline on the device */
    struct kernel_entry folded;       /* made at once instead of a missing direct entry, else at
                                         first need */
    struct kernel_entry chained;      /* made at first need */
    struct gantry_backend_kernel_info info; /* of the direct entry, or of the one instead of it */
};

/* Kernels hold their module. module_unref frees it when it was the last reference. */
void module_ref(struct gantry_module *module);
void module_unref(struct gantry_module *module);

/* Makes a kernel, of one image only if `only` is not NULL. Sentences begin with the kernel. */
enum gantry_status kernel_make(struct gantry_module *module, const char *name,
                               const struct gantry_kernel_params *params,
                               const struct package_image *only, struct gantry_kernel **kernel);

/* Lists hold kernels. kernel_unref frees through retire() when it was the last reference. */
void kernel_ref(struct gantry_kernel *kernel);
void kernel_unref(struct gantry_kernel *kernel);

/* The folded entry, made now if it was not; lives as long as the kernel. */
enum gantry_status kernel_folded(struct gantry_kernel *kernel, const struct kernel_entry **folded);

/* The folded and the chained entry for folding by choice, likewise: where there is none *entry is
 * NULL, which is no failure and asked of the plugin once. Fails only for want of memory and for a
 * lost device. */
enum gantry_status kernel_foldable(struct gantry_kernel *kernel, const struct kernel_entry **entry);
enum gantry_status kernel_chained(struct gantry_kernel *kernel, const struct kernel_entry **entry);

/* Free at once, whatever refers to them: for gantry_device_close() only. */
void kernel_free(struct gantry_kernel *kernel);

/* The same, and lets go of its module. */
void kernel_release(struct gantry_kernel *kernel);
void module_free(struct gantry_module *module);

#endif
