#include "addresses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "context.h"

/* ---- Live buffers --------------------------------------------------------------------------- */

/* The place of the first range that ends behind the address. */
static uint32_t find_place(const struct addresses *addresses, uint64_t address)
{
    uint32_t low = 0, high = addresses->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (addresses->live[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool reserve(struct addresses *addresses)
{
    uint32_t capacity = addresses->capacity ? 2 * addresses->capacity : 64;
    struct address_range *grown;

    if (addresses->count < addresses->capacity)
        return true;
    grown = realloc(addresses->live, capacity * sizeof(*grown));
    if (!grown)
        return false;
    addresses->live = grown;
    addresses->capacity = capacity;
    return true;
}

bool addresses_add(struct addresses *addresses, struct gantry_buffer *buffer)
{
    uint64_t first = gantry_buffer_address(buffer);
    uint32_t place = find_place(addresses, first);
    struct address_range *range;

    if (!reserve(addresses))
        return false;
    range = &addresses->live[place];
    memmove(range + 1, range, (addresses->count - place) * sizeof(*range));
    *range = (struct address_range){first, first + buffer->size, buffer};
    addresses->count++;
    return true;
}

static void remember(struct addresses *addresses, const struct address_range *range)
{
    struct address_ghost *ghost = &addresses->ghosts[addresses->destroyed++ % ADDRESSES_GHOSTS];

    *ghost = (struct address_ghost){.first = range->first, .end = range->end};
    snprintf(ghost->label, sizeof(ghost->label), "%s", range->buffer->label);
}

void addresses_remove(struct addresses *addresses, const struct gantry_buffer *buffer)
{
    uint32_t place = find_place(addresses, gantry_buffer_address(buffer));
    struct address_range *range = &addresses->live[place];

    if (place == addresses->count || range->buffer != buffer)
        return; /* there was no memory to add it */
    remember(addresses, range);
    addresses->count--;
    memmove(range, range + 1, (addresses->count - place) * sizeof(*range));
}

const struct address_range *addresses_find(const struct addresses *addresses, uint64_t address)
{
    uint32_t place = find_place(addresses, address);
    const struct address_range *range = &addresses->live[place];

    return place < addresses->count && range->first <= address ? range : NULL;
}

void addresses_close(struct addresses *addresses)
{
    free(addresses->live);
    *addresses = (struct addresses){0};
}

/* ---- Explaining ----------------------------------------------------------------------------- */

/* The latest first, because memory is used again. */
static bool explain_ghost(const struct addresses *addresses, uint64_t address, char *text,
                          unsigned size)
{
    uint64_t last = addresses->destroyed;
    uint64_t first = last > ADDRESSES_GHOSTS ? last - ADDRESSES_GHOSTS : 0;

    for (uint64_t i = last; i-- > first;) {
        const struct address_ghost *ghost = &addresses->ghosts[i % ADDRESSES_GHOSTS];

        if (address < ghost->first || address >= ghost->end)
            continue;
        snprintf(text, size,
                 "points to byte %" PRIu64 " of buffer \"%s\" (%" PRIu64 " bytes from 0x%" PRIx64
                 "), which was destroyed",
                 address - ghost->first, ghost->label, ghost->end - ghost->first, ghost->first);
        return true;
    }
    return false;
}

static void explain_nearest(const struct gantry_device *device, uint64_t address, char *text,
                            unsigned size)
{
    const struct addresses *addresses = &device->addresses;
    uint32_t place = find_place(addresses, address);
    const struct address_range *range = &addresses->live[place];
    uint64_t distance;

    if (addresses->count == 0) {
        snprintf(text, size, "points into no buffer; device \"%s\" has none", device->label);
        return;
    }
    if (place == addresses->count || (place && address - range[-1].end < range->first - address))
        range--;
    distance = range->first > address ? range->first - address : address - range->end + 1;
    snprintf(text, size,
             "points into no buffer of device \"%s\"; the nearest, \"%s\" (%" PRIu64
             " bytes from 0x%" PRIx64 "), %s %" PRIu64 " byte%s %s it",
             device->label, range->buffer->label, range->end - range->first, range->first,
             range->first > address ? "begins" : "ends", distance, distance == 1 ? "" : "s",
             range->first > address ? "behind" : "before");
}

/* Devices without validation know their buffers by their list only. */
static bool explain_foreign(struct gantry_device *other, uint64_t address, char *text,
                            unsigned size)
{
    const struct gantry_buffer *found = NULL;

    pthread_mutex_lock(&other->lock);
    for (const struct object *o = other->objects[OBJECT_BUFFER]; o && !found; o = o->next) {
        const struct gantry_buffer *buffer = (const struct gantry_buffer *)o;
        uint64_t offset = address - gantry_buffer_address(buffer);

        if (offset < buffer->size)
            found = buffer;
    }
    if (found)
        snprintf(text, size,
                 "points into buffer \"%s\" of another device, \"%s\"; make the buffer on the "
                 "device that runs the launch",
                 found->label, other->label);
    pthread_mutex_unlock(&other->lock);
    return found;
}

static bool explain_elsewhere(struct gantry_device *device, uint64_t address, char *text,
                              unsigned size)
{
    struct gantry *g = device->g;
    bool found = false;

    pthread_mutex_lock(&g->lock);
    for (struct gantry_device *other = g->devices; other && !found; other = other->next)
        found = other != device && explain_foreign(other, address, text, size);
    pthread_mutex_unlock(&g->lock);
    return found;
}

void addresses_explain(struct gantry_device *device, uint64_t address, char *text, unsigned size)
{
    bool found;

    pthread_mutex_lock(&device->lock);
    found = explain_ghost(&device->addresses, address, text, size);
    pthread_mutex_unlock(&device->lock);
    if (found || explain_elsewhere(device, address, text, size))
        return;
    pthread_mutex_lock(&device->lock);
    explain_nearest(device, address, text, size);
    pthread_mutex_unlock(&device->lock);
}
