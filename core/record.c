/* Recording: the checks of every command, and its entry in the list. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "list.h"
#include "module.h"
#include "status.h"

#define ARGS_ALIGNMENT    16
#define STAGING_ALIGNMENT 256

/* ---- The list's arrays ---------------------------------------------------------------------- */

/* Room for one more element; false when there is no memory. */
static bool grow(void **array, uint32_t count, uint32_t *capacity, size_t element)
{
    uint32_t wanted;
    void *grown;

    if (count < *capacity)
        return true;
    if (*capacity > UINT32_MAX / 2)
        return false;
    wanted = *capacity ? 2 * *capacity : 16;
    grown = realloc(*array, wanted * element);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static uint32_t out_of_memory(struct gantry_list *list)
{
    return list_latch(list, fail(GANTRY_E_OUT_OF_HOST_MEMORY,
                                 "list \"%s\": no host memory for command %u", list->label,
                                 list->next_id));
}

/* Lists launch few kernels many times: looking at the latest ones finds nearly all repeats, and a
 * kernel that is held twice does no harm. */
static bool hold_kernel(struct gantry_list *list, struct gantry_kernel *kernel)
{
    uint32_t first = list->kernel_count > 8 ? list->kernel_count - 8 : 0;

    for (uint32_t i = list->kernel_count; i > first; i--)
        if (list->kernels[i - 1] == kernel)
            return true;
    if (!grow((void **)&list->kernels, list->kernel_count, &list->kernel_capacity,
              sizeof(*list->kernels)))
        return false;
    kernel_ref(kernel);
    list->kernels[list->kernel_count++] = kernel;
    return true;
}

static bool hold_buffer(struct gantry_list *list, struct gantry_buffer *buffer)
{
    uint32_t first = list->buffer_count > 8 ? list->buffer_count - 8 : 0;

    for (uint32_t i = list->buffer_count; i > first; i--)
        if (list->buffers[i - 1] == buffer)
            return true;
    if (!grow((void **)&list->buffers, list->buffer_count, &list->buffer_capacity,
              sizeof(*list->buffers)))
        return false;
    buffer_ref(buffer);
    list->buffers[list->buffer_count++] = buffer;
    return true;
}

/* Gives the command its id and its place among the others. */
static uint32_t append(struct gantry_list *list, struct command *command)
{
    if (list->next_id == UINT32_MAX)
        return list_latch(list, fail(GANTRY_E_LIMIT, "list \"%s\" is full: %u commands",
                                     list->label, UINT32_MAX - 1));
    if (!grow((void **)&list->commands, list->command_count, &list->command_capacity,
              sizeof(*list->commands)))
        return out_of_memory(list);
    command->id = list->next_id++;
    command->section = list->section;
    command->strand = list->strand;
    command->label = list->current_label;
    list->commands[list->command_count++] = *command;
    if (!list->concurrent)
        list->section++;
    else if (!list->ordered)
        list->strand++;
    return command->id;
}

/* ---- Launches ------------------------------------------------------------------------------- */

struct axis {
    const char *name;
    uint32_t asked, block;
    uint32_t *blocks;
};

static void axes_of(const struct gantry_kernel *kernel, struct gantry_size asked,
                    struct gantry_size *blocks, struct axis axes[3])
{
    axes[0] = (struct axis){"x", asked.x, kernel->block.x, &blocks->x};
    axes[1] = (struct axis){"y", asked.y, kernel->block.y, &blocks->y};
    axes[2] = (struct axis){"z", asked.z, kernel->block.z, &blocks->z};
}

static enum gantry_status check_dimensions(const struct gantry_kernel *kernel,
                                           struct gantry_size *asked, const char *what)
{
    uint32_t *axes[3] = {&asked->x, &asked->y, &asked->z};
    uint32_t dimensions = kernel->source->dimensions;

    for (uint32_t i = dimensions; i < 3; i++) {
        if (*axes[i] > 1)
            return fail(
                GANTRY_E_INVALID_ARGUMENT,
                "%s: kernel %s has %u dimension%s but was launched with %c = %u; pass 1, or "
                "state DIMENSIONS(%u) in its source",
                what, kernel->source->name, dimensions, dimensions == 1 ? "" : "s", "xyz"[i],
                *axes[i], i + 1);
        *axes[i] = 1;
    }
    return GANTRY_OK;
}

/* A kernel that counts its threads in 32 bits must not have more of them than that along an axis:
 * the last block's surplus threads would begin again at 0. FOR_GRID counts in 64 bits. */
static enum gantry_status check_threads(const struct gantry_kernel *kernel,
                                        const struct axis axes[3], const char *what)
{
    for (int i = 0; i < 3; i++) {
        uint64_t threads = (uint64_t)*axes[i].blocks * axes[i].block;

        if (threads > UINT64_C(1) << 32 && !kernel->source->grid_stride)
            return fail(GANTRY_E_LIMIT,
                        "%s: kernel %s would run %" PRIu64 " threads along %s (%u blocks of %u), "
                        "more than 2^32; use a smaller grid, or FOR_GRID and GRID_STRIDE",
                        what, kernel->source->name, threads, axes[i].name, *axes[i].blocks,
                        axes[i].block);
    }
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

static enum gantry_status count_blocks(struct gantry_kernel *kernel, struct gantry_size threads,
                                       const char *what, struct gantry_size *blocks)
{
    struct axis axes[3];

    axes_of(kernel, threads, blocks, axes);
    for (int i = 0; i < 3; i++)
        *axes[i].blocks = (uint32_t)(((uint64_t)axes[i].asked + axes[i].block - 1) / axes[i].block);
    if (kernel->source->grid_stride)
        blocks->x = stride_blocks(kernel, blocks->x);
    return check_threads(kernel, axes, what);
}

/* Whether the grid fits the device directly; *folded when it must be laid out in two dimensions. */
static enum gantry_status check_grid(struct gantry_kernel *kernel, struct gantry_size blocks,
                                     const char *what, bool *folded)
{
    struct gantry_size most = kernel->object.device->info.limits.max_blocks;
    struct gantry_size laid_out = {0, 0, 0};
    uint64_t linear;

    *folded = blocks.x > most.x || blocks.y > most.y || blocks.z > most.z;
    if (!*folded)
        return GANTRY_OK;
    if (!__builtin_mul_overflow((uint64_t)blocks.x * blocks.y, blocks.z, &linear))
        laid_out = plan_fold_grid(linear, most);
    if (laid_out.x == 0)
        return fail(
            GANTRY_E_LIMIT,
            "%s: kernel %s was launched on %u x %u x %u blocks; the device takes %u x %u x %u, "
            "and %u x %u in all when they are laid out anew; launch fewer blocks at a time",
            what, kernel->source->name, blocks.x, blocks.y, blocks.z, most.x, most.y, most.z,
            most.x, most.y);
    return GANTRY_OK;
}

static enum gantry_status check_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                                       const void *args, size_t size, const char *what)
{
    enum gantry_status status = list_recordable(list, what);
    const struct gantry_kernel_source *source;

    if (status != GANTRY_OK)
        return status;
    if (!kernel)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the kernel is NULL", what);
    source = kernel->source;
    if (kernel->object.device != list->object.device)
        return fail(
            GANTRY_E_WRONG_DEVICE,
            "%s: kernel %s belongs to device \"%s\", list \"%s\" to \"%s\"; make the kernel "
            "on the list's device",
            what, source->name, kernel->object.device->label, list->label,
            list->object.device->label);
    if (size != source->args_size)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: kernel %s takes %u bytes of arguments (struct %s), %zu were given", what,
                    source->name, source->args_size, source->args_name, size);
    if (!args && size)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: the arguments of kernel %s are NULL, %zu bytes are needed", what,
                    source->name, size);
    return GANTRY_OK;
}

