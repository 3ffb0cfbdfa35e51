/* Recording launches. */
#include <string.h>

#include "grid.h"
#include "recorder.h"
#include "status.h"

#define ARGS_ALIGNMENT 16

/* ---- The entry in the list ------------------------------------------------------------------ */

static inline size_t aligned(size_t size)
{
    return (size + ARGS_ALIGNMENT - 1) / ARGS_ALIGNMENT * ARGS_ALIGNMENT;
}

static inline bool has_room(const struct gantry_list *list, size_t size)
{
    return list->command_count < list->command_capacity && list->next_id != UINT32_MAX &&
           aligned(list->bytes.size) + aligned(size) <= list->bytes.capacity;
}

/* Copies arguments, for which there is room; the bytes up to the next alignment are zero. */
static inline size_t keep_args(struct bytes *bytes, const void *args, size_t size)
{
    size_t offset = aligned(bytes->size);

    bytes->size = offset + aligned(size);
    if (size) {
        memset(bytes->data + bytes->size - ARGS_ALIGNMENT, 0, ARGS_ALIGNMENT);
        memcpy(bytes->data + offset, args, size);
    }
    return offset;
}

/* A list that is recorded anew finds its memory outside the nearest caches, where its submission
 * has pushed it. Asking for it this far ahead takes a third off what recording a long list costs.
 */
#define AHEAD 512

static inline void fetch_ahead(const void *next)
{
    __builtin_prefetch((const void *)((uintptr_t)next + AHEAD), 1);
}

static inline void put_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                              const struct gantry_size *blocks, const void *args, size_t size,
                              bool folded, uint32_t patchable)
{
    struct command *command = &list->commands[list->command_count];

    fetch_ahead(command);
    fetch_ahead((const void *)((uintptr_t)list->bytes.data + list->bytes.size));
    command->kind = COMMAND_LAUNCH;
    command->launch = (struct command_launch){.kernel = kernel,
                                              .blocks = *blocks,
                                              .args = keep_args(&list->bytes, args, size),
                                              .args_size = (uint32_t)size,
                                              .folded = folded,
                                              .patchable = patchable};
    recorder_take(list, command);
    list->launch_count++;
}

/* Where the list remembers that it holds a kernel, so that most launches need not look for it.
 * Kernels are some hundred bytes each. */
static inline struct gantry_kernel **memory_of(struct gantry_list *list,
                                               const struct gantry_kernel *kernel)
{
    return &list->recent[((uintptr_t)kernel >> 8 ^ (uintptr_t)kernel >> 5) % LIST_RECENT];
}

static enum gantry_status make_room(struct gantry_list *list, struct gantry_kernel *kernel,
                                    size_t size, const char *what)
{
    if (!recorder_next(list) || !recorder_hold_kernel(list, kernel) ||
        !bytes_reserve(&list->bytes, ARGS_ALIGNMENT + aligned(size)))
        return recorder_no_room(list, what);
    *memory_of(list, kernel) = kernel;
    return GANTRY_OK;
}

/* ---- Checks --------------------------------------------------------------------------------- */

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

static enum gantry_status check_kernel(const struct gantry_list *list,
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

/* ---- Launches ------------------------------------------------------------------------------- */

/* Everything about the launch has been checked but whether its grid fits. */
static enum gantry_status record_grid(struct gantry_list *list, struct gantry_kernel *kernel,
                                      const struct gantry_size *blocks, const void *args,
                                      size_t size, const char *what)
{
    bool args_folded = size > list->object.device->info.limits.inline_args_bytes;
    bool grid_folded = !grid_fits(kernel, blocks);
    enum gantry_status status = GANTRY_OK;

    if (blocks->x == 0 || blocks->y == 0 || blocks->z == 0) {
        list->next_id++;
        return GANTRY_OK;
    }
    if (args_folded || grid_folded)
        status = grid_check_folded(kernel, blocks, what);
    if (status == GANTRY_OK)
        status = make_room(list, kernel, size, what);
    if (status != GANTRY_OK)
        return status;
    put_launch(list, kernel, blocks, args, size, args_folded || grid_folded, 0);
    list->folded_args += args_folded;
    list->folded_grids += grid_folded;
    return GANTRY_OK;
}

static enum gantry_status record_checked(struct gantry_list *list, struct gantry_kernel *kernel,
                                         const struct gantry_size *threads, const void *args,
                                         size_t size, const char *what)
{
    struct gantry_size blocks;
    enum gantry_status status = check_kernel(list, kernel, args, size, what);

    if (status == GANTRY_OK)
        status = grid_of(kernel, *threads, what, &blocks);
    return status == GANTRY_OK ? record_grid(list, kernel, &blocks, args, size, what) : status;
}

/* Nearly every launch is plain: of a kernel that the list holds already, with threads for which the
 * direct entry will do, and there is room. Then there is nothing to check, and recording costs
 * little more than the copy of its arguments. */
enum gantry_status record_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                                 struct gantry_size threads, const void *args, size_t size,
                                 const char *what)
{
    struct gantry_size blocks;

    if (!kernel || *memory_of(list, kernel) != kernel || size != kernel->plain.args_size || !args ||
        !has_room(list, size) || !grid_is_plain(kernel, &threads, &blocks))
        return record_checked(list, kernel, &threads, args, size, what);
    put_launch(list, kernel, &blocks, args, size, false, 0);
    return GANTRY_OK;
}

uint32_t gantry_list_launch(struct gantry_list *list, struct gantry_kernel *kernel,
                            struct gantry_size threads, const void *args, size_t size)
{
    static const char what[] = "gantry_list_launch";
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_launch(list, kernel, threads, args, size, what);
    return recorder_end(list, status);
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
        status = grid_check_axes(kernel, &blocks, what);
    if (status == GANTRY_OK)
        status = grid_check_threads(kernel, &blocks, what);
    if (status == GANTRY_OK)
        status = record_grid(list, kernel, &blocks, args, size, what);
    return recorder_end(list, status);
}

/* ---- Patchable launches --------------------------------------------------------------------- */

/* The launch and what may change of it, both checked. One that can never run has no command. */
static enum gantry_status record_patchable(struct gantry_list *list,
                                           const struct patchable *patchable,
                                           const struct gantry_size *blocks, const void *args,
                                           const char *what)
{
    struct gantry_kernel *kernel = patchable->kernel;
    uint32_t size = kernel->source->args_size;
    enum gantry_status status = make_room(list, kernel, size, what);
    struct patchable *kept;

    if (status != GANTRY_OK)
        return status;
    if (!recorder_reserve((void **)&list->patchables, list->patchable_count,
                          &list->patchable_capacity, sizeof(*list->patchables)))
        return recorder_no_room(list, what);
    kept = &list->patchables[list->patchable_count++];
    *kept = *patchable;
    kept->id = list->next_id;
    if (patchable->grid.x == 0)
        list->next_id++;
    else
        put_launch(list, kernel, blocks, args, size, false, list->patchable_count);
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

    if (status == GANTRY_OK)
        status = check_kernel(list, kernel, args, size, what);
    if (status == GANTRY_OK)
        status = patch_blocks(&patchable, max_threads, what, &patchable.grid);
    if (status == GANTRY_OK)
        status = patch_blocks(&patchable, threads, what, &blocks);
    if (status == GANTRY_OK && patchable.grid.x)
        status = grid_check_folded(kernel, &patchable.grid, what);
    if (status == GANTRY_OK)
        status = record_patchable(list, &patchable, &blocks, args, what);
    return recorder_end(list, status);
}
