/* core/block.c: what a block must satisfy, and finding one that does. */
#include "unit.h"

#include "core/block.h"

static const struct gantry_limits limits = {
    .max_threads_per_block = 1024,
    .max_block = {1024, 1024, 64},
    .max_shared_bytes = 48 << 10,
};

static struct gantry_kernel_source source;
static struct block_rules rules;

static int reset(void **state)
{
    (void)state;
    source = (struct gantry_kernel_source){.name = "k", .dimensions = 1};
    rules = (struct block_rules){.source = &source, .limits = &limits};
    return 0;
}

static void check_near(uint32_t threads, uint32_t x, uint32_t y, uint32_t z)
{
    struct gantry_size block = block_near(&rules, threads);
    struct gantry_size expected = {x, y, z};

    assert_memory_equal(&block, &expected, sizeof(block));
}

static void check_refused(uint32_t x, uint32_t y, uint32_t z, const char *part)
{
    char why[BLOCK_WHY_SIZE];

    assert_false(block_allowed(&rules, (struct gantry_size){x, y, z}, why));
    assert_contains(why, part);
}

static void check_allowed(uint32_t x, uint32_t y, uint32_t z)
{
    char why[BLOCK_WHY_SIZE];

    assert_true(block_allowed(&rules, (struct gantry_size){x, y, z}, why));
}

/* C17: legal axes whose product is too large, and axes over their own limits. */
static void test_c17_device_limits(void **state)
{
    (void)state;
    source.dimensions = 3;
    check_allowed(1024, 1, 1);
    check_allowed(32, 32, 1);
    check_refused(1025, 1, 1, "1025 threads along x, more than the 1024");
    check_refused(64, 64, 1, "4096 threads, more than the 1024 that the device takes");
    check_refused(1, 1, 65, "65 threads along z, more than the 64");
    check_refused(UINT32_MAX, UINT32_MAX, UINT32_MAX, "4294967295 threads along x");
    rules.max_threads = 640;
    check_allowed(640, 1, 1);
    check_refused(641, 1, 1, "more than the 640 that the kernel on this device takes");
}

static void test_kernel_rules(void **state)
{
    (void)state;
    source.block_max = 512;
    source.block_multiple = 32;
    check_allowed(96, 1, 1);
    check_refused(544, 1, 1, "BLOCK_MAX 512");
    check_refused(100, 1, 1, "no multiple of the kernel's BLOCK_MULTIPLE 32");
    source.block_pow2 = true;
    check_allowed(128, 1, 1);
    check_refused(96, 1, 1, "BLOCK_POW2");
}

/* Threads along an axis that the kernel does not look at would all do the same. */
static void test_axes_of_the_kernel(void **state)
{
    (void)state;
    check_refused(16, 16, 1, "16 threads along y, but the kernel has DIMENSIONS 1");
    source.dimensions = 2;
    check_allowed(16, 16, 1);
    check_refused(8, 8, 8, "8 threads along z, but the kernel has DIMENSIONS 2");
    source.dimensions = 3;
    check_allowed(8, 8, 8);
}

static void test_shared_memory(void **state)
{
    (void)state;
    source.shared_bytes = 16 << 10;
    source.shared_per_thread = 64;
    check_allowed(512, 1, 1);
    check_refused(513, 1, 1,
                  "49216 bytes of shared memory (16384, and 64 for each thread), more "
                  "than the 49152");
    source.shared_per_thread = UINT32_MAX;
    check_refused(1024, 1, 1, "4398046526464 bytes");
    source.shared_per_thread = 0;
    source.shared_bytes = (48 << 10) + 1;
    check_refused(1, 1, 1, "49153 bytes");
}

static void test_near_one_dimension(void **state)
{
    (void)state;
    check_near(256, 256, 1, 1);
    check_near(5000, 1024, 1, 1);
    check_near(0, 1, 1, 1);
    rules.max_threads = 700;
    check_near(1024, 700, 1, 1);
    source.block_multiple = 32;
    check_near(1024, 672, 1, 1);
    source.block_pow2 = true;
    check_near(1024, 512, 1, 1);
    source.block_max = 96;
    check_near(1024, 64, 1, 1);
    source.block_multiple = 64;
    check_near(1, 64, 1, 1);
}

