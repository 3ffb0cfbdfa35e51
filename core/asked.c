/* What the index means that a caller asks about the configuration with. */
#include "asked.h"

#include "status.h"

/* Views and described devices stand far above the devices, so that counting past those finds
 * nothing. */
#define FIRST_VIEW    UINT32_C(0x40000000)
#define FIRST_PROFILE UINT32_C(0x80000000)

/* Of a described device: itself and its views. */
enum { INDICES_PER_PROFILE = 1 + GANTRY_MAX_DEVICE_BACKENDS };

static const struct card *card_of_number(const struct registry *registry, uint32_t number)
{
    for (uint32_t i = 0; i < registry->card_count; i++) {
        if (registry->cards[i]->number == number)
            return registry->cards[i];
    }
    return NULL;
}

static void take_card(const struct card *card, struct asked *asked)
{
    const struct view *best = card_best_view(card);

    *asked = (struct asked){card, best ? best : card->views[0]};
}

static bool find_here(const struct registry *registry, uint32_t index, struct asked *asked)
{
    const struct view *view;

    if (index < registry->card_count) {
        take_card(registry->cards[index], asked);
        return true;
    }
    if (index < FIRST_VIEW || index - FIRST_VIEW >= registry->view_count)
        return false;
    view = registry->views[index - FIRST_VIEW];
    *asked = (struct asked){registry->cards[view->card], view};
    return true;
}

static bool find_profile(const struct registry *registry, uint32_t index, struct asked *asked)
{
    const struct card *card = card_of_number(registry, index / INDICES_PER_PROFILE);
    uint32_t part = index % INDICES_PER_PROFILE;

    if (!card || part > card->view_count)
        return false;
    take_card(card, asked);
    if (part)
        asked->view = card->views[part - 1];
    return true;
}

enum gantry_status asked_find(const struct gantry *g, const char *what, uint32_t index,
                              struct asked *asked)
{
    if (index < FIRST_PROFILE ? find_here(&g->registry, index, asked)
                              : find_profile(&g->profiles.registry, index - FIRST_PROFILE, asked))
        return GANTRY_OK;
    return fail(GANTRY_E_INVALID_ARGUMENT,
                "%s: device %u is not below the count of %u, and neither gantry_config_device() "
                "nor gantry_config_profile() has returned it",
                what, index, g->registry.card_count);
}

static uint32_t index_here(const struct gantry *g, const struct view *view, bool named)
{
    if (!named)
        return view->card;
    for (uint32_t i = 0; i < g->registry.view_count; i++) {
        if (g->registry.views[i] == view)
            return FIRST_VIEW + i;
    }
    return UINT32_MAX;
}

uint32_t asked_index(const struct gantry *g, const struct card *card, const struct view *view)
{
    bool named = view && view != card_best_view(card);
    uint32_t part = 0;

    if (!card->views[0]->described)
        return index_here(g, view ? view : card->views[0], named);
    while (named && card->views[part++] != view)
        continue;
    return FIRST_PROFILE + card->number * INDICES_PER_PROFILE + part;
}
