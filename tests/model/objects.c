/* Steps that make and destroy objects, write memory as the host, and look at points. */
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int any_queue(struct world *world)
{
    uint32_t q = below(world, QUEUES);

    return world->queues[q].handle ? (int)q : 0;
}

int any_list(struct world *world)
{
    uint32_t i = below(world, LISTS);

    return world->lists[i].handle ? (int)i : -1;
}

/* ---- Buffers -------------------------------------------------------------------------------- */

/* What a buffer that was not zeroed holds is written to it before anything else. */
static void write_first(struct world *world, uint32_t number)
{
    struct buffer *buffer = &world->buffers[number];
    struct command command = {.kind = UPLOAD,
                              .to = {.buffer = number, .age = buffer->age},
                              .rect = {.width = buffer->size, .rows = 1},
                              .host_size = buffer->size,
                              .host = malloc(buffer->size)};

    if (!command.host) {
        DIFFER(world, "no host memory");
        return;
    }
    draw_bytes(world, command.host, buffer->size);
    stream_command(world, 0, &command);
}

static void make_buffer(struct world *world, uint32_t number)
{
    struct buffer *buffer = &world->buffers[number];
    struct gantry_buffer_params params = {
        .size = 1 + below(world, one_in(world, 4) ? 40 : BYTES),
        .memory = one_in(world, 2) ? GANTRY_MEMORY_DEVICE : (enum gantry_memory)below(world, 3),
        .zero = one_in(world, 2),
        .label = one_in(world, 2) ? "model" : NULL,
    };

    *buffer = (struct buffer){.age = buffer->age + 1,
                              .memory = params.memory,
                              .size = (uint32_t)params.size};
    EXPECT(world, GANTRY_OK, gantry_buffer_create(world->device, &params, &buffer->handle));
    if (!buffer->handle)
        return;
    if (gantry_buffer_size(buffer->handle) != params.size ||
        gantry_buffer_address(buffer->handle) % 256)
        DIFFER(world, "a buffer of %" PRIu64 " bytes lies at 0x%" PRIx64 " and has %" PRIu64,
               params.size, gantry_buffer_address(buffer->handle),
               gantry_buffer_size(buffer->handle));
    if (!params.zero)
        write_first(world, number);
}

void step_buffer(struct world *world)
{
    uint32_t number = below(world, BUFFERS);
    struct buffer *buffer = &world->buffers[number];

    if (!buffer->handle) {
        make_buffer(world, number);
    } else if (one_in(world, 16)) {
        gantry_buffer_destroy(&buffer->handle);
        if (buffer->handle)
            DIFFER(world, "the handle of a destroyed buffer is not NULL");
    }
}

/* The host writes what no work uses, and reads it too. */
void step_write_host(struct world *world)
{
    struct buffer *buffer = &world->buffers[below(world, BUFFERS)];
    uint8_t *host = gantry_buffer_host(buffer->handle);
    uint32_t offset;

    if (!host)
        return;
    for (uint32_t q = 0; q < QUEUES; q++) {
        if (buffer->used[q] <= world->queues[q].reached)
            continue;
        EXPECT(world, GANTRY_OK,
               gantry_wait((struct gantry_point){world->queues[q].handle, buffer->used[q]},
                           GANTRY_FOREVER));
        reached(world, q, buffer->used[q]);
    }
    if (memcmp(host, buffer->bytes, buffer->size) != 0)
        DIFFER(world, "the host sees other bytes in an idle buffer of %u", buffer->size);
    offset = below(world, buffer->size);
    draw_bytes(world, buffer->bytes + offset, 1 + below(world, buffer->size - offset));
    memcpy(host, buffer->bytes, buffer->size);
}

/* ---- Queues --------------------------------------------------------------------------------- */

static void make_queue(struct world *world, uint32_t number)
{
    struct queue *queue = &world->queues[number];
    struct gantry_queue_params params = {.priority = (int)below(world, 3) - 1};

    *queue = (struct queue){.transfer = one_in(world, 3)};
    params.kind = queue->transfer ? GANTRY_QUEUE_TRANSFER : GANTRY_QUEUE_COMPUTE;
    EXPECT(world, GANTRY_OK, gantry_queue_create(world->device, &params, &queue->handle));
}

/* Its points are none any more. Downloads that nobody waited for need not have been delivered. */
static void forget_queue(struct world *world, uint32_t number)
{
    for (struct delivery **at = &world->deliveries; *at;) {
        struct delivery *delivery = *at;

        if (delivery->queue != number) {
            at = &delivery->next;
            continue;
        }
        *at = delivery->next;
        free(delivery->expected);
        free(delivery);
    }
    for (uint32_t b = 0; b < BUFFERS; b++)
        world->buffers[b].used[number] = world->buffers[b].written[number] = 0;
    for (uint32_t q = 0; q < QUEUES; q++)
        world->queues[q].known[number] = 0;
    for (uint32_t i = 0; i < LISTS; i++)
        if (world->lists[i].latest.queue == world->queues[number].handle)
            world->lists[i].latest = (struct gantry_point){NULL, 0};
}

void step_queue(struct world *world)
{
    uint32_t number = 1 + below(world, QUEUES - 1);
    struct queue *queue = &world->queues[number];

    if (!queue->handle) {
        make_queue(world, number);
        return;
    }
    if (!one_in(world, 4))
        return;
    if (one_in(world, 2)) {
        EXPECT(world, GANTRY_OK,
               gantry_wait((struct gantry_point){queue->handle, queue->given}, GANTRY_FOREVER));
        reached(world, number, queue->given);
    }
    forget_queue(world, number);
    gantry_queue_destroy(&queue->handle);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static void make_kernel(struct world *world, const char *name, struct gantry_kernel **kernel,
                        uint32_t *block)
{
    const struct gantry_kernel_params params = {.block = {.x = 32u << below(world, 3)}};
    struct gantry_kernel_info info;

    gantry_kernel_destroy(kernel);
    EXPECT(world, GANTRY_OK,
           gantry_kernel_create(world->module, name, one_in(world, 2) ? &params : NULL, kernel));
    if (!*kernel)
        return;
    EXPECT(world, GANTRY_OK, gantry_kernel_describe(*kernel, &info));
    *block = info.block.x;
}

/* Lists keep those that they launch. */
void step_kernel(struct world *world)
{
    if (one_in(world, 2))
        make_kernel(world, "step", &world->step, &world->step_block);
    else
        make_kernel(world, "hop", &world->hop, &world->hop_block);
}

/* ---- Looking -------------------------------------------------------------------------------- */

static enum gantry_status look(struct world *world, struct gantry_point point)
{
    switch (below(world, 4)) {
    case 0:
        return gantry_wait(point, GANTRY_FOREVER);
    case 1:
        return gantry_wait(point, below(world, 2) * 100000);
    default:
        return gantry_poll(point);
    }
}

void step_look(struct world *world)
{
    uint32_t number = (uint32_t)any_queue(world);
    struct queue *queue = &world->queues[number];
    struct gantry_point point = {queue->handle, 0};
    enum gantry_status status;

    if (queue->given)
        point.value = queue->given - below(world, queue->given < 8 ? (uint32_t)queue->given : 8);
    status = look(world, point);
    if (status == GANTRY_OK)
        reached(world, number, point.value);
    else if (status != GANTRY_NOT_READY && status != GANTRY_TIMEOUT)
        DIFFER(world, "looking at a point: %s: %s", gantry_status_name(status),
               gantry_last_error());
    else if (point.value <= queue->reached)
        DIFFER(world, "point %" PRIu64 " was reached before and is not now", point.value);
}
