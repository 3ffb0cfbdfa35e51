/* What must hold for a kernel and its images, whoever states them: a package file or a program. */
#ifndef GANTRY_CORE_PACKAGE_CHECK_H
#define GANTRY_CORE_PACKAGE_CHECK_H

#include <gantry/backend.h>

/* Fail with `status` and a sentence that begins with `where`, as "saxpy.gpk: kernel 2 at offset
 * 184". */
enum gantry_status check_kernel(const struct gantry_kernel_source *kernel,
                                enum gantry_status status, const char *where);
enum gantry_status check_image(const struct gantry_backend_image *image, enum gantry_status status,
                               const char *where);

/* Bytes of one element; 0 for a type that does not exist. */
uint32_t scalar_size(enum gantry_scalar type);

/* A name as C takes it, 127 bytes at most. */
bool is_identifier(const char *text);

#endif
