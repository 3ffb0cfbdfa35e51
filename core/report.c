/* What an open gantry found: backends and devices. */
#include "report.h"

#include "asked.h"
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

static const struct plugin *find_plugin(struct gantry *g, uint32_t index, const char *call)
{
    if (context_usable(g, call) != GANTRY_OK)
        return NULL;
    if (index < g->plugins.count)
        return &g->plugins.items[index];
    fail(GANTRY_E_INVALID_ARGUMENT, "%s: backend %u is not below the count of %u", call, index,
         g->plugins.count);
    return NULL;
}

uint32_t gantry_backend_attempt_count(struct gantry *g, uint32_t backend_index)
{
    const struct plugin *plugin = find_plugin(g, backend_index, "gantry_backend_attempt_count");

    return plugin ? plugin->attempts.count : 0;
}

enum gantry_status gantry_backend_attempt(struct gantry *g, uint32_t backend_index, uint32_t i,
                                          struct gantry_backend_attempt *attempt)
{
    static const char call[] = "gantry_backend_attempt";
    enum gantry_status status = context_usable(g, call);
    const struct plugin *plugin;
    const struct attempt *found;

    if (status != GANTRY_OK)
        return status;
    plugin = find_plugin(g, backend_index, call);
    if (!plugin)
        return GANTRY_E_INVALID_ARGUMENT;
    if (!attempt)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: attempt is NULL", call);
    if (i >= plugin->attempts.count)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: attempt %u of backend %s is not below the count "
                    "of %u",
                    call, i, plugin->name, plugin->attempts.count);
    found = &plugin->attempts.items[i];
    *attempt = (struct gantry_backend_attempt){found->path, found->outcome, found->text};
    return GANTRY_OK;
}

/* ---- Devices -------------------------------------------------------------------------------- */

void report_card(const struct gantry *g, const struct card *card, const struct view *chosen,
                 struct gantry_device_info *info)
{
    const struct view *shown = chosen ? chosen : card->views[0];
    const char *source = shown->info.occupancy_source;

    *info = (struct gantry_device_info){
        .index = shown->card,
        .name = shown->info.name,
        .type = shown->info.type,
        .uuid = shown->subject.uuid,
        .pci = shown->subject.pci,
        .vendor_id = shown->info.vendor_id,
        .backend_count = card->view_count,
        .chosen_backend = chosen ? chosen->plugin->name : NULL,
        .chosen_section = chosen ? policy_section(g->policy, &chosen->subject) : NULL,
        .limits = shown->info.limits,
        .features = shown->info.features,
        .occupancy_source = source[0] ? source : NULL,
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

enum gantry_status gantry_device_describe(struct gantry *g, uint32_t index,
                                          struct gantry_device_info *info)
{
    enum gantry_status status = context_usable(g, "gantry_device_describe");
    struct asked asked;

    if (status == GANTRY_OK)
        status = asked_find(g, "gantry_device_describe", index, &asked);
    if (status != GANTRY_OK)
        return status;
    if (!info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_device_describe: info is NULL");
    report_card(g, asked.card, asked.view->info.skipped[0] ? NULL : asked.view, info);
    return GANTRY_OK;
}
