/* One entry of a kernel, as the plugin makes it from the package's images. */
#ifndef GANTRY_CORE_ENTRY_H
#define GANTRY_CORE_ENTRY_H

#include "module.h"
#include "text.h"

/* The entry that launches use: direct, unless the arguments do not fit inline on the device, where
 * the folded one reads them from a table. */
enum gantry_entry entry_first(const struct gantry_kernel *kernel);

/* Whether an image may hold an entry of the kernel with this index in its package. */
bool image_holds(const struct package_image *image, uint32_t kernel, enum gantry_entry entry);

/* Makes an entry for kernel->block. The sentence of a failure names the kernel, and with
 * GANTRY_E_NO_IMAGE every image that could have served and why it did not. */
enum gantry_status entry_make(const struct gantry_kernel *kernel, enum gantry_entry entry,
                              struct gantry_drv_kernel **made,
                              struct gantry_backend_kernel_info *info);

/* The number of threads that the plugin proposes for a block of entry_first(); 256 where it has no
 * opinion. */
enum gantry_status entry_propose(const struct gantry_kernel *kernel, uint32_t *threads);

/* Adds `"half", …` for feature bits. */
void add_features(struct text *text, uint32_t features);

#endif