/* Everything about the launch has been checked but its grid. */
static uint32_t append_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                              struct gantry_size blocks, const void *args, size_t size,
                              const char *what)
{
    struct command command = {.kind = COMMAND_LAUNCH};
    bool args_folded = size > list->object.device->info.limits.inline_args_bytes;
    struct gantry_drv_kernel *entry;
    bool grid_folded;
    enum gantry_status status;

    if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0)
        return list->next_id++;
    status = check_grid(kernel, blocks, what, &grid_folded);
    if (status == GANTRY_OK && (args_folded || grid_folded))
        status = kernel_folded(kernel, &entry);
    if (status != GANTRY_OK)
        return list_latch(list, status);
    command.launch.kernel = kernel;
    command.launch.blocks = blocks;
    command.launch.args_size = (uint32_t)size;
    command.launch.folded = args_folded || grid_folded;
    command.launch.args = bytes_append(&list->bytes, args, size, ARGS_ALIGNMENT);
    if (command.launch.args == SIZE_MAX || !hold_kernel(list, kernel))
        return out_of_memory(list);
    if (append(list, &command) == 0)
        return 0;
    list->launch_count++;
    list->folded_args += args_folded;
    list->folded_grids += grid_folded;
    return command.id;
}

/* The failure of a recording call: it stays in the list, unless the list can't be recorded into. */
static uint32_t reject(struct gantry_list *list, enum gantry_status status)
{
    if (list && list->state == LIST_RECORDING && status != GANTRY_E_FORKED)
        list_latch(list, status);
    return 0;
}

