/* Fuzz target: a device's name in the first line, and selectors in the others. */
#include "fuzz.h"

#include <string.h>

#include "core/ascii.h"
#include "core/match.h"
#include "core/model.h"
#include "core/tie.h"
#include "core/utf8.h"

enum { SELECTORS_MAX = 6, WHY_SIZE = 256, LONG_NAME = 2 * MATCH_NAME_SIZE };

/* ---- Names ---------------------------------------------------------------------------------- */

static void check_normal(const char *normal)
{
    char again[MATCH_NAME_SIZE];

    HOLDS(normal[0] && normal[0] != ' ' && normal[strlen(normal) - 1] != ' ');
    HOLDS(!strstr(normal, "  "));
    for (const char *c = normal; *c; c++)
        HOLDS(!(*c >= 'A' && *c <= 'Z') && *c != '\t');
    /* A section that is written with the normalised name must match the device. */
    HOLDS(model_normalise(normal, again, sizeof(again)));
    HOLDS(strcmp(again, normal) == 0);
}

/* Whether a name can be written as a selector: it has no wildcards, and does not begin like one of
 * another kind, as "x:y" does. */
static bool is_plain(const char *name)
{
    struct selector selector;
    char why[WHY_SIZE];

    return selector_parse(name, &selector, why, sizeof(why)) && selector.kind == SELECT_NAME;
}

static void check_matches(const char *name, const char *form)
{
    const struct policy_subject subject = {.name = name};
    struct selector selector;
    char why[WHY_SIZE];

    if (!is_plain(form))
        return;
    HOLDS(selector_parse(form, &selector, why, sizeof(why)));
    HOLDS(selector_matches(&selector, &subject));
}

/* Case and blanks do not matter. */
static void check_other_forms(const char *name)
{
    char form[LONG_NAME];
    size_t length = 0;

    if (2 * strlen(name) >= sizeof(form))
        return;
    for (const char *c = name; *c; c++) {
        form[length++] = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        if (*c == ' ')
            form[length++] = '\t';
    }
    form[length] = '\0';
    check_matches(name, form);
    check_matches(form, name);
}

static void check_name(const char *name)
{
    char normal[MATCH_NAME_SIZE];

    if (!model_normalise(name, normal, sizeof(normal)))
        return;
    check_normal(normal);
    check_matches(name, name);
    check_matches(name, normal);
    check_matches(name, model_without_vendor(normal));
    check_other_forms(name);
}

/* ---- Patterns ------------------------------------------------------------------------------- */

/* Without cleverness: whether the pattern takes the text, a row of the table per character. */
static bool plain_glob(const char *pattern, const char *text)
{
    bool takes[MATCH_NAME_SIZE + 1] = {true};
    size_t length = strlen(text);

    for (; *pattern; pattern++) {
        bool before = takes[0];

        takes[0] = takes[0] && *pattern == '*';
        for (size_t i = 0; i < length; i++) {
            bool above = takes[i + 1];

            takes[i + 1] = *pattern == '*' ? above || takes[i]
                                           : before && (*pattern == '?' || *pattern == text[i]);
            before = above;
        }
    }
    return takes[length];
}

static void check_selector(const struct selector *selector, const char *text)
{
    struct selector again;
    char why[WHY_SIZE];

    HOLDS(selector_rank(selector) > 0 && selector->literal < MATCH_NAME_SIZE);
    HOLDS(selector_parse(text, &again, why, sizeof(why)));
    HOLDS(selector_same(selector, &again) && selector_rank(selector) == selector_rank(&again));
    HOLDS(!tie_between(selector, &again));
}

static void check_pair(const struct selector *a, const struct selector *b, const char *name)
{
    const struct policy_subject subject = {.name = name};
    char normal[MATCH_NAME_SIZE];

    HOLDS(tie_between(a, b) == tie_between(b, a));
    HOLDS(selector_same(a, b) == selector_same(b, a));
    /* Vendor's words are for the patterns to take or leave, so only a name without them tells. */
    if (a->kind != SELECT_PATTERN || selector_rank(a) != selector_rank(b) ||
        !model_normalise(name, normal, sizeof(normal)) || model_behind_vendor(normal))
        return;
    if (selector_matches(a, &subject) && selector_matches(b, &subject))
        HOLDS(selector_same(a, b) || tie_between(a, b));
}

/* ---- The target ----------------------------------------------------------------------------- */

static void check_selectors(char *lines, const char *name)
{
    struct selector selectors[SELECTORS_MAX];
    char normal[MATCH_NAME_SIZE], why[WHY_SIZE] = "";
    uint32_t count = 0;

    for (char *line = lines, *next; line && count < SELECTORS_MAX; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (!selector_parse(line, &selectors[count], why, sizeof(why))) {
            HOLDS(why[0] && strlen(why) < sizeof(why) && utf8_valid(why));
            continue;
        }
        check_selector(&selectors[count], line);
        if (model_normalise(name, normal, sizeof(normal)))
            HOLDS(model_glob(selectors[count].text, normal) ==
                  plain_glob(selectors[count].text, normal));
        for (uint32_t i = 0; i < count; i++)
            check_pair(&selectors[i], &selectors[count], name);
        count++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1), *end;

    memcpy(text, data, size);
    end = strchr(text, '\n');
    if (end)
        *end++ = '\0';
    check_name(text);
    if (end)
        check_selectors(end, text);
    free(text);
    return 0;
}
