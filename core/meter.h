/* How long a queue's launches take: so that a batch holds no more than a given time.
 *
 * The oldest batches that have not completed are watched: each from the moment when it was
 * submitted, or when what came before it was last seen unfinished, to the moment when it is first
 * seen finished. Looks come when they come: a late one makes a time too long, never too short. So a
 * shorter time is believed at once, and a longer one only by and by. */
#ifndef GANTRY_CORE_METER_H
#define GANTRY_CORE_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define METER_BATCHES 16

struct meter {
    struct meter_batch {
        uint64_t value;
        uint32_t launches;
    } batches[METER_BATCHES]; /* a ring; while it is full, further ones are not watched */
    uint32_t first, count;
    uint64_t start;          /* ns: not before then did the oldest one begin */
    uint64_t looked;         /* ns: the latest look */
    _Atomic uint64_t launch; /* ns that one takes, 0: not known yet; read without a lock */
};

/* Whether a look at the queue is of interest, before asking the clock. */
static inline bool meter_watches(const struct meter *meter)
{
    return meter->count != 0;
}

/* A batch of at least one launch is being submitted. */
void meter_begin(struct meter *meter, uint64_t value, uint32_t launches, uint64_t now);

/* The queue was seen to have completed `completed`. */
void meter_look(struct meter *meter, uint64_t completed, uint64_t now);

/* How many launches fit into max_ns: at least 1, at most `most`; few until some have been timed. */
uint32_t meter_fit(const struct meter *meter, uint64_t max_ns, uint32_t most);

#endif
