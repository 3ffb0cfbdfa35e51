/* Patching: changing patchable launches of a finished list.
 *
 * Their arguments and grids are in the plan's table. The list keeps a copy of it on the host, where
 * a patch is written at once; each instance remembers the bytes in which its built plan's table
 * differs, and its next submission takes them along. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "list.h"
#include "module.h"
#include "status.h"

/* Patches are multiples of 4 bytes; the table is one of 16. */
#define PATCH_ALIGNMENT UINT64_C(4)

/* ---- The table ------------------------------------------------------------------------------ */

static enum gantry_status copy_table(struct gantry_list *list)
{
    const struct plan *plan = &list->plan;
    struct patches *patches = &list->patches;
    size_t places = list->patchable_count * sizeof(*patches->places);

    patches->table = malloc(plan->view.table_size + 1);
    patches->places = malloc(places);
    patches->numbers = calloc(list->next_id, sizeof(*patches->numbers));
    if (!patches->table || !patches->places || !patches->numbers)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for %u patchable launches",
                    list->patchable_count);
    patches->table_size = plan->view.table_size;
    if (patches->table_size)
        memcpy(patches->table, plan->view.table, patches->table_size);
    memcpy(patches->places, plan->places, places);
    for (uint32_t i = 0; i < list->patchable_count; i++)
        patches->numbers[list->patchables[i].id] = i + 1;
    return GANTRY_OK;
}

enum gantry_status patch_keep(struct gantry_list *list)
{
    if (list->patchable_count == 0)
        return GANTRY_OK;
    if (!list->patches.table)
        return copy_table(list);
    list->plan.view.table = list->patches.table;
    return GANTRY_OK;
}

void patch_forget(struct gantry_list *list)
{
    free(list->patches.table);
    free(list->patches.places);
    free(list->patches.numbers);
    list->patches = (struct patches){0};
}

/* Writes to the table and to what the instances lack. */
static void write_table(struct gantry_list *list, uint64_t offset, const void *data, size_t size)
{
    uint64_t from = offset & ~(PATCH_ALIGNMENT - 1);
    uint64_t to = (offset + size + PATCH_ALIGNMENT - 1) & ~(PATCH_ALIGNMENT - 1);

    memcpy(list->patches.table + offset, data, size);
    list->validated = 0;
    for (uint32_t i = 0; i < list->instance_count; i++) {
        struct list_instance *instance = &list->instances[i];

        if (!instance->built)
            continue; /* it will be built from the table as it is then */
        if (instance->dirty_from == instance->dirty_to) {
            instance->dirty_from = from;
            instance->dirty_to = to;
            continue;
        }
        if (from < instance->dirty_from)
            instance->dirty_from = from;
        if (to > instance->dirty_to)
            instance->dirty_to = to;
    }
}

void patch_submission(const struct gantry_list *list, const struct list_instance *instance,
                      struct gantry_backend_submission *submission)
{
    if (instance->dirty_from == instance->dirty_to)
        return;
    submission->patch = list->patches.table + instance->dirty_from;
    submission->patch_offset = instance->dirty_from;
    submission->patch_size = instance->dirty_to - instance->dirty_from;
}

const uint8_t *patch_args(const struct gantry_list *list, const struct command_launch *launch)
{
    const struct plan_place *place;
    struct gantry_fold_launch now;

    if (!launch->patchable || !list->patches.table)
        return launch->blocks.x && launch->blocks.y && launch->blocks.z
                   ? list->bytes.data + launch->args
                   : NULL;
    place = &list->patches.places[launch->patchable - 1];
    memcpy(&now, list->patches.table + place->launch, sizeof(now));
    return now.x && now.y && now.z ? list->patches.table + place->args : NULL;
}

/* ---- Checks --------------------------------------------------------------------------------- */

/* Axes that a launch leaves at 0 in its threads and its largest threads are not used: 1. A launch
 * that leaves all of them so never has anything to run. */
static struct gantry_size fill_axes(struct gantry_size threads, struct gantry_size max)
{
    if (max.x == 0 && max.y == 0 && max.z == 0)
        return threads;
    return (struct gantry_size){threads.x || max.x ? threads.x : 1,
                                threads.y || max.y ? threads.y : 1,
                                threads.z || max.z ? threads.z : 1};
}

