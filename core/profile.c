/* Devices that are not here, only described. */
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match.h"
#include "status.h"

enum { UUID_DIGITS = 36 };

/* ---- Checking ------------------------------------------------------------------------------- */

static enum gantry_status refuse(const char *what, const char *value, const char *right)
{
    return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_config_profile: %s \"%.100s\" %s", what,
                value ? value : "", right);
}

static bool text_fits(const char *text, size_t size)
{
    return !text || strlen(text) < size;
}

static enum gantry_status check_backends(const struct gantry_device_info *info)
{
    static const struct gantry_backend_device_info room;

    if (info->backend_count < 1 || info->backend_count > GANTRY_MAX_DEVICE_BACKENDS)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_config_profile: backend_count is %u; a device has 1 to %d",
                    info->backend_count, GANTRY_MAX_DEVICE_BACKENDS);
    for (uint32_t i = 0; i < info->backend_count; i++) {
        const char *name = info->backends[i].backend;

        if (!name || !plugin_name_valid(name))
            return refuse("backend", name, "is no name of a backend, as cuda or vulkan");
        if (!text_fits(info->backends[i].arch, sizeof(room.arch)))
            return refuse("arch", info->backends[i].arch, "has more than 31 characters");
    }
    return GANTRY_OK;
}

static enum gantry_status check(const struct gantry_device_info *info)
{
    static const struct gantry_backend_device_info room;
    char uuid[UUID_DIGITS + 1];
    struct match_pci pci;

    if (!info->name || !info->name[0] || !text_fits(info->name, sizeof(room.name)))
        return refuse("name", info->name, "does not have 1 to 255 characters");
    if ((unsigned)info->type > GANTRY_DEVICE_CPU)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "gantry_config_profile: type %d is not one of 0 to %d", (int)info->type,
                    GANTRY_DEVICE_CPU);
    if (info->uuid && !match_read_uuid(info->uuid, uuid))
        return refuse("uuid", info->uuid, "is not like GPU-01234567-89ab-cdef-0123-456789abcdef");
    if (info->pci && !match_read_pci(info->pci, &pci))
        return refuse("pci", info->pci, "is not like 0000:01:00.0");
    return check_backends(info);
}

/* ---- Making --------------------------------------------------------------------------------- */

