/* Streaming: the calls that give a queue one command at a time. */
#include <string.h>

#include "buffer.h"
#include "queue.h"
#include "record_launch.h"
#include "status.h"

static inline enum gantry_status check_queue(const struct gantry_queue *queue, const char *what)
{
    if (!queue)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the queue is NULL", what);
    return device_usable(queue->object.device, what);
}

/* The end of every call: with the queue's lock held if it could be taken. */
static inline enum gantry_status streamed(struct gantry_queue *queue, enum gantry_status status,
                                          struct gantry_point *point)
{
    uint64_t value;

    if (status == GANTRY_OK)
        status = stream_added(queue, &queue->stream);
    value = atomic_load_explicit(&queue->given, memory_order_relaxed);
    lock_release(&queue->lock);
    if (point)
        *point = status == GANTRY_OK ? (struct gantry_point){queue, value}
                                     : (struct gantry_point){NULL, 0};
    return status;
}

static enum gantry_status refused(enum gantry_status status, struct gantry_point *point)
{
    if (point)
        *point = (struct gantry_point){NULL, 0};
    return status;
}

/* ---- Launches, copies, fills ---------------------------------------------------------------- */

enum gantry_status gantry_queue_launch(struct gantry_queue *queue, struct gantry_kernel *kernel,
                                       struct gantry_size threads, const void *args, size_t size,
                                       struct gantry_point *point)
{
    static const char what[] = "gantry_queue_launch";
    enum gantry_status status = check_queue(queue, what);

    if (status == GANTRY_OK && queue->kind == GANTRY_QUEUE_TRANSFER)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: queue \"%s\" is a transfer queue; launch kernels on a compute queue",
                      what, queue->label);
    if (status != GANTRY_OK)
        return refused(status, point);
    lock_take(&queue->lock);
    status = record_launch(queue->stream.batch, kernel, threads, args, size, what);
    return streamed(queue, status, point);
}

enum gantry_status gantry_queue_copy(struct gantry_queue *queue, struct gantry_buffer *to,
                                     uint64_t to_offset, struct gantry_buffer *from,
                                     uint64_t from_offset, uint64_t size,
                                     struct gantry_point *point)
{
    static const char what[] = "gantry_queue_copy";
    const struct command_copy copy = {to, from, to_offset, from_offset, size};
    enum gantry_status status = check_queue(queue, what);

    if (status != GANTRY_OK)
        return refused(status, point);
    lock_take(&queue->lock);
    status = record_copy(queue->stream.batch, &copy, what);
    return streamed(queue, status, point);
}

enum gantry_status gantry_queue_fill(struct gantry_queue *queue, struct gantry_buffer *buffer,
                                     uint64_t offset, uint64_t size, uint32_t pattern,
                                     struct gantry_point *point)
{
    static const char what[] = "gantry_queue_fill";
    const struct command_fill fill = {buffer, offset, size, pattern};
    enum gantry_status status = check_queue(queue, what);

    if (status != GANTRY_OK)
        return refused(status, point);
    lock_take(&queue->lock);
    status = record_fill(queue->stream.batch, &fill, what);
    return streamed(queue, status, point);
}

/* ---- Transfers ------------------------------------------------------------------------------ */

/* One direction of a transfer through the stream's staging memory. */
struct direction {
    const char *what; /* the call */
    enum command_kind kind;
    enum gantry_memory memory_kind;
    struct staging *staging;
    struct memory *memory;
};

static struct direction upload_of(struct gantry_queue *queue)
{
    struct stream *stream = &queue->stream;

    return (struct direction){"gantry_queue_upload", COMMAND_UPLOAD, GANTRY_MEMORY_UPLOAD,
                              &stream->uploads, &stream->memory.upload};
}

static struct direction download_of(struct gantry_queue *queue)
{
    struct stream *stream = &queue->stream;

    return (struct direction){"gantry_queue_download", COMMAND_DOWNLOAD, GANTRY_MEMORY_READBACK,
                              &stream->downloads, &stream->memory.readback};
}

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

/* Gives back what batches that have completed took. */
static void free_finished(struct gantry_queue *queue, struct staging *staging)
{
    uint64_t oldest = staging_oldest(staging);

    while (oldest && queue_reached(queue, oldest)) {
        staging_free_oldest(staging);
        oldest = staging_oldest(staging);
    }
}

