/* Opening and closing devices, and the objects that belong to one. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "choose.h"
#include "list.h"
#include "module.h"
#include "queue.h"
#include "report.h"
#include "retire.h"
#include "status.h"

/* ---- Objects ------------------------------------------------------------------------------- */

void object_link(struct object *object, struct gantry_device *device, enum object_rank rank)
{
    struct object **first = &device->objects[rank];

    object->device = device;
    object->rank = rank;
    pthread_mutex_lock(&device->lock);
    object->prev = NULL;
    object->next = *first;
    if (*first)
        (*first)->prev = object;
    *first = object;
    pthread_mutex_unlock(&device->lock);
}

void object_unlink(struct object *object)
{
    struct gantry_device *device = object->device;
    struct object **first;

    if (!device)
        return;
    first = &device->objects[object->rank];
    pthread_mutex_lock(&device->lock);
    if (object->prev)
        object->prev->next = object->next;
    else if (*first == object)
        *first = object->next;
    if (object->next)
        object->next->prev = object->prev;
    object->prev = object->next = NULL;
    pthread_mutex_unlock(&device->lock);
}

static void free_object(struct object *object)
{
    switch (object->rank) {
    case OBJECT_LIST:
        list_free((struct gantry_list *)object);
        break;
    case OBJECT_KERNEL:
        kernel_free((struct gantry_kernel *)object);
        break;
    case OBJECT_MODULE:
        module_free((struct gantry_module *)object);
        break;
    case OBJECT_BUFFER:
        buffer_free((struct gantry_buffer *)object);
        break;
    case OBJECT_QUEUE:
        queue_free((struct gantry_queue *)object);
        break;
    case OBJECT_RANK_COUNT:
        break;
    }
}

/* What a list held may retire when the list goes, so each rank is followed by a flush. */
static void free_objects(struct gantry_device *device)
{
    for (int rank = 0; rank < OBJECT_RANK_COUNT; rank++) {
        while (device->objects[rank]) {
            struct object *object = device->objects[rank];

            object_unlink(object);
            free_object(object);
        }
        retire_flush(device);
    }
}

/* ---- State --------------------------------------------------------------------------------- */

bool device_forked(const struct gantry_device *device)
{
    return device->process != process_id();
}

enum gantry_status device_usable(struct gantry_device *device, const char *what)
{
    if (!device)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the device is NULL", what);
    if (device_forked(device))
        return fail(GANTRY_E_FORKED,
                    "%s: device \"%s\" was opened before fork() by the parent process; open one in "
                    "the child",
                    what, device->label);
    if (atomic_load_explicit(&device->lost, memory_order_relaxed))
        return fail(GANTRY_E_DEVICE_LOST,
                    "%s: device \"%s\" was lost earlier; close it and what belongs to it", what,
                    device->label);
    return GANTRY_OK;
}

enum gantry_status device_check(struct gantry_device *device, enum gantry_status status)
{
    if (status == GANTRY_E_DEVICE_LOST && !atomic_exchange(&device->lost, true))
        log_write(&device->g->log, GANTRY_LOG_ERROR, "device \"%s\" was lost: %s", device->label,
                  gantry_last_error());
    return status;
}

/* Made without the lock, which making a queue takes; of two threads that do so, one's queue stays.
 */
struct gantry_queue *device_service_queue(struct gantry_device *device)
{
    static const struct gantry_queue_params params = {.label = "gantry's own"};
    struct gantry_queue *service, *made;

