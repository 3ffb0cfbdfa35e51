/* What an open gantry found: backends, devices, configuration. */
#include <string.h>

#include "context.h"
#include "report.h"
#include "status.h"

/* ---- Backends ------------------------------------------------------------------------------- */

uint32_t gantry_backend_count(struct gantry *g)
{
    return context_usable(g, "gantry_backend_count") == GANTRY_OK ? g->plugins.count : 0;
}

enum gantry_status gantry_backend_describe(struct gantry *g, uint32_t index,
                                           struct gantry_backend_info *info)
{
    enum gantry_status status = context_usable(g, "gantry_backend_describe");
    const struct plugin *plugin;

    if (status != GANTRY_OK)
        return status;
    if (!info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_backend_describe: info is NULL");
    if (index >= g->plugins.count)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_backend_describe: index %u is not below the count of %u", index,
                    g->plugins.count);
    plugin = &g->plugins.items[index];
    *info = (struct gantry_backend_info){
        .name = plugin->name,
        .loaded = plugin->backend != NULL,
        .path = plugin->path,
        .version = plugin->backend ? plugin->backend->version : NULL,
        .reason = plugin->reason,
        .device_count = plugin->device_count,
    };
    return GANTRY_OK;
}

/* ---- Devices -------------------------------------------------------------------------------- */

void report_card(const struct gantry *g, uint32_t index, const struct view *chosen,
                 struct gantry_device_info *info)
{
    const struct card *card = &g->registry.cards[index];
    const struct view *shown = chosen ? chosen : card->views[0];

    *info = (struct gantry_device_info){
        .index = index,
        .name = shown->info.name,
        .type = shown->info.type,
        .uuid = shown->subject.uuid,
        .pci = shown->subject.pci,
        .backend_count = card->view_count,
        .chosen_backend = chosen ? chosen->plugin->name : NULL,
        .chosen_section = chosen ? policy_section(g->policy, &chosen->subject) : NULL,
        .limits = shown->info.limits,
        .features = shown->info.features,
    };
    for (uint32_t i = 0; i < card->view_count; i++) {
        const struct view *view = card->views[i];

        info->backends[i].backend = view->plugin->name;
        info->backends[i].index = view->index;
        info->backends[i].driver_version = view->info.driver_version;
        info->backends[i].arch = view->info.arch;
        info->backends[i].skipped = view->info.skipped[0] ? view->info.skipped : NULL;
    }
}

uint32_t gantry_device_count(struct gantry *g)
{
    return context_usable(g, "gantry_device_count") == GANTRY_OK ? g->registry.card_count : 0;
}

static enum gantry_status check_index(struct gantry *g, const char *what, uint32_t index)
{
    enum gantry_status status = context_usable(g, what);

    if (status != GANTRY_OK)
        return status;
    if (index >= g->registry.card_count)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: device %u is not below the count of %u", what,
                    index, g->registry.card_count);
    return GANTRY_OK;
}

enum gantry_status gantry_device_describe(struct gantry *g, uint32_t index,
                                          struct gantry_device_info *info)
{
    enum gantry_status status = check_index(g, "gantry_device_describe", index);

    if (status != GANTRY_OK)
        return status;
    if (!info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_device_describe: info is NULL");
    report_card(g, index, card_best_view(&g->registry.cards[index]), info);
    return GANTRY_OK;
}

/* ---- Configuration -------------------------------------------------------------------------- */

/* The device as it would be opened; one that can't be used is asked about through its first
 * backend. */
static enum gantry_status find_subject(struct gantry *g, const char *what, uint32_t index,
                                       const struct policy_subject **subject)
{
    enum gantry_status status;
    const struct view *view;

    *subject = NULL;
    if (index == UINT32_MAX)
        return context_usable(g, what);
    status = check_index(g, what, index);
    if (status != GANTRY_OK)
        return status;
    view = card_best_view(&g->registry.cards[index]);
    *subject = view ? &view->subject : &g->registry.cards[index].views[0]->subject;
    return GANTRY_OK;
}

uint32_t gantry_config_count(struct gantry *g, uint32_t device_index)
{
    const struct policy_subject *subject;

    if (find_subject(g, "gantry_config_count", device_index, &subject) != GANTRY_OK)
        return 0;
    return policy_value_count(g->policy, subject);
}

enum gantry_status gantry_config_get(struct gantry *g, uint32_t device_index, uint32_t i,
                                     struct gantry_config_value *value)
{
    const struct policy_subject *subject;
    enum gantry_status status = find_subject(g, "gantry_config_get", device_index, &subject);
    uint32_t count;

    if (status != GANTRY_OK)
        return status;
    if (!value)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_config_get: value is NULL");
    count = policy_value_count(g->policy, subject);
    if (i >= count)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_config_get: value %u is not below the count of %u", i, count);
    return policy_value(g->policy, subject, i, value);
}

const char *gantry_config_file(struct gantry *g, uint32_t i)
{
    return context_usable(g, "gantry_config_file") == GANTRY_OK ? policy_file(g->policy, i) : NULL;
}
