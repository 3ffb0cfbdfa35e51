/* Recording: the checks of every command, and its entry in the list. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "module.h"
#include "record.h"
#include "status.h"

#define ARGS_ALIGNMENT 16

/* ---- The list's arrays ---------------------------------------------------------------------- */

/* Room for one more element; false when there is no memory. */
static inline bool reserve(void **array, uint32_t count, uint32_t *capacity, size_t element)
{
    uint32_t wanted;
    void *grown;

    if (count < *capacity)
        return true;
    if (*capacity > UINT32_MAX / 2)
        return false;
    wanted = *capacity ? 2 * *capacity : 64;
    grown = realloc(*array, wanted * element);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Lists launch few kernels many times: looking at the latest ones finds nearly all repeats, and a
 * kernel that is held twice does no harm. An open batch holds nothing: what is destroyed while it
 * is open is kept until it has completed (retire.h). */
static bool hold_kernel(struct gantry_list *list, struct gantry_kernel *kernel)
{
    uint32_t first = list->kernel_count > 8 ? list->kernel_count - 8 : 0;

    if (list->batch)
        return true;
    for (uint32_t i = list->kernel_count; i > first; i--)
        if (list->kernels[i - 1] == kernel)
            return true;
    if (!reserve((void **)&list->kernels, list->kernel_count, &list->kernel_capacity,
                 sizeof(*list->kernels)))
        return false;
    kernel_ref(kernel);
    list->kernels[list->kernel_count++] = kernel;
    return true;
}

static bool hold_buffer(struct gantry_list *list, struct gantry_buffer *buffer)
{
    uint32_t first = list->buffer_count > 8 ? list->buffer_count - 8 : 0;

    if (list->batch)
        return true;
    for (uint32_t i = list->buffer_count; i > first; i--)
        if (list->buffers[i - 1] == buffer)
            return true;
    if (!reserve((void **)&list->buffers, list->buffer_count, &list->buffer_capacity,
                 sizeof(*list->buffers)))
        return false;
    buffer_ref(buffer);
    list->buffers[list->buffer_count++] = buffer;
    return true;
}

static enum gantry_status no_memory(const struct gantry_list *list, const char *what)
{
    if (list->next_id == UINT32_MAX)
        return fail(GANTRY_E_LIMIT, "%s: list \"%s\" is full: %u commands", what, list->label,
                    UINT32_MAX - 1);
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "%s: no host memory for command %u of \"%s\"", what,
                list->next_id, list->label);
}

/* The place of the next command, whose kind and contents the caller writes before it takes it;
 * NULL when there is none. */
static inline struct command *next_command(struct gantry_list *list)
{
    if (list->next_id == UINT32_MAX || !reserve((void **)&list->commands, list->command_count,
                                                &list->command_capacity, sizeof(*list->commands)))
        return NULL;
    return &list->commands[list->command_count];
}

/* Gives the command its id and its place among the others. */
static inline void take_command(struct gantry_list *list, struct command *command)
{
    command->id = list->next_id++;
    command->section = list->section;
    command->strand = list->strand;
    command->label = list->current_label;
    list->command_count++;
    if (!list->concurrent)
        list->section++;
    else if (!list->ordered)
        list->strand++;
}

/* Copies arguments; the bytes up to the next alignment are zero. */
static inline size_t keep_args(struct bytes *bytes, const void *args, size_t size)
{
    size_t offset = (bytes->size + ARGS_ALIGNMENT - 1) / ARGS_ALIGNMENT * ARGS_ALIGNMENT;
    size_t end = offset + (size + ARGS_ALIGNMENT - 1) / ARGS_ALIGNMENT * ARGS_ALIGNMENT;

    if (end > bytes->capacity)
        return bytes_append(bytes, args, size, ARGS_ALIGNMENT);
    if (size) {
        memset(bytes->data + end - ARGS_ALIGNMENT, 0, ARGS_ALIGNMENT);
        memcpy(bytes->data + offset, args, size);
    }
    bytes->size = offset + size;
    return offset;
}

