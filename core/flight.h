/* What a queue has given to the driver and not yet seen completed, so that the report of a lost
 * device can name it.
 *
 * A finished list keeps its commands, and is not freed before its submissions have completed: the
 * record refers to it. An open batch and a list that was not finished record the next commands over
 * those that are in flight: of these the record keeps a copy, bounded for each submission and in
 * all, which costs some nanoseconds a launch where submitting one costs hundreds. */
#ifndef GANTRY_CORE_FLIGHT_H
#define GANTRY_CORE_FLIGHT_H

#include "list.h"
#include "lock.h"

/* Commands kept of one submission at most, and bytes of the copies of a queue. */
#define FLIGHT_KEPT  2048
#define FLIGHT_BYTES ((size_t)2 << 20)

struct flight {
    uint64_t first, last; /* submissions: several of a finished list in a row are one */
    const struct gantry_list *list;
    bool finished;  /* the list's own commands are what was submitted */
    uint32_t count; /* commands of each submission … */
    uint32_t kept;  /* … of which the copy holds the first ones */
    uint8_t *copy;  /* the commands, then the bytes that they refer to; used again */
    size_t capacity;
};

/* All zero is empty. */
struct flights {
    struct lock lock; /* the last to be taken; guards what follows */
    struct flight *ring;
    uint32_t oldest, count, capacity; /* the capacity is a power of two */
    size_t copied;                    /* bytes of all copies */
};

void flights_free(struct flights *flights);

/* The list is being submitted as `value`; submissions up to `completed` are over. Where there is no
 * memory for the record, it goes without. */
void flights_add(struct flights *flights, const struct gantry_list *list, uint64_t value,
                 uint64_t completed);

/* The driver refused it. */
void flights_drop(struct flights *flights, uint64_t value);

/* The commands that are known of a flight, and the bytes that they refer to. */
const struct command *flight_commands(const struct flight *flight, uint32_t *count,
                                      const uint8_t **bytes);

/* The i-th flight, the oldest first. */
static inline const struct flight *flights_at(const struct flights *flights, uint32_t i)
{
    return &flights->ring[(flights->oldest + i) & (flights->capacity - 1)];
}

#endif
