/* copy, fill and the three saxpys: every length, and from and to every place of a 16-byte piece. */
#include "reference.h"
#include "rig.h"

/* Lengths around a piece, a warp, and the tile of a block of 256. */
static const uint32_t sizes[] = {0, 1, 2, 3, 4, 5, 31, 1021, 4099};
static const size_t size_count = sizeof(sizes) / sizeof(sizes[0]);

static void check_copy(struct conform *c, struct gantry_kernel *kernel, uint32_t n,
                       uint32_t threads, unsigned to_skew, unsigned from_skew)
{
    uint32_t *contents = make_randoms(c, n, n + 1), *expected = make_randoms(c, n, 2);
    uint32_t *found = make_randoms(c, n, 3);
    struct array from = make_array(c, contents, n * 4ull, from_skew);
    struct array to = make_array(c, NULL, n * 4ull, to_skew);
    struct gantry_copy_args args = {to.address, from.address, n};

    RUN(kernel, threads, &args);
    read_array(c, &to, found);
    reference_copy(expected, contents, n);
    EQUAL(found, expected, n);
    drop_array(c, &from);
    drop_array(c, &to);
}

static void test_copy_lengths(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(copy);

    for (size_t i = 0; i < length_count; i++) {
        check_copy(c, kernel, lengths[i], lengths[i], 0, 0);
        check_copy(c, kernel, lengths[i], 1, 4, 4);
    }
}

static void test_copy_places(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(copy);

    for (size_t i = 0; i < size_count; i++)
        for (unsigned to = 0; to < 16; to += 4)
            for (unsigned from = 0; from < 16; from += 4)
                check_copy(c, kernel, sizes[i], sizes[i] / 16 + 1, to, from);
}

static void check_fill(struct conform *c, struct gantry_kernel *kernel, uint32_t n,
                       uint32_t threads, unsigned skew)
{
    uint32_t *expected = make_randoms(c, n, 2), *found = make_randoms(c, n, 3);
    struct array to = make_array(c, NULL, n * 4ull, skew);
    struct gantry_fill_args args = {to.address, n, 0x89abcdefu + n};

    RUN(kernel, threads, &args);
    read_array(c, &to, found);
    reference_fill(expected, n, args.value);
    EQUAL(found, expected, n);
    drop_array(c, &to);
}

static void test_fill(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(fill);

    for (size_t i = 0; i < length_count; i++)
        check_fill(c, kernel, lengths[i], lengths[i], 0);
    for (size_t i = 0; i < size_count; i++)
        for (unsigned skew = 0; skew < 16; skew += 4)
            check_fill(c, kernel, sizes[i], 1, skew);
}

/* The kernels round twice, as C does: so the bits are the same. */
static void check_saxpy(struct conform *c, struct gantry_kernel *kernel, uint32_t n,
                        uint32_t threads, unsigned x_skew, unsigned y_skew)
{
    float *x = make_floats(c, n, 5), *y = make_floats(c, n, n + 6), *found = make_floats(c, n, 1);
    struct array xs = make_array(c, x, n * 4ull, x_skew);
    struct array ys = make_array(c, y, n * 4ull, y_skew);
    struct gantry_saxpy_args args = {xs.address, ys.address, n, 1.7f};

    RUN(kernel, threads, &args);
    read_array(c, &ys, found);
    reference_saxpy(y, x, n, args.a);
    EQUAL((const uint32_t *)found, (const uint32_t *)y, n);
    drop_array(c, &xs);
    drop_array(c, &ys);
}

static void test_saxpy_lengths(struct conform *c)
{
    struct gantry_kernel *wide = LIBRARY_KERNEL(saxpy), *stride = LIBRARY_KERNEL(saxpy_stride);
    struct gantry_kernel *each = LIBRARY_KERNEL(saxpy_each);

    for (size_t i = 0; i < length_count; i++) {
        check_saxpy(c, wide, lengths[i], lengths[i] / 16 + 1, 0, 0);
        check_saxpy(c, stride, lengths[i], lengths[i] / 5 + 1, 0, 0);
        check_saxpy(c, each, lengths[i], lengths[i], 0, 0);
    }
}

static void test_saxpy_places(struct conform *c)
{
    struct gantry_kernel *kernel = LIBRARY_KERNEL(saxpy);

    for (size_t i = 0; i < size_count; i++)
        for (unsigned x = 0; x < 16; x += 4)
            for (unsigned y = 0; y < 16; y += 4)
                check_saxpy(c, kernel, sizes[i], sizes[i], x, y);
}

/* Blocks that are no power of two, and smaller than the six words at the edges. */
static void test_blocks(struct conform *c)
{
    static const uint32_t threads[] = {1, 3, 33, 100, 256};

    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
        struct gantry_kernel_params params = {.block = {threads[i], 1, 1},
                                              .layout_hash = gantry_copy_LAYOUT};
        struct gantry_kernel *kernel = make_kernel_with(c, "gantry-kernels", "copy", &params);

        check_copy(c, kernel, 4099, 4099, 12, 12);
        check_copy(c, kernel, 77, 1, 4, 4);
    }
}

const struct conform_case copy_kernel_cases[] = {
    {"copy/lengths", NULL, test_copy_lengths},
    {"copy/places", NULL, test_copy_places},
    {"copy/blocks", NULL, test_blocks},
    {"fill/lengths-and-places", NULL, test_fill},
    {"saxpy/lengths", NULL, test_saxpy_lengths},
    {"saxpy/places", NULL, test_saxpy_places},
    {NULL, NULL, NULL},
};
