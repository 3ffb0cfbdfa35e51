/* Rectangles of bytes, once struct gantry_rect was found to mean something. */
#ifndef GANTRY_CORE_RECT_H
#define GANTRY_CORE_RECT_H

#include <gantry/gantry.h>

/* What can be moved in one piece is one row. */
struct rect {
    uint64_t size; /* bytes of a row; 0: nothing is to be moved */
    uint64_t rows; /* at least 1 */
    uint64_t to_pitch, from_pitch;
};

/* Fails, naming `what`, for pitches in which rows overlap, and for sides that don't fit 64 bits. */
enum gantry_status rect_read(const struct gantry_rect *given, const char *what, struct rect *rect);

/* Bytes from the first to the last of so many rows (0 counts as 1). */
static inline uint64_t rect_extent(uint64_t size, uint64_t rows, uint64_t pitch)
{
    return rows > 1 ? (rows - 1) * pitch + size : size;
}

#endif