/* A piece of the staging memory of up to `wanted` bytes. When all of it is in flight, the open
 * batch goes out and the oldest one is waited for: with the lock held, so that a command stays in
 * one piece whatever other threads give the queue. */
static enum gantry_status find_room(struct gantry_queue *queue, const struct direction *direction,
                                    uint64_t wanted, uint64_t *room, uint64_t *offset)
{
    struct staging *staging = direction->staging;
    enum gantry_status status = GANTRY_OK;

    *room = staging_room(staging, wanted, offset);
    while (*room < wanted && status == GANTRY_OK) {
        free_finished(queue, staging);
        *room = staging_room(staging, wanted, offset);
        if (*room)
            break;
        status = stream_send(queue, GANTRY_BATCH_FULL);
        if (status == GANTRY_OK)
            status = queue_wait(queue, staging_oldest(staging), GANTRY_FOREVER);
    }
    return status;
}

/* The value that a command recorded now gets. */
static uint64_t next_value(const struct gantry_queue *queue)
{
    const struct stream *stream = &queue->stream;

    return stream->batch->command_count ? stream->value : atomic_load(&queue->given) + 1;
}

/* An upload's bytes are copied now, a download's when the value is found completed. */
static enum gantry_status record_piece(struct gantry_queue *queue,
                                       const struct direction *direction,
                                       const struct command_transfer *piece)
{
    uint8_t *staged = (uint8_t *)memory_host(direction->memory) + piece->staging;
    const struct delivery delivery = {next_value(queue), piece->host, staged, piece->size};
    bool download = direction->kind == COMMAND_DOWNLOAD;
    enum gantry_status status = download ? deliveries_add(queue, &delivery) : GANTRY_OK;

    if (status != GANTRY_OK)
        return status;
    status = record_transfer(queue->stream.batch, direction->kind, piece, direction->what);
    if (status != GANTRY_OK) {
        deliveries_drop(queue, delivery.value, download);
        return status;
    }
    staging_take(direction->staging, piece->size);
    if (!download)
        memcpy(staged, piece->host, piece->size);
    return stream_added(queue, &queue->stream);
}

static enum gantry_status record_pieces(struct gantry_queue *queue,
                                        const struct direction *direction,
                                        const struct command_transfer *whole)
{
    enum gantry_status status = GANTRY_OK;
    struct command_transfer piece = *whole;
    uint64_t left = whole->size;

    while (left && status == GANTRY_OK) {
        status = find_room(queue, direction, left, &piece.size, &piece.staging);
        if (status == GANTRY_OK)
            status = record_piece(queue, direction, &piece);
        left -= piece.size;
        piece.offset += piece.size;
        piece.host = (uint8_t *)piece.host + piece.size;
    }
    return status;
}

static enum gantry_status transfer(struct gantry_queue *queue, const struct direction *direction,
                                   const struct command_transfer *whole, struct gantry_point *point)
{
    enum gantry_status status = record_check_transfer(queue->object.device, whole, direction->what);

    if (status == GANTRY_OK)
        status = take_with_memory(queue, direction);
    if (status != GANTRY_OK)
        return refused(status, point);
    return streamed(queue, record_pieces(queue, direction, whole), point);
}

enum gantry_status gantry_queue_upload(struct gantry_queue *queue, struct gantry_buffer *to,
                                       uint64_t offset, const void *from, uint64_t size,
                                       struct gantry_point *point)
{
    /* Host memory of an upload is only read; see command.h. */
    const struct command_transfer whole = {to, offset, size, (void *)(uintptr_t)from, 0};
    enum gantry_status status = check_queue(queue, "gantry_queue_upload");
    struct direction direction;

    if (status != GANTRY_OK)
        return refused(status, point);
    direction = upload_of(queue);
    return transfer(queue, &direction, &whole, point);
}

enum gantry_status gantry_queue_download(struct gantry_queue *queue, struct gantry_buffer *from,
                                         uint64_t offset, void *to, uint64_t size,
                                         struct gantry_point *point)
{
    const struct command_transfer whole = {from, offset, size, to, 0};
    enum gantry_status status = check_queue(queue, "gantry_queue_download");
    struct direction direction;

    if (status != GANTRY_OK)
        return refused(status, point);
    direction = download_of(queue);
    return transfer(queue, &direction, &whole, point);
}

enum gantry_status gantry_queue_flush(struct gantry_queue *queue)
{
    enum gantry_status status = check_queue(queue, "gantry_queue_flush");

    return status == GANTRY_OK ? stream_flush(queue) : status;
}