/* ---- Launches ------------------------------------------------------------------------------- */

static enum gantry_status no_such_axis(const struct gantry_kernel *kernel, char axis,
                                       uint32_t asked, const char *what)
{
    uint32_t dimensions = kernel->source->dimensions;

    return fail(GANTRY_E_INVALID_ARGUMENT,
                "%s: kernel %s has %u dimension%s but was launched with %c = %u; pass 1, or "
                "state DIMENSIONS(%d) in its source",
                what, kernel->source->name, dimensions, dimensions == 1 ? "" : "s", axis, asked,
                axis - 'x' + 1);
}

/* Axes that the kernel does not have count 1. */
static inline enum gantry_status check_dimensions(const struct gantry_kernel *kernel,
                                                  struct gantry_size *asked, const char *what)
{
    uint32_t dimensions = kernel->source->dimensions;

    if (dimensions < 2) {
        if (asked->y > 1)
            return no_such_axis(kernel, 'y', asked->y, what);
        asked->y = 1;
    }
    if (dimensions < 3) {
        if (asked->z > 1)
            return no_such_axis(kernel, 'z', asked->z, what);
        asked->z = 1;
    }
    return GANTRY_OK;
}

static enum gantry_status too_many_threads(const struct gantry_kernel *kernel, char axis,
                                           uint32_t blocks, uint32_t block, const char *what)
{
    return fail(GANTRY_E_LIMIT,
                "%s: kernel %s would run %" PRIu64 " threads along %c (%u blocks of %u), "
                "more than 2^32; use a smaller grid, or FOR_GRID and GRID_STRIDE",
                what, kernel->source->name, (uint64_t)blocks * block, axis, blocks, block);
}

static inline bool wraps(uint32_t blocks, uint32_t block)
{
    return (uint64_t)blocks * block > UINT64_C(1) << 32;
}

/* A kernel that counts its threads in 32 bits must not have more of them than that along an axis:
 * the last block's surplus threads would begin again at 0. FOR_GRID counts in 64 bits. */
static inline enum gantry_status check_threads(const struct gantry_kernel *kernel,
                                               const struct gantry_size *blocks, const char *what)
{
    const struct gantry_size *block = &kernel->block;

    if (kernel->source->grid_stride)
        return GANTRY_OK;
    if (wraps(blocks->x, block->x))
        return too_many_threads(kernel, 'x', blocks->x, block->x, what);
    if (wraps(blocks->y, block->y))
        return too_many_threads(kernel, 'y', blocks->y, block->y, what);
    if (wraps(blocks->z, block->z))
        return too_many_threads(kernel, 'z', blocks->z, block->z, what);
    return GANTRY_OK;
}

/* Blocks that keep the device busy; the loop in the kernel does the rest. */
static uint32_t stride_blocks(const struct gantry_kernel *kernel, uint32_t blocks)
{
    const struct gantry_device *device = kernel->object.device;
    const struct gantry_limits *limits = &device->info.limits;
    uint64_t per_unit = device->policy.blocks_per_cu;
    uint64_t most;

    if (per_unit == 0)
        per_unit = kernel->info.blocks_per_unit;
    most = per_unit * limits->compute_units;
    if (most == 0 || most > limits->max_blocks.x)
        most = limits->max_blocks.x;
    return blocks < most ? blocks : (uint32_t)most;
}

/* A division takes longer than half of the rest of recording a launch, and blocks are nearly always
 * powers of two. */
static inline uint32_t blocks_of(uint32_t threads, uint32_t block)
{
    uint32_t rest = block - 1;

    if ((block & rest) == 0)
        return (threads >> __builtin_ctz(block)) + ((threads & rest) != 0);
    return threads / block + (threads % block != 0);
}

static inline enum gantry_status count_blocks(const struct gantry_kernel *kernel,
                                              const struct gantry_size *threads, const char *what,
                                              struct gantry_size *blocks)
{
    blocks->x = blocks_of(threads->x, kernel->block.x);
    blocks->y = blocks_of(threads->y, kernel->block.y);
    blocks->z = blocks_of(threads->z, kernel->block.z);
    if (kernel->source->grid_stride)
        blocks->x = stride_blocks(kernel, blocks->x);
    return check_threads(kernel, blocks, what);
}