uint32_t gantry_list_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                            struct gantry_size threads, const void *args, size_t size)
{
    struct gantry_size blocks = {0, 0, 0};
    enum gantry_status status = check_launch(list, kernel, args, size, "gantry_list_launch");

    if (status == GANTRY_OK)
        status = check_dimensions(kernel, &threads, "gantry_list_launch");
    if (status == GANTRY_OK)
        status = count_blocks(kernel, threads, "gantry_list_launch", &blocks);
    if (status != GANTRY_OK)
        return reject(list, status);
    return append_launch(list, kernel, blocks, args, size, "gantry_list_launch");
}

uint32_t gantry_list_launch_blocks(struct gantry_list *list, struct gantry_kernel *kernel,
                                   struct gantry_size blocks, const void *args, size_t size)
{
    static const char what[] = "gantry_list_launch_blocks";
    enum gantry_status status = check_launch(list, kernel, args, size, what);
    struct axis axes[3];

    if (status == GANTRY_OK && kernel->source->block.x == 0)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: kernel %s has no BLOCK() in its source, so the number of blocks says "
                      "nothing; use gantry_list_launch with threads",
                      what, kernel->source->name);
    if (status == GANTRY_OK)
        status = check_dimensions(kernel, &blocks, what);
    if (status == GANTRY_OK) {
        axes_of(kernel, blocks, &blocks, axes);
        status = check_threads(kernel, axes, what);
    }
    if (status != GANTRY_OK)
        return reject(list, status);
    return append_launch(list, kernel, blocks, args, size, what);
}

/* ---- Copies, fills, transfers --------------------------------------------------------------- */

