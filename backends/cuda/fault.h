/* A lost device. */
#ifndef GANTRY_CUDA_FAULT_H
#define GANTRY_CUDA_FAULT_H

#include "driver.h"

/* Sets the sentence of a device that can't be opened because its context was lost before; ours is
 * released. Returns GANTRY_E_DEVICE_LOST. */
enum gantry_status fault_at_open(struct gantry_drv_instance *instance, CUdevice ordinal,
                                 const char *name, CUresult result);

#endif
