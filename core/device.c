/* Opening and closing devices, and the state that they are in. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "clamp.h"
#include "host_register.h"
#include "loss.h"
#include "notice.h"
#include "queue.h"
#include "report.h"
#include "retire.h"
#include "status.h"

/* ---- State --------------------------------------------------------------------------------- */

enum gantry_status device_check_usable(struct gantry_device *device, const char *what)
{
    if (!device)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the device is NULL", what);
    if (process_check_end(what) != GANTRY_OK)
        return GANTRY_E_INVALID_STATE;
    if (device_forked(device))
        return fail(GANTRY_E_FORKED,
                    "%s: device \"%s\" was opened before fork() by the parent process; open one in "
                    "the child",
                    what, device->label);
    if (atomic_load_explicit(&device->lost, memory_order_relaxed))
        return fail(GANTRY_E_DEVICE_LOST,
                    "%s: device \"%s\" was lost earlier (gantry_device_loss() tells how); close it "
                    "and what belongs to it",
                    what, device->label);
    return GANTRY_OK;
}

enum gantry_status device_lose_locked(struct gantry_device *device, const char *during,
                                      const char *name)
{
    if (!atomic_load(&device->lost)) {
        loss_report(device, during, name);
        atomic_store(&device->lost, true);
    } else if (device->loss_sentence) {
        fail(GANTRY_E_DEVICE_LOST, "%s", device->loss_sentence);
    }
    return GANTRY_E_DEVICE_LOST;
}

enum gantry_status device_lose(struct gantry_device *device, const char *during, const char *name)
{
    enum gantry_status status;

    pthread_mutex_lock(&device->lock);
    status = device_lose_locked(device, during, name);
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* Made without the lock, which making a queue takes; of two threads that do so, one's queue stays.
 */
enum gantry_status device_service_queue(struct gantry_device *device, struct gantry_queue **queue)
{
    static const struct gantry_queue_params params = {.label = "gantry's own"};
    struct gantry_queue *made = NULL;
    enum gantry_status status;

    pthread_mutex_lock(&device->lock);
    *queue = device->service;
    pthread_mutex_unlock(&device->lock);
    if (*queue)
        return GANTRY_OK;
    status = queue_make(device, &params, &made);
    if (status != GANTRY_OK)
        return status;
    pthread_mutex_lock(&device->lock);
    if (!device->service) {
        device->service = made;
        made = NULL;
    }
    *queue = device->service;
    pthread_mutex_unlock(&device->lock);
    if (made)
        queue_free(made);
    return GANTRY_OK;
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
    registered_free(device);
    pthread_mutex_destroy(&device->lock);
    free(device->loss);
    free(device->loss_sentence);
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

static enum gantry_status open_driver(struct gantry_device *device,
                                      const struct gantry_backend_device_params *params)
{
    const struct view *view = device->view;
    enum gantry_status status =
        device->ops->device_open(view->plugin->instance->drv, view->index, params, &device->drv);

    if (status == GANTRY_OK) {
        status = process_watch_end(view->plugin->backend);
        if (status != GANTRY_OK)
            device->ops->device_close(device->drv);
    }
    return status;
}

static enum gantry_status open_view(struct gantry *g, const struct view *view, const char *label,
                                    struct gantry_device **out)
{
    struct gantry_device *device = calloc(1, sizeof(*device));
    struct gantry_backend_device_params params = {.size = sizeof(params)};
    enum gantry_status status;

    if (!device)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for an open device");
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
    device->policy.staging_mib = clamp_staging_mib(&view->info.limits, device->policy.staging_mib);
    memory_open(device);
    params.queue_family = device->policy.queue_family;
    params.transfer_family = device->policy.transfer_family;
    params.submit = device->policy.submit;
    keep_plugin(g, view->plugin);
    status = device->label
                 ? open_driver(device, &params)
                 : fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for the label of a device");
    if (status == GANTRY_E_CONFIG)
        notice_refused_values(g, view);
    if (status != GANTRY_OK) {
        free_device(device);
        return status;
    }
    link_device(device);
    *out = device;
    return GANTRY_OK;
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
        notice_choice(g, params, choice, (*device)->view);
    else if (failures.length && status != GANTRY_E_OUT_OF_HOST_MEMORY)
        fail(status, "gantry_device_open: %s", text_get(&failures));
    text_free(&failures);
    return status;
}

enum gantry_status gantry_device_open(struct gantry *g, const struct gantry_device_params *params,
                                      struct gantry_device **device)
{
    static const struct gantry_device_params defaults;
    enum gantry_status status = context_usable(g, "gantry_device_open");
    struct machine machine;
    struct choice choice;

    if (device)
        *device = NULL;
    if (status != GANTRY_OK)
        return status;
    if (!device)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_device_open: the handle's address is NULL");
    params = params ? params : &defaults;
    machine = context_machine(g, "gantry_device_open");
    status = choose(&machine, params, &choice);
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
    objects_free(device);
    buffers_close(device);
    addresses_close(&device->addresses);
    memory_close(device);
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
    report_card(device->g, device->g->registry.cards[device->index], device->view, info);
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
