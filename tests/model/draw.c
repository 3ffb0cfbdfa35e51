/* Commands at random. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* ---- Host memory ---------------------------------------------------------------------------- */

void litter_host(struct world *world, void *memory)
{
    struct litter *litter = malloc(sizeof(*litter));

    if (!memory || !litter) {
        free(litter);
        return;
    }
    *litter = (struct litter){world->litter, memory};
    world->litter = litter;
}

void drop_host(struct world *world, struct command *command)
{
    litter_host(world, command->host);
    command->host = NULL;
}

/* The host's side of a transfer, with other bytes around its rows. */
static bool make_host(struct world *world, struct command *command)
{
    command->host_size = command->kind == UPLOAD ? reach_of_from(command) : reach_of_to(command);
    command->host = malloc(command->host_size + 1);
    if (command->host)
        draw_bytes(world, command->host, command->host_size);
    return command->host != NULL;
}

/* ---- Places --------------------------------------------------------------------------------- */

static bool draw_buffer(struct world *world, struct place *place)
{
    place->buffer = below(world, BUFFERS);
    place->age = world->buffers[place->buffer].age;
    return world->buffers[place->buffer].handle != NULL;
}

/* Somewhere in the buffer with room for `size` bytes. */
static bool draw_offset(struct world *world, struct place *place, uint64_t size, uint32_t alignment)
{
    uint32_t room = world->buffers[place->buffer].size;

    if (size > room)
        return false;
    place->offset = below(world, (uint32_t)(room - size) / alignment + 1) * alignment;
    return true;
}

/* ---- Launches ------------------------------------------------------------------------------- */

static void draw_threads(struct world *world, struct command *command)
{
    command->threads = one_in(world, 4) ? below(world, 2 * command->n + 2) : command->n;
    command->max_threads = command->threads + below(world, 2) * below(world, 300);
}

static bool draw_launch(struct world *world, struct command *command)
{
    uint32_t words = world->buffers[command->to.buffer].size / 4;

    if (words == 0)
        return false;
    command->n = 1 + below(world, words);
    if (command->kind == HOP)
        command->n = 1u << below(world, 9);
    command->add = draw(world) % 1000;
    command->block = command->kind == HOP ? world->hop_block : world->step_block;
    draw_threads(world, command);
    if (!draw_offset(world, &command->to, 4 * (uint64_t)command->n, 4))
        return false;
    return command->kind == STEP ||
           (draw_buffer(world, &command->from) &&
            draw_offset(world, &command->from, 4 * (uint64_t)command->n, 4) &&
            !(command->from.buffer == command->to.buffer));
}

/* ---- Transfers ------------------------------------------------------------------------------ */

/* Either pitch is at least the width, or it is 1 row. */
static void draw_rect(struct world *world, struct command *command)
{
    struct gantry_rect *rect = &command->rect;

    *rect = (struct gantry_rect){.width = below(world, 400), .rows = 1};
    if (one_in(world, 12))
        rect->width = 0;
    if (one_in(world, 10))
        rect->width = below(world, BYTES) + 1;
    command->rectangle = one_in(world, 3);
    if (command->rectangle) {
        rect->width = rect->width % 64;
        rect->rows = below(world, 9);
    }
    rect->to_pitch = rect->width + (one_in(world, 2) ? below(world, 40) : 0);
    rect->from_pitch = rect->width + (one_in(world, 2) ? below(world, 40) : 0);
    if (rect->width == 0)
        rect->to_pitch = rect->from_pitch = 0;
}

static bool draw_fill(struct world *world, struct command *command)
{
    command->rect = (struct gantry_rect){.width = 4 * (uint64_t)below(world, BYTES / 8), .rows = 1};
    command->rect.to_pitch = command->rect.width;
    command->add = draw(world);
    return draw_offset(world, &command->to, command->rect.width, 4);
}

static bool draw_transfer(struct world *world, struct command *command)
{
    bool same;

    draw_rect(world, command);
    if (command->kind != DOWNLOAD && !draw_offset(world, &command->to, reach_of_to(command), 1))
        return false;
    if (command->kind != UPLOAD && (!draw_buffer(world, &command->from) ||
                                    !draw_offset(world, &command->from, reach_of_from(command), 1)))
        return false;
    if (command->kind != COPY)
        return make_host(world, command);
    same = command->to.buffer == command->from.buffer;
    return !same || command->to.offset >= command->from.offset + reach_of_from(command) ||
           command->from.offset >= command->to.offset + reach_of_to(command);
}

bool draw_command(struct world *world, bool launches, struct command *command)
{
    *command = (struct command){.kind = (enum command_kind)below(world, COMMAND_KINDS)};
    if (launches && one_in(world, 2))
        command->kind = one_in(world, 3) ? HOP : STEP;
    if (!draw_buffer(world, &command->to))
        return false;
    switch (command->kind) {
    case STEP:
    case HOP:
        return launches && draw_launch(world, command);
    case FILL:
        return draw_fill(world, command);
    default:
        return draw_transfer(world, command);
    }
}
