/* The batches of a queue that the driver refused. Their values had been given out as points, so
 * that no later submission may have them: the queue's counter passes over them. */
#ifndef GANTRY_CORE_LOSSES_H
#define GANTRY_CORE_LOSSES_H

#include <gantry/gantry.h>

#include "lock.h"

/* Batches in a row that failed alike. */
struct loss {
    uint64_t first, last;
    enum gantry_status status;
    char *text; /* the first one's sentence; NULL when there was no memory for it */
};

struct losses {
    atomic_uint count; /* 0 tells without the lock that nothing was lost */
    struct lock lock;
    struct loss *all; /* in ascending order */
    uint32_t capacity;
};

/* false when there is no memory; losses_free() takes what was opened or is zero. */
bool losses_open(struct losses *losses);
void losses_free(struct losses *losses);

/* The batch is lost with the status, and the thread's sentence. Without memory for more, the oldest
 * loss is forgotten. */
void losses_add(struct losses *losses, uint64_t value, enum gantry_status status);

/* GANTRY_OK for a value that was not lost; otherwise the failure, whose sentence it sets. */
enum gantry_status losses_find(struct losses *losses, uint64_t value);

/* The last value up to this one that was not lost: what the driver must have completed for all work
 * up to `value` to be over. */
uint64_t losses_pass(struct losses *losses, uint64_t value);

#endif
