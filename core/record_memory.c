/* Recording copies, fills and transfers. */
#include <inttypes.h>

#include "buffer.h"
#include "recorder.h"
#include "status.h"

/* ---- Copies and fills ----------------------------------------------------------------------- */

/* That a buffer belongs to the device and holds the range. */
static enum gantry_status check_range(const struct gantry_device *device,
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

static enum gantry_status check_copy(const struct gantry_device *device,
                                     const struct command_copy *copy, const char *what)
{
    enum gantry_status status = check_range(device, copy->to, copy->to_offset, copy->size, what);

    if (status == GANTRY_OK)
        status = check_range(device, copy->from, copy->from_offset, copy->size, what);
    if (status == GANTRY_OK && copy->size && copy->to == copy->from &&
        copy->to_offset < copy->from_offset + copy->size &&
        copy->from_offset < copy->to_offset + copy->size)
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: the ranges at %" PRIu64 " and %" PRIu64 " of %" PRIu64 " bytes in buffer "
                 "\"%s\" overlap; copy through another buffer",
                 what, copy->from_offset, copy->to_offset, copy->size, copy->to->label);
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
        status =
            record_copy(list, &(struct command_copy){to, from, to_offset, from_offset, size}, what);
    return recorder_end(list, status);
}

enum gantry_status record_fill(struct gantry_list *list, const struct command_fill *fill,
                               const char *what)
{
    enum gantry_status status =
        check_range(list->object.device, fill->buffer, fill->offset, fill->size, what);
    struct command *command;

    if (status == GANTRY_OK && (fill->offset % 4 || fill->size % 4))
        status =
            fail(GANTRY_E_INVALID_ARGUMENT,
                 "%s: offset %" PRIu64 " and size %" PRIu64 " must be multiples of 4, the size "
                 "of the pattern",
                 what, fill->offset, fill->size);
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

/* ---- Transfers ------------------------------------------------------------------------------ */

enum gantry_status record_check_transfer(const struct gantry_device *device,
                                         const struct command_transfer *transfer, const char *what)
{
    enum gantry_status status =
        check_range(device, transfer->buffer, transfer->offset, transfer->size, what);

    if (status == GANTRY_OK && !transfer->host && transfer->size)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: the host memory is NULL, %" PRIu64 " bytes are to be transferred", what,
                      transfer->size);
    return status;
}

enum gantry_status record_transfer(struct gantry_list *list, enum command_kind kind,
                                   const struct command_transfer *transfer, const char *what)
{
    struct command *command = recorder_next(list);

    if (!command || !recorder_hold_buffer(list, transfer->buffer))
        return recorder_no_room(list, what);
    command->kind = kind;
    command->transfer = *transfer;
    recorder_take(list, command);
    list->transfer_count++;
    return GANTRY_OK;
}

/* A piece of one direction's staging memory, of which *used are taken. */
static enum gantry_status record_staged(struct gantry_list *list, enum command_kind kind,
                                        struct command_transfer *transfer, uint64_t *used,
                                        const char *what)
{
    enum gantry_status status;
    uint64_t end;

    if (__builtin_add_overflow(*used, transfer->size, &end) || end > UINT64_MAX - STAGING_ALIGNMENT)
        return fail(GANTRY_E_OVERFLOW, "%s: the transfers of list \"%s\" exceed 64 bits", what,
                    list->label);
    transfer->staging = *used;
    status = record_transfer(list, kind, transfer, what);
    if (status == GANTRY_OK)
        *used = (end + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
    return status;
}

static uint32_t list_transfer(struct gantry_list *list, enum command_kind kind,
                              struct command_transfer *transfer, const char *what)
{
    enum gantry_status status = list_recordable(list, what);

    if (status == GANTRY_OK)
        status = record_check_transfer(list->object.device, transfer, what);
    if (status == GANTRY_OK && transfer->size)
        status =
            record_staged(list, kind, transfer,
                          kind == COMMAND_UPLOAD ? &list->upload_size : &list->readback_size, what);
    else if (status == GANTRY_OK)
        list->next_id++;
    return recorder_end(list, status);
}

uint32_t gantry_list_upload(struct gantry_list *list, struct gantry_buffer *to, uint64_t offset,
                            const void *from, uint64_t size)
{
    /* Host memory of an upload is only read; see command.h. */
    struct command_transfer transfer = {to, offset, size, (void *)(uintptr_t)from, 0};

    return list_transfer(list, COMMAND_UPLOAD, &transfer, "gantry_list_upload");
}

uint32_t gantry_list_download(struct gantry_list *list, struct gantry_buffer *from, uint64_t offset,
                              void *to, uint64_t size)
{
    struct command_transfer transfer = {from, offset, size, to, 0};

    return list_transfer(list, COMMAND_DOWNLOAD, &transfer, "gantry_list_download");
}
