/* Streamed transfers. Three ways lead to the device:
 * - the host writes device memory by itself, where it can and nothing is in flight (direct.h);
 * - host memory that is registered is copied by the device: downloads always, uploads when they
 *   would have waited for the device anyhow, because their memory is the caller's again at once;
 * - all else goes through staging memory, in pieces: while one is on the bus the host copies the
 *   next one in, or the one before it out. */
#include "buffer.h"
#include "direct.h"
#include "record.h"
#include "stream_call.h"

/* A piece of so many bytes takes the bus some 20 µs, several times what submitting it costs. */
#define LARGE_PIECE (UINT64_C(1) << 20)

/* One direction through the stream's staging memory. */
struct direction {
    const char *what; /* the call */
    enum command_kind kind;
    enum gantry_memory memory_kind;
    struct staging *staging;
    struct memory *memory;
};

static struct direction upload_of(struct gantry_queue *queue, const char *what)
{
    struct stream *stream = &queue->stream;

    return (struct direction){what, COMMAND_UPLOAD, GANTRY_MEMORY_UPLOAD, &stream->uploads,
                              &stream->memory.upload};
}

static struct direction download_of(struct gantry_queue *queue, const char *what)
{
    struct stream *stream = &queue->stream;

    return (struct direction){what, COMMAND_DOWNLOAD, GANTRY_MEMORY_READBACK, &stream->downloads,
                              &stream->memory.readback};
}

/* ---- Staging memory ------------------------------------------------------------------------- */

/* Takes the queue's lock, its staging memory made. It is allocated without the lock, because where
 * there is no memory left others' batches are sent and waited for; of two threads that do so, one's
 * stays. */
static enum gantry_status take_with_memory(struct gantry_queue *queue,
                                           const struct direction *direction)
{
    struct gantry_device *device = queue->object.device;
    uint64_t size = (uint64_t)device->policy.staging_mib << 20;
    struct memory made;
    enum gantry_status status;

    lock_take(&queue->lock);
    if (direction->staging->size)
        return GANTRY_OK;
    lock_release(&queue->lock);
    status = memory_allocate(device, direction->memory_kind, size, direction->what, &made);
    if (status != GANTRY_OK)
        return status;
    lock_take(&queue->lock);
    if (direction->staging->size == 0) {
        *direction->memory = made;
        direction->staging->size = size;
        queue->stats.allocations++;
    } else {
        memory_free(device, &made);
    }
    return GANTRY_OK;
}

/* What can be taken after completed batches gave back what they took: no more of them than need be,
 * because to find one completed is to deliver its downloads. */
static uint64_t free_some(struct gantry_queue *queue, struct staging *staging, uint64_t wanted,
                          uint64_t *offset)
{
    uint64_t piece = staging->size / STAGING_PIECES;
    uint64_t room = staging_room(staging, wanted, offset), oldest = staging_oldest(staging);

    while (room < wanted && room < piece && oldest && queue_reached(queue, oldest)) {
        staging_free_oldest(staging);
        room = staging_room(staging, wanted, offset);
        oldest = staging_oldest(staging);
    }
    return room;
}

/* A piece of the staging memory of up to `wanted` bytes. When all of it is in flight, the open
 * batch goes out and the oldest one is waited for: with the lock held, so that a command stays in
 * one piece whatever other threads give the queue. */
static enum gantry_status find_room(struct gantry_queue *queue, const struct direction *direction,
                                    uint64_t wanted, uint64_t *room, uint64_t *offset)
{
    struct staging *staging = direction->staging;
    enum gantry_status status = GANTRY_OK;

    *room = free_some(queue, staging, wanted, offset);
    while (*room == 0 && status == GANTRY_OK) {
        status = stream_send(queue, GANTRY_BATCH_FULL);
        if (status == GANTRY_OK)
            status = queue_wait(queue, staging_oldest(staging), GANTRY_FOREVER);
        *room = free_some(queue, staging, wanted, offset);
    }
    return status;
}

/* The value that a command recorded now gets. */
static uint64_t next_value(const struct gantry_queue *queue)
{
    const struct stream *stream = &queue->stream;

    return stream->batch->command_count ? stream->value : atomic_load(&queue->given) + 1;
}

