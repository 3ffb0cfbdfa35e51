/* core/grid.c: the blocks for so many threads, and that the short way for plain launches says the
 * same as the long one. */
#include "unit.h"

#include "core/grid.h"

static struct gantry_device device;
static struct gantry_kernel_source source;
static struct gantry_kernel kernel;

static void make(uint32_t dimensions, struct gantry_size block, struct gantry_size max_blocks)
{
    device = (struct gantry_device){.label = (char *)"device"};
    device.info.limits = (struct gantry_limits){.max_blocks = max_blocks, .inline_args_bytes = 128};
    source =
        (struct gantry_kernel_source){.name = "kernel", .args_size = 16, .dimensions = dimensions};
    kernel = (struct gantry_kernel){.source = &source,
                                    .block = block,
                                    .threads = (uint64_t)block.x * block.y * block.z};
    kernel.object.device = &device;
    grid_find_plain(&kernel);
}

static bool is_plain(uint32_t x, uint32_t y, uint32_t z)
{
    struct gantry_size blocks;

    return grid_is_plain(&kernel, &(struct gantry_size){x, y, z}, &blocks);
}

static const struct gantry_size wide = {0x7fffffff, 65535, 65535};

static void one_dimension(void **state)
{
    (void)state;
    make(1, (struct gantry_size){64, 1, 1}, wide);
    assert_true(is_plain(1, 0, 0));
    assert_true(is_plain(1, 1, 1));
    assert_true(is_plain(1, 0, 1));
    assert_false(is_plain(0, 0, 0));
    assert_false(is_plain(1, 2, 0));
    assert_false(is_plain(1, 0, 2));
    assert_true(is_plain(UINT32_MAX, 1, 1)); /* 2^32 threads, the last of which is left out */
    make(1, (struct gantry_size){96, 1, 1}, wide);
    assert_true(is_plain(UINT32_MAX / 96 * 96, 1, 1));
    assert_false(is_plain(UINT32_MAX, 1, 1)); /* the last block would begin again at 0 */
}

static void limits(void **state)
{
    (void)state;
    make(3, (struct gantry_size){8, 4, 2}, (struct gantry_size){100, 10, 3});
    assert_true(is_plain(800, 40, 6));
    assert_false(is_plain(801, 40, 6));
    assert_false(is_plain(800, 41, 6));
    assert_false(is_plain(800, 40, 7));
    assert_false(is_plain(800, 0, 6));
}

static void what_is_never_plain(void **state)
{
    (void)state;
    make(1, (struct gantry_size){64, 1, 1}, wide);
    source.args_size = 129; /* through a table */
    grid_find_plain(&kernel);
    assert_false(is_plain(1, 1, 1));
    kernel.plain = (struct kernel_plain){0}; /* of a kernel that is not made yet */
    for (uint32_t x = 0; x < 3; x++)
        assert_false(is_plain(x, x, x));
}

static uint32_t random_word(void)
{
    static uint32_t seed = 1;

    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

/* Of any magnitude, and often next to a power of two. */
static uint32_t random_size(void)
{
    uint32_t size = random_word() >> random_word() % 32;

    return random_word() % 2 ? size : (1u << random_word() % 32) + random_word() % 3 - 1;
}

static struct gantry_size random_block(uint32_t dimensions)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 24, 64, 96, 100, 256};

    return (struct gantry_size){sizes[random_word() % 9],
                                dimensions > 1 ? sizes[random_word() % 5] : 1,
                                dimensions > 2 ? sizes[random_word() % 3] : 1};
}

/* What is plain passes every check, and runs the same blocks. */
static void both_ways_agree(void **state)
{
    uint32_t plain = 0;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        uint32_t dimensions = 1 + random_word() % 3;
        struct gantry_size threads, shortly, fully;

        make(dimensions, random_block(dimensions),
             random_word() % 2 ? wide : (struct gantry_size){65535, 100, 7});
        source.grid_stride = random_word() % 2;
        device.policy.blocks_per_cu = random_word() % 4;
        device.info.limits.compute_units = random_word() % 4;
        device.info.limits.threads_per_unit = random_word() % 2 * 2048;
        grid_find_plain(&kernel);
        threads = (struct gantry_size){random_size(), random_word() % 600, random_word() % 30};
        if (dimensions < 3)
            threads.z %= 2;
        if (dimensions < 2)
            threads.y %= 2;
        if (!grid_is_plain(&kernel, &threads, &shortly))
            continue;
        plain++;
        assert_int_equal(grid_of(&kernel, threads, "test", &fully), GANTRY_OK);
        assert_true(grid_fits(&kernel, &fully));
        assert_memory_equal(&shortly, &fully, sizeof(fully));
        assert_true(fully.x && fully.y && fully.z);
    }
    assert_in_range(plain, 100000, 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dimension),
        cmocka_unit_test(limits),
        cmocka_unit_test(what_is_never_plain),
        cmocka_unit_test(both_ways_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
