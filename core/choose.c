/* Which device to open, and through which backend. */
#include "choose.h"

#include <stdlib.h>
#include <string.h>

#include "ascii.h"
#include "status.h"

static void report(const struct machine *machine, struct text *text)
{
    bool first = true;

    if (machine->registry->card_count) {
        text_add(text, "devices: ");
        registry_list(machine->registry, text);
    } else {
        text_add(text, "no backend lists a device");
    }
    for (uint32_t i = 0; i < machine->plugins->named; i++) {
        const struct plugin *plugin = &machine->plugins->items[i];

        if (!plugin->reason)
            continue;
        text_add(text, "%s%s: %s", first ? "; backends without one: " : "; ", plugin->name,
                 plugin->reason);
        first = false;
    }
}

/* Fails with `why`, which it frees, followed by what was found. */
static enum gantry_status refuse(const struct machine *machine, enum gantry_status status,
                                 struct text *why)
{
    struct text found = {0};

    report(machine, &found);
    fail(status, "%s: %s; %s", machine->call, text_get(why), text_get(&found));
    text_free(&found);
    text_free(why);
    return status;
}

/* ---- Selectors ----------------------------------------------------------------------------- */

/* What was asked for, and by whom. */
struct request {
    const struct machine *machine;
    const char *selector;
    const char *origin;
    const char *backend; /* a demand; NULL: any */
};

/* Reads plain decimal digits. A number that is too large is UINT32_MAX, which no device has. */
static bool read_number(const char *text, uint32_t *number)
{
    uint64_t value = 0;

    if (!*text || strspn(text, "0123456789") != strlen(text))
        return false;
    for (; *text; text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > UINT32_MAX)
            value = UINT32_MAX;
    }
    *number = (uint32_t)value;
    return true;
}

/* Splits "cuda:0". False when the selector is no BACKEND:NUMBER. */
static bool read_view(const struct request *request, const struct plugin **plugin, uint32_t *number)
{
    const char *colon = strchr(request->selector, ':');
    const struct plugins *plugins = request->machine->plugins;

    if (!colon || !read_number(colon + 1, number))
        return false;
    for (uint32_t i = 0; i < plugins->count; i++) {
        size_t length = strlen(plugins->items[i].name);

        *plugin = &plugins->items[i];
        if (length == (size_t)(colon - request->selector) &&
            ascii_starts(request->selector, (*plugin)->name))
            return true;
    }
    return false;
}

static bool matches(const char *selector, const struct card *card)
{
    for (uint32_t i = 0; i < card->view_count; i++) {
        if (policy_selects(selector, &card->views[i]->subject))
            return true;
    }
    return false;
}

static const struct card *find_card(const struct request *request)
{
    const struct registry *registry = request->machine->registry;
    uint32_t number;

    if (read_number(request->selector, &number))
        return number < registry->card_count ? registry->cards[number] : NULL;
    for (uint32_t i = 0; i < registry->card_count; i++) {
        if (matches(request->selector, registry->cards[i]))
            return registry->cards[i];
    }
    return NULL;
}

static const struct view *find_view(const struct request *request, const struct plugin *plugin,
                                    uint32_t number)
{
    const struct registry *registry = request->machine->registry;

    for (uint32_t i = 0; i < registry->view_count; i++) {
        const struct view *view = registry->views[i];

        if (view->plugin == plugin && view->index == number)
            return view;
    }
    return NULL;
}

/* ---- Choosing ------------------------------------------------------------------------------ */

static bool wanted(const struct request *request, const struct view *view)
{
    return !view->info.skipped[0] &&
           (!request->backend || strcmp(request->backend, view->plugin->name) == 0);
}

static void take_views(const struct request *request, const struct card *card,
                       struct choice *choice)
{
    for (uint32_t i = 0; i < card->view_count; i++) {
        if (wanted(request, card->views[i]))
            choice->views[choice->count++] = card->views[i];
    }
}

static enum gantry_status no_match(const struct request *request)
{
    bool none = request->machine->registry->card_count == 0;
    struct text why = {0};