    pthread_mutex_lock(&device->lock);
    service = device->service;
    pthread_mutex_unlock(&device->lock);
    if (service || queue_make(device, &params, &made) != GANTRY_OK)
        return service;
    pthread_mutex_lock(&device->lock);
    service = device->service;
    if (!service)
        device->service = made;
    pthread_mutex_unlock(&device->lock);
    if (!service)
        return made;
    queue_free(made);
    return service;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static void link_device(struct gantry_device *device)
{
    struct gantry *g = device->g;

    pthread_mutex_lock(&g->lock);
    device->next = g->devices;
    if (device->next)
        device->next->prev = device;
    g->devices = device;
    pthread_mutex_unlock(&g->lock);
}

static void unlink_device(struct gantry_device *device)
{
    struct gantry *g = device->g;

    pthread_mutex_lock(&g->lock);
    if (device->prev)
        device->prev->next = device->next;
    else
        g->devices = device->next;
    if (device->next)
        device->next->prev = device->prev;
    pthread_mutex_unlock(&g->lock);
}

static void free_device(struct gantry_device *device)
{
    pthread_mutex_destroy(&device->lock);
    free(device->label);
    free(device);
}

/* From here on the plugin stays in memory, even when opening fails halfway. */
static void keep_plugin(struct gantry *g, struct plugin *plugin)
{
    pthread_mutex_lock(&g->lock);
    plugin->kept = true;
    pthread_mutex_unlock(&g->lock);
}

static enum gantry_status open_view(struct gantry *g, const struct view *view, const char *label,
                                    struct gantry_device **out)
{
    struct gantry_device *device = calloc(1, sizeof(*device));
    struct gantry_backend_device_params params = {.size = sizeof(params)};
    enum gantry_status status;

    if (!device)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory");
    pthread_mutex_init(&device->lock, NULL);
    device->g = g;
    device->view = view;
    device->ops = view->plugin->backend->ops;
    device->info = view->info;
    device->backend = view->plugin->name;
    device->index = view->card;
    device->process = process_id();
    device->label = strdup(label ? label : view->info.name);
    policy_for_device(g->policy, &view->subject, &device->policy);
    params.queue_family = device->policy.queue_family;
    params.transfer_family = device->policy.transfer_family;
    params.submit = device->policy.submit;
    keep_plugin(g, view->plugin);
    status = device->label ? device->ops->device_open(view->plugin->instance->drv, view->index,
                                                      &params, &device->drv)
                           : fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory");
    if (status != GANTRY_OK) {
        free_device(device);
        return status;
    }
    link_device(device);
    *out = device;
    return GANTRY_OK;
}

/* ---- Telling what was chosen --------------------------------------------------------------- */

static bool demanded(const struct gantry_device_params *params, const struct choice *choice)
{
    return params->backend || choice->demanded;
}

/* Why the backend that comes first in the configuration is not the one that was taken. */
static void add_fallback(const struct gantry *g, const struct view *view, struct text *text)
{
    const struct plugin *preferred = &g->plugins.items[0];
    const struct card *card = &g->registry.cards[view->card];
    const char *why = preferred->reason ? preferred->reason : "it does not see this device";

    for (uint32_t i = 0; i < card->view_count; i++) {
        if (card->views[i]->plugin == preferred)
            why = card->views[i]->info.skipped[0] ? card->views[i]->info.skipped
                                                  : "it could not open this device";
    }
    text_add(text, "%s is used because the preferred backend %s can't be: %s", view->plugin->name,
             preferred->name, why);
}

/* Once for each open gantry: a program that opens devices in a loop need not repeat it. */
static bool first_fallback(struct gantry *g)
{
    bool first;

    pthread_mutex_lock(&g->lock);
    first = !g->fallback_told;
    g->fallback_told = true;
    pthread_mutex_unlock(&g->lock);
    return first;
}

static void tell_fallback(struct gantry *g, const struct view *view, bool any_device)
{
    bool software = any_device && view->info.type == GANTRY_DEVICE_CPU;
    bool other = view->plugin != &g->plugins.items[0];
    bool configured = strcmp(g->plugins.origin, "built-in") != 0;
    struct text text = {0};

    if ((!software && !other) || !first_fallback(g))
        return;
    if (software)
        text_add(&text, "\"%s\" is a software device, taken because no other can be used%s",
                 view->info.name, other ? "; " : "");
    if (other)
        add_fallback(g, view, &text);
    log_write(&g->log, software || configured ? GANTRY_LOG_WARNING : GANTRY_LOG_INFO, "%s",
              text_get(&text));
    text_free(&text);
}

static void tell_choice(struct gantry *g, const struct gantry_device_params *params,
                        const struct choice *choice, const struct view *view)
{
    const char *selector =
        params->device ? params->device : policy_global(g->policy, "device", NULL);

    log_write(&g->log, GANTRY_LOG_INFO, "device %u \"%s\" (%s) opened as %s:%u, policy %s",
              view->card, view->info.name, gantry_device_type_name(view->info.type),
              view->plugin->name, view->index, policy_section(g->policy, &view->subject));
    if (!demanded(params, choice))
        tell_fallback(g, view, strcmp(selector, "auto") == 0);
}

/* ---- The public calls ---------------------------------------------------------------------- */

/* Tries the views in their order; one that can't be opened is said and passed over. */
static enum gantry_status open_first(struct gantry *g, const struct choice *choice,
                                     const struct gantry_device_params *params,
                                     struct gantry_device **device)
{
    enum gantry_status status = GANTRY_E_NO_DEVICE;
    struct text failures = {0};

