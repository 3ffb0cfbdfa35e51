/* Kernel packages in memory: read from a file or bytes and checked, or made of what a user brought.
 */
#ifndef GANTRY_CORE_PACKAGE_H
#define GANTRY_CORE_PACKAGE_H

#include <gantry/backend.h>

struct gantry_package {
    char *name;
    char *toolchain;
    uint32_t kernel_count;
    struct gantry_kernel_source *kernels; /* their texts and fields belong to the package */
    uint32_t image_count;
    struct package_image {
        uint32_t kernel; /* index, or UINT32_MAX: all */
        struct gantry_backend_image image;
    } * images;
    void *memory; /* the file's bytes, a copy */
    struct gantry_field_info *fields;
    char *texts; /* copies of images that are text, each with a zero behind it */
};

/* Checks and copies a package's bytes. The first fault that is found is named with its offset. */
enum gantry_status package_parse(const void *data, size_t size, const char *what,
                                 struct gantry_package **package);

/* Parses a file, or bytes: exactly one must be given. */
enum gantry_status package_load(const char *file, const void *data, size_t size,
                                struct gantry_package **package);

/* Wraps what a user states about images of their own. */
enum gantry_status package_wrap(const struct gantry_module_params *params,
                                struct gantry_package **package);

/* What the public API tells of an image. */
void package_describe_image(const struct gantry_package *package, const struct package_image *image,
                            struct gantry_image_info *info);

void package_free(struct gantry_package *package);

/* As the format says; what the header's constant is compared with. */
uint64_t package_layout_hash(const struct gantry_kernel_source *kernel);

#endif