static enum gantry_status grid_too_large(const struct gantry_kernel *kernel,
                                         const struct gantry_size *blocks, const char *what)
{
    const struct gantry_size *most = &kernel->object.device->info.limits.max_blocks;

    return fail(GANTRY_E_LIMIT,
                "%s: kernel %s was launched on %u x %u x %u blocks; the device takes %u x %u x %u, "
                "and %u x %u in all when they are laid out anew; launch fewer blocks at a time",
                what, kernel->source->name, blocks->x, blocks->y, blocks->z, most->x, most->y,
                most->z, most->x, most->y);
}

/* A launch that the direct entry can't do: its arguments are too large or patchable, or its grid
 * must be laid out in two dimensions. Whether the folded entry can. */
static enum gantry_status check_folded(struct gantry_kernel *kernel,
                                       const struct gantry_size *blocks, bool grid,
                                       const char *what)
{
    struct gantry_size most = kernel->object.device->info.limits.max_blocks;
    const struct kernel_entry *entry;
    uint64_t linear;

    if (grid && (__builtin_mul_overflow((uint64_t)blocks->x * blocks->y, blocks->z, &linear) ||
                 plan_fold_grid(linear, most).x == 0))
        return grid_too_large(kernel, blocks, what);
    return kernel_folded(kernel, &entry);
}

static inline bool larger(const struct gantry_size *blocks, const struct gantry_size *most)
{
    return blocks->x > most->x || blocks->y > most->y || blocks->z > most->z;
}

static enum gantry_status wrong_device(const struct gantry_list *list,
                                       const struct gantry_kernel *kernel, const char *what)
{
    return fail(GANTRY_E_WRONG_DEVICE,
                "%s: kernel %s belongs to device \"%s\", but was launched on \"%s\"; make the "
                "kernel there",
                what, kernel->source->name, kernel->object.device->label,
                list->object.device->label);
}

static enum gantry_status wrong_args(const struct gantry_kernel *kernel, size_t size,
                                     const char *what)
{
    const struct gantry_kernel_source *source = kernel->source;

    if (size == source->args_size)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: the arguments of kernel %s are NULL, %zu bytes are needed", what,
                    source->name, size);
    return fail(GANTRY_E_INVALID_ARGUMENT,
                "%s: kernel %s takes %u bytes of arguments (struct %s), %zu were given", what,
                source->name, source->args_size, source->args_name, size);
}

static inline enum gantry_status check_kernel(const struct gantry_list *list,
                                              const struct gantry_kernel *kernel, const void *args,
                                              size_t size, const char *what)
{
    if (!kernel)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the kernel is NULL", what);
    if (kernel->object.device != list->object.device)
        return wrong_device(list, kernel, what);
    if (size != kernel->source->args_size || (!args && size))
        return wrong_args(kernel, size, what);
    return GANTRY_OK;
}

/* Everything about the launch has been checked but its grid. */
static inline enum gantry_status put_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                                            const struct gantry_size *blocks, const void *args,
                                            size_t size, const char *what)
{
    const struct gantry_limits *limits = &list->object.device->info.limits;
    bool args_folded = size > limits->inline_args_bytes;
    bool grid_folded = larger(blocks, &limits->max_blocks);
    struct command *command;
    size_t kept;

    if (blocks->x == 0 || blocks->y == 0 || blocks->z == 0) {
        list->next_id++;
        return GANTRY_OK;
    }
    if (args_folded || grid_folded) {
        enum gantry_status status = check_folded(kernel, blocks, grid_folded, what);

        if (status != GANTRY_OK)
            return status;
    }
    command = next_command(list);
    if (!command || !hold_kernel(list, kernel))
        return no_memory(list, what);
    kept = keep_args(&list->bytes, args, size);
    if (kept == SIZE_MAX)
        return no_memory(list, what);
    command->kind = COMMAND_LAUNCH;
    command->launch = (struct command_launch){.kernel = kernel,
                                              .blocks = *blocks,
                                              .args = kept,
                                              .args_size = (uint32_t)size,
                                              .folded = args_folded || grid_folded};
    take_command(list, command);
    list->launch_count++;
    list->folded_args += args_folded;
    list->folded_grids += grid_folded;
    return GANTRY_OK;
}

