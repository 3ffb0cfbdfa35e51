/* Recording single commands; launches are in record_launch.h. A list keeps its first failure, an
 * open batch goes on without the command: so these functions check, record, and leave keeping the
 * failure to their callers. */
#ifndef GANTRY_CORE_RECORD_H
#define GANTRY_CORE_RECORD_H

#include "list.h"
#include "rect.h"

#define STAGING_ALIGNMENT 256

/* Each gives the command the id list->next_id, also when it has nothing to do; a failure, which
 * names `what`, the call, leaves the list as it was. The list can be recorded into, and commands
 * are for its device. */
enum gantry_status record_copy(struct gantry_list *list, const struct command_copy *copy,
                               const char *what);
enum gantry_status record_fill(struct gantry_list *list, const struct command_fill *fill,
                               const char *what);

/* Of a rectangle: the caller has filled in buffers and offsets. */
enum gantry_status record_copy_rect(struct gantry_list *list, struct command_copy *copy,
                                    const struct gantry_rect *rect, const char *what);

/* That the buffer belongs to the device and holds the range. */
enum gantry_status record_check_range(const struct gantry_device *device,
                                      const struct gantry_buffer *buffer, uint64_t offset,
                                      uint64_t size, const char *what);

/* Plain transfers; rectangles begin as such of no bytes. Host memory of an upload is only read: see
 * command.h. */
static inline struct command_transfer command_upload(struct gantry_buffer *to, uint64_t offset,
                                                     const void *from, uint64_t size)
{
    return (struct command_transfer){
        .buffer = to, .offset = offset, .size = size, .rows = 1, .host = (void *)(uintptr_t)from};
}

static inline struct command_transfer command_download(struct gantry_buffer *from, uint64_t offset,
                                                       void *to, uint64_t size)
{
    return (struct command_transfer){
        .buffer = from, .offset = offset, .size = size, .rows = 1, .host = to};
}

/* An upload or a download of at least one byte, through a piece of the staging memory that the
 * caller has chosen. Its range and host memory were checked by record_check_transfer(). */
enum gantry_status record_transfer(struct gantry_list *list, enum command_kind kind,
                                   const struct command_transfer *transfer, const char *what);
enum gantry_status record_check_transfer(const struct gantry_device *device,
                                         const struct command_transfer *transfer, const char *what);

/* Fills in what a rectangle says: `pitch` is of the side of the buffer. */
enum gantry_status record_read_rect(struct command_transfer *transfer, enum command_kind kind,
                                    const struct gantry_rect *rect, const char *what);

/* When the host memory lies inside registered memory, the copy that does the same without staging:
 * its other side is a registered buffer with a reference of the caller's. False: it does not, or
 * its sides would meet. */
bool record_find_copy(struct gantry_device *device, enum command_kind kind,
                      const struct command_transfer *transfer, struct command_copy *copy);

#endif
