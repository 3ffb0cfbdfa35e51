/* What commands do to memory. */
#include "model.h"

#include <string.h>

bool is_alive(const struct world *world, const struct place *place)
{
    const struct buffer *buffer = &world->buffers[place->buffer];

    return buffer->handle && buffer->age == place->age;
}

/* ---- Ranges --------------------------------------------------------------------------------- */

static uint64_t extent(const struct gantry_rect *rect, uint64_t pitch)
{
    return rect->rows && rect->width ? (rect->rows - 1) * pitch + rect->width : 0;
}

uint64_t reach_of_to(const struct command *command)
{
    if (command->kind == STEP || command->kind == HOP)
        return 4 * (uint64_t)command->n;
    return extent(&command->rect, command->rect.to_pitch);
}

uint64_t reach_of_from(const struct command *command)
{
    if (command->kind == STEP || command->kind == HOP)
        return 4 * (uint64_t)command->n;
    return extent(&command->rect, command->rect.from_pitch);
}

static bool reads(const struct command *command)
{
    return command->kind == HOP || command->kind == COPY || command->kind == DOWNLOAD;
}

static bool meet(const struct place *a, uint64_t a_size, const struct place *b, uint64_t b_size)
{
    return a->buffer == b->buffer && a->offset < b->offset + b_size &&
           b->offset < a->offset + a_size;
}

bool conflict(const struct command *a, const struct command *b)
{
    bool a_writes = a->kind != DOWNLOAD, b_writes = b->kind != DOWNLOAD;

    if (a_writes && b_writes && meet(&a->to, reach_of_to(a), &b->to, reach_of_to(b)))
        return true;
    if (a_writes && reads(b) && meet(&a->to, reach_of_to(a), &b->from, reach_of_from(b)))
        return true;
    return reads(a) && b_writes && meet(&a->from, reach_of_from(a), &b->to, reach_of_to(b));
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* Words that the launch's threads have: whole blocks of them run. */
static uint32_t words_run(const struct command *command)
{
    uint64_t blocks = ((uint64_t)command->threads + command->block - 1) / command->block;
    uint64_t threads = blocks * command->block;

    return threads < command->n ? (uint32_t)threads : command->n;
}

static uint32_t get_word(const uint8_t *bytes, uint64_t i)
{
    uint32_t word;

    memcpy(&word, bytes + 4 * i, sizeof(word));
    return word;
}

static void put_word(uint8_t *bytes, uint64_t i, uint32_t word)
{
    memcpy(bytes + 4 * i, &word, sizeof(word));
}

static void run_step(const struct command *command, uint8_t *to)
{
    for (uint32_t i = 0; i < words_run(command); i++)
        put_word(to, i, get_word(to, i) * 3 + command->add);
}

static void run_hop(const struct command *command, uint8_t *to, const uint8_t *from)
{
    for (uint32_t i = 0; i < words_run(command); i++)
        put_word(to, i, get_word(from, (i * 5 + 12345) & (command->n - 1)) * 3 + command->add);
}

static void move_rows(const struct gantry_rect *rect, uint8_t *to, const uint8_t *from)
{
    for (uint64_t row = 0; row < rect->rows; row++)
        memcpy(to + row * rect->to_pitch, from + row * rect->from_pitch, rect->width);
}

void run_command(struct world *world, const struct command *command, uint8_t *host)
{
    uint8_t *to = world->buffers[command->to.buffer].bytes + command->to.offset;
    const uint8_t *from = world->buffers[command->from.buffer].bytes + command->from.offset;

    switch (command->kind) {
    case STEP:
        run_step(command, to);
        break;
    case HOP:
        run_hop(command, to, from);
        break;
    case FILL:
        for (uint64_t i = 0; i < command->rect.width / 4; i++)
            put_word(to, i, command->add);
        break;
    case COPY:
        move_rows(&command->rect, to, from);
        break;
    case UPLOAD:
        move_rows(&command->rect, to, host);
        break;
    case DOWNLOAD:
        move_rows(&command->rect, host, from);
        break;
    case COMMAND_KINDS:
        break;
    }
}