enum gantry_status record_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                                 struct gantry_size threads, const void *args, size_t size,
                                 const char *what)
{
    struct gantry_size blocks;
    enum gantry_status status = check_kernel(list, kernel, args, size, what);

    if (status == GANTRY_OK)
        status = check_dimensions(kernel, &threads, what);
    if (status == GANTRY_OK)
        status = count_blocks(kernel, &threads, what, &blocks);
    return status == GANTRY_OK ? put_launch(list, kernel, &blocks, args, size, what) : status;
}

/* The end of every recording call: the id, or 0 and the failure, which stays in the list unless the
 * list could not be recorded into at all. */
static uint32_t recorded(struct gantry_list *list, enum gantry_status status)
{
    if (status == GANTRY_OK)
        return list->next_id - 1;
    if (list && list->state == LIST_RECORDING && status != GANTRY_E_FORKED)
        list_latch(list, status);
    return 0;
}

uint32_t gantry_list_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                            struct gantry_size threads, const void *args, size_t size)
{
    static const char what[] = "gantry_list_launch";
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_launch(list, kernel, threads, args, size, what);
    return recorded(list, status);
}

uint32_t gantry_list_launch_blocks(struct gantry_list *list, struct gantry_kernel *kernel,
                                   struct gantry_size blocks, const void *args, size_t size)
{
    static const char what[] = "gantry_list_launch_blocks";
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = check_kernel(list, kernel, args, size, what);
    if (status == GANTRY_OK && kernel->source->block.x == 0)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: kernel %s has no BLOCK() in its source, so the number of blocks says "
                      "nothing; use gantry_list_launch with threads",
                      what, kernel->source->name);
    if (status == GANTRY_OK)
        status = check_dimensions(kernel, &blocks, what);
    if (status == GANTRY_OK)
        status = check_threads(kernel, &blocks, what);
    if (status == GANTRY_OK)
        status = put_launch(list, kernel, &blocks, args, size, what);
    return recorded(list, status);
}

enum gantry_status launch_blocks(const struct gantry_kernel *kernel, struct gantry_size threads,
                                 const char *what, struct gantry_size *blocks)
{
    enum gantry_status status = check_dimensions(kernel, &threads, what);

    return status == GANTRY_OK ? count_blocks(kernel, &threads, what, blocks) : status;
}

/* The launch and what may change of it, both checked. One that can never run has no command. */
static enum gantry_status put_patchable(struct gantry_list *list, struct patchable *patchable,
                                        const struct gantry_size *blocks, const void *args,
                                        const char *what)
{
    struct gantry_kernel *kernel = patchable->kernel;
    uint32_t size = kernel->source->args_size;
    struct command *command = next_command(list);
    size_t kept;

    if (!command || !hold_kernel(list, kernel) ||
        !reserve((void **)&list->patchables, list->patchable_count, &list->patchable_capacity,
                 sizeof(*list->patchables)))
        return no_memory(list, what);
    patchable->id = list->next_id;
    if (patchable->grid.x == 0) {
        list->patchables[list->patchable_count++] = *patchable;
        list->next_id++;
        return GANTRY_OK;
    }
    kept = keep_args(&list->bytes, args, size);
    if (kept == SIZE_MAX)
        return no_memory(list, what);
    list->patchables[list->patchable_count++] = *patchable;
    command->kind = COMMAND_LAUNCH;
    command->launch = (struct command_launch){.kernel = kernel,
                                              .blocks = *blocks,
                                              .args = kept,
                                              .args_size = size,
                                              .patchable = list->patchable_count};
    take_command(list, command);
    list->launch_count++;
    return GANTRY_OK;
}