static uint8_t hex_value(char digit)
{
    return (uint8_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static void set_identity(struct gantry_backend_device_info *to,
                         const struct gantry_device_info *from)
{
    char uuid[UUID_DIGITS + 1];
    struct match_pci pci;

    if (from->uuid && match_read_uuid(from->uuid, uuid)) {
        const char *digit = uuid;

        to->has_uuid = true;
        for (size_t i = 0; i < sizeof(to->uuid); i++, digit += 2) {
            digit += *digit == '-';
            to->uuid[i] = (uint8_t)(hex_value(digit[0]) << 4 | hex_value(digit[1]));
        }
    }
    if (from->pci && match_read_pci(from->pci, &pci)) {
        to->has_pci = true;
        to->pci_domain = pci.domain;
        to->pci_bus = pci.bus;
        to->pci_device = pci.device;
        to->pci_function = pci.function;
    }
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

/* The i-th backend's view of the device. */
static void describe(struct gantry_backend_device_info *to, const struct gantry_device_info *from,
                     uint32_t i)
{
    to->type = from->type;
    to->vendor_id = from->vendor_id;
    to->features = from->features;
    to->limits = from->limits;
    copy_text(to->name, sizeof(to->name), from->name);
    copy_text(to->arch, sizeof(to->arch), from->backends[i].arch);
    copy_text(to->driver_version, sizeof(to->driver_version), from->backends[i].driver_version);
    copy_text(to->skipped, sizeof(to->skipped), from->backends[i].skipped);
    copy_text(to->occupancy_source, sizeof(to->occupancy_source), from->occupancy_source);
    set_identity(to, from);
}

/* A backend that the configuration does not name: its devices are shown, and not used. */
static struct plugin *add_other(struct profiles *profiles, const char *name)
{
    struct plugin *plugin = arena_allocate(&profiles->arena, sizeof(*plugin));

    if (plugin)
        plugin->name = arena_copy(&profiles->arena, name, strlen(name));
    if (plugin && plugin->name)
        return plugin;
    fail(GANTRY_E_OUT_OF_HOST_MEMORY, "gantry_config_profile: out of host memory");
    return NULL;
}

static struct view *add_view(struct profiles *profiles, const struct gantry_device_info *info,
                             uint32_t i)
{
    const char *name = info->backends[i].backend;
    struct plugin *named = plugins_find(&profiles->plugins, name);
    struct plugin *plugin = named ? named : add_other(profiles, name);
    uint32_t rank = named ? (uint32_t)(named - profiles->plugins.items) : profiles->plugins.named;
    struct view *view = NULL;

    if (plugin)
        view = registry_add_view(&profiles->registry, plugin, info->backends[i].index);
    if (!view)
        return NULL;
    view->described = true;
    view->order += rank << 16; /* the configuration's order comes first */
    describe(&view->info, info, i);
    if (!named)
        snprintf(view->info.skipped, sizeof(view->info.skipped),
                 "the configuration does not name this backend (backend, %.180s)",
                 profiles->plugins.origin);
    return view;
}

static void drop_views(struct registry *registry, uint32_t count)
{
    while (registry->view_count > count)
        free(registry->views[--registry->view_count]);
}

static int by_order(const void *left, const void *right)
{
    const struct view *a = *(struct view *const *)left, *b = *(struct view *const *)right;

    return a->order < b->order ? -1 : a->order > b->order;
}

static struct card *add_card(struct profiles *profiles, const struct gantry_device_info *info)
{
    struct registry *registry = &profiles->registry;
    uint32_t before = registry->view_count;
    struct card *card = NULL;
    bool made = true;

    for (uint32_t i = 0; made && i < info->backend_count; i++)
        made = add_view(profiles, info, i) != NULL;
    if (made)
        card = registry_add_card(registry);
    if (!card) {
        drop_views(registry, before);
        return NULL;
    }
    for (uint32_t i = before; i < registry->view_count; i++)
        card_add_view(card, registry->views[i]);
    qsort(card->views, card->view_count, sizeof(struct view *), by_order);
    registry_settle(registry);
    return card;
}

/* ---- All ------------------------------------------------------------------------------------ */

static const struct view *find_view(const struct card *card, const char *backend)
{
    for (uint32_t i = 0; i < card->view_count; i++) {
        if (strcmp(card->views[i]->plugin->name, backend) == 0)
            return card->views[i];
    }
    return NULL;
}

static bool has_backend(const struct gantry_device_info *info, const char *backend)
{
    for (uint32_t i = 0; i < info->backend_count; i++) {
        if (strcmp(info->backends[i].backend, backend) == 0)
            return true;
    }
    return false;
}

enum gantry_status profiles_add(struct profiles *profiles, const struct policy *policy,
                                const struct gantry_device_info *info, const struct card **card,
                                const struct view **view)
{
    enum gantry_status status = check(info);

    if (status != GANTRY_OK)
        return status;
    if (info->chosen_backend && !has_backend(info, info->chosen_backend))
        return refuse("chosen_backend", info->chosen_backend, "is not among its backends");
    if (!profiles->plugins.origin)
        status = plugins_name(policy, &profiles->plugins);
    if (status != GANTRY_OK)
        return status;
    *card = add_card(profiles, info);
    if (!*card)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    *view = info->chosen_backend ? find_view(*card, info->chosen_backend) : NULL;
    return GANTRY_OK;
}

void profiles_close(struct profiles *profiles, const struct log *log)
{
    registry_close(&profiles->registry);
    plugins_close(&profiles->plugins, log);
    arena_release(&profiles->arena);
}
