/* Recording single commands; launches are in record_launch.h. A list keeps its first failure, an
 * open batch goes on without the command: so these functions check, record, and leave keeping the
 * failure to their callers. */
#ifndef GANTRY_CORE_RECORD_H
#define GANTRY_CORE_RECORD_H

#include "list.h"

#define STAGING_ALIGNMENT 256

/* Each gives the command the id list->next_id, also when it has nothing to do; a failure, which
 * names `what`, the call, leaves the list as it was. The list can be recorded into, and commands
 * are for its device. */
enum gantry_status record_copy(struct gantry_list *list, const struct command_copy *copy,
                               const char *what);
enum gantry_status record_fill(struct gantry_list *list, const struct command_fill *fill,
                               const char *what);

/* An upload or a download of at least one byte, through a piece of the staging memory that the
 * caller has chosen. Its range and host memory were checked by record_check_transfer(). */
enum gantry_status record_transfer(struct gantry_list *list, enum command_kind kind,
                                   const struct command_transfer *transfer, const char *what);
enum gantry_status record_check_transfer(const struct gantry_device *device,
                                         const struct command_transfer *transfer, const char *what);

#endif
