/* Launch lists: their life, their sections, and what finishing does. Recording is in record.c, what
 * a submission needs in list_instance.c. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "list.h"
#include "module.h"
#include "queue.h"
#include "retire.h"
#include "status.h"

bool bytes_reserve(struct bytes *bytes, size_t size)
{
    size_t capacity = bytes->capacity ? bytes->capacity : 4096;
    uint8_t *grown;

    if (size <= bytes->capacity - bytes->size)
        return true;
    if (size > SIZE_MAX / 2 - bytes->size)
        return false;
    while (capacity < bytes->size + size)
        capacity *= 2;
    grown = realloc(bytes->data, capacity);
    if (!grown)
        return false;
    bytes->data = grown;
    bytes->capacity = capacity;
    return true;
}

/* ---- Failure -------------------------------------------------------------------------------- */

uint32_t list_latch(struct gantry_list *list, enum gantry_status status)
{
    list->state = LIST_FAILED;
    list->failure = status;
    list->failure_text = strdup(gantry_last_error());
    return 0;
}

enum gantry_status list_failure(const struct gantry_list *list)
{
    return fail(list->failure, "%s",
                list->failure_text ? list->failure_text : gantry_status_text(list->failure));
}

enum gantry_status list_check_recordable(struct gantry_list *list, const char *what)
{
    enum gantry_status status;

    if (!list)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the list is NULL", what);
    status = device_usable(list->object.device, what);
    if (status != GANTRY_OK)
        return status;
    if (list->state == LIST_FAILED)
        return list_failure(list);
    if (list->state == LIST_FINISHED)
        return fail(GANTRY_E_INVALID_STATE,
                    "%s: list \"%s\" was finished and can't be changed; record a new list", what,
                    list->label);
    return GANTRY_OK;
}

/* ---- Creation ------------------------------------------------------------------------------- */

struct gantry_list *list_make(struct gantry_device *device, const char *label)
{
    struct gantry_list *made = calloc(1, sizeof(*made));

    if (made)
        made->label = strdup(label);
    if (!made || !made->label) {
        free(made);
        return NULL;
    }
    made->object.device = device;
    made->next_id = 1;
    made->current_label = NO_LABEL;
    made->instance_count = 1;
    return made;
}

enum gantry_status gantry_list_create(struct gantry_device *device,
                                      const struct gantry_list_params *params,
                                      struct gantry_list **list)
{
    struct gantry_list *made;
    enum gantry_status status;

    if (!list)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_list_create: the place for the list is NULL");
    *list = NULL;
    status = device_usable(device, "gantry_list_create");
    if (status != GANTRY_OK)
        return status;
    made = list_make(device, params && params->label ? params->label : "list");
    if (!made)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "gantry_list_create: no host memory for a list");
    object_link(&made->object, device, OBJECT_LIST);
    *list = made;
    return GANTRY_OK;
}

/* Gives back what the recorded commands hold. */
static void release_holds(struct gantry_list *list)
{
    for (uint32_t i = 0; i < list->kernel_count; i++)
        kernel_unref(list->kernels[i]);
    for (uint32_t i = 0; i < list->buffer_count; i++)
        buffer_unref(list->buffers[i]);
    list->kernel_count = 0;
    list->buffer_count = 0;
}

static void free_instance(struct gantry_list *list, struct list_instance *instance)
{
    struct gantry_device *device = list->object.device;

    if (instance->built)
        device->ops->plan_destroy(instance->built);
    memory_free(device, &instance->upload);
    memory_free(device, &instance->readback);
    if (instance->queue)
        queue_unref(instance->queue);
    free(instance->downloads);
}

void list_free(struct gantry_list *list)
{
    object_unlink(&list->object);
    for (uint32_t i = 0; i < list->instance_count; i++)
        free_instance(list, &list->instances[i]);
    if (list->last_queue)
        queue_unref(list->last_queue);
    release_holds(list);
    patch_forget(list);
    plan_clear(&list->plan);
    free(list->patchables);
    free(list->kernels);
    free(list->buffers);
    free(list->commands);
    free(list->bytes.data);
    free(list->failure_text);
    free(list->label);
    free(list);
}

void gantry_list_destroy(struct gantry_list **list)
{
    struct gantry_list *old;

    if (!list || !*list)
        return;
    old = *list;
    *list = NULL;
    if (old->object.device->process != process_id())
        return;
    object_unlink(&old->object);
    retire(&old->object);
}

/* ---- Sections and labels -------------------------------------------------------------------- */

/* A mistake in the nesting of sections. */
static enum gantry_status section_failure(struct gantry_list *list, const char *what,
                                          const char *why)
{
    enum gantry_status status =
        fail(GANTRY_E_INVALID_STATE, "%s: list \"%s\": %s", what, list->label, why);

    list_latch(list, status);
    return status;
}

enum gantry_status gantry_list_begin_concurrent(struct gantry_list *list)
{
    enum gantry_status status = list_recordable(list, "gantry_list_begin_concurrent");

    if (status != GANTRY_OK)
        return status;
    if (list->concurrent)
        return section_failure(list, "gantry_list_begin_concurrent",
                               "a concurrent section is open already, and sections don't nest");
    list->concurrent = true;
    list->strand = 0;
    return GANTRY_OK;
}

