#include "reference.h"

#include <stdlib.h>
#include <string.h>

void reference_histogram(uint32_t bins[256], const uint32_t *x, size_t n, uint32_t shift)
{
    for (size_t i = 0; i < n; i++)
        bins[x[i] >> shift & 255]++;
}

struct item {
    uint32_t key, place;
};

static int compare(const void *a, const void *b)
{
    const struct item *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

/* Equal keys are told apart by where they came from. */
void reference_sort(uint32_t *keys, uint32_t *values, size_t n)
{
    struct item *items = calloc(n ? n : 1, sizeof(*items));
    uint32_t *old = calloc(n ? n : 1, sizeof(*old));

    if (!items || !old)
        abort();
    for (size_t i = 0; i < n; i++)
        items[i] = (struct item){keys[i], (uint32_t)i};
    qsort(items, n, sizeof(*items), compare);
    if (values)
        memcpy(old, values, n * sizeof(*old));
    for (size_t i = 0; i < n; i++) {
        keys[i] = items[i].key;
        if (values)
            values[i] = old[items[i].place];
    }
    free(items);
    free(old);
}
