/* The devices that the open plugins see: one entry for each physical GPU. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

/* ---- Views --------------------------------------------------------------------------------- */

#define TERMINATE(array) ((array)[sizeof(array) - 1] = '\0')

static void describe(struct view *view)
{
    struct gantry_backend_device_info *info = &view->info;
    const struct gantry_backend_ops *ops = view->plugin->backend->ops;
    static const uint8_t zeros[sizeof(info->uuid)];

    if (ops->device_describe(view->plugin->instance->drv, view->index, info) != GANTRY_OK) {
        memset(info, 0, sizeof(*info));
        snprintf(info->name, sizeof(info->name), "unknown device");
        snprintf(info->skipped, sizeof(info->skipped), "%.*s", (int)sizeof(info->skipped) - 1,
                 gantry_last_error());
    }
    TERMINATE(info->name);
    TERMINATE(info->arch);
    TERMINATE(info->driver_version);
    TERMINATE(info->skipped);
    TERMINATE(info->occupancy_source);
    if (memcmp(info->uuid, zeros, sizeof(zeros)) == 0)
        info->has_uuid = false;
    if (!info->pci_domain && !info->pci_bus && !info->pci_device && !info->pci_function)
        info->has_pci = false;
}

/* The array with room for one more pointer; NULL when host memory runs out, which is set. */
static void *extend(void *array, uint32_t count)
{
    void *longer = realloc(array, ((size_t)count + 1) * sizeof(void *));

    if (!longer)
        fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory for a list of %u devices", count + 1);
    return longer;
}

struct view *registry_add_view(struct registry *registry, struct plugin *plugin, uint32_t index)
{
    struct view **views = extend(registry->views, registry->view_count);
    struct view *view = calloc(1, sizeof(*view));

    registry->views = views ? views : registry->views;
    if (!views || !view) {
        free(view);
        fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory for device %s:%u", plugin->name,
             index);
        return NULL;
    }
    view->plugin = plugin;
    view->index = index;
    view->order = registry->view_count;
    return views[registry->view_count++] = view;
}

static enum gantry_status find_views(const struct plugins *plugins, struct registry *registry)
{
    for (uint32_t i = 0; i < plugins->count; i++) {
        for (uint32_t d = 0; d < plugins->items[i].device_count; d++) {
            struct view *view = registry_add_view(registry, &plugins->items[i], d);

            if (!view)
                return GANTRY_E_OUT_OF_HOST_MEMORY;
            describe(view);
        }
    }
    return GANTRY_OK;
}

/* ---- Cards --------------------------------------------------------------------------------- */

enum likeness { DIFFERENT, UNKNOWN, SAME };

static enum likeness compare_pci(const struct gantry_backend_device_info *a,
                                 const struct gantry_backend_device_info *b)
{
    if (!a->has_pci || !b->has_pci)
        return UNKNOWN;
    return a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus &&
                   a->pci_device == b->pci_device && a->pci_function == b->pci_function
               ? SAME
               : DIFFERENT;
}

static enum likeness compare(const struct gantry_backend_device_info *a,
                             const struct gantry_backend_device_info *b)
{
    enum likeness pci = compare_pci(a, b);

    if (!a->has_uuid || !b->has_uuid || pci == DIFFERENT)
        return pci;
    return memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0 ? SAME : DIFFERENT;
}

/* A view joins a card when it is like one of the card's views and unlike none. */
static bool belongs(const struct view *view, const struct card *card)
{
    bool like_one = false;

    for (uint32_t i = 0; i < card->view_count; i++) {
        enum likeness likeness = compare(&card->views[i]->info, &view->info);

        if (likeness == DIFFERENT)
            return false;
        like_one |= likeness == SAME;
    }
    return like_one;
}

struct card *registry_add_card(struct registry *registry)
{
    struct card **cards = extend(registry->cards, registry->card_count);
    struct card *card = calloc(1, sizeof(*card));

    registry->cards = cards ? cards : registry->cards;
    if (!cards || !card) {
        free(card);
        fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory for a device");
        return NULL;
    }
    card->number = registry->card_count;
    return cards[registry->card_count++] = card;
}

bool card_add_view(struct card *card, struct view *view)
{
    if (card->view_count == GANTRY_MAX_DEVICE_BACKENDS)
        return false;
    card->views[card->view_count++] = view;
    return true;
}

static struct card *card_for(struct registry *registry, const struct view *view)
{
    for (uint32_t i = 0; i < registry->card_count; i++) {
        if (belongs(view, registry->cards[i]))
            return registry->cards[i];
    }
    return registry_add_card(registry);
}

static void write_uuid(const uint8_t *bytes, char text[UUID_TEXT_SIZE])
{
    size_t at = (size_t)snprintf(text, UUID_TEXT_SIZE, "GPU-");

    for (int i = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;

        at += (size_t)snprintf(text + at, UUID_TEXT_SIZE - at, "%s%02x", dash ? "-" : "", bytes[i]);
    }
}

