/* histogram, and the radix sort that counts with it. */
#include <string.h>

#include "reference.h"
#include "rig.h"

/* ---- Histogram ------------------------------------------------------------------------------ */

static void check_histogram(struct conform *c, const struct gantry_algorithms *a,
                            const uint32_t *contents, uint32_t n, uint32_t shift, unsigned skew)
{
    uint32_t expected[256] = {0}, found[256];
    struct array x = make_array(c, contents, n * 4ull, skew);
    struct array bins = make_array(c, NULL, sizeof(found), 4);
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_histogram(list, a, x.address, bins.address, n, shift));
    submit_and_wait(c, list);
    read_array(c, &bins, found);
    reference_histogram(expected, contents, n, shift);
    EQUAL(found, expected, 256);
    drop_list(c, list);
    drop_array(c, &x);
    drop_array(c, &bins);
}

static void test_histogram(struct conform *c)
{
    static const uint32_t shifts[] = {0, 5, 8, 24, 28};
    const struct gantry_algorithms *a = make_algorithms(c);

    for (size_t i = 0; i < length_count; i++) {
        uint32_t n = lengths[i], *contents = make_randoms(c, n, n + 3);

        check_histogram(c, a, contents, n, shifts[i % 5], 4 * (i % 4));
    }
}

/* Every thread of the device wants the same counter. */
static void test_histogram_of_one_value(struct conform *c)
{
    uint32_t n = 50001, *contents = make_words(c, n * sizeof(*contents));

    reference_fill(contents, n, 0xabcdef01u);
    check_histogram(c, make_algorithms(c), contents, n, 8, 0);
}

/* ---- Sort ----------------------------------------------------------------------------------- */

static void check_sort(struct conform *c, const struct gantry_algorithms *a,
                       const uint32_t *contents, uint32_t n, bool pairs)
{
    size_t size = n * sizeof(uint32_t);
    uint32_t *keys = make_randoms(c, n, 1), *values = make_randoms(c, n, 2);
    uint32_t *found = make_randoms(c, n, 1);
    struct array temporary = make_array(c, NULL, gantry_sort_temporary(n, pairs), 0);
    struct array device_keys = make_array(c, contents, size, 4 * (n % 4));
    struct array device_values = make_array(c, values, size, 4 * (n / 4 % 4));
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_sort(list, a, device_keys.address, pairs ? device_values.address : 0, n,
                            temporary.address));
    submit_and_wait(c, list);
    memcpy(keys, contents, size);
    reference_sort(keys, pairs ? values : NULL, n);
    read_array(c, &device_keys, found);
    EQUAL(found, keys, n);
    read_array(c, &device_values, found);
    EQUAL(found, values, n);
    drop_list(c, list);
    drop_array(c, &temporary);
    drop_array(c, &device_keys);
    drop_array(c, &device_values);
}

static void test_sort_lengths(struct conform *c)
{
    const struct gantry_algorithms *a = make_algorithms(c);

    for (size_t i = 0; i < length_count; i++) {
        uint32_t n = lengths[i], *keys = make_randoms(c, n, n + 3);

        check_sort(c, a, keys, n, false);
        check_sort(c, a, keys, n, true);
    }
}

/* Key i of n, in orders that sorts go wrong on. The few keys show whether it is stable. */
static uint32_t patterned(int pattern, uint32_t i, uint32_t n)
{
    switch (pattern) {
    case 0:
        return 0;
    case 1:
        return UINT32_MAX;
    case 2:
        return i;
    case 3:
        return n - i;
    case 4:
        return i % 3 * 0x55555555u;
    case 5:
        return i % 7 ? UINT32_MAX : 0x80000000u;
    default:
        return 1u << i % 32;
    }
}

static void test_sort_patterns(struct conform *c)
{
    const struct gantry_algorithms *a = make_algorithms(c);
    const uint32_t n = 9000;
    uint32_t *keys = make_words(c, n * sizeof(*keys));

    for (int pattern = 0; pattern < 7; pattern++) {
        for (uint32_t i = 0; i < n; i++)
            keys[i] = patterned(pattern, i, n);
        check_sort(c, a, keys, n, true);
    }
}

/* Two sorts side by side, each a group of its own, in a list that is replayed: what is sorted stays
 * so.
 */
static void test_sort_concurrent(struct conform *c)
{
    enum { N = 5000 };
    const struct gantry_algorithms *a = make_algorithms(c);
    struct gantry_list *list = make_list(c);
    struct array keys[2], temporary[2];
    uint32_t *contents[2], *found = make_randoms(c, N, 1);

    OK(gantry_list_begin_concurrent(list));
    for (int i = 0; i < 2; i++) {
        contents[i] = make_randoms(c, N, 7 + i);
        keys[i] = make_array(c, contents[i], sizeof(uint32_t) * N, 0);
        temporary[i] = make_array(c, NULL, gantry_sort_temporary(N, false), 0);
        OK(gantry_list_begin_ordered(list));
        RECORD(gantry_list_sort(list, a, keys[i].address, 0, N, temporary[i].address));
        OK(gantry_list_end_ordered(list));
    }
    OK(gantry_list_end_concurrent(list));
    finish(c, list);
    for (int run = 0; run < 2; run++)
        submit_and_wait(c, list);
    for (int i = 0; i < 2; i++) {
        reference_sort(contents[i], NULL, N);
        read_array(c, &keys[i], found);
        EQUAL(found, contents[i], N);
    }
}

const struct conform_case sort_kernel_cases[] = {
    {"histogram/lengths", NULL, test_histogram},
    {"histogram/one-value", NULL, test_histogram_of_one_value},
    {"sort/lengths", NULL, test_sort_lengths},
    {"sort/patterns", NULL, test_sort_patterns},
    {"sort/side-by-side", NULL, test_sort_concurrent},
    {NULL, NULL, NULL},
};
