/* Who has run before whom, and what is to be found then. */
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Waits ---------------------------------------------------------------------------------- */

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void need(uint64_t needed[QUEUES], const uint64_t values[QUEUES])
{
    for (uint32_t q = 0; q < QUEUES; q++)
        needed[q] = most(needed[q], values[q]);
}

/* What must have run before the command. */
static void need_before(const struct world *world, const struct command *command,
                        uint64_t needed[QUEUES])
{
    if (command->kind != DOWNLOAD)
        need(needed, world->buffers[command->to.buffer].used);
    if (command->kind == HOP || command->kind == COPY || command->kind == DOWNLOAD)
        need(needed, world->buffers[command->from.buffer].written);
}

uint32_t find_waits(struct world *world, uint32_t queue, const struct command *commands,
                    uint32_t count, struct gantry_point waits[QUEUES])
{
    uint64_t needed[QUEUES] = {0};
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++)
        need_before(world, &commands[i], needed);
    for (uint32_t q = 0; q < QUEUES; q++) {
        const struct queue *other = &world->queues[q];

        if (q == queue || needed[q] <= most(other->reached, world->queues[queue].known[q]))
            continue;
        waits[found++] = (struct gantry_point){other->handle, needed[q]};
    }
    return found;
}

/* ---- Submissions ---------------------------------------------------------------------------- */

/* An older download to the same memory may or may not be seen any more. */
static void forget_delivery(struct world *world, const uint8_t *host)
{
    for (struct delivery **at = &world->deliveries; *at;) {
        struct delivery *delivery = *at;

        if (delivery->host != host) {
            at = &delivery->next;
            continue;
        }
        *at = delivery->next;
        free(delivery->expected);
        free(delivery);
    }
}

/* What lies between the rows stays as it is. */
static void expect_delivery(struct world *world, uint32_t queue, uint64_t value,
                            const struct command *command)
{
    struct delivery *delivery = malloc(sizeof(*delivery));
    uint8_t *expected = malloc(command->host_size + 1);

    if (!delivery || !expected) {
        DIFFER(world, "no host memory");
        free(delivery);
        free(expected);
        return;
    }
    forget_delivery(world, command->host);
    memcpy(expected, command->host, command->host_size);
    run_command(world, command, expected);
    *delivery = (struct delivery){world->deliveries,  queue,         value,
                                  command->host_size, command->host, expected};
    world->deliveries = delivery;
}

static void use(struct buffer *buffer, uint32_t queue, uint64_t value, bool writes)
{
    buffer->used[queue] = value;
    if (writes)
        buffer->written[queue] = value;
}

void submitted(struct world *world, uint32_t queue, uint64_t value, const struct command *commands,
               uint32_t count)
{
    world->queues[queue].given = most(world->queues[queue].given, value);
    for (uint32_t i = 0; i < count; i++) {
        const struct command *command = &commands[i];

        if (command->kind == DOWNLOAD)
            expect_delivery(world, queue, value, command);
        else
            run_command(world, command, command->host);
        if (command->kind != DOWNLOAD)
            use(&world->buffers[command->to.buffer], queue, value, true);
        if (command->kind == HOP || command->kind == COPY || command->kind == DOWNLOAD)
            use(&world->buffers[command->from.buffer], queue, value, false);
    }
}

/* ---- Reaching ------------------------------------------------------------------------------- */

static void compare(struct world *world, const uint8_t *found, const uint8_t *expected,
                    uint64_t size, const char *what, uint32_t number)
{
    for (uint64_t i = 0; i < size; i++) {
        if (found[i] == expected[i])
            continue;
        DIFFER(world, "%s %u: byte %" PRIu64 " of %" PRIu64 " is 0x%02x instead of 0x%02x", what,
               number, i, size, found[i], expected[i]);
        return;
    }
}

void reached(struct world *world, uint32_t queue, uint64_t value)
{
    world->queues[queue].reached = most(world->queues[queue].reached, value);
    for (struct delivery **at = &world->deliveries; *at;) {
        struct delivery *delivery = *at;

        if (delivery->queue != queue || delivery->value > value) {
            at = &delivery->next;
            continue;
        }
        compare(world, delivery->host, delivery->expected, delivery->size, "download on queue",
                queue);
        *at = delivery->next;
        free(delivery->expected);
        free(delivery);
    }
}

/* ---- Settling ------------------------------------------------------------------------------- */

static void check_buffer(struct world *world, uint32_t number)
{
    const struct buffer *buffer = &world->buffers[number];
    const uint8_t *host = gantry_buffer_host(buffer->handle);
    struct queue *queue = &world->queues[0];
    uint8_t found[BYTES];
    struct gantry_point point;

    EXPECT(world, GANTRY_OK,
           gantry_queue_download(queue->handle, buffer->handle, 0, found, buffer->size, &point));
    EXPECT(world, GANTRY_OK, gantry_wait(point, GANTRY_FOREVER));
    queue->given = queue->reached = most(queue->given, point.value);
    compare(world, found, buffer->bytes, buffer->size, "buffer", number);
    if ((host != NULL) != (buffer->memory != GANTRY_MEMORY_DEVICE))
        DIFFER(world, "buffer %u: its host address is %p", number, (const void *)host);
    if (host)
        compare(world, host, buffer->bytes, buffer->size, "host's view of buffer", number);
}

static void free_litter(struct world *world)
{
    while (world->litter) {
        struct litter *litter = world->litter;

        world->litter = litter->next;
        free(litter->memory);
        free(litter);
    }
}

void settle(struct world *world)
{
    for (uint32_t q = 0; q < QUEUES; q++) {
        struct queue *queue = &world->queues[q];

        if (!queue->handle)
            continue;
        EXPECT(world, GANTRY_OK,
               gantry_wait((struct gantry_point){queue->handle, queue->given}, GANTRY_FOREVER));
        reached(world, q, queue->given);
    }
    for (uint32_t b = 0; b < BUFFERS; b++)
        if (world->buffers[b].handle && !world->difference[0])
            check_buffer(world, b);
    free_litter(world);
}
