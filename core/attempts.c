#include "attempts.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

bool attempts_add(struct attempts *attempts, char *path, enum gantry_attempt_outcome outcome,
                  char *text)
{
    struct attempt *items = NULL;

    if (path && text)
        items = realloc(attempts->items, (attempts->count + 1) * sizeof(*items));
    if (!items) {
        free(path);
        free(text);
        return false;
    }
    attempts->items = items;
    items[attempts->count++] = (struct attempt){path, outcome, text};
    return true;
}

char *attempts_sentence(const struct attempts *attempts)
{
    struct text sentence = {0};

    for (uint32_t i = 0; i < attempts->count; i++) {
        if (attempts->items[i].outcome != GANTRY_ATTEMPT_LOADED)
            text_add(&sentence, "%s%s", sentence.length ? "; " : "", attempts->items[i].text);
    }
    return text_take(&sentence);
}

void attempts_free(struct attempts *attempts)
{
    for (uint32_t i = 0; i < attempts->count; i++) {
        free(attempts->items[i].path);
        free(attempts->items[i].text);
    }
    free(attempts->items);
    memset(attempts, 0, sizeof(*attempts));
}
