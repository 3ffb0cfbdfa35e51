/* copy and fill: every length, from and to every place of a 16-byte piece. */
#include "reference.h"
#include "rig.h"

static void check_copy(struct conform *c, struct gantry_kernel *kernel, uint32_t n,
                       unsigned to_skew, unsigned from_skew)
{
    uint32_t *contents = make_randoms(c, n, n + 1), *expected = make_randoms(c, n, 2);
    uint32_t *found = make_randoms(c, n, 3);
    struct array from = make_array(c, contents, n * 4ull, from_skew);
    struct array to = make_array(c, NULL, n * 4ull, to_skew);
    struct gantry_copy_args args = {to.address, from.address, n};

    RUN(kernel, n, &args);
    read_array(c, &to, found);
    reference_copy(expected, contents, n);
    EQUAL(found, expected, n);
}

static void test_copy_lengths(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(copy);

    for (size_t i = 0; i < length_count; i++)
        check_copy(c, kernel, lengths[i], 0, 0);
}

static void test_copy_places(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(copy);
    static const uint32_t sizes[] = {0, 1, 2, 3, 4, 5, 31, 4099};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (unsigned to = 0; to < 16; to += 4)
            for (unsigned from = 0; from < 16; from += 4)
                check_copy(c, kernel, sizes[i], to, from);
}

const struct conform_case copy_kernel_cases[] = {
    {"copy/lengths", NULL, test_copy_lengths},
    {"copy/places", NULL, test_copy_places},
    {NULL, NULL, NULL},
};
