/* sum, sum_uint and dot, whole through algorithms.h and chunk by chunk. */
#include <math.h>

#include "reference.h"
#include "rig.h"

static void check_bits(struct conform *c, const char *what, float found, float expected, size_t n)
{
    CHECK(found == expected, "%s of %zu is %.9g, in the promised order it is %.9g", what, n, found,
          expected);
}

/* The sum of n values of size about 1 can be off by some roundings of what its parts add up to. */
static void check_close(struct conform *c, const char *what, float found, double expected, size_t n)
{
    double allowed = 1e-6 * sqrt((double)n + 1.0);

    CHECK(fabs(found - expected) <= allowed, "%s of %zu is %.9g, expected %.9g", what, n, found,
          expected);
}

static float run_sum(struct conform *c, const struct gantry_algorithms *a, gantry_ptr x,
                     gantry_ptr y, size_t n)
{
    struct array temporary = make_array(c, NULL, gantry_sum_temporary(n), 0);
    struct array to = make_array(c, NULL, 4, 4);
    struct gantry_list *list = make_list(c);
    float sum;

    if (y)
        RECORD(gantry_list_dot(list, a, x, y, to.address, n, temporary.address));
    else
        RECORD(gantry_list_sum(list, a, x, to.address, n, temporary.address));
    submit_and_wait(c, list);
    read_array(c, &to, &sum);
    drop_list(c, list);
    drop_array(c, &to);
    drop_array(c, &temporary);
    return sum;
}

static void check_sum(struct conform *c, const struct gantry_algorithms *a, uint32_t n,
                      unsigned skew)
{
    float *x = make_floats(c, n, n + 1), sum;
    struct array xs = make_array(c, x, n * 4ull, skew);

    sum = run_sum(c, a, xs.address, 0, n);
    check_close(c, "sum", sum, reference_sum(x, n), n);
    check_bits(c, "sum", sum, ordered_sum(x, n, gantry_sum_chunk_(n)), n);
    drop_array(c, &xs);
}

static void test_sum(struct conform *c)
{
    const struct gantry_algorithms *a = make_algorithms(c);

    for (size_t i = 0; i < length_count; i++)
        for (unsigned skew = 0; skew < 16; skew += 4)
            check_sum(c, a, lengths[i], skew);
}

static void test_dot(struct conform *c)
{
    const struct gantry_algorithms *a = make_algorithms(c);

    for (size_t i = 0; i < length_count; i++)
        for (unsigned skew = 0; skew < 16; skew += 4) {
            uint32_t n = lengths[i];
            float *x = make_floats(c, n, n + 1), *y = make_floats(c, n, n + 2), sum;
            struct array xs = make_array(c, x, n * 4ull, skew);
            struct array ys = make_array(c, y, n * 4ull, i % 2 ? 8 : 0);

            sum = run_sum(c, a, xs.address, ys.address, n);
            check_close(c, "dot", sum, reference_dot(x, y, n), n);
            check_bits(c, "dot", sum, ordered_dot(x, y, n, gantry_sum_chunk_(n)), n);
            drop_array(c, &xs);
            drop_array(c, &ys);
        }
}

static void test_sum_uint(struct conform *c)
{
    const struct gantry_algorithms *a = make_algorithms(c);

    for (size_t i = 0; i < length_count; i++) {
        uint32_t n = lengths[i], *x = make_randoms(c, n, n + 9), found, expected;
        struct array xs = make_array(c, x, n * 4ull, 4 * (i % 4));
        struct array to = make_array(c, NULL, 4, 0);
        struct array temporary = make_array(c, NULL, gantry_sum_temporary(n), 0);
        struct gantry_list *list = make_list(c);

        RECORD(gantry_list_sum_uint(list, a, xs.address, to.address, n, temporary.address));
        submit_and_wait(c, list);
        read_array(c, &to, &found);
        expected = reference_sum_uint(x, n);
        EQUAL(&found, &expected, 1);
    }
}

/* The kernel itself, with chunks of some tiles and a part of one, the last chunk shorter. */
static void test_chunks(struct conform *c)
{
    enum { N = 40001, CHUNK = 15404, CHUNKS = (N + CHUNK - 1) / CHUNK };
    struct gantry_kernel *kernel = LIBRARY_KERNEL(sum);
    float *x = make_floats(c, N, 4), sums[CHUNKS];
    struct array xs = make_array(c, x, sizeof(*x) * N, 0);
    struct array to = make_array(c, NULL, sizeof(sums), 0);
    struct gantry_sum_args args = {xs.address, to.address, N, CHUNK};

    RUN_BLOCKS(kernel, CHUNKS, 1, 1, &args);
    read_array(c, &to, sums);
    for (size_t i = 0; i < CHUNKS; i++) {
        size_t length = i + 1 < CHUNKS ? CHUNK : N - i * CHUNK;

        check_bits(c, "a chunk", sums[i], ordered_sum(x + i * CHUNK, length, length), length);
    }
}

/* More than 4096 tiles, so that chunks have several. */
static void test_many(struct conform *c)
{
    const uint32_t n = 4096 * 4096 + 4097;

    CHECK(gantry_sum_chunk_(n) == 8192, "chunks of %u", (unsigned)gantry_sum_chunk_(n));
    check_sum(c, make_algorithms(c), n, 0);
}

const struct conform_case sum_kernel_cases[] = {
    {"sum/lengths-and-places", NULL, test_sum}, {"sum/uint", NULL, test_sum_uint},
    {"sum/chunks", NULL, test_chunks},          {"sum/many", NULL, test_many},
    {"dot/lengths-and-places", NULL, test_dot}, {NULL, NULL, NULL},
};
