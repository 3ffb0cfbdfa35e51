#include "staging.h"

#define ALIGNMENT 256

uint64_t staging_room(const struct staging *staging, uint64_t wanted, uint64_t *offset)
{
    uint64_t room = staging->size - (staging->head - staging->tail);
    uint64_t most = staging->size / STAGING_PIECES;

    if (staging->count == STAGING_BATCHES)
        return 0;
    *offset = staging->head % staging->size;
    if (room > staging->size - *offset)
        room = staging->size - *offset;
    if (room > most)
        room = most;
    return room < wanted ? room : wanted;
}

void staging_take(struct staging *staging, uint64_t size)
{
    staging->head += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t taken_before(const struct staging *staging)
{
    uint32_t last = (staging->first + staging->count - 1) % STAGING_BATCHES;

    return staging->count ? staging->batches[last].end : staging->tail;
}

void staging_close_batch(struct staging *staging, uint64_t value)
{
    uint32_t next = (staging->first + staging->count) % STAGING_BATCHES;

    if (staging->head == taken_before(staging))
        return;
    staging->batches[next] = (struct staging_batch){value, staging->head};
    staging->count++;
}

uint64_t staging_oldest(const struct staging *staging)
{
    return staging->count ? staging->batches[staging->first].value : 0;
}

void staging_free_oldest(struct staging *staging)
{
    staging->tail = staging->batches[staging->first].end;
    staging->first = (staging->first + 1) % STAGING_BATCHES;
    staging->count--;
}
