/* The main job from outside: edge on every device there is, and what it says to wrong input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../examples/png.h"
#include "../unit/scratch.h"
#include "run.h"

/* The devices are those of the test's environment; ctest names them. Files of the user don't count;
 * GANTRY_CONFIG=none would drop those of --config too. */
static const char *const clean[] = {"GANTRY_DEVICE", "GANTRY_LOG", "GANTRY_CONFIG",
                                    "XDG_CONFIG_HOME=/nonexistent", NULL};

/* Runs edge with up to six arguments behind the package, which the test's environment may name. */
static struct outcome edge(const char *const *arguments)
{
    const char *argv[10] = {edge_path()}, *package = getenv("GANTRY_TEST_PACKAGE");
    size_t count = 1;

    if (package) {
        argv[count++] = "--kernels";
        argv[count++] = package;
    }
    for (size_t i = 0; arguments[i] && count < 9; i++)
        argv[count++] = arguments[i];
    return run(argv, clean);
}

#define EDGE(...) edge((const char *const[]){__VA_ARGS__, NULL})

static const char *draw_picture(const char *name, uint32_t width, uint32_t height, bool deep)
{
    const char *path = scratch_path(name);
    char why[PICTURE_WHY_SIZE];
    struct picture picture;
    uint32_t state = width * 31 + height;

    assert_true(picture_make(&picture, width, height));
    picture.deep = deep;
    picture.alpha = true;
    for (size_t i = 0; i < picture_words(&picture); i++) {
        state = state * 1664525 + 1013904223;
        picture.pixels[i] = i % 64 < 40 ? state : state >> 3 & 0x1fff1fff;
    }
    assert_true(picture_write(&picture, path, why));
    picture_free(&picture);
    return path;
}

static void skip_without_device(void)
{
    const char *const argv[] = {gantry_path(), "info", "--json", NULL};
    struct outcome outcome = run(argv, clean);
    json_t *object = outcome_json(&outcome);
    size_t devices = json_array_size(json_object_get(object, "devices"));

    json_decref(object);
    outcome_free(&outcome);
    if (devices == 0) {
        print_message("there is no device\n");
        skip();
    }
}

/* How many lines of --all agree. */
static size_t agreements(const struct outcome *outcome)
{
    size_t count = 0;

    for (const char *at = outcome->out; (at = strstr(at, ": agrees\n")); at++)
        count++;
    return count;
}

/* ---- Wrong input ------------------------------------------------------------------------------
 */

static void check_refused(const char *path, const char *part)
{
    struct outcome outcome = EDGE(path, scratch_path("refused.png"));
    char start[300];

    snprintf(start, sizeof start, "edge: %s: ", path);
    assert_int_equal(outcome.status, 1);
    assert_string_equal(outcome.out, "");
    assert_true(one_line(&outcome, start, part));
    outcome_free(&outcome);
}

static void test_bad_pictures(void **state)
{
    const char *whole = draw_picture("whole.png", 40, 30, false);
    uint8_t bytes[16384];
    FILE *file = fopen(whole, "rb");
    size_t size;

    (void)state;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, 1000, sizeof bytes - 1);
    check_refused(scratch_path("nothing.png"), "No such file");
    check_refused(scratch_write("empty.png", ""), "not a PNG");
    check_refused(scratch_write("text.png", "This is a text.\n"), "not a PNG");
    check_refused(scratch_write_bytes("header.png", bytes, 20), "cut off");
    check_refused(scratch_write_bytes("half.png", bytes, size / 2), "cut off");
    check_refused(scratch_write_bytes("tail.png", bytes, size - 12), "cut off");
    check_refused("/tmp", "");
    bytes[size / 2] ^= 0xff;
    check_refused(scratch_write_bytes("damaged.png", bytes, size), "broken");
}