enum gantry_status patch_blocks(const struct patchable *patchable, struct gantry_size threads,
                                const char *what, struct gantry_size *blocks)
{
    struct gantry_size max = fill_axes(patchable->max, patchable->max);
    enum gantry_status status;

    threads = fill_axes(threads, patchable->max);
    status = grid_of(patchable->kernel, threads, what, blocks);
    if (status != GANTRY_OK)
        return status;
    if (blocks->x == 0 || blocks->y == 0 || blocks->z == 0)
        *blocks = (struct gantry_size){0, 0, 0};
    else if (threads.x > max.x || threads.y > max.y || threads.z > max.z)
        return fail(GANTRY_E_LIMIT,
                    "%s: kernel %s can't run %u x %u x %u threads, more than the max_threads of "
                    "%u x %u x %u that this launch was recorded with; record it with larger ones",
                    what, patchable->kernel->source->name, threads.x, threads.y, threads.z, max.x,
                    max.y, max.z);
    return GANTRY_OK;
}

/* The number of a patchable launch of a finished list, less 1. */
static enum gantry_status find_launch(struct gantry_list *list, uint32_t id, const char *what,
                                      uint32_t *number)
{
    enum gantry_status status;

    if (!list)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the list is NULL", what);
    status = device_usable(list->object.device, what);
    if (status != GANTRY_OK)
        return status;
    if (list->state == LIST_FAILED)
        return list_failure(list);
    if (list->state != LIST_FINISHED)
        return fail(GANTRY_E_INVALID_STATE,
                    "%s: list \"%s\" is not finished; record command %u with the values that it "
                    "needs, or call gantry_list_finish first",
                    what, list->label, id);
    if (id == 0 || id >= list->next_id)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: list \"%s\" has no command %u; its ids go from 1 to %u", what, list->label,
                    id, list->next_id - 1);
    if (!list->patches.numbers || !list->patches.numbers[id])
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: command %u of list \"%s\" can't be changed; record it with "
                    "gantry_list_launch_patchable",
                    what, id, list->label);
    *number = list->patches.numbers[id] - 1;
    return GANTRY_OK;
}

static enum gantry_status check_data(const struct patchable *patchable, uint32_t offset,
                                     const void *data, size_t size, const char *what)
{
    const struct gantry_kernel_source *source = patchable->kernel->source;

    if (!data && size)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: the new arguments of command %u, kernel %s, are NULL, %zu bytes are "
                    "needed",
                    what, patchable->id, source->name, size);
    if (offset > source->args_size || size > source->args_size - offset)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: %zu bytes from offset %u are past the end of the %u bytes of arguments "
                    "(struct %s) of command %u, kernel %s",
                    what, size, offset, source->args_size, source->args_name, patchable->id,
                    source->name);
    return GANTRY_OK;
}

/* ---- The calls ------------------------------------------------------------------------------ */

static enum gantry_status set_args(struct gantry_list *list, uint32_t id, uint32_t offset,
                                   const void *data, size_t size, const char *what)
{
    const struct patchable *patchable;
    uint32_t number;
    enum gantry_status status = find_launch(list, id, what, &number);

    if (status != GANTRY_OK)
        return status;
    patchable = &list->patchables[number];
    status = check_data(patchable, offset, data, size, what);
    if (status == GANTRY_OK && size && patchable->grid.x)
        write_table(list, list->patches.places[number].args + offset, data, size);
    return status;
}

enum gantry_status gantry_list_set_arg(struct gantry_list *list, uint32_t id, uint32_t offset,
                                       const void *data, size_t size)
{
    return set_args(list, id, offset, data, size, "gantry_list_set_arg");
}

enum gantry_status gantry_list_set_args(struct gantry_list *list, uint32_t id, const void *args,
                                        size_t size)
{
    static const char what[] = "gantry_list_set_args";
    const struct gantry_kernel_source *source;
    uint32_t number;
    enum gantry_status status = find_launch(list, id, what, &number);

    if (status != GANTRY_OK)
        return status;
    source = list->patchables[number].kernel->source;
    if (size != source->args_size)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: kernel %s takes %u bytes of arguments (struct %s), %zu were given", what,
                    source->name, source->args_size, source->args_name, size);
    return set_args(list, id, 0, args, size, what);
}

enum gantry_status gantry_list_set_threads(struct gantry_list *list, uint32_t id,
                                           struct gantry_size threads)
{
    static const char what[] = "gantry_list_set_threads";
    const struct patchable *patchable;
    struct gantry_size blocks;
    uint32_t number;
    enum gantry_status status = find_launch(list, id, what, &number);

    if (status != GANTRY_OK)
        return status;
    patchable = &list->patchables[number];
    status = patch_blocks(patchable, threads, what, &blocks);
    if (status == GANTRY_OK && patchable->grid.x)
        write_table(list,
                    list->patches.places[number].launch + offsetof(struct gantry_fold_launch, x),
                    &blocks, sizeof(blocks));
    return status;
}
