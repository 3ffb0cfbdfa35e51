/* What a queue has given to the driver and not yet seen completed. */
#include "flight.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16, MOST_FLIGHTS = 4096 };

void flights_free(struct flights *flights)
{
    for (uint32_t i = 0; i < flights->capacity; i++)
        free(flights->ring[i].copy);
    free(flights->ring);
}

/* ---- The ring ------------------------------------------------------------------------------- */

/* The places keep their copies' memory, so those that are in use move with it and the others stay
 * behind. */
static bool grow(struct flights *flights)
{
    uint32_t capacity = flights->capacity ? 2 * flights->capacity : FIRST_CAPACITY;
    struct flight *ring;

    if (flights->capacity == MOST_FLIGHTS)
        return false;
    ring = calloc(capacity, sizeof(*ring));
    if (!ring)
        return false;
    for (uint32_t i = 0; i < flights->capacity; i++)
        ring[i] = *flights_at(flights, i);
    free(flights->ring);
    flights->ring = ring;
    flights->capacity = capacity;
    flights->oldest = 0;
    return true;
}

static void forget(struct flights *flights, uint64_t completed)
{
    while (flights->count && flights_at(flights, 0)->last <= completed) {
        flights->oldest++;
        flights->count--;
    }
    if (flights->count == 0)
        flights->oldest = 0; /* whose memory is the warmest */
}

static struct flight *latest(const struct flights *flights)
{
    return flights->count ? (struct flight *)flights_at(flights, flights->count - 1) : NULL;
}

static struct flight *append(struct flights *flights)
{
    if (flights->count == flights->capacity && !grow(flights))
        return NULL;
    flights->count++;
    return latest(flights);
}

/* ---- Copies --------------------------------------------------------------------------------- */

/* Bytes that the first `count` commands refer to: arguments and labels lie in the order of
 * recording. */
static size_t used_bytes(const struct gantry_list *list, uint32_t count)
{
    const struct command *command = list->commands + count;

    if (count == list->command_count)
        return list->bytes.size;
    while (count-- > 0)
        if ((--command)->kind == COMMAND_LAUNCH)
            return command->launch.args + command->launch.args_size;
    return 0;
}

static void free_copy(struct flights *flights, struct flight *flight)
{
    free(flight->copy);
    flight->copy = NULL;
    flights->copied -= flight->capacity;
    flight->capacity = 0;
}

static void free_idle_copies(struct flights *flights)
{
    for (uint32_t i = flights->count; i < flights->capacity; i++)
        free_copy(flights, (struct flight *)flights_at(flights, i));
}

static bool reserve(struct flights *flights, struct flight *flight, size_t size)
{
    if (size <= flight->capacity)
        return true;
    free_copy(flights, flight);
    if (flights->copied + size > FLIGHT_BYTES)
        free_idle_copies(flights);
    if (flights->copied + size > FLIGHT_BYTES)
        return false;
    flight->copy = malloc(size);
    flight->capacity = flight->copy ? size : 0;
    flights->copied += flight->capacity;
    return flight->copy;
}

static void copy_commands(struct flights *flights, struct flight *flight,
                          const struct gantry_list *list)
{
    uint32_t count = list->command_count < FLIGHT_KEPT ? list->command_count : FLIGHT_KEPT;
    size_t commands = count * sizeof(*list->commands), bytes = used_bytes(list, count);

    if (!count || !reserve(flights, flight, commands + bytes))
        return;
    memcpy(flight->copy, list->commands, commands);
    if (bytes)
        memcpy(flight->copy + commands, list->bytes.data, bytes);
    flight->kept = count;
}

/* ---- The record ----------------------------------------------------------------------------- */

static void note(struct flights *flights, struct flight *flight, const struct gantry_list *list,
                 uint64_t value)
{
    flight->first = flight->last = value;
    flight->list = list;
    flight->finished = list->state == LIST_FINISHED;
    flight->count = list->command_count;
    flight->kept = 0;
    if (!flight->finished)
        copy_commands(flights, flight, list);
}

void flights_add(struct flights *flights, const struct gantry_list *list, uint64_t value,
                 uint64_t completed)
{
    struct flight *flight;

    lock_take(&flights->lock);
    forget(flights, completed);
    flight = latest(flights);
    if (flight && flight->finished && flight->list == list && flight->last + 1 == value) {
        flight->last = value;
    } else {
        flight = append(flights);
        if (flight)
            note(flights, flight, list, value);
    }
    lock_release(&flights->lock);
}

void flights_drop(struct flights *flights, uint64_t value)
{
    struct flight *flight;

    lock_take(&flights->lock);
    flight = latest(flights);
    if (flight && flight->last == value && flight->first < value)
        flight->last--;
    else if (flight && flight->last == value)
        flights->count--;
    lock_release(&flights->lock);
}

const struct command *flight_commands(const struct flight *flight, uint32_t *count,
                                      const uint8_t **bytes)
{
    *count = flight->finished ? flight->count : flight->kept;
    *bytes = flight->finished ? flight->list->bytes.data
                              : flight->copy + flight->kept * sizeof(struct command);
    return flight->finished ? flight->list->commands : (const struct command *)flight->copy;
}