static void test_wrong_usage(void **state)
{
    static const char *const cases[][5] = {
        {NULL},
        {"a.png"},
        {"a.png", "b.png", "c.png"},
        {"--repeat", "0", "a.png", "b.png"},
        {"--repeat", "1e3", "a.png", "b.png"},
        {"--repeat", "-1", "a.png", "b.png"},
        {"--repeat", "99999999999", "a.png", "b.png"},
        {"--all", "--device=0", "a.png"},
        {"--make-test-picture", "a.png", "b.png"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome outcome = edge(cases[i]);

        assert_int_equal(outcome.status, 2);
        assert_string_equal(outcome.out, "");
        assert_true(one_line(&outcome, "edge: ", "--help"));
        outcome_free(&outcome);
    }
}

static void test_config_that_is_missing(void **state)
{
    const char *picture = draw_picture("small.png", 8, 8, false);
    struct outcome outcome =
        EDGE("--config", scratch_path("missing.ini"), picture, scratch_path("never.png"));

    (void)state;
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "edge: ", "missing.ini"));
    outcome_free(&outcome);
}

static void test_device_that_is_missing(void **state)
{
    const char *picture = draw_picture("small.png", 8, 8, false);
    struct outcome outcome = EDGE("--device", "No Such GPU", picture, scratch_path("never.png"));
    char why[PICTURE_WHY_SIZE];
    struct picture never;

    (void)state;
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "edge: ", "No Such GPU"));
    outcome_free(&outcome);
    assert_false(picture_read(&never, scratch_path("never.png"), why));
}

/* ---- The job ----------------------------------------------------------------------------------
 */

static void test_one_picture(void **state)
{
    const char *input = scratch_path("test.png"), *output = scratch_path("painted.png");
    struct outcome outcome = EDGE("--make-test-picture", input);
    char why[PICTURE_WHY_SIZE];
    struct picture painted;

    (void)state;
    assert_int_equal(outcome.status, 0);
    outcome_free(&outcome);
    skip_without_device();
    outcome = EDGE("--repeat", "3", input, output);
    if (outcome.status != 0)
        fail_msg("%s", outcome.err);
    assert_string_equal(outcome.err, "");
    assert_non_null(strstr(outcome.out, "\nbackend "));
    assert_non_null(strstr(outcome.out, "\npolicy "));
    assert_non_null(strstr(outcome.out, " ms, mean of 2\n"));
    assert_non_null(strstr(outcome.out, "\nlaunches a submit  7\n"));
    outcome_free(&outcome);
    assert_true(picture_read(&painted, output, why));
    assert_int_equal(painted.width, 640);
    assert_int_equal(painted.height, 427);
    assert_false(painted.deep);
    picture_free(&painted);
}

/* Sizes below, at and just over those of blocks, tiles and the blur; both depths; through a config
 * file. What plain C says is said by edge itself. */
static void test_sizes_against_plain_c(void **state)
{
    static const uint32_t sizes[][2] = {{1, 1},   {1, 300}, {300, 1}, {3, 2},
                                        {64, 16}, {65, 17}, {63, 15}, {257, 129}};
    char config[300];

    (void)state;
    skip_without_device();
    snprintf(config, sizeof config, "%s",
             scratch_write("policy.ini", "[policy]\nblock_size = 64\nchains = 2\n"));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *picture = draw_picture("size.png", sizes[i][0], sizes[i][1], i % 2);
        struct outcome outcome = EDGE("--config", config, "--repeat=3", "--all", picture);

        if (outcome.status != 0)
            fail_msg("%u x %u:\n%s%s", sizes[i][0], sizes[i][1], outcome.out, outcome.err);
        assert_true(agreements(&outcome) > 0);
        assert_null(strstr(outcome.out, "WRONG"));
        outcome_free(&outcome);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_pictures),
        cmocka_unit_test(test_wrong_usage),
        cmocka_unit_test(test_config_that_is_missing),
        cmocka_unit_test(test_device_that_is_missing),
        cmocka_unit_test(test_one_picture),
        cmocka_unit_test(test_sizes_against_plain_c),
    };

    return cmocka_run_group_tests_name("edge", tests, scratch_open, scratch_close);
}
