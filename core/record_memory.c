/* Recording copies and fills. */
#include <inttypes.h>

#include "buffer.h"
#include "recorder.h"
#include "status.h"

enum gantry_status record_check_range(const struct gantry_device *device,
                                      const struct gantry_buffer *buffer, uint64_t offset,
                                      uint64_t size, const char *what)
{
    uint64_t end;

    if (!buffer)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: a buffer is NULL", what);
    if (buffer->object.device != device)
        return fail(GANTRY_E_WRONG_DEVICE,
                    "%s: buffer \"%s\" belongs to device \"%s\", but was used on \"%s\"", what,
                    buffer->label, buffer->object.device->label, device->label);
    if (__builtin_add_overflow(offset, size, &end))
        return fail(GANTRY_E_OVERFLOW,
                    "%s: offset %" PRIu64 " and size %" PRIu64 " together exceed 64 bits", what,
                    offset, size);
    if (end > buffer->size)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: bytes %" PRIu64 " to %" PRIu64 " are past the end of buffer \"%s\" of "
                    "%" PRIu64 " bytes",
                    what, offset, end, buffer->label, buffer->size);
    return GANTRY_OK;
}

/* ---- Copies --------------------------------------------------------------------------------- */

/* Whether a byte may belong to both sides. Of ranges that meet it is known only when both sides
 * have one pitch: then columns that are apart never meet, and others do somewhere. */
static bool sides_meet(const struct command_copy *copy)
{
    uint64_t to = copy->to_offset, from = copy->from_offset, column;

    if (to >= from + rect_extent(copy->size, copy->rows, copy->from_pitch) ||
        from >= to + rect_extent(copy->size, copy->rows, copy->to_pitch))
        return false;
    if (copy->rows <= 1 || copy->to_pitch != copy->from_pitch)
        return true;
    column = (to > from ? to - from : from - to) % copy->to_pitch;
    return column < copy->size || copy->to_pitch - column < copy->size;
}

static enum gantry_status check_copy(const struct gantry_device *device,
                                     const struct command_copy *copy, const char *what)
{
    uint64_t to_extent = rect_extent(copy->size, copy->rows, copy->to_pitch);
    uint64_t from_extent = rect_extent(copy->size, copy->rows, copy->from_pitch);
    enum gantry_status status =
        record_check_range(device, copy->to, copy->to_offset, to_extent, what);

    if (status == GANTRY_OK)
        status = record_check_range(device, copy->from, copy->from_offset, from_extent, what);
    if (status == GANTRY_OK && copy->size && copy->to == copy->from && sides_meet(copy))
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: the ranges at %" PRIu64 " and %" PRIu64 " of %" PRIu64 " and %" PRIu64
                 " bytes in buffer \"%s\" overlap; copy through another buffer",
                 what, copy->from_offset, copy->to_offset, from_extent, to_extent, copy->to->label);
    return status;
}

enum gantry_status record_copy(struct gantry_list *list, const struct command_copy *copy,
                               const char *what)
{
    enum gantry_status status = check_copy(list->object.device, copy, what);
    struct command *command;

    if (status != GANTRY_OK)
        return status;
    if (copy->size == 0) {
        list->next_id++;
        return GANTRY_OK;
    }
    command = recorder_next(list);
    if (!command || !recorder_hold_buffer(list, copy->to) ||
        !recorder_hold_buffer(list, copy->from))
        return recorder_no_room(list, what);
    command->kind = COMMAND_COPY;
    command->copy = *copy;
    recorder_take(list, command);
    return GANTRY_OK;
}

uint32_t gantry_list_copy(struct gantry_list *list, struct gantry_buffer *to, uint64_t to_offset,
                          struct gantry_buffer *from, uint64_t from_offset, uint64_t size)
{
    static const char what[] = "gantry_list_copy";
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_copy(list,
                             &(struct command_copy){.to = to,
                                                    .from = from,
                                                    .to_offset = to_offset,
                                                    .from_offset = from_offset,
                                                    .size = size},
                             what);
    return recorder_end(list, status);
}

enum gantry_status record_copy_rect(struct gantry_list *list, struct command_copy *copy,
                                    const struct gantry_rect *given, const char *what)
{
    struct rect rect;
    enum gantry_status status = rect_read(given, what, &rect);

    if (status != GANTRY_OK)
        return status;
    copy->size = rect.size;
    copy->rows = rect.rows;
    copy->to_pitch = rect.to_pitch;
    copy->from_pitch = rect.from_pitch;
    return record_copy(list, copy, what);
}

uint32_t gantry_list_copy_rect(struct gantry_list *list, struct gantry_buffer *to,
                               uint64_t to_offset, struct gantry_buffer *from, uint64_t from_offset,
                               const struct gantry_rect *rect)
{
    static const char what[] = "gantry_list_copy_rect";
    struct command_copy copy = {.to = to,
                                .from = from,
                                .to_offset = to_offset,
                                .from_offset = from_offset};
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_copy_rect(list, &copy, rect, what);
    return recorder_end(list, status);
}

/* ---- Fills ---------------------------------------------------------------------------------- */

enum gantry_status record_fill(struct gantry_list *list, const struct command_fill *fill,
                               const char *what)
{
    enum gantry_status status =
        record_check_range(list->object.device, fill->buffer, fill->offset, fill->size, what);
    struct command *command;

    if (status == GANTRY_OK && (fill->offset % 4 || fill->size % 4))
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: offset %" PRIu64 " and size %" PRIu64 " must be multiples of 4, the size "
                 "of the pattern",
                 what, fill->offset, fill->size);
    if (status == GANTRY_OK && gantry_buffer_address(fill->buffer) % 4) /* registered memory */
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: buffer \"%s\" begins at an address that is no multiple of 4, as fills "
                      "need it; register memory from one that is",
                      what, fill->buffer->label);
    if (status != GANTRY_OK)
        return status;
    if (fill->size == 0) {
        list->next_id++;
        return GANTRY_OK;
    }
    command = recorder_next(list);
    if (!command || !recorder_hold_buffer(list, fill->buffer))
        return recorder_no_room(list, what);
    command->kind = COMMAND_FILL;
    command->fill = *fill;
    recorder_take(list, command);
    return GANTRY_OK;
}

uint32_t gantry_list_fill(struct gantry_list *list, struct gantry_buffer *buffer, uint64_t offset,
                          uint64_t size, uint32_t pattern)
{
    static const char what[] = "gantry_list_fill";
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_fill(list, &(struct command_fill){buffer, offset, size, pattern}, what);
    return recorder_end(list, status);
}
