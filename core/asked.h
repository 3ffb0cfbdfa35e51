/* What the index means that a caller asks about the configuration with. */
#ifndef GANTRY_CORE_ASKED_H
#define GANTRY_CORE_ASKED_H

#include "context.h"

/* A device, and the view of it that is asked about: the one that was named, or else the one through
 * which it would be opened; its first one when it can't be. */
struct asked {
    const struct card *card;
    const struct view *view;
};

/* Indices are, with gaps between: the devices that are here; their views; for each described device
 * itself and its views. Fails, naming `what`, the call, when there is nothing of that index. */
enum gantry_status asked_find(const struct gantry *g, const char *what, uint32_t index,
                              struct asked *asked);

/* The index of a card, or when it is not the one that would be used, of a view; NULL: of the card.
 */
uint32_t asked_index(const struct gantry *g, const struct card *card, const struct view *view);

#endif
