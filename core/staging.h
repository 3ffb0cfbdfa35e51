/* Host memory through which streamed uploads, or downloads, go: used round and round, a piece after
 * the other. A piece is free again when the batch that it belongs to has completed. */
#ifndef GANTRY_CORE_STAGING_H
#define GANTRY_CORE_STAGING_H

#include <stdbool.h>
#include <stdint.h>

/* Batches in flight that use it; one more must wait for the oldest. */
#define STAGING_BATCHES 64

/* A command takes at most this part of the memory in one piece, so that filling one piece can
 * overlap with the transfer of another. */
#define STAGING_PIECES 4

struct staging {
    uint64_t size;       /* bytes, whole MiB; 0: there is none yet */
    uint64_t head, tail; /* bytes ever taken and freed; modulo the size they are offsets */
    struct staging_batch {
        uint64_t value, end; /* what the batch took ends at this head */
    } batches[STAGING_BATCHES];
    uint32_t first, count; /* submitted ones, oldest first */
};

/* How many bytes, up to `wanted`, can be taken in one piece, and at which offset; 0: none now. */
uint64_t staging_room(const struct staging *staging, uint64_t wanted, uint64_t *offset);

/* Takes so many of them for the open batch. */
void staging_take(struct staging *staging, uint64_t size);

/* The open batch was submitted, or lost, under this value. */
void staging_close_batch(struct staging *staging, uint64_t value);

/* The value of the oldest batch that uses the memory, 0: none. staging_free_oldest() gives back
 * what it took. */
uint64_t staging_oldest(const struct staging *staging);
void staging_free_oldest(struct staging *staging);

#endif
