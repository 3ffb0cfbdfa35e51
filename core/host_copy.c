#include "host_copy.h"

#include <string.h>

void host_copy(const struct host_copy *copy)
{
    uint8_t *to = copy->to;
    const uint8_t *from = copy->from;

    if (copy->rows > 1 && copy->to_pitch == copy->size && copy->from_pitch == copy->size) {
        memcpy(to, from, copy->size * copy->rows);
        return;
    }
    for (uint64_t row = 0; row < copy->rows; row++) {
        memcpy(to, from, copy->size);
        to += copy->to_pitch;
        from += copy->from_pitch;
    }
}