/* What belongs to the piece in staging memory. */
static struct host_copy copy_of(const struct direction *direction,
                                const struct command_transfer *piece)
{
    uint8_t *staged = (uint8_t *)memory_host(direction->memory) + piece->staging;
    struct host_copy copy = {.to = staged,
                             .from = piece->host,
                             .size = piece->size,
                             .rows = piece->rows,
                             .to_pitch = piece->size,
                             .from_pitch = piece->host_pitch};

    if (direction->kind == COMMAND_DOWNLOAD) {
        copy.to = piece->host;
        copy.from = staged;
        copy.to_pitch = piece->host_pitch;
        copy.from_pitch = piece->size;
    }
    return copy;
}

/* A piece of at least so many bytes goes out at once, to be on the bus while the host copies the
 * next one. */
static uint64_t least_large(const struct staging *staging)
{
    uint64_t most = staging->size / STAGING_PIECES;

    return most < LARGE_PIECE ? most : LARGE_PIECE;
}

/* An upload's bytes are copied now, a download's when the value is found completed. */
static enum gantry_status record_piece(struct gantry_queue *queue,
                                       const struct direction *direction,
                                       const struct command_transfer *piece)
{
    const struct delivery delivery = {next_value(queue), copy_of(direction, piece)};
    bool download = direction->kind == COMMAND_DOWNLOAD;
    uint64_t size = piece->size * piece->rows;
    enum gantry_status status = download ? deliveries_add(queue, &delivery) : GANTRY_OK;

    if (status != GANTRY_OK)
        return status;
    status = record_transfer(queue->stream.batch, direction->kind, piece, direction->what);
    if (status != GANTRY_OK) {
        deliveries_drop(queue, delivery.value, download);
        return status;
    }
    staging_take(direction->staging, size);
    if (!download)
        host_copy(&delivery.copy);
    return size >= least_large(direction->staging) ? stream_push(queue)
                                                   : stream_added(queue, &queue->stream);
}

/* The piece of a transfer behind its first `done` bytes, of at most `room`: whole rows, or a part
 * of one. */
static void cut_piece(const struct command_transfer *whole, uint64_t done, uint64_t room,
                      struct command_transfer *piece)
{
    uint64_t row = done / whole->size, column = done % whole->size;
    uint64_t rows = column ? 0 : room / whole->size;

    piece->offset = whole->offset + row * whole->pitch + column;
    piece->host = (uint8_t *)whole->host + row * whole->host_pitch + column;
    piece->size = whole->size;
    piece->rows = rows < whole->rows - row ? rows : whole->rows - row;
    if (rows)
        return;
    piece->size = room < whole->size - column ? room : whole->size - column;
    piece->rows = 1;
}

static enum gantry_status record_pieces(struct gantry_queue *queue,
                                        const struct direction *direction,
                                        const struct command_transfer *whole)
{
    uint64_t size = whole->size * whole->rows, done = 0, room;
    enum gantry_status status = GANTRY_OK;
    struct command_transfer piece = *whole;

    while (done < size && status == GANTRY_OK) {
        status = find_room(queue, direction, size - done, &room, &piece.staging);
        if (status != GANTRY_OK)
            break;
        cut_piece(whole, done, room, &piece);
        status = record_piece(queue, direction, &piece);
        done += piece.size * piece.rows;
    }
    return status;
}

static enum gantry_status through_staging(struct gantry_queue *queue,
                                          const struct direction *direction,
                                          const struct command_transfer *whole,
                                          struct gantry_point *point)
{
    enum gantry_status status = take_with_memory(queue, direction);

    if (status != GANTRY_OK)
        return stream_refuse(status, point);
    return stream_end(queue, record_pieces(queue, direction, whole), point);
}

/* ---- Without staging ------------------------------------------------------------------------ */

/* Whether nothing that the queue was given is left to be done; with its lock held. */
static bool is_at_rest(struct gantry_queue *queue)
{
    return queue->stream.batch->command_count == 0 &&
           queue_reached(queue, atomic_load(&queue->submitted));
}

/* With the queue's lock held. False: it can't be. */
static bool write_directly(struct gantry_queue *queue, const struct command_transfer *upload)
{
    uint8_t *place =
        direct_place(queue->object.device, &upload->buffer->memory, upload->size * upload->rows);

    if (!place || !is_at_rest(queue))
        return false;
    host_copy(&(struct host_copy){.to = place + upload->offset,
                                  .from = upload->host,
                                  .size = upload->size,
                                  .rows = upload->rows,
                                  .to_pitch = upload->pitch,
                                  .from_pitch = upload->host_pitch});
    return true;
}