    text_add(&why, "device \"%s\" (%s) names no device that is there", request->selector,
             request->origin);
    return refuse(request->machine, none ? GANTRY_E_NO_DEVICE : GANTRY_E_INVALID_ARGUMENT, &why);
}

static enum gantry_status not_usable(const struct request *request)
{
    struct text why = {0};

    text_add(&why, "device \"%s\" (%s) can't be used", request->selector, request->origin);
    if (request->backend)
        text_add(&why, " through the demanded backend %s", request->backend);
    return refuse(request->machine, GANTRY_E_NO_DEVICE, &why);
}

static enum gantry_status choose_view(const struct request *request, const struct plugin *plugin,
                                      uint32_t number, struct choice *choice)
{
    const struct view *view = find_view(request, plugin, number);
    struct text why = {0};

    if (request->backend && strcmp(request->backend, plugin->name) != 0) {
        text_add(&why, "device \"%s\" (%s) contradicts the demanded backend %s", request->selector,
                 request->origin, request->backend);
        return refuse(request->machine, GANTRY_E_INVALID_ARGUMENT, &why);
    }
    choice->demanded = true;
    if (!view)
        return no_match(request);
    if (!wanted(request, view))
        return not_usable(request);
    choice->views[choice->count++] = view;
    return GANTRY_OK;
}

static enum gantry_status choose_auto(const struct request *request, struct choice *choice)
{
    const struct registry *registry = request->machine->registry;
    struct text why = {0};

    for (uint32_t i = 0; i < registry->card_count; i++)
        take_views(request, registry->cards[i], choice);
    if (choice->count)
        return GANTRY_OK;
    text_add(&why, "no device can be used");
    if (request->backend)
        text_add(&why, " through the demanded backend %s", request->backend);
    return refuse(request->machine, GANTRY_E_NO_DEVICE, &why);
}

static enum gantry_status choose_selected(const struct request *request, struct choice *choice)
{
    const struct plugin *plugin;
    const struct card *card;
    uint32_t number;

    if (ascii_same(request->selector, "auto"))
        return choose_auto(request, choice);
    if (read_view(request, &plugin, &number))
        return choose_view(request, plugin, number, choice);
    card = find_card(request);
    if (!card)
        return no_match(request);
    choice->demanded = request->backend != NULL;
    take_views(request, card, choice);
    return choice->count ? GANTRY_OK : not_usable(request);
}

static enum gantry_status check_backend(const struct request *request)
{
    const struct plugins *plugins = request->machine->plugins;
    const struct plugin *plugin;
    struct text why = {0};

    if (!request->backend)
        return GANTRY_OK;
    plugin = plugins_find(plugins, request->backend);
    if (plugin && (uint32_t)(plugin - plugins->items) < plugins->named)
        return GANTRY_OK;
    text_add(&why,
             "the demanded backend \"%s\" is not among those that the configuration names "
             "(backend, %s)",
             request->backend, plugins->origin);
    return refuse(request->machine, GANTRY_E_NO_DEVICE, &why);
}

enum gantry_status choose(const struct machine *machine, const struct gantry_device_params *params,
                          struct choice *choice)
{
    struct request request = {
        .machine = machine,
        .selector = params->device,
        .backend = params->backend,
        .origin = "gantry_device_params.device",
    };
    enum gantry_status status;

    memset(choice, 0, sizeof(*choice));
    if (!params->device)
        request.selector = policy_global(machine->policy, "device", &request.origin);
    choice->views = calloc(machine->registry->view_count + 1, sizeof(const struct view *));
    if (!choice->views)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "%s: out of host memory", machine->call);
    status = check_backend(&request);
    if (status == GANTRY_OK)
        status = choose_selected(&request, choice);
    if (status != GANTRY_OK)
        choice_free(choice);
    return status;
}

void choice_free(struct choice *choice)
{
    free(choice->views);
    memset(choice, 0, sizeof(*choice));
}
