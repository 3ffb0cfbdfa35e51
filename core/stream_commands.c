/* Streaming: the calls that give a queue one command at a time. Transfers are in stream_transfer.c.
 */
#include "record_launch.h"
#include "stream_call.h"
#include "validate.h"

enum gantry_status gantry_queue_launch(struct gantry_queue *queue, struct gantry_kernel *kernel,
                                       struct gantry_size threads, const void *args, size_t size,
                                       struct gantry_point *point)
{
    static const char what[] = "gantry_queue_launch";
    enum gantry_status status = stream_check_queue(queue, what);

    if (status == GANTRY_OK && queue->kind == GANTRY_QUEUE_TRANSFER)
        status = fail(GANTRY_E_INVALID_ARGUMENT,
                      "%s: queue \"%s\" is a transfer queue; launch kernels on a compute queue",
                      what, queue->label);
    if (status == GANTRY_OK && validates(queue->object.device))
        status = validate_launch(queue->object.device, kernel, threads, args, size, what);
    if (status != GANTRY_OK)
        return stream_refuse(status, point);
    lock_take(&queue->lock);
    status = record_launch(queue->stream.batch, kernel, threads, args, size, what);
    return stream_end(queue, status, point);
}

enum gantry_status gantry_queue_copy(struct gantry_queue *queue, struct gantry_buffer *to,
                                     uint64_t to_offset, struct gantry_buffer *from,
                                     uint64_t from_offset, uint64_t size,
                                     struct gantry_point *point)
{
    static const char what[] = "gantry_queue_copy";
    const struct command_copy copy = {
        .to = to, .from = from, .to_offset = to_offset, .from_offset = from_offset, .size = size};
    enum gantry_status status = stream_check_queue(queue, what);

    if (status != GANTRY_OK)
        return stream_refuse(status, point);
    lock_take(&queue->lock);
    status = record_copy(queue->stream.batch, &copy, what);
    return stream_end(queue, status, point);
}

enum gantry_status gantry_queue_copy_rect(struct gantry_queue *queue, struct gantry_buffer *to,
                                          uint64_t to_offset, struct gantry_buffer *from,
                                          uint64_t from_offset, const struct gantry_rect *rect,
                                          struct gantry_point *point)
{
    static const char what[] = "gantry_queue_copy_rect";
    struct command_copy copy = {.to = to,
                                .from = from,
                                .to_offset = to_offset,
                                .from_offset = from_offset};
    enum gantry_status status = stream_check_queue(queue, what);

    if (status != GANTRY_OK)
        return stream_refuse(status, point);
    lock_take(&queue->lock);
    status = record_copy_rect(queue->stream.batch, &copy, rect, what);
    return stream_end(queue, status, point);
}

enum gantry_status gantry_queue_fill(struct gantry_queue *queue, struct gantry_buffer *buffer,
                                     uint64_t offset, uint64_t size, uint32_t pattern,
                                     struct gantry_point *point)
{
    static const char what[] = "gantry_queue_fill";
    const struct command_fill fill = {buffer, offset, size, pattern};
    enum gantry_status status = stream_check_queue(queue, what);

    if (status != GANTRY_OK)
        return stream_refuse(status, point);
    lock_take(&queue->lock);
    status = record_fill(queue->stream.batch, &fill, what);
    return stream_end(queue, status, point);
}

enum gantry_status gantry_queue_flush(struct gantry_queue *queue)
{
    enum gantry_status status = stream_check_queue(queue, "gantry_queue_flush");

    return status == GANTRY_OK ? stream_flush(queue) : status;
}
