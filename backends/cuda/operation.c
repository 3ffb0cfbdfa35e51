#include "operation.h"

#include "status.h"

#include <string.h>

enum { ARGS_ALIGNMENT = 16 };

void launch_args_set(struct launch_args *args, const struct gantry_op *op, uint64_t table)
{
    args->bytes = op->launch.args;
    args->size = op->launch.kernel->args_size;
    if (op->folded) {
        memcpy(&args->fold, args->bytes, sizeof(args->fold));
        args->fold.launches += table;
        args->fold.args += table;
        args->bytes = &args->fold;
    }
    args->list[0] = (void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT;
    args->list[1] = (void *)args->bytes;
    args->list[2] = (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT;
    args->list[3] = &args->size;
    args->list[4] = (void *)CU_LAUNCH_PARAM_END_AS_INT;
    args->extra = args->size ? args->list : NULL;
}

static enum gantry_status run_launch(struct gantry_drv_queue *queue, const struct gantry_op *op,
                                     uint64_t table)
{
    const struct gantry_op_launch *launch = &op->launch;
    CUfunction function = launch->kernel->function;
    struct gantry_size blocks = launch->blocks, block = launch->block;
    struct launch_args args;

    launch_args_set(&args, op, table);
    queue->stats->driver_submits++;
    return CU(queue->device,
              cuLaunchKernel(function, blocks.x, blocks.y, blocks.z, block.x, block.y, block.z,
                             launch->shared_bytes, queue->stream, NULL, args.extra));
}

/* ---- Copies --------------------------------------------------------------------------------- */

bool copy_is_whole(const struct gantry_drv_device *device, const struct gantry_op_copy *copy)
{
    return copy->rows <= 1 ||
           (copy->to_pitch <= device->max_pitch && copy->from_pitch <= device->max_pitch);
}

CUDA_MEMCPY3D_v2 copy_params(const struct gantry_op_copy *copy)
{
    CUDA_MEMCPY3D_v2 params = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = copy->from->address + copy->from_offset,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = copy->to->address + copy->to_offset,
        .WidthInBytes = copy->size,
        .Height = 1,
        .Depth = 1,
    };

    if (copy->rows > 1) {
        params.srcPitch = copy->from_pitch;
        params.dstPitch = copy->to_pitch;
        params.Height = params.srcHeight = params.dstHeight = copy->rows;
    }
    return params;
}

static enum gantry_status run_row(struct gantry_drv_queue *queue, const struct gantry_op_copy *copy,
                                  uint64_t row)
{
    return CU(queue->device,
              cuMemcpyAsync(copy->to->address + copy->to_offset + row * copy->to_pitch,
                            copy->from->address + copy->from_offset + row * copy->from_pitch,
                            copy->size, queue->stream));
}

static enum gantry_status run_copy(struct gantry_drv_queue *queue,
                                   const struct gantry_op_copy *copy)
{
    enum gantry_status status = GANTRY_OK;
    CUDA_MEMCPY3D_v2 params;

    if (copy->rows <= 1)
        return run_row(queue, copy, 0);
    if (copy_is_whole(queue->device, copy)) {
        params = copy_params(copy);
        return CU(queue->device, cuMemcpy3DAsync(&params, queue->stream));
    }
    for (uint64_t row = 0; row < copy->rows && status == GANTRY_OK; row++)
        status = run_row(queue, copy, row);
    return status;
}

/* ---- Any ------------------------------------------------------------------------------------ */

static enum gantry_status run_one(struct gantry_drv_queue *queue, const struct gantry_op *op,
                                  uint64_t table)
{
    const struct gantry_op_fill *fill = &op->fill;

    switch (op->kind) {
    case GANTRY_OP_LAUNCH:
        return run_launch(queue, op, table);
    case GANTRY_OP_COPY:
        return run_copy(queue, &op->copy);
    case GANTRY_OP_FILL:
        return CU(queue->device, cuMemsetD32Async(fill->memory->address + fill->offset,
                                                  fill->pattern, fill->size / 4, queue->stream));
    case GANTRY_OP_JOIN:
        break;
    }
    return GANTRY_OK;
}

enum gantry_status operations_run(struct gantry_drv_queue *queue, const struct gantry_op *ops,
                                  uint32_t count, uint64_t table)
{
    enum gantry_status status = GANTRY_OK;

    for (uint32_t i = 0; i < count && status == GANTRY_OK; i++)
        status = run_one(queue, &ops[i], table);
    return status;
}

static size_t round_up(size_t size)
{
    return (size + ARGS_ALIGNMENT - 1) & ~(size_t)(ARGS_ALIGNMENT - 1);
}

static size_t args_size(const struct gantry_op *op)
{
    return op->kind == GANTRY_OP_LAUNCH ? round_up(op->launch.args_size) : 0;
}

struct gantry_plan *operations_copy(struct gantry_drv_instance *instance,
                                    const struct gantry_plan *plan)
{
    size_t head = round_up(sizeof(*plan)) + round_up(plan->op_count * sizeof(*plan->ops));
    size_t size = head;
    struct gantry_plan *copy;
    struct gantry_op *ops;
    char *args;

    for (uint32_t i = 0; i < plan->op_count; i++)
        size += args_size(&plan->ops[i]);
    copy = host_allocate(instance, size);
    if (!copy)
        return NULL;
    ops = (struct gantry_op *)((char *)copy + round_up(sizeof(*plan)));
    args = (char *)copy + head;
    copy->ops = ops;
    copy->op_count = plan->op_count;
    for (uint32_t i = 0; i < plan->op_count; i++) {
        ops[i] = plan->ops[i];
        ops[i].label = NULL;
        if (args_size(&ops[i]) == 0)
            continue;
        memcpy(args, ops[i].launch.args, ops[i].launch.args_size);
        ops[i].launch.args = args;
        args += args_size(&ops[i]);
    }
    return copy;
}
