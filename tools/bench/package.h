/* The kernels of the bench: the file that gantry loads, and the machine code in it for the raw
 * side. */
#ifndef GANTRY_BENCH_PACKAGE_H
#define GANTRY_BENCH_PACKAGE_H

#include <gantry/gantry.h>

struct package {
    char *file;
    struct gantry_package *open;
};

/* `file` is the user's; NULL: the one that was built or installed with this program. False, and why
 * was said; close it all the same. */
bool package_open(struct package *package, const char *file);
void package_close(struct package *package);

/* The image that gantry took for the kernel's direct entry, as gantry_kernel_info names it
 * ("cubin sm_90"). False when the package holds none of that name: source, which is no code. */
bool package_code(const struct package *package, const char *kernel, const char *taken,
                  struct gantry_image_info *info, const void **code);

#endif
