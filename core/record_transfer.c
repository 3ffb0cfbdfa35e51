/* Recording uploads and downloads. */
#include <inttypes.h>

#include "buffer.h"
#include "host_register.h"
#include "recorder.h"
#include "status.h"

enum gantry_status record_check_transfer(const struct gantry_device *device,
                                         const struct command_transfer *transfer, const char *what)
{
    uint64_t extent = rect_extent(transfer->size, transfer->rows, transfer->pitch);
    enum gantry_status status =
        record_check_range(device, transfer->buffer, transfer->offset, extent, what);

    if (status == GANTRY_OK && !transfer->host && transfer->size)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: the host memory is NULL, %" PRIu64 " bytes are to be transferred", what,
                      transfer->size * transfer->rows);
    return status;
}

enum gantry_status record_read_rect(struct command_transfer *transfer, enum command_kind kind,
                                    const struct gantry_rect *given, const char *what)
{
    struct rect rect;
    enum gantry_status status = rect_read(given, what, &rect);

    transfer->size = rect.size;
    transfer->rows = rect.rows;
    transfer->pitch = kind == COMMAND_UPLOAD ? rect.to_pitch : rect.from_pitch;
    transfer->host_pitch = kind == COMMAND_UPLOAD ? rect.from_pitch : rect.to_pitch;
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

/* ---- Without staging ------------------------------------------------------------------------ */

bool record_find_copy(struct gantry_device *device, enum command_kind kind,
                      const struct command_transfer *transfer, struct command_copy *copy)
{
    uint64_t extent = rect_extent(transfer->size, transfer->rows, transfer->host_pitch), offset;
    struct gantry_buffer *host = registered_find(device, transfer->host, extent, &offset);

    if (!host)
        return false;
    if (host == transfer->buffer) {
        buffer_unref(host);
        return false;
    }
    *copy = (struct command_copy){.to = transfer->buffer,
                                  .from = host,
                                  .to_offset = transfer->offset,
                                  .from_offset = offset,
                                  .size = transfer->size,
                                  .rows = transfer->rows,
                                  .to_pitch = transfer->pitch,
                                  .from_pitch = transfer->host_pitch};
    if (kind == COMMAND_DOWNLOAD)
        *copy = (struct command_copy){.to = host,
                                      .from = transfer->buffer,
                                      .to_offset = offset,
                                      .from_offset = transfer->offset,
                                      .size = transfer->size,
                                      .rows = transfer->rows,
                                      .to_pitch = transfer->host_pitch,
                                      .from_pitch = transfer->pitch};
    return true;
}

/* ---- In lists ------------------------------------------------------------------------------- */

/* A piece of one direction's staging memory, of which *used are taken. */
static enum gantry_status record_staged(struct gantry_list *list, enum command_kind kind,
                                        struct command_transfer *transfer, uint64_t *used,
                                        const char *what)
{
    enum gantry_status status;
    uint64_t end;

    if (__builtin_add_overflow(*used, transfer->size * transfer->rows, &end) ||
        end > UINT64_MAX - STAGING_ALIGNMENT)
        return fail(GANTRY_E_OVERFLOW, "%s: the transfers of list \"%s\" exceed 64 bits", what,
                    list->label);
    transfer->staging = *used;
    status = record_transfer(list, kind, transfer, what);
    if (status == GANTRY_OK)
        *used = (end + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
    return status;
}

static enum gantry_status record_either(struct gantry_list *list, enum command_kind kind,
                                        struct command_transfer *transfer, const char *what)
{
    uint64_t *used = kind == COMMAND_UPLOAD ? &list->upload_size : &list->readback_size;
    struct gantry_buffer *registered;
    struct command_copy copy;
    enum gantry_status status;

    if (!record_find_copy(list->object.device, kind, transfer, &copy))
        return record_staged(list, kind, transfer, used, what);
    registered = kind == COMMAND_UPLOAD ? copy.from : copy.to;
    status = record_copy(list, &copy, what); /* holds the buffer for the list */
    buffer_unref(registered);
    return status;
}

static uint32_t list_transfer(struct gantry_list *list, enum command_kind kind,
                              struct command_transfer *transfer, const char *what)
{
    enum gantry_status status = record_check_transfer(list->object.device, transfer, what);

    if (status == GANTRY_OK && transfer->size)
        status = record_either(list, kind, transfer, what);
    else if (status == GANTRY_OK)
        list->next_id++;
    return recorder_end(list, status);
}

static uint32_t list_transfer_rect(struct gantry_list *list, enum command_kind kind,
                                   struct command_transfer *transfer,
                                   const struct gantry_rect *rect, const char *what)
{
    enum gantry_status status = record_read_rect(transfer, kind, rect, what);

    return status == GANTRY_OK ? list_transfer(list, kind, transfer, what)
                               : recorder_end(list, status);
}

uint32_t gantry_list_upload(struct gantry_list *list, struct gantry_buffer *to, uint64_t offset,
                            const void *from, uint64_t size)
{
    static const char what[] = "gantry_list_upload";
    struct command_transfer transfer = command_upload(to, offset, from, size);
    enum gantry_status status = list_recordable(list, what);

    return status == GANTRY_OK ? list_transfer(list, COMMAND_UPLOAD, &transfer, what)
                               : recorder_end(list, status);
}

uint32_t gantry_list_download(struct gantry_list *list, struct gantry_buffer *from, uint64_t offset,
                              void *to, uint64_t size)
{
    static const char what[] = "gantry_list_download";
    struct command_transfer transfer = command_download(from, offset, to, size);
    enum gantry_status status = list_recordable(list, what);

    return status == GANTRY_OK ? list_transfer(list, COMMAND_DOWNLOAD, &transfer, what)
                               : recorder_end(list, status);
}

uint32_t gantry_list_upload_rect(struct gantry_list *list, struct gantry_buffer *to,
                                 uint64_t offset, const void *from, const struct gantry_rect *rect)
{
    static const char what[] = "gantry_list_upload_rect";
    struct command_transfer transfer = command_upload(to, offset, from, 0);
    enum gantry_status status = list_recordable(list, what);

    return status == GANTRY_OK ? list_transfer_rect(list, COMMAND_UPLOAD, &transfer, rect, what)
                               : recorder_end(list, status);
}

uint32_t gantry_list_download_rect(struct gantry_list *list, struct gantry_buffer *from,
                                   uint64_t offset, void *to, const struct gantry_rect *rect)
{
    static const char what[] = "gantry_list_download_rect";
    struct command_transfer transfer = command_download(from, offset, to, 0);
    enum gantry_status status = list_recordable(list, what);

    return status == GANTRY_OK ? list_transfer_rect(list, COMMAND_DOWNLOAD, &transfer, rect, what)
                               : recorder_end(list, status);
}
