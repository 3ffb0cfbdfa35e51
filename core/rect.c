#include "rect.h"

#include <inttypes.h>

#include "status.h"

static enum gantry_status check_side(const struct gantry_rect *given, uint64_t pitch,
                                     const char *side, const char *what)
{
    uint64_t end;

    if (pitch < given->width)
        return fail(GANTRY_E_INVALID_ARGUMENT,
                    "%s: rows of %" PRIu64 " bytes overlap when they are %" PRIu64 " bytes apart; "
                    "%s must be 0 or at least width",
                    what, given->width, pitch, side);
    if (__builtin_mul_overflow(given->rows - 1, pitch, &end) ||
        __builtin_add_overflow(end, given->width, &end))
        return fail(GANTRY_E_OVERFLOW,
                    "%s: %" PRIu64 " rows, %" PRIu64 " bytes apart by %s, exceed 64 bits", what,
                    given->rows, pitch, side);
    return GANTRY_OK;
}

enum gantry_status rect_read(const struct gantry_rect *given, const char *what, struct rect *rect)
{
    uint64_t to_pitch, from_pitch;
    enum gantry_status status;

    *rect = (struct rect){.rows = 1};
    if (!given)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: the rectangle is NULL", what);
    if (given->width == 0 || given->rows == 0)
        return GANTRY_OK;
    to_pitch = given->to_pitch ? given->to_pitch : given->width;
    from_pitch = given->from_pitch ? given->from_pitch : given->width;
    status = check_side(given, to_pitch, "to_pitch", what);
    if (status == GANTRY_OK)
        status = check_side(given, from_pitch, "from_pitch", what);
    if (status != GANTRY_OK)
        return status;
    *rect = (struct rect){given->width, given->rows, to_pitch, from_pitch};
    if (to_pitch == given->width && from_pitch == given->width)
        *rect = (struct rect){.size = given->width * given->rows, .rows = 1};
    return GANTRY_OK;
}