uint32_t gantry_list_launch_patchable(struct gantry_list *list, struct gantry_kernel *kernel,
                                      struct gantry_size threads, struct gantry_size max_threads,
                                      const void *args, size_t size)
{
    static const char what[] = "gantry_list_launch_patchable";
    struct patchable patchable = {.kernel = kernel, .max = max_threads};
    struct gantry_size blocks;
    enum gantry_status status = list_recordable(list, what);

    if (status != GANTRY_OK)
        return 0;
    status = check_kernel(list, kernel, args, size, what);
    if (status == GANTRY_OK)
        status = patch_blocks(&patchable, max_threads, what, &patchable.grid);
    if (status == GANTRY_OK)
        status = patch_blocks(&patchable, threads, what, &blocks);
    if (status == GANTRY_OK && patchable.grid.x)
        status = check_folded(kernel, &patchable.grid, true, what);
    if (status == GANTRY_OK)
        status = put_patchable(list, &patchable, &blocks, args, what);
    return recorded(list, status);
}

/* ---- Copies and fills ----------------------------------------------------------------------- */

/* That a buffer belongs to the device and holds the range. */
static enum gantry_status check_range(const struct gantry_device *device,
                                      const struct gantry_buffer *buffer, uint64_t offset,
                                      uint64_t size, const char *what)
{
    uint64_t end;

    if (!buffer)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: a buffer is NULL", what);
    if (buffer->object.device != device)
        return fail(GANTRY_E_WRONG_DEVICE,
                    "%s: buffer \"%s\" belongs to device \"%s\", but was used on \"%s\"", what,
                    buffer->label, buffer->object.device->label, device->label);
    if (__builtin_add_overflow(offset, size, &end))
        return fail(GANTRY_E_OVERFLOW,
                    "%s: offset %" PRIu64 " and size %" PRIu64 " together exceed 64 bits", what,
                    offset, size);
    if (end > buffer->size)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: bytes %" PRIu64 " to %" PRIu64 " are past the end of buffer \"%s\" of "
                    "%" PRIu64 " bytes",
                    what, offset, end, buffer->label, buffer->size);
    return GANTRY_OK;
}

static enum gantry_status check_copy(const struct gantry_device *device,
                                     const struct command_copy *copy, const char *what)
{
    enum gantry_status status = check_range(device, copy->to, copy->to_offset, copy->size, what);

    if (status == GANTRY_OK)
        status = check_range(device, copy->from, copy->from_offset, copy->size, what);
    if (status == GANTRY_OK && copy->size && copy->to == copy->from &&
        copy->to_offset < copy->from_offset + copy->size &&
        copy->from_offset < copy->to_offset + copy->size)
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: the ranges at %" PRIu64 " and %" PRIu64 " of %" PRIu64 " bytes in buffer "
                 "\"%s\" overlap; copy through another buffer",
                 what, copy->from_offset, copy->to_offset, copy->size, copy->to->label);
    return status;
}

enum gantry_status record_copy(struct gantry_list *list, const struct command_copy *copy,
                               const char *what)
{
    enum gantry_status status = check_copy(list->object.device, copy, what);
    struct command *command;

    if (status != GANTRY_OK)
        return status;
    if (copy->size == 0) {
        list->next_id++;
        return GANTRY_OK;
    }
    command = next_command(list);
    if (!command || !hold_buffer(list, copy->to) || !hold_buffer(list, copy->from))
        return no_memory(list, what);
    command->kind = COMMAND_COPY;
    command->copy = *copy;
    take_command(list, command);
    return GANTRY_OK;
}

uint32_t gantry_list_copy(struct gantry_list *list, struct gantry_buffer *to, uint64_t to_offset,
                          struct gantry_buffer *from, uint64_t from_offset, uint64_t size)
{
    static const char what[] = "gantry_list_copy";
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status =
            record_copy(list, &(struct command_copy){to, from, to_offset, from_offset, size}, what);
    return recorded(list, status);
}

