/* NVIDIA's compiler as a library: the last way to an image. */
#ifndef GANTRY_CUDA_NVRTC_H
#define GANTRY_CUDA_NVRTC_H

#include "driver.h"
#include "report.h"

struct nvrtc_source {
    const char *name; /* as #include lines write it */
    const char *text; /* ends in a zero */
};

/* A cubin for the device where NVRTC knows its architecture, else PTX for the highest below it. */
struct nvrtc_output {
    void *data; /* host_release() it; PTX ends in a zero */
    size_t size;
    bool ptx;
    uint32_t arch;
    int major, minor; /* of NVRTC */
};

/* Compiles sources[0], which may include the others; nothing is written to a file. False: it did
 * not work, the reason is in the report, and NVRTC's whole log went to the log. Safe from any
 * thread. */
bool nvrtc_compile(struct gantry_drv_instance *instance, const struct nvrtc_source *sources,
                   uint32_t count, uint32_t arch, struct nvrtc_output *output,
                   struct report *report);

void nvrtc_close(struct gantry_drv_instance *instance);

#endif
