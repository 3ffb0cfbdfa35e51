/* What is said of the device that was chosen. */
#include "notice.h"

#include <string.h>

#include "options.h"
#include "status.h"

static bool demanded(const struct gantry_device_params *params, const struct choice *choice)
{
    return params->backend || choice->demanded;
}

/* Why the backend that comes first in the configuration is not the one that was taken. */
static void add_fallback(const struct gantry *g, const struct view *view, struct text *text)
{
    const struct plugin *preferred = &g->plugins.items[0];
    const struct card *card = g->registry.cards[view->card];
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

void notice_choice(struct gantry *g, const struct gantry_device_params *params,
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

/* Of the values that plugins are given, families are what they can't always have. */
void notice_refused_values(const struct gantry *g, const struct view *view)
{
    static const enum option_id options_refused[] = {OPTION_QUEUE_FAMILY, OPTION_TRANSFER_FAMILY};
    struct gantry_config_value value;
    struct text text = {0};

    for (size_t i = 0; i < sizeof(options_refused) / sizeof(options_refused[0]); i++) {
        if (policy_value(g->policy, &view->subject, options_refused[i], &value) != GANTRY_OK ||
            strcmp(value.origin, "built-in") == 0)
            continue;
        text_add(&text, "%s%s = %s (%s)", text.length ? ", " : "", value.key, value.value,
                 value.origin);
    }
    if (text.length)
        fail_context("%s", text_get(&text));
    text_free(&text);
}
