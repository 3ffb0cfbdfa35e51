/* The checks that cases make. */
#include <time.h>

#include "run.h"

void expect_at(struct conform *c, const char *file, int line, const char *call,
               enum gantry_status expected, enum gantry_status found)
{
    if (found != expected)
        fail_at(c, file, line, "%s returned %s instead of %s%s%s", call, gantry_status_name(found),
                gantry_status_name(expected), found < 0 ? ": " : "",
                found < 0 ? gantry_last_error() : "");
    if (expected < 0 && gantry_last_error()[0] == '\0')
        fail_at(c, file, line, "%s failed with %s as it should, but left no sentence", call,
                gantry_status_name(found));
}

uint32_t record_at(struct conform *c, const char *file, int line, const char *call, uint32_t id)
{
    if (id == 0)
        fail_at(c, file, line, "%s recorded nothing: %s", call, gantry_last_error());
    return id;
}

void equal_at(struct conform *c, const char *file, int line, const char *what,
              const uint32_t *found, const uint32_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (found[i] != expected[i])
            fail_at(c, file, line, "%s[%zu] of %zu is %u (0x%x), expected %u (0x%x)", what, i,
                    count, found[i], found[i], expected[i], expected[i]);
}

void allow_error_messages(struct conform *c)
{
    c->run->errors_allowed = true;
}

uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