    for (uint32_t i = 0; i < choice->count; i++) {
        const struct view *view = choice->views[i];

        status = open_view(g, view, params->label, device);
        if (status == GANTRY_OK || status == GANTRY_E_OUT_OF_HOST_MEMORY)
            break;
        text_add(&failures, "%s%s:%u \"%s\": %s", i ? "; " : "", view->plugin->name, view->index,
                 view->info.name, gantry_last_error());
        if (i + 1 < choice->count)
            log_write(&g->log, GANTRY_LOG_WARNING, "%s:%u \"%s\" can't be opened: %s",
                      view->plugin->name, view->index, view->info.name, gantry_last_error());
    }
    if (status == GANTRY_OK)
        tell_choice(g, params, choice, (*device)->view);
    else if (failures.length)
        fail(status, "gantry_device_open: %s", text_get(&failures));
    text_free(&failures);
    return status;
}

enum gantry_status gantry_device_open(struct gantry *g, const struct gantry_device_params *params,
                                      struct gantry_device **device)
{
    static const struct gantry_device_params defaults;
    enum gantry_status status = context_usable(g, "gantry_device_open");
    struct choice choice;

    if (device)
        *device = NULL;
    if (status != GANTRY_OK)
        return status;
    if (!device)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_device_open: the handle's address is NULL");
    params = params ? params : &defaults;
    status = choose(g, params->device, params->backend, &choice);
    if (status == GANTRY_OK)
        status = open_first(g, &choice, params, device);
    choice_free(&choice);
    return status;
}

void gantry_device_close(struct gantry_device **handle)
{
    struct gantry_device *device = handle ? *handle : NULL;

    if (!device)
        return;
    *handle = NULL;
    if (device_forked(device))
        return;
    unlink_device(device);
    queue_idle_all(device);
    retire_flush(device);
    free_objects(device);
    device->ops->device_close(device->drv);
    free_device(device);
}

enum gantry_status gantry_device_info(struct gantry_device *device, struct gantry_device_info *info)
{
    if (!device || !info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_device_info: %s is NULL",
                    device ? "info" : "the device");
    if (device_forked(device))
        return device_usable(device, "gantry_device_info");
    report_card(device->g, device->index, device->view, info);
    return GANTRY_OK;
}

enum gantry_status gantry_device_native(struct gantry_device *device,
                                        struct gantry_native_device *native)
{
    enum gantry_status status = device_usable(device, "gantry_device_native");

    if (status != GANTRY_OK)
        return status;
    if (!native)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_device_native: native is NULL");
    memset(native, 0, sizeof(*native));
    device->ops->device_native(device->drv, native);
    native->backend = device->backend;
    return GANTRY_OK;
}