enum gantry_status gantry_list_end_concurrent(struct gantry_list *list)
{
    enum gantry_status status = list_recordable(list, "gantry_list_end_concurrent");

    if (status != GANTRY_OK)
        return status;
    if (!list->concurrent)
        return section_failure(list, "gantry_list_end_concurrent", "no concurrent section is open");
    if (list->ordered)
        return section_failure(list, "gantry_list_end_concurrent",
                               "an ordered group is open; end it first");
    list->concurrent = false;
    list->strand = 0;
    list->section++;
    return GANTRY_OK;
}

enum gantry_status gantry_list_begin_ordered(struct gantry_list *list)
{
    enum gantry_status status = list_recordable(list, "gantry_list_begin_ordered");

    if (status != GANTRY_OK)
        return status;
    if (!list->concurrent)
        return section_failure(list, "gantry_list_begin_ordered",
                               "an ordered group belongs into a concurrent section; outside, all "
                               "commands are ordered");
    if (list->ordered)
        return section_failure(list, "gantry_list_begin_ordered",
                               "an ordered group is open already, and groups don't nest");
    list->ordered = true;
    return GANTRY_OK;
}

enum gantry_status gantry_list_end_ordered(struct gantry_list *list)
{
    enum gantry_status status = list_recordable(list, "gantry_list_end_ordered");

    if (status != GANTRY_OK)
        return status;
    if (!list->ordered)
        return section_failure(list, "gantry_list_end_ordered", "no ordered group is open");
    list->ordered = false;
    list->strand++;
    return GANTRY_OK;
}

uint32_t gantry_list_label(struct gantry_list *list, const char *text)
{
    if (list_recordable(list, "gantry_list_label") != GANTRY_OK)
        return 0;
    list->current_label = NO_LABEL;
    if (text && *text) {
        size_t size = strlen(text) + 1;

        if (!bytes_reserve(&list->bytes, size))
            return list_latch(list, fail(GANTRY_E_OUT_OF_HOST_MEMORY,
                                         "gantry_list_label: no host memory for a label"));
        list->current_label = list->bytes.size;
        memcpy(list->bytes.data + list->bytes.size, text, size);
        list->bytes.size += size;
    }
    return list->next_id++;
}

/* ---- Finishing ------------------------------------------------------------------------------ */

enum gantry_status list_plan(struct gantry_list *list, struct list_instance *instance)
{
    const struct gantry_device *device = list->object.device;
    struct plan_input input = {
        .commands = list->commands,
        .command_count = list->command_count,
        .bytes = list->bytes.data,
        .patchables = list->patchables,
        .patchable_count = list->patchable_count,
        .patched = list->state == LIST_FINISHED && list->patchable_count,
        .upload = &instance->upload,
        .readback = &instance->readback,
        .max_blocks = device->info.limits.max_blocks,
        .fold = fold_limits_of(device),
        .chains = device->policy.chains,
        .programmatic = device->policy.programmatic && device->info.programmatic,
        .label = list->label,
    };
    enum gantry_status status = plan_make(&input, &list->plan);

    list->folded = list->plan.fold.folded;
    list->unchained = list->plan.fold.unchained;
    return status;
}

enum gantry_status list_check_open(const struct gantry_list *list, const char *what)
{
    if (list->concurrent)
        return fail(GANTRY_E_INVALID_STATE,
                    "%s: list \"%s\" has an open %s; end it before the list is submitted", what,
                    list->label, list->ordered ? "ordered group" : "concurrent section");
    return GANTRY_OK;
}

enum gantry_status gantry_list_finish(struct gantry_list *list)
{
    enum gantry_status status = list_recordable(list, "gantry_list_finish");

    if (status != GANTRY_OK)
        return status;
    status = list_check_open(list, "gantry_list_finish");
    if (status == GANTRY_OK)
        status = list_check_buffers(list);
    if (status != GANTRY_OK)
        return status;
    list->state = LIST_FINISHED;
    status = list_build_first(list);
    if (status == GANTRY_OK)
        return status;
    list->state = LIST_RECORDING;
    fail_context("list \"%s\" can't be finished", list->label);
    return device_check(list->object.device, status, "finishing list", list->label);
}

void list_reset(struct gantry_list *list)
{
    release_holds(list);
    memset(list->recent, 0, sizeof(list->recent));
    list->command_count = 0;
    list->bytes.size = 0;
    list->next_id = 1;
    list->launch_count = 0;
    list->upload_size = 0;
    list->readback_size = 0;
    list->transfer_count = 0;
    list->patchable_count = 0;
    list->folded_args = 0;
    list->folded_grids = 0;
    list->current_label = NO_LABEL;
    list->section = 0;
    list->strand = 0;
}

enum gantry_status gantry_list_describe(struct gantry_list *list, struct gantry_list_info *info)
{
    enum gantry_status status;

    if (!list || !info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_list_describe: the %s is NULL",
                    list ? "place for the answer" : "list");
    status = device_usable(list->object.device, "gantry_list_describe");
    if (status != GANTRY_OK)
        return status;
    *info = list->plan_info;
    info->finished = list->state == LIST_FINISHED;
    info->commands = list->next_id - 1;
    info->launches = list->launch_count;
    return GANTRY_OK;
}
