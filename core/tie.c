/* Sections of which neither is more specific. */
#include "tie.h"

#include <string.h>

#include "model.h"

/* Whether some text is taken by both patterns: `reach[j]` says that what a takes up to its i-th
 * character can be what b takes up to its j-th. */
static bool globs_meet(const char *a, const char *b)
{
    bool reach[MATCH_NAME_SIZE + 1] = {true};
    size_t length = strlen(b);

    for (size_t j = 0; j < length; j++)
        reach[j + 1] = reach[j] && b[j] == '*';
    for (; *a; a++) {
        bool diagonal = reach[0];
        bool any = false;

        reach[0] = reach[0] && *a == '*';
        for (size_t j = 0; j < length; j++) {
            bool above = reach[j + 1];

            /* A '*' takes nothing, or one of the other's characters more. */
            if (*a == '*' || b[j] == '*')
                reach[j + 1] = above || reach[j];
            else
                reach[j + 1] = diagonal && (*a == b[j] || *a == '?' || b[j] == '?');
            diagonal = above;
            any = any || reach[j + 1];
        }
        if (!any && !reach[0])
            return false;
    }
    return reach[length];
}

/* Whether some name is taken by both. A pattern that states vendor's words takes names that have
 * them, of which another pattern takes what stands behind. */
static bool patterns_meet(const char *a, const char *b)
{
    for (const char *rest = a; rest; rest = model_behind_vendor(rest)) {
        if (globs_meet(rest, b))
            return true;
    }
    for (const char *rest = model_behind_vendor(b); rest; rest = model_behind_vendor(rest)) {
        if (globs_meet(a, rest))
            return true;
    }
    return false;
}

bool tie_between(const struct selector *a, const struct selector *b)
{
    if (selector_rank(a) != selector_rank(b) || selector_same(a, b))
        return false;
    switch (a->kind) {
    case SELECT_PATTERN:
        return patterns_meet(a->text, b->text);
    case SELECT_ARCH:
        return globs_meet(a->text, b->text);
    case SELECT_TYPE:
    case SELECT_VENDOR:
    case SELECT_NAME:
    case SELECT_PCI:
    case SELECT_UUID:
        break; /* a device has one of each */
    }
    return false;
}
