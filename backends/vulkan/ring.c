#include "driver.h"

/* Of the first place; each further one is at least twice as large. */
#define FIRST_SIZE 65536

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

bool ring_take(struct ring *ring, uint64_t size, struct slice *slice)
{
    uint64_t capacity = ring->size;
    uint64_t rounded = align_up(size, BLOCK_ALIGNMENT);
    uint64_t place, skipped;

    if (rounded > capacity)
        return false;
    if (ring->head == ring->tail)
        ring->head = ring->tail = align_up(ring->head, capacity);
    place = ring->head % capacity;
    skipped = rounded > capacity - place ? capacity - place : 0; /* no slice spans the end */
    if (skipped + rounded > capacity - (ring->head - ring->tail))
        return false;
    slice->begin = ring->head;
    slice->end = ring->head + skipped + rounded;
    slice->span = span_from(&ring->place.span, skipped ? 0 : place);
    ring->head = slice->end;
    return true;
}

void ring_give(struct ring *ring, const struct slice *slice)
{
    if (slice->end > ring->tail)
        ring->tail = slice->end;
}

void ring_untake(struct ring *ring, const struct slice *slice)
{
    if (slice->end == ring->head)
        ring->head = slice->begin;
}

enum gantry_status ring_grow(struct gantry_drv_device *device, struct ring *ring, uint64_t size,
                             struct table *old)
{
    uint64_t capacity = ring->size ? 2 * ring->size : FIRST_SIZE;
    struct table larger;
    enum gantry_status status;

    while (capacity < size)
        capacity *= 2;
    status = table_take(device, capacity, &larger);
    if (status != GANTRY_OK)
        return status;
    *old = ring->place;
    ring->place = larger;
    ring->size = capacity;
    ring->head = ring->tail = align_up(ring->head, capacity);
    return GANTRY_OK;
}
