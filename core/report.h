/* What an open gantry found: backends and devices. */
#ifndef GANTRY_CORE_REPORT_H
#define GANTRY_CORE_REPORT_H

#include "context.h"

/* Describes a card as opened through `chosen`, NULL when it can't be used. */
void report_card(const struct gantry *g, const struct card *card, const struct view *chosen,
                 struct gantry_device_info *info);

#endif