static void test_near_more_dimensions(void **state)
{
    (void)state;
    source.dimensions = 2;
    check_near(256, 16, 16, 1);
    check_near(512, 32, 16, 1);
    check_near(128, 16, 8, 1);
    check_near(96, 12, 8, 1);
    check_near(7, 7, 1, 1);
    source.dimensions = 3;
    check_near(512, 8, 8, 8);
    check_near(256, 8, 8, 4);
    check_near(1024, 16, 8, 8);
}

static void test_near_shared_memory(void **state)
{
    (void)state;
    source.shared_per_thread = 1024;
    check_near(256, 48, 1, 1);
    source.block_pow2 = true;
    check_near(256, 32, 1, 1);
    source.shared_bytes = 48 << 10;
    check_near(256, 0, 0, 0);
}

static void test_no_block_at_all(void **state)
{
    (void)state;
    source.block_multiple = 2048;
    check_near(256, 0, 0, 0);
    source.block_multiple = 64;
    rules.max_threads = 63;
    check_near(256, 0, 0, 0);
    source.block_pow2 = true;
    check_near(256, 0, 0, 0);
}

static void test_every_near_block_is_allowed(void **state)
{
    static const uint32_t multiples[] = {0, 1, 2, 32, 96, 128};

    (void)state;
    for (source.dimensions = 1; source.dimensions <= 3; source.dimensions++) {
        for (size_t m = 0; m < sizeof(multiples) / sizeof(multiples[0]); m++) {
            source.block_multiple = multiples[m];
            source.block_pow2 = m < 4 && source.dimensions == 2;
            for (uint32_t threads = 1; threads <= 1100; threads++) {
                struct gantry_size block = block_near(&rules, threads);
                uint32_t smallest = multiples[m] ? multiples[m] : 1;

                check_allowed(block.x, block.y, block.z);
                assert_true(block_threads(block) <= (threads > smallest ? threads : smallest));
            }
        }
    }
}

static void test_complete(void **state)
{
    struct gantry_size block;

    (void)state;
    source.dimensions = 2;
    block = block_complete(&rules, (struct gantry_size){256, 0, 0}, true);
    assert_memory_equal(&block, (&(struct gantry_size){16, 16, 1}), sizeof(block));
    block = block_complete(&rules, (struct gantry_size){256, 0, 0}, false);
    assert_memory_equal(&block, (&(struct gantry_size){256, 1, 1}), sizeof(block));
    block = block_complete(&rules, (struct gantry_size){64, 4, 0}, true);
    assert_memory_equal(&block, (&(struct gantry_size){64, 4, 1}), sizeof(block));
}

static void test_text(void **state)
{
    char text[BLOCK_TEXT_SIZE];

    (void)state;
    assert_string_equal(block_text((struct gantry_size){256, 1, 1}, text), "256");
    assert_string_equal(block_text((struct gantry_size){16, 8, 1}, text), "16x8");
    assert_string_equal(block_text((struct gantry_size){8, 1, 4}, text), "8x1x4");
    block_text((struct gantry_size){UINT32_MAX, UINT32_MAX, UINT32_MAX}, text);
    assert_string_equal(text, "4294967295x4294967295x4294967295");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_c17_device_limits, reset),
        cmocka_unit_test_setup(test_kernel_rules, reset),
        cmocka_unit_test_setup(test_axes_of_the_kernel, reset),
        cmocka_unit_test_setup(test_shared_memory, reset),
        cmocka_unit_test_setup(test_near_one_dimension, reset),
        cmocka_unit_test_setup(test_near_more_dimensions, reset),
        cmocka_unit_test_setup(test_near_shared_memory, reset),
        cmocka_unit_test_setup(test_no_block_at_all, reset),
        cmocka_unit_test_setup(test_every_near_block_is_allowed, reset),
        cmocka_unit_test_setup(test_complete, reset),
        cmocka_unit_test_setup(test_text, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
