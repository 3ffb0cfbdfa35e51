/* Commands that are given to a queue one at a time. */
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

size_t arguments_of(const struct world *world, const struct command *command,
                    union arguments *arguments)
{
    gantry_ptr to = gantry_buffer_address(world->buffers[command->to.buffer].handle);
    gantry_ptr from = gantry_buffer_address(world->buffers[command->from.buffer].handle);

    if (command->kind == STEP) {
        arguments->step = (struct step_args){to + command->to.offset, command->n, command->add};
        return sizeof(arguments->step);
    }
    arguments->hop = (struct hop_args){from + command->from.offset, to + command->to.offset,
                                       command->n - 1, command->add};
    return sizeof(arguments->hop);
}

/* Streams have no waits: an empty list has them, and what follows it in the queue comes after. */
static void wait_on_device(struct world *world, uint32_t number, const struct command *command)
{
    struct queue *queue = &world->queues[number];
    struct gantry_point waits[QUEUES], point;
    uint32_t count = find_waits(world, number, command, 1, waits);
    struct gantry_list *empty;

    if (count == 0)
        return;
    EXPECT(world, GANTRY_OK, gantry_list_create(world->device, NULL, &empty));
    EXPECT(world, GANTRY_OK, gantry_queue_submit(queue->handle, empty, waits, count, &point));
    gantry_list_destroy(&empty);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t q = 0; q < QUEUES; q++)
            if (world->queues[q].handle == waits[i].queue)
                queue->known[q] = waits[i].value;
    submitted(world, number, point.value, NULL, 0);
}

static enum gantry_status give_launch(struct world *world, struct gantry_queue *queue,
                                      const struct command *command, struct gantry_point *point)
{
    struct gantry_kernel *kernel = command->kind == STEP ? world->step : world->hop;
    union arguments arguments;
    size_t size = arguments_of(world, command, &arguments);

    return gantry_queue_launch(queue, kernel, (struct gantry_size){.x = command->threads},
                               &arguments, size, point);
}

static enum gantry_status give_rows(struct world *world, struct gantry_queue *queue,
                                    const struct command *command, struct gantry_point *point)
{
    struct gantry_buffer *to = world->buffers[command->to.buffer].handle;
    struct gantry_buffer *from = world->buffers[command->from.buffer].handle;

    if (command->kind == COPY)
        return gantry_queue_copy_rect(queue, to, command->to.offset, from, command->from.offset,
                                      &command->rect, point);
    if (command->kind == UPLOAD)
        return gantry_queue_upload_rect(queue, to, command->to.offset, command->host,
                                        &command->rect, point);
    return gantry_queue_download_rect(queue, from, command->from.offset, command->host,
                                      &command->rect, point);
}

static enum gantry_status give(struct world *world, struct gantry_queue *queue,
                               const struct command *command, struct gantry_point *point)
{
    struct gantry_buffer *to = world->buffers[command->to.buffer].handle;
    struct gantry_buffer *from = world->buffers[command->from.buffer].handle;
    uint64_t size = command->rect.width;

    if (command->kind == STEP || command->kind == HOP)
        return give_launch(world, queue, command, point);
    if (command->kind == FILL)
        return gantry_queue_fill(queue, to, command->to.offset, size, command->add, point);
    if (command->rectangle)
        return give_rows(world, queue, command, point);
    if (command->kind == COPY)
        return gantry_queue_copy(queue, to, command->to.offset, from, command->from.offset, size,
                                 point);
    if (command->kind == UPLOAD)
        return gantry_queue_upload(queue, to, command->to.offset, command->host, size, point);
    return gantry_queue_download(queue, from, command->from.offset, command->host, size, point);
}

void stream_command(struct world *world, uint32_t number, struct command *command)
{
    struct queue *queue = &world->queues[number];
    struct gantry_point point = {NULL, 1};
    uint8_t *copy = command->kind == UPLOAD ? malloc(command->host_size + 1) : NULL;

    wait_on_device(world, number, command);
    if (copy)
        memcpy(copy, command->host, command->host_size);
    EXPECT(world, GANTRY_OK, give(world, queue->handle, command, &point));
    if (point.queue != queue->handle || point.value < queue->given)
        DIFFER(world, "a streamed command's point is %" PRIu64 " after %" PRIu64, point.value,
               queue->given);
    /* The library has copied it. */
    if (copy) {
        memset(command->host, 0xee, command->host_size);
        free(command->host);
        command->host = copy;
    }
    submitted(world, number, point.value, command, 1);
    drop_host(world, command);
}

void step_stream(struct world *world)
{
    uint32_t number = (uint32_t)any_queue(world);
    struct command command;

    for (uint32_t left = 1 + below(world, 6); left && !world->difference[0]; left--) {
        if (draw_command(world, !world->queues[number].transfer, &command))
            stream_command(world, number, &command);
        else
            drop_host(world, &command);
    }
}

void step_flush(struct world *world)
{
    EXPECT(world, GANTRY_OK, gantry_queue_flush(world->queues[any_queue(world)].handle));
}
