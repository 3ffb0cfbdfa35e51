/* scan and scan_uint through algorithms.h: one tile, two levels, three levels. */
#include <string.h>

#include "reference.h"
#include "rig.h"

enum type { FLOATS, UINTS };

/* The whole scan of a device's array, into another one or in place. */
static void run_scan(struct conform *c, const struct gantry_algorithms *a, enum type type,
                     const struct array *from, const struct array *to, enum gantry_scan_kind kind)
{
    uint64_t n = from->size / 4;
    struct array temporary = make_array(c, NULL, gantry_scan_temporary(n), 0);
    struct gantry_list *list = make_list(c);

    if (type == FLOATS)
        RECORD(gantry_list_scan(list, a, from->address, to->address, n, kind, temporary.address));
    else
        RECORD(
            gantry_list_scan_uint(list, a, from->address, to->address, n, kind, temporary.address));
    submit_and_wait(c, list);
    drop_list(c, list);
    drop_array(c, &temporary);
}

static void check_scan(struct conform *c, const struct gantry_algorithms *a, uint32_t n,
                       enum gantry_scan_kind kind, unsigned from_skew, unsigned to_skew)
{
    float *contents = make_floats(c, n, n + 1), *found = make_floats(c, n, 1);
    float *ordered = make_floats(c, n, 1);
    double *expected = make_words(c, (n + 1) * sizeof(*expected));
    struct array from = make_array(c, contents, n * 4ull, from_skew);
    struct array to = make_array(c, NULL, n * 4ull, to_skew);

    run_scan(c, a, FLOATS, &from, &to, kind);
    read_array(c, &to, found);
    reference_scan(expected, contents, n, kind);
    CLOSE(found, expected, n, 1e-4);
    ordered_scan(ordered, contents, n, kind);
    EQUAL((const uint32_t *)found, (const uint32_t *)ordered, n);
    drop_array(c, &from);
    drop_array(c, &to);
}

static void check_scan_uint(struct conform *c, const struct gantry_algorithms *a, uint32_t n,
                            enum gantry_scan_kind kind, unsigned skew, bool in_place)
{
    uint32_t *contents = make_randoms(c, n, n + 1), *found = make_randoms(c, n, 1);
    uint32_t *expected = make_randoms(c, n, 1);
    struct array from = make_array(c, contents, n * 4ull, skew);
    struct array to = in_place ? from : make_array(c, NULL, n * 4ull, skew);

    run_scan(c, a, UINTS, &from, &to, kind);
    read_array(c, &to, found);
    reference_scan_uint(expected, contents, n, kind);
    EQUAL(found, expected, n);
    drop_array(c, &from);
    if (!in_place)
        drop_array(c, &to);
}

static void test_floats(struct conform *c)
{
    const struct gantry_algorithms *a = make_algorithms(c);

    for (size_t i = 0; i < length_count; i++) {
        check_scan(c, a, lengths[i], GANTRY_SCAN_INCLUSIVE, 0, 0);
        check_scan(c, a, lengths[i], GANTRY_SCAN_EXCLUSIVE, 4 * (i % 4), 4 * (i / 4 % 4));
    }
}

static void test_uints(struct conform *c)
{
    const struct gantry_algorithms *a = make_algorithms(c);

    for (size_t i = 0; i < length_count; i++) {
        check_scan_uint(c, a, lengths[i], GANTRY_SCAN_EXCLUSIVE, 0, false);
        check_scan_uint(c, a, lengths[i], GANTRY_SCAN_INCLUSIVE, 4 * (i % 4), true);
    }
}

/* More than 4096 tiles: the tiles' sums are scanned by more than one block themselves. */
static void test_levels(struct conform *c)
{
    if (strcmp(c->info.chosen_backend, "host") == 0)
        skip(c, "takes the host plugin a quarter of a minute");
    check_scan_uint(c, make_algorithms(c), 4096 * 4096 + 5, GANTRY_SCAN_EXCLUSIVE, 0, true);
}

const struct conform_case scan_kernel_cases[] = {
    {"scan/floats", NULL, test_floats},
    {"scan/uints", NULL, test_uints},
    {"scan/three-levels", NULL, test_levels},
    {NULL, NULL, NULL},
};
