/* Texts, and lists of texts, that are kept once each. */
#include "interned.h"

#include <string.h>

struct interned_list {
    struct interned_list *next;
    uint32_t count;
    const char *items[];
};

struct interned_text {
    struct interned_text *next;
    char text[];
};

void interned_init(struct interned *interned)
{
    memset(interned, 0, sizeof(*interned));
    pthread_mutex_init(&interned->lock, NULL);
}

void interned_release(struct interned *interned)
{
    arena_release(&interned->arena);
    pthread_mutex_destroy(&interned->lock);
}

static struct interned_list *find(const struct interned *interned, const char *const *items,
                                  uint32_t count)
{
    struct interned_list *list = interned->lists;

    while (list &&
           !(list->count == count && memcmp(list->items, items, count * sizeof(*items)) == 0))
        list = list->next;
    return list;
}

static struct interned_list *keep(struct interned *interned, const char *const *items,
                                  uint32_t count)
{
    struct interned_list *list =
        arena_allocate(&interned->arena, sizeof(*list) + count * sizeof(*items));

    if (!list)
        return NULL;
    list->count = count;
    memcpy(list->items, items, count * sizeof(*items));
    list->next = interned->lists;
    interned->lists = list;
    return list;
}

const char *const *interned_get(struct interned *interned, const char *const *items, uint32_t count)
{
    struct interned_list *list;

    pthread_mutex_lock(&interned->lock);
    list = find(interned, items, count);
    if (!list)
        list = keep(interned, items, count);
    pthread_mutex_unlock(&interned->lock);
    return list ? list->items : NULL;
}

const char *interned_text(struct interned *interned, const char *text)
{
    size_t size = strlen(text) + 1;
    struct interned_text *kept;

    pthread_mutex_lock(&interned->lock);
    kept = interned->texts;
    while (kept && strcmp(kept->text, text) != 0)
        kept = kept->next;
    if (!kept && (kept = arena_allocate(&interned->arena, sizeof(*kept) + size))) {
        memcpy(kept->text, text, size);
        kept->next = interned->texts;
        interned->texts = kept;
    }
    pthread_mutex_unlock(&interned->lock);
    return kept ? kept->text : NULL;
}