enum gantry_status record_fill(struct gantry_list *list, const struct command_fill *fill,
                               const char *what)
{
    enum gantry_status status =
        check_range(list->object.device, fill->buffer, fill->offset, fill->size, what);
    struct command *command;

    if (status == GANTRY_OK && (fill->offset % 4 || fill->size % 4))
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: offset %" PRIu64 " and size %" PRIu64 " must be multiples of 4, the size "
                 "of the pattern",
                 what, fill->offset, fill->size);
    if (status != GANTRY_OK)
        return status;
    if (fill->size == 0) {
        list->next_id++;
        return GANTRY_OK;
    }
    command = next_command(list);
    if (!command || !hold_buffer(list, fill->buffer))
        return no_memory(list, what);
    command->kind = COMMAND_FILL;
    command->fill = *fill;
    take_command(list, command);
    return GANTRY_OK;
}

uint32_t gantry_list_fill(struct gantry_list *list, struct gantry_buffer *buffer, uint64_t offset,
                          uint64_t size, uint32_t pattern)
{
    static const char what[] = "gantry_list_fill";
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_fill(list, &(struct command_fill){buffer, offset, size, pattern}, what);
    return recorded(list, status);
}

/* ---- Transfers ------------------------------------------------------------------------------ */

enum gantry_status record_check_transfer(const struct gantry_device *device,
                                         const struct command_transfer *transfer, const char *what)
{
    enum gantry_status status =
        check_range(device, transfer->buffer, transfer->offset, transfer->size, what);

    if (status == GANTRY_OK && !transfer->host && transfer->size)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: the host memory is NULL, %" PRIu64 " bytes are to be transferred", what,
                      transfer->size);
    return status;
}

enum gantry_status record_transfer(struct gantry_list *list, enum command_kind kind,
                                   const struct command_transfer *transfer, const char *what)
{
    struct command *command = next_command(list);

    if (!command || !hold_buffer(list, transfer->buffer))
        return no_memory(list, what);
    command->kind = kind;
    command->transfer = *transfer;
    take_command(list, command);
    list->transfer_count++;
    return GANTRY_OK;
}

/* A piece of one direction's staging memory, of which *used are taken. */
static enum gantry_status record_staged(struct gantry_list *list, enum command_kind kind,
                                        struct command_transfer *transfer, uint64_t *used,
                                        const char *what)
{
    enum gantry_status status;
    uint64_t end;

    if (__builtin_add_overflow(*used, transfer->size, &end) || end > UINT64_MAX - STAGING_ALIGNMENT)
        return fail(GANTRY_E_OVERFLOW, "%s: the transfers of list \"%s\" exceed 64 bits", what,
                    list->label);
    transfer->staging = *used;
    status = record_transfer(list, kind, transfer, what);
    if (status == GANTRY_OK)
        *used = (end + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
    return status;
}

static uint32_t list_transfer(struct gantry_list *list, enum command_kind kind,
                              struct command_transfer *transfer, const char *what)
{
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_check_transfer(list->object.device, transfer, what);
    if (status == GANTRY_OK && transfer->size)
        status =
            record_staged(list, kind, transfer,
                          kind == COMMAND_UPLOAD ? &list->upload_size : &list->readback_size, what);
    else if (status == GANTRY_OK)
        list->next_id++;
    return recorded(list, status);
}

uint32_t gantry_list_upload(struct gantry_list *list, struct gantry_buffer *to, uint64_t offset,
                            const void *from, uint64_t size)
{
    /* Host memory of an upload is only read; see command.h. */
    struct command_transfer transfer = {to, offset, size, (void *)(uintptr_t)from, 0};

    return list_transfer(list, COMMAND_UPLOAD, &transfer, "gantry_list_upload");
}

uint32_t gantry_list_download(struct gantry_list *list, struct gantry_buffer *from, uint64_t offset,
                              void *to, uint64_t size)
{
    struct command_transfer transfer = {from, offset, size, to, 0};

    return list_transfer(list, COMMAND_DOWNLOAD, &transfer, "gantry_list_download");
}
