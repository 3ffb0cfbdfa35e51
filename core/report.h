/* What an open gantry found: backends, devices, configuration. */
#ifndef GANTRY_CORE_REPORT_H
#define GANTRY_CORE_REPORT_H

#include "context.h"

/* Describes a card of the registry as opened through `chosen`, NULL when it can't be used. */
void report_card(const struct gantry *g, uint32_t index, const struct view *chosen,
                 struct gantry_device_info *info);

#endif