/* That a buffer belongs to the list's device and holds the range. */
static enum gantry_status check_range(const struct gantry_list *list,
                                      const struct gantry_buffer *buffer, uint64_t offset,
                                      uint64_t size, const char *what)
{
    uint64_t end;

    if (!buffer)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: a buffer is NULL", what);
    if (buffer->object.device != list->object.device)
        return fail(GANTRY_E_WRONG_DEVICE,
                    "%s: buffer \"%s\" belongs to device \"%s\", list \"%s\" to \"%s\"", what,
                    buffer->label, buffer->object.device->label, list->label,
                    list->object.device->label);
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

uint32_t gantry_list_copy(struct gantry_list *list, struct gantry_buffer *to, uint64_t to_offset,
                          struct gantry_buffer *from, uint64_t from_offset, uint64_t size)
{
    static const char what[] = "gantry_list_copy";
    struct command command = {.kind = COMMAND_COPY,
                              .copy = {to, from, to_offset, from_offset, size}};
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = check_range(list, to, to_offset, size, what);
    if (status == GANTRY_OK)
        status = check_range(list, from, from_offset, size, what);
    if (status == GANTRY_OK && size && to == from && to_offset < from_offset + size &&
        from_offset < to_offset + size)
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: the ranges at %" PRIu64 " and %" PRIu64 " of %" PRIu64 " bytes in buffer "
                 "\"%s\" overlap; copy through another buffer",
                 what, from_offset, to_offset, size, to->label);
    if (status != GANTRY_OK)
        return reject(list, status);
    if (size == 0)
        return list->next_id++;
    if (!hold_buffer(list, to) || !hold_buffer(list, from))
        return out_of_memory(list);
    return append(list, &command);
}

uint32_t gantry_list_fill(struct gantry_list *list, struct gantry_buffer *buffer, uint64_t offset,
                          uint64_t size, uint32_t pattern)
{
    static const char what[] = "gantry_list_fill";
    struct command command = {.kind = COMMAND_FILL, .fill = {buffer, offset, size, pattern}};
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = check_range(list, buffer, offset, size, what);
    if (status == GANTRY_OK && (offset % 4 || size % 4))
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: offset %" PRIu64 " and size %" PRIu64 " must be multiples of 4, the size "
                 "of the pattern",
                 what, offset, size);
    if (status != GANTRY_OK)
        return reject(list, status);
    if (size == 0)
        return list->next_id++;
    if (!hold_buffer(list, buffer))
        return out_of_memory(list);
    return append(list, &command);
}

/* A piece of one direction's staging memory; false when the sum leaves 64 bits. */
static bool reserve_staging(uint64_t *used, uint64_t size, uint64_t *offset)
{
    uint64_t end;

    if (__builtin_add_overflow(*used, size, &end) || end > UINT64_MAX - STAGING_ALIGNMENT)
        return false;
    *offset = *used;
    *used = (end + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
    return true;
}

static uint32_t append_transfer(struct gantry_list *list, enum command_kind kind,
                                struct gantry_buffer *buffer, uint64_t offset, void *host,
                                uint64_t size, const char *what)
{
    struct command command = {.kind = kind,
                              .transfer = {.buffer = buffer, .offset = offset, .size = size}};
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = check_range(list, buffer, offset, size, what);
    if (status == GANTRY_OK && !host && size)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: the host memory is NULL, %" PRIu64 " bytes are to be transferred", what,
                      size);
    if (status == GANTRY_OK &&
        !reserve_staging(kind == COMMAND_UPLOAD ? &list->upload_size : &list->readback_size, size,
                         &command.transfer.staging))
        status = fail(GANTRY_E_OVERFLOW, "%s: the transfers of list \"%s\" exceed 64 bits", what,
                      list->label);
    if (status != GANTRY_OK)
        return reject(list, status);
    if (size == 0)
        return list->next_id++;
    command.transfer.host = host;
    if (!hold_buffer(list, buffer))
        return out_of_memory(list);
    list->transfer_count++;
    return append(list, &command);
}

uint32_t gantry_list_upload(struct gantry_list *list, struct gantry_buffer *to, uint64_t offset,
                            const void *from, uint64_t size)
{
    /* Host memory of an upload is only read; see command.h. */
    return append_transfer(list, COMMAND_UPLOAD, to, offset, (void *)(uintptr_t)from, size,
                           "gantry_list_upload");
}

uint32_t gantry_list_download(struct gantry_list *list, struct gantry_buffer *from, uint64_t offset,
                              void *to, uint64_t size)
{
    return append_transfer(list, COMMAND_DOWNLOAD, from, offset, to, size, "gantry_list_download");
}
