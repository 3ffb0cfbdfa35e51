/* Images that are loaded on a device, and the choice among those that a kernel has. */
#ifndef GANTRY_CUDA_IMAGE_H
#define GANTRY_CUDA_IMAGE_H

#include "driver.h"

/* A loaded module. Kernels share the one that came from the same bytes. */
struct image {
    struct image *next;
    uint64_t hash; /* of kind, origin and bytes */
    unsigned refs; /* kernels, recycled graphs' nodes, and device->recent */
    CUmodule module;
    char text[64]; /* "cubin sm_90" */
    bool waits;    /* see struct gantry_backend_kernel_info */
};

/* Loads the best of the kernel's images that works and finds its entry: a cubin for the device,
 * then a fatbin, then PTX, then source through NVRTC. GANTRY_E_NO_IMAGE: the sentence lists every
 * image with the reason for which it was refused. Call with the context current. */
enum gantry_status image_acquire(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct image **image, CUfunction *function);

/* One reference more. */
void image_hold(struct gantry_drv_device *device, struct image *image);

/* Unloads with the context current, or not at all when it is gone. */
void image_release(struct gantry_drv_device *device, struct image *image);

/* Releases what was kept for later, likewise. */
void images_close(struct gantry_drv_device *device);

#endif
