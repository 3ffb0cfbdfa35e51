/* The devices that the open plugins see: one entry for each physical GPU. */
#ifndef GANTRY_CORE_REGISTRY_H
#define GANTRY_CORE_REGISTRY_H

#include "plugins.h"

enum { UUID_TEXT_SIZE = 41, PCI_TEXT_SIZE = 24 };

/* A device as one backend sees it. */
struct view {
    struct plugin *plugin;
    uint32_t index; /* the plugin's number for it: cuda:0 */
    uint32_t card;  /* its card's index */
    uint32_t order; /* of discovery: the configuration's order of backends, then their own */
    bool described; /* not found here: what a profile does not tell is unknown, not absent */
    struct gantry_backend_device_info info;
    struct policy_subject subject; /* its texts are in the view and the card */
};

/* A physical GPU, or a processor that a driver shows as one. */
struct card {
    uint32_t number;           /* of making: sorting leaves it as it is */
    char uuid[UUID_TEXT_SIZE]; /* "": unknown */
    char pci[PCI_TEXT_SIZE];   /* likewise */
    uint32_t view_count;
    struct view *views[GANTRY_MAX_DEVICE_BACKENDS]; /* in the order of preference */
};

/* Two views are one card
 * - when both know a UUID: if it is the same, and their PCI addresses do not differ (different
 * cards with one UUID have been seen);
 * - else, when both know a PCI address: if it is the same.
 * What a driver does not know, or fills with zeros, equals nothing. Equal PCI addresses with
 * different UUIDs are parts of one card, which are devices of their own.
 *
 * Two drivers of one backend that list one card (Mesa's and the vendor's, or one driver that is
 * found twice) so give it two views. The one that its backend lists first is used, the other is
 * shown as its twin and opened only when it is named (vulkan:1).
 *
 * Cards are sorted: discrete, integrated, virtual, other, CPU; then by the first backend that sees
 * them; then by PCI address and UUID, so that their numbers stay when drivers change their order.
 */
struct registry {
    struct card **cards;
    uint32_t card_count;
    struct view **views; /* by their order of discovery */
    uint32_t view_count;
};

enum gantry_status registry_open(const struct plugins *plugins, const struct log *log,
                                 struct registry *registry);
void registry_close(struct registry *registry);

/* A new view, and a new card without views; NULL when host memory runs out, which is set. Pointers
 * to both stay good until the registry is closed. */
struct view *registry_add_view(struct registry *registry, struct plugin *plugin, uint32_t index);
struct card *registry_add_card(struct registry *registry);

/* Adds a view to a card; false when it has as many as there is room for. */
bool card_add_view(struct card *card, struct view *view);

/* To be called when the cards have their views: gives them their identity and their order. */
void registry_settle(struct registry *registry);

/* The view that is used unless a backend is demanded: the first without a reason against it. NULL
 * when there is none. */
const struct view *card_best_view(const struct card *card);

/* Adds `0 "NAME" (discrete; cuda:0, vulkan:0 skipped: WHY), 1 …` to a text. */
void registry_list(const struct registry *registry, struct text *text);

#endif
