/* Texts, and lists of texts, that are kept once each, so that asking again needs no more memory. */
#ifndef GANTRY_CORE_INTERNED_H
#define GANTRY_CORE_INTERNED_H

#include <pthread.h>
#include <stdint.h>

#include "arena.h"

struct interned {
    pthread_mutex_t lock; /* guards the rest */
    struct arena arena;
    struct interned_list *lists;
    struct interned_text *texts;
};

void interned_init(struct interned *interned);
void interned_release(struct interned *interned);

/* The kept list of these very pointers, which is made when there is none; NULL when memory runs
 * out. Any thread. */
const char *const *interned_get(struct interned *interned, const char *const *items,
                                uint32_t count);

/* The kept copy of a text, which is made when there is none; NULL when memory runs out. Any thread.
 */
const char *interned_text(struct interned *interned, const char *text);

#endif
