/* Asking an open gantry about its configuration. */
#include "asked.h"
#include "clamp.h"
#include "status.h"

/* ---- Devices that are asked about ----------------------------------------------------------- */

/* What is chosen from: the machine that was described, if one was. */
static struct machine machine_asked(const struct gantry *g, const char *call)
{
    const struct profiles *profiles = &g->profiles;

    if (profiles->registry.card_count)
        return (struct machine){call, g->policy, &profiles->plugins, &profiles->registry};
    return context_machine(g, call);
}

enum gantry_status gantry_config_device(struct gantry *g, const struct gantry_device_params *params,
                                        uint32_t *index)
{
    static const struct gantry_device_params defaults;
    enum gantry_status status = context_usable(g, "gantry_config_device");
    struct machine machine;
    struct choice choice;

    if (status != GANTRY_OK)
        return status;
    if (!index)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_config_device: the index's address is NULL");
    *index = UINT32_MAX;
    machine = machine_asked(g, "gantry_config_device");
    status = choose(&machine, params ? params : &defaults, &choice);
    if (status != GANTRY_OK)
        return status;
    *index = asked_index(g, machine.registry->cards[choice.views[0]->card], choice.views[0]);
    choice_free(&choice);
    return GANTRY_OK;
}

enum gantry_status gantry_config_profile(struct gantry *g, const struct gantry_device_info *profile,
                                         uint32_t *index)
{
    enum gantry_status status = context_usable(g, "gantry_config_profile");
    const struct card *card;
    const struct view *view;

    if (status != GANTRY_OK)
        return status;
    if (!profile || !index)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_config_profile: %s is NULL",
                    profile ? "the index's address" : "the profile");
    *index = UINT32_MAX;
    status = profiles_add(&g->profiles, g->policy, profile, &card, &view);
    if (status == GANTRY_OK)
        *index = asked_index(g, card, view);
    return status;
}

/* *view gets NULL for no device in particular. */
static enum gantry_status find_view(struct gantry *g, const char *what, uint32_t index,
                                    const struct view **view)
{
    enum gantry_status status = context_usable(g, what);
    struct asked asked = {0};

    if (status == GANTRY_OK && index != UINT32_MAX)
        status = asked_find(g, what, index, &asked);
    *view = asked.view;
    return status;
}

/* ---- Values --------------------------------------------------------------------------------- */

static uint32_t value_count(const struct gantry *g, const struct view *view)
{
    return policy_value_count(g->policy, view ? &view->subject : NULL);
}

uint32_t gantry_config_count(struct gantry *g, uint32_t device_index)
{
    const struct view *view;

    return find_view(g, "gantry_config_count", device_index, &view) == GANTRY_OK
               ? value_count(g, view)
               : 0;
}

static enum gantry_status add_clamp(struct gantry *g, const struct view *view,
                                    struct gantry_config_value *value)
{
    char text[CLAMP_TEXT_SIZE];

    if (!view || !clamp_value(view, value->key, value->value, text))
        return GANTRY_OK;
    value->clamped = interned_text(&g->clamps, text);
    return value->clamped
               ? GANTRY_OK
               : fail(GANTRY_E_OUT_OF_HOST_MEMORY, "gantry_config_get: out of host memory");
}

enum gantry_status gantry_config_get(struct gantry *g, uint32_t device_index, uint32_t i,
                                     struct gantry_config_value *value)
{
    const struct view *view;
    enum gantry_status status = find_view(g, "gantry_config_get", device_index, &view);

    if (status != GANTRY_OK)
        return status;
    if (!value)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_config_get: value is NULL");
    if (i >= value_count(g, view))
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_config_get: value %u is not below the count of %u", i,
                    value_count(g, view));
    status = policy_value(g->policy, view ? &view->subject : NULL, i, value);
    return status == GANTRY_OK ? add_clamp(g, view, value) : status;
}

const char *gantry_config_file(struct gantry *g, uint32_t i)
{
    return context_usable(g, "gantry_config_file") == GANTRY_OK ? policy_file(g->policy, i) : NULL;
}
