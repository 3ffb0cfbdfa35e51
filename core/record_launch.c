/* Recording launches. */
#include "record_launch.h"

#include "status.h"

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

enum gantry_status record_checked(struct gantry_list *list, struct gantry_kernel *kernel,
                                  const struct gantry_size *threads, const void *args, size_t size,
                                  const char *what)
{
    struct gantry_size blocks;
    enum gantry_status status = check_kernel(list, kernel, args, size, what);

    if (status == GANTRY_OK)
        status = grid_of(kernel, *threads, what, &blocks);
    return status == GANTRY_OK ? record_grid(list, kernel, &blocks, args, size, what) : status;
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