/* What one backend knows of the card's identity holds for all of them. */
static void identify(struct card *card)
{
    for (uint32_t i = 0; i < card->view_count; i++) {
        const struct gantry_backend_device_info *info = &card->views[i]->info;

        if (info->has_uuid && !card->uuid[0])
            write_uuid(info->uuid, card->uuid);
        if (info->has_pci && !card->pci[0])
            snprintf(card->pci, sizeof(card->pci), "%04x:%02x:%02x.%x", info->pci_domain,
                     info->pci_bus & 0xff, info->pci_device & 0xff, info->pci_function & 0xf);
    }
}

static enum gantry_status find_cards(struct registry *registry, const struct log *log)
{
    for (uint32_t i = 0; i < registry->view_count; i++) {
        struct view *view = registry->views[i];
        struct card *card = card_for(registry, view);

        if (!card)
            return GANTRY_E_OUT_OF_HOST_MEMORY;
        if (card_add_view(card, view))
            continue;
        snprintf(view->info.skipped, sizeof(view->info.skipped), "it is listed %d times",
                 GANTRY_MAX_DEVICE_BACKENDS + 1);
        log_write(log, GANTRY_LOG_WARNING, "%s:%u \"%s\" is not used: %s", view->plugin->name,
                  view->index, view->info.name, view->info.skipped);
    }
    return GANTRY_OK;
}

const struct view *card_best_view(const struct card *card)
{
    for (uint32_t i = 0; i < card->view_count; i++) {
        if (!card->views[i]->info.skipped[0])
            return card->views[i];
    }
    return NULL;
}

static int type_rank(const struct card *card)
{
    const struct view *view = card_best_view(card);

    switch (view ? view->info.type : card->views[0]->info.type) {
    case GANTRY_DEVICE_DISCRETE:
        return 0;
    case GANTRY_DEVICE_INTEGRATED:
        return 1;
    case GANTRY_DEVICE_VIRTUAL:
        return 2;
    case GANTRY_DEVICE_OTHER:
        return 3;
    case GANTRY_DEVICE_CPU:
        return 4;
    }
    return 3;
}

static int compare_cards(const void *left, const void *right)
{
    const struct card *a = *(struct card *const *)left, *b = *(struct card *const *)right;
    int order = type_rank(a) - type_rank(b);

    if (order == 0 && a->views[0]->plugin != b->views[0]->plugin)
        order = a->views[0]->order < b->views[0]->order ? -1 : 1;
    if (order == 0)
        order = strcmp(a->pci, b->pci);
    if (order == 0)
        order = strcmp(a->uuid, b->uuid);
    if (order == 0)
        order = a->views[0]->order < b->views[0]->order ? -1 : 1;
    return order;
}

static void set_subjects(struct card *card, uint32_t index)
{
    for (uint32_t i = 0; i < card->view_count; i++) {
        struct view *view = card->views[i];

        view->card = index;
        view->subject = (struct policy_subject){
            .name = view->info.name,
            .uuid = card->uuid[0] ? card->uuid : NULL,
            .pci = card->pci[0] ? card->pci : NULL,
            .arch = view->info.arch,
            .vendor_id = view->info.vendor_id,
            .type = view->info.type,
            .backend = view->plugin->name,
        };
    }
}

void registry_settle(struct registry *registry)
{
    for (uint32_t i = 0; i < registry->card_count; i++)
        identify(registry->cards[i]);
    if (registry->card_count)
        qsort(registry->cards, registry->card_count, sizeof(*registry->cards), compare_cards);
    for (uint32_t i = 0; i < registry->card_count; i++)
        set_subjects(registry->cards[i], i);
}

enum gantry_status registry_open(const struct plugins *plugins, const struct log *log,
                                 struct registry *registry)
{
    enum gantry_status status;

    memset(registry, 0, sizeof(*registry));
    status = find_views(plugins, registry);
    if (status == GANTRY_OK)
        status = find_cards(registry, log);
    if (status == GANTRY_OK)
        registry_settle(registry);
    else
        registry_close(registry);
    return status;
}

void registry_close(struct registry *registry)
{
    for (uint32_t i = 0; i < registry->card_count; i++)
        free(registry->cards[i]);
    for (uint32_t i = 0; i < registry->view_count; i++)
        free(registry->views[i]);
    free(registry->cards);
    free(registry->views);
    memset(registry, 0, sizeof(*registry));
}

void registry_list(const struct registry *registry, struct text *text)
{
    for (uint32_t i = 0; i < registry->card_count; i++) {
        const struct card *card = registry->cards[i];

        text_add(text, "%s%u \"%s\" (%s; ", i ? ", " : "", i, card->views[0]->info.name,
                 gantry_device_type_name(card->views[0]->info.type));
        for (uint32_t v = 0; v < card->view_count; v++) {
            const struct view *view = card->views[v];

            text_add(text, "%s%s:%u", v ? ", " : "", view->plugin->name, view->index);
            if (view->info.skipped[0])
                text_add(text, " can't be used: %s", view->info.skipped);
        }
        text_add(text, ")");
    }
}
