/* Kernel packages made in memory, as core/package_format.h says and without its reader's help. */
#ifndef GANTRY_TESTS_UNIT_GPK_BUILDER_H
#define GANTRY_TESTS_UNIT_GPK_BUILDER_H

#include <gantry/gantry.h>

struct gpk_build_image {
    uint32_t kernel; /* index, or UINT32_MAX: all */
    enum gantry_image_kind kind;
    enum gantry_entry entry;
    uint32_t arch, isa_version, features;
    const char *name; /* NULL: "" */
    const void *data;
    size_t size;
};

struct gpk_build {
    const char *name, *toolchain;
    const struct gantry_kernel_source *kernels; /* a layout_hash of 0 is computed */
    uint32_t kernel_count;
    const struct gpk_build_image *images;
    uint32_t image_count;
};

/* The caller frees it; NULL without memory. */
uint8_t *gpk_build(const struct gpk_build *build, size_t *size);

/* Writes the hash that the bytes behind the header have now. */
void gpk_seal(uint8_t *data, size_t size);

#endif
