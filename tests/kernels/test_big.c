/* Arrays past 4 GiB and past 2^32 elements, where 32-bit arithmetic wraps. Contents come from
 * kernels, and only slices are looked at: the host has not that much time. */
#include "reference.h"
#include "rig.h"

enum { SLICE = 1 << 16 };

static void need_big(struct conform *c, uint64_t bytes)
{
    if (!c->options->big)
        skip(c, "needs %.1f GB and --big", (double)bytes * 1e-9);
    if (c->info.limits.memory_size < bytes + (bytes >> 3))
        skip(c, "needs %.1f GB of memory, the device has %.1f", (double)bytes * 1e-9,
             (double)c->info.limits.memory_size * 1e-9);
}

static void launch_threads(struct conform *c, struct gantry_kernel *kernel, uint64_t n,
                           const void *args, size_t size)
{
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_launch(list, kernel, gantry_threads_by_16(n), args, size));
    submit_and_wait(c, list);
    drop_list(c, list);
}

static void fill(struct conform *c, struct gantry_buffer *buffer, uint64_t n, uint32_t value)
{
    struct gantry_fill_args args = {gantry_buffer_address(buffer), n, value};

    launch_threads(c, LIBRARY_KERNEL(fill), n, &args, sizeof(args));
}

/* Words first … first + SLICE - 1 must be `start`, `start + step` and so on. */
static void check_slice(struct conform *c, struct gantry_buffer *buffer, uint64_t first,
                        uint32_t start, uint32_t step)
{
    static uint32_t words[SLICE];

    read_buffer(c, buffer, first * 4, words, sizeof(words));
    for (uint32_t i = 0; i < SLICE; i++)
        CHECK(words[i] == start + i * step, "word %llu is %u, expected %u",
              (unsigned long long)(first + i), words[i], start + i * step);
}

/* At the start, around 4 GiB, around 2^32 words where there are so many, and at the end. */
static void check_slices(struct conform *c, struct gantry_buffer *buffer, uint64_t n,
                         uint32_t start, uint32_t step)
{
    const uint64_t places[] = {0, (UINT64_C(1) << 30) - SLICE / 2, (UINT64_C(1) << 32) - SLICE / 2,
                               n - SLICE};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (places[i] + SLICE <= n)
            check_slice(c, buffer, places[i], start + (uint32_t)places[i] * step, step);
}

static void test_copy(struct conform *c)
{
    const uint64_t n = (UINT64_C(1) << 32) + SLICE + 5;
    struct gantry_buffer *from, *to;

    need_big(c, 2 * n * 4);
    from = make_buffer(c, n * 4);
    to = make_buffer(c, n * 4);
    fill(c, from, n, 0x600df00du);
    struct gantry_copy_args args = {gantry_buffer_address(to), gantry_buffer_address(from), n};
    launch_threads(c, LIBRARY_KERNEL(copy), n, &args, sizeof(args));
    check_slices(c, to, n, 0x600df00du, 0);
}

static void test_saxpy(struct conform *c)
{
    const uint64_t n = (UINT64_C(1) << 30) + SLICE + 5;
    struct gantry_buffer *x, *y;

    need_big(c, 2 * n * 4);
    x = make_buffer(c, n * 4);
    y = make_buffer(c, n * 4);
    fill(c, x, n, 0x40000000u); /* 2.0 */
    fill(c, y, n, 0x3f800000u); /* 1.0 */
    struct gantry_saxpy_args args = {gantry_buffer_address(x), gantry_buffer_address(y), n, 3.0f};
    launch_threads(c, LIBRARY_KERNEL(saxpy), n, &args, sizeof(args));
    check_slices(c, y, n, 0x40e00000u, 0); /* 7.0 */
}

/* The inclusive scan of ones counts. */
static void test_scan(struct conform *c)
{
    const uint64_t n = (UINT64_C(1) << 32) + SLICE + 5;
    const struct gantry_algorithms *a;
    struct gantry_buffer *x, *temporary, *sum;
    struct gantry_list *list;
    uint32_t found;

    need_big(c, n * 4);
    a = make_algorithms(c);
    x = make_buffer(c, n * 4);
    sum = make_buffer(c, 4);
    temporary = make_buffer(c, gantry_scan_temporary(n) + gantry_sum_temporary(n));
    list = make_list(c);
    fill(c, x, n, 1);
    RECORD(gantry_list_sum_uint(list, a, gantry_buffer_address(x), gantry_buffer_address(sum), n,
                                gantry_buffer_address(temporary)));
    RECORD(gantry_list_scan_uint(list, a, gantry_buffer_address(x), gantry_buffer_address(x), n,
                                 GANTRY_SCAN_INCLUSIVE, gantry_buffer_address(temporary)));
    submit_and_wait(c, list);
    read_buffer(c, sum, 0, &found, 4);
    CHECK(found == (uint32_t)n, "the sum of %llu ones is %u modulo 2^32", (unsigned long long)n,
          found);
    check_slices(c, x, n, 1, 1);
}

/* Keys that go down become keys that go up. */
static void test_sort(struct conform *c)
{
    const uint32_t n = (1u << 30) + SLICE + 5;
    const struct gantry_algorithms *a;
    struct gantry_buffer *keys, *temporary;
    struct gantry_list *list;

    need_big(c, n * 4ull + gantry_sort_temporary(n, false));
    a = make_algorithms(c);
    keys = make_buffer(c, n * 4ull);
    temporary = make_buffer(c, gantry_sort_temporary(n, false));
    list = make_list(c);
    fill(c, keys, n, UINT32_MAX);
    RECORD(gantry_list_scan_uint(list, a, gantry_buffer_address(keys), gantry_buffer_address(keys),
                                 n, GANTRY_SCAN_INCLUSIVE, gantry_buffer_address(temporary)));
    RECORD(gantry_list_sort(list, a, gantry_buffer_address(keys), 0, n,
                            gantry_buffer_address(temporary)));
    submit_and_wait(c, list);
    check_slices(c, keys, n, 0u - n, 1);
}

const struct conform_case big_kernel_cases[] = {
    {"big/copy", NULL, test_copy},
    {"big/saxpy", NULL, test_saxpy},
    {"big/scan", NULL, test_scan},
    {"big/sort", NULL, test_sort},
    {NULL, NULL, NULL},
};
