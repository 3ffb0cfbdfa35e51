/* What can be said of an image before a driver sees it. */
#ifndef GANTRY_CUDA_IMAGE_CHECK_H
#define GANTRY_CUDA_IMAGE_CHECK_H

#include "driver.h"
#include "report.h"

/* "cubin sm_90", "ptx compute_75 (.version 6.3)", … */
void image_name(const struct gantry_backend_image *image, char *text, size_t size);

/* False, with the reason in the report: loading it would be in vain, or unsafe because the driver,
 * which is not told an image's size, would read past its end. */
bool image_fits(const struct gantry_drv_device *device, enum gantry_entry entry,
                const struct gantry_backend_image *image, struct report *report);

#endif
