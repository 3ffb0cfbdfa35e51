#include "losses.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"

#define FIRST_CAPACITY 4

bool losses_open(struct losses *losses)
{
    losses->all = calloc(FIRST_CAPACITY, sizeof(*losses->all));
    losses->capacity = losses->all ? FIRST_CAPACITY : 0;
    return losses->all;
}

void losses_free(struct losses *losses)
{
    for (uint32_t i = 0; i < losses->count; i++)
        free(losses->all[i].text);
    free(losses->all);
}

/* Room for one more, at the end. */
static struct loss *append(struct losses *losses)
{
    uint32_t count = losses->count;
    struct loss *grown = losses->all;

    if (count == losses->capacity)
        grown = realloc(losses->all, 2 * count * sizeof(*grown));
    if (!grown) {
        free(losses->all[0].text);
        memmove(losses->all, losses->all + 1, (count - 1) * sizeof(*losses->all));
        return &losses->all[count - 1];
    }
    losses->all = grown;
    if (count == losses->capacity)
        losses->capacity *= 2;
    atomic_store(&losses->count, count + 1);
    return &losses->all[count];
}

void losses_add(struct losses *losses, uint64_t value, enum gantry_status status)
{
    struct loss *last;

    lock_take(&losses->lock);
    last = losses->count ? &losses->all[losses->count - 1] : NULL;
    if (last && last->last + 1 == value && last->status == status) {
        last->last = value;
    } else {
        *append(losses) = (struct loss){value, value, status, strdup(gantry_last_error())};
    }
    lock_release(&losses->lock);
}

enum gantry_status losses_find(struct losses *losses, uint64_t value)
{
    enum gantry_status status = GANTRY_OK;

    if (atomic_load(&losses->count) == 0)
        return GANTRY_OK;
    lock_take(&losses->lock);
    for (uint32_t i = 0; i < losses->count; i++) {
        const struct loss *loss = &losses->all[i];

        if (loss->first <= value && value <= loss->last)
            status = fail(loss->status, "%s",
                          loss->text ? loss->text : gantry_status_text(loss->status));
    }
    lock_release(&losses->lock);
    return status;
}

uint64_t losses_pass(struct losses *losses, uint64_t value)
{
    if (atomic_load_explicit(&losses->count, memory_order_acquire) == 0)
        return value;
    lock_take(&losses->lock);
    for (uint32_t i = losses->count; i > 0; i--) {
        const struct loss *loss = &losses->all[i - 1];

        if (loss->first <= value && value <= loss->last)
            value = loss->first - 1;
    }
    lock_release(&losses->lock);
    return value;
}