/* The host memory of an upload is the caller's again when this returns. */
static enum gantry_status copy_and_wait(struct gantry_queue *queue, const struct command_copy *copy,
                                        const char *what)
{
    enum gantry_status status = record_copy(queue->stream.batch, copy, what);

    if (status == GANTRY_OK)
        status = stream_push(queue);
    return status == GANTRY_OK ? queue_wait(queue, atomic_load(&queue->submitted), GANTRY_FOREVER)
                               : status;
}

/* ---- Uploads -------------------------------------------------------------------------------- */

static enum gantry_status upload(struct gantry_queue *queue, const struct command_transfer *whole,
                                 const char *what, struct gantry_point *point)
{
    struct gantry_device *device = queue->object.device;
    uint64_t staging = (uint64_t)device->policy.staging_mib << 20;
    enum gantry_status status = record_check_transfer(device, whole, what);
    struct direction direction;
    struct command_copy copy;

    if (status != GANTRY_OK)
        return stream_refuse(status, point);
    lock_take(&queue->lock);
    if (whole->size == 0 || write_directly(queue, whole))
        return stream_end(queue, GANTRY_OK, point);
    if (whole->size * whole->rows > staging &&
        record_find_copy(device, COMMAND_UPLOAD, whole, &copy)) {
        status = stream_end(queue, copy_and_wait(queue, &copy, what), point);
        buffer_unref(copy.from);
        return status;
    }
    lock_release(&queue->lock);
    direction = upload_of(queue, what);
    return through_staging(queue, &direction, whole, point);
}

enum gantry_status gantry_queue_upload(struct gantry_queue *queue, struct gantry_buffer *to,
                                       uint64_t offset, const void *from, uint64_t size,
                                       struct gantry_point *point)
{
    static const char what[] = "gantry_queue_upload";
    const struct command_transfer whole = command_upload(to, offset, from, size);
    enum gantry_status status = stream_check_queue(queue, what);

    return status == GANTRY_OK ? upload(queue, &whole, what, point) : stream_refuse(status, point);
}

enum gantry_status gantry_queue_upload_rect(struct gantry_queue *queue, struct gantry_buffer *to,
                                            uint64_t offset, const void *from,
                                            const struct gantry_rect *rect,
                                            struct gantry_point *point)
{
    static const char what[] = "gantry_queue_upload_rect";
    struct command_transfer whole = command_upload(to, offset, from, 0);
    enum gantry_status status = stream_check_queue(queue, what);

    if (status == GANTRY_OK)
        status = record_read_rect(&whole, COMMAND_UPLOAD, rect, what);
    return status == GANTRY_OK ? upload(queue, &whole, what, point) : stream_refuse(status, point);
}

/* ---- Downloads ------------------------------------------------------------------------------ */

static enum gantry_status download(struct gantry_queue *queue, const struct command_transfer *whole,
                                   const char *what, struct gantry_point *point)
{
    struct gantry_device *device = queue->object.device;
    enum gantry_status status = record_check_transfer(device, whole, what);
    struct direction direction;
    struct command_copy copy;

    if (status != GANTRY_OK)
        return stream_refuse(status, point);
    lock_take(&queue->lock);
    if (whole->size == 0)
        return stream_end(queue, GANTRY_OK, point);
    if (record_find_copy(device, COMMAND_DOWNLOAD, whole, &copy)) {
        status = stream_end(queue, record_copy(queue->stream.batch, &copy, what), point);
        buffer_unref(copy.to);
        return status;
    }
    lock_release(&queue->lock);
    direction = download_of(queue, what);
    return through_staging(queue, &direction, whole, point);
}

enum gantry_status gantry_queue_download(struct gantry_queue *queue, struct gantry_buffer *from,
                                         uint64_t offset, void *to, uint64_t size,
                                         struct gantry_point *point)
{
    static const char what[] = "gantry_queue_download";
    const struct command_transfer whole = command_download(from, offset, to, size);
    enum gantry_status status = stream_check_queue(queue, what);

    return status == GANTRY_OK ? download(queue, &whole, what, point)
                               : stream_refuse(status, point);
}

enum gantry_status gantry_queue_download_rect(struct gantry_queue *queue,
                                              struct gantry_buffer *from, uint64_t offset, void *to,
                                              const struct gantry_rect *rect,
                                              struct gantry_point *point)
{
    static const char what[] = "gantry_queue_download_rect";
    struct command_transfer whole = command_download(from, offset, to, 0);
    enum gantry_status status = stream_check_queue(queue, what);

    if (status == GANTRY_OK)
        status = record_read_rect(&whole, COMMAND_DOWNLOAD, rect, what);
    return status == GANTRY_OK ? download(queue, &whole, what, point)
                               : stream_refuse(status, point);
}
