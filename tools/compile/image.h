/* The images of a package, made by running compilers. */
#ifndef GANTRY_COMPILE_IMAGE_H
#define GANTRY_COMPILE_IMAGE_H

#include "settings.h"
#include "unit.h"

struct image {
    const struct kernel *kernel; /* NULL: every kernel */
    enum gantry_image_kind kind;
    enum gantry_entry entry;
    uint32_t arch, isa_version, features;
    const char *name;
    struct text data;
};

/* What all image makers work on. */
struct compilation {
    struct pool *pool;
    const struct settings *settings;
    struct unit *unit;
    const char *workdir;
    struct image *images;
    size_t image_count;
};

void image_add(struct compilation *c, const struct image *image);

/* Writes `text` to a file of this name in the work folder and returns its path; NULL on failure. */
const char *work_file(struct compilation *c, const char *name, const struct text *text);

/* Each makes its images, best first, and returns false after a complaint. */
bool make_spirv_images(struct compilation *c);
bool make_cuda_images(struct compilation *c);
bool make_source_images(struct compilation *c);
bool make_host_image(struct compilation *c);

/* The arguments that all calls of glslc share, without the input. */
struct command glslc_command(struct compilation *c);

/* Compiles every kernel without optimisation and reads it: spirv.h and reflect.h. */
bool reflect_kernels(struct compilation *c);

#endif
