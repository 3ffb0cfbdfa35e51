/* One operation of a plan, as the driver wants it. */
#ifndef GANTRY_CUDA_OPERATION_H
#define GANTRY_CUDA_OPERATION_H

#include "driver.h"

/* A launch's arguments as a parameter buffer, which suits kernels with one struct and kernels with
 * several parameters, such as users bring. Points into itself: don't copy. */
struct launch_args {
    struct gantry_fold_args fold; /* with the table's address added */
    const void *bytes;            /* those, or the operation's own */
    size_t size;
    void *list[5];
    void **extra; /* for the driver; NULL: no arguments */
};

void launch_args_set(struct launch_args *args, const struct gantry_op *op, uint64_t table);

/* Whether the driver takes a copy's rows in one call: it limits how far apart they are. */
bool copy_is_whole(const struct gantry_drv_device *device, const struct gantry_op_copy *copy);

/* Such a copy. Either side may be host memory: addresses are unified. */
CUDA_MEMCPY3D_v2 copy_params(const struct gantry_op_copy *copy);

/* Gives operations to the stream one by one, in their order, which is enough for all their edges.
 * Call with the context current. */
enum gantry_status operations_run(struct gantry_drv_queue *queue, const struct gantry_op *ops,
                                  uint32_t count, uint64_t table);

/* A copy that owns everything but memory and kernels, in one block for host_release(). The table is
 * not copied. NULL, with a sentence: there is no memory. */
struct gantry_plan *operations_copy(struct gantry_drv_instance *instance,
                                    const struct gantry_plan *plan);

#endif
