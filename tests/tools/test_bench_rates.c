/* gantry bench bandwidth and gantry bench copy on the device that the environment names: that they
 * run, find their results right, and that their figures fit each other. How fast anything is is not
 * looked at. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../unit/scratch.h"
#include "run.h"

enum {
    MOST_ARGUMENTS = 16,
    N = 65536, /* of --quick */
};

/* What must move, worked out from what each kernel reads and writes. */
static const struct bytes {
    const char *test;
    uint64_t bytes;
} bandwidth_cases[] = {
    {"copy", 2 * 4 * N},
    {"fill", 4 * N},
    {"saxpy", 3 * 4 * N},
    {"saxpy_stride", 3 * 4 * N},
    {"saxpy_each", 3 * 4 * N},
    {"sum", 4 * N},
    {"dot", 2 * 4 * N},
    {"scan_inclusive", 2 * 4 * N},
    {"scan_exclusive", 2 * 4 * N},
    {"histogram", 4 * N},
    {"sort", 4 * 2 * 4 * N},
    {"sort_pairs", 4 * 2 * 8 * N},
    {"transpose", 2 * 4 * 256 * 256},
    {"softmax", 2 * 4 * 64 * 1024},
    {"layer_norm", 2 * 4 * 64 * 1024 + 2 * 4 * 1024},
    {"convolution", 2 * 4 * 2 * 8 * 64 * 64 + 4 * (8 * 8 * 9 + 8)},
    {"particles_structs", 4 * (6 + 4) * (N / 12)},
    {"particles_arrays", 4 * (6 + 4) * (N / 12)},
    {"layer_three", 4 * (64 * 256 + 1024 * 256 + 1024 + 5 * 64 * 1024)},
    {"layer_fused", 4 * (64 * 256 + 1024 * 256 + 1024 + 64 * 1024)},
    {"matmul", 3 * 4 * 64 * 64},
    {"matmul_half", 2 * 2 * 64 * 64 + 4 * 64 * 64},
};

static const char *const copy_cases[] = {
    "up_pageable",     "up_registered", "up_buffer",        "up_list",     "down_pageable",
    "down_registered", "down_buffer",   "down_list",        "device",      "rows_up",
    "rows_up_buffer",  "rows_down",     "rows_down_buffer", "rows_device",
};

static const uint64_t copy_sizes[] = {4096, 1 << 20};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* gantry bench BENCHMARK --quick, and up to the first NULL what is given. */
static struct outcome bench(const char *benchmark, const char *const *arguments)
{
    const char *argv[MOST_ARGUMENTS] = {gantry_path(), "bench", benchmark, "--quick"};
    const char *package = getenv("GANTRY_TEST_LIBRARY");
    size_t count = 4;

    if (package && strcmp(benchmark, "bandwidth") == 0) {
        argv[count++] = "--package";
        argv[count++] = package;
    }
    while (*arguments && count < MOST_ARGUMENTS - 1)
        argv[count++] = *arguments++;
    return run(argv, NULL);
}

static struct outcome bench_on_device(const char *benchmark, const char *const *arguments)
{
    struct outcome outcome = bench(benchmark, arguments);

    if (outcome.status == 1 && strstr(outcome.err, "no device")) {
        print_message("there is no device: %s", outcome.err);
        outcome_free(&outcome);
        skip();
    }
    return outcome;
}

static json_t *bench_json(const char *benchmark)
{
    const char *const arguments[] = {"--json", NULL};
    const char *const raw = getenv("GANTRY_TEST_RAW");
    struct outcome outcome = bench_on_device(benchmark, arguments);
    json_t *object;

    if (outcome.status != 0)
        fail_msg("it failed: %s", outcome.err);
    object = outcome_json(&outcome);
    outcome_free(&outcome);
    assert_true(json_is_string(json_object_get(object, "device")));
    assert_true(json_is_string(json_object_get(object, "backend")));
    assert_true(json_is_string(json_object_get(object, "driver_version")));
    if (raw)
        assert_int_equal(json_is_null(json_object_get(object, "raw_missing")),
                         strcmp(raw, "yes") == 0);
    return object;
}

static double figure(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);

    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

static void check_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", found, expected);
}

/* The figures of a row fit each other. */
static void check_row(const json_t *object, const json_t *row)
{
    double gbps = figure(row, "gbps");

    assert_true(gbps > 0);
    check_close(gbps, figure(row, "bytes") / figure(row, "ns"));
    check_close(figure(row, "p95_gbps"), figure(row, "bytes") / figure(row, "p95_ns"));
    assert_true(figure(row, "p95_ns") >= figure(row, "ns"));
    if (json_is_null(json_object_get(object, "raw_missing"))) {
        assert_true(figure(row, "raw_gbps") > 0);
        assert_true(json_is_string(json_object_get(row, "raw_how")));
        check_close(figure(row, "ratio"), gbps / figure(row, "raw_gbps"));
    } else {
        assert_true(json_is_null(json_object_get(row, "raw_gbps")));
        assert_true(json_is_null(json_object_get(row, "raw_how")));
        assert_true(json_is_null(json_object_get(row, "ratio")));
    }
}

/* The row of the case, in that size; NULL when there is none. */
static const json_t *find(const json_t *object, const char *list, const char *test, const char *key,
                          uint64_t value)
{
    const json_t *rows = json_object_get(object, list), *row;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        row = json_array_get(rows, i);
        if (strcmp(json_string_value(json_object_get(row, "case")), test) == 0 &&
            (!key || (uint64_t)json_integer_value(json_object_get(row, key)) == value))
            return row;
    }
    return NULL;
}

/* True when the device can't do the case; the reason is printed. */
static bool is_skipped(const json_t *object, const char *test)
{
    const json_t *skipped = find(object, "skipped", test, NULL, 0);

    if (skipped)
        print_message("no %s: %s\n", test, json_string_value(json_object_get(skipped, "why")));
    return skipped != NULL;
}

static void check_rates(const json_t *object)
{
    const json_t *rows = json_object_get(object, "rows");

    assert_true(json_is_array(rows));
    for (size_t i = 0; i < json_array_size(rows); i++)
        check_row(object, json_array_get(rows, i));
}

/* ---- Bandwidth ------------------------------------------------------------------------------ */

static void test_bandwidth(void **state)
{
    json_t *object = bench_json("bandwidth");
    size_t skipped = 0;

    (void)state;
    check_rates(object);
    for (size_t i = 0; i < COUNT(bandwidth_cases); i++) {
        const json_t *row = find(object, "rows", bandwidth_cases[i].test, "n", N);

        if (!row && is_skipped(object, bandwidth_cases[i].test)) {
            skipped++;
            continue;
        }
        if (!row)
            fail_msg("there is no row %s", bandwidth_cases[i].test);
        assert_int_equal(json_integer_value(json_object_get(row, "bytes")),
                         bandwidth_cases[i].bytes);
    }
    assert_int_equal(json_array_size(json_object_get(object, "rows")) + skipped,
                     COUNT(bandwidth_cases));
    json_decref(object);
}

/* Operations over time. */
static void test_operations(void **state)
{
    const char *const arguments[] = {"--case", "matmul", "--n", "262144", "--json", NULL};
    struct outcome outcome = bench_on_device("bandwidth", arguments);
    const json_t *row;
    json_t *object;

    (void)state;
    if (outcome.status != 0)
        fail_msg("it failed: %s", outcome.err);
    object = outcome_json(&outcome);
    outcome_free(&outcome);
    row = find(object, "rows", "matmul", "n", 262144);
    if (row)
        check_close(figure(row, "tflops"), 2.0 * 128 * 128 * 128 / figure(row, "ns") / 1e3);
    else
        assert_true(is_skipped(object, "matmul"));
    json_decref(object);
}

static void test_bandwidth_as_text(void **state)
{
    const char *const arguments[] = {"--case", "copy", "--case=fill", "--n", "5000", NULL};
    struct outcome outcome = bench_on_device("bandwidth", arguments);

    (void)state;
    if (outcome.status != 0)
        fail_msg("it failed: %s", outcome.err);
    assert_non_null(strstr(outcome.out, "GB/s"));
    assert_non_null(strstr(outcome.out, "\ncopy "));
    assert_non_null(strstr(outcome.out, "\nfill "));
    assert_null(strstr(outcome.out, "\nsum "));
    outcome_free(&outcome);
}

/* ---- Copies --------------------------------------------------------------------------------- */

static void check_copy(const json_t *object, const char *test, uint64_t size)
{
    const json_t *row = find(object, "rows", test, "size", size);

    if (!row && is_skipped(object, test))
        return;
    if (!row)
        fail_msg("there is no row %s of %llu bytes", test, (unsigned long long)size);
    assert_int_equal(json_integer_value(json_object_get(row, "bytes")), size);
    if (strstr(test, "pageable") || strstr(test, "list"))
        assert_true(figure(row, "host_gbps") > 0);
}

static void test_copy(void **state)
{
    json_t *object = bench_json("copy");
    const json_t *row;

    (void)state;
    check_rates(object);
    for (size_t i = 0; i < COUNT(copy_cases); i++) {
        for (size_t k = 0; k < COUNT(copy_sizes); k++)
            check_copy(object, copy_cases[i], copy_sizes[k]);
    }
    row = find(object, "rows", "up_pageable", "size", 4096);
    if (strcmp(json_string_value(json_object_get(object, "backend")), "cuda") == 0)
        assert_true(figure(row, "raw_pageable_gbps") > 0);
    json_decref(object);
}

/* Through a transfer queue, in sizes with rows of both widths. */
static void test_copy_as_text(void **state)
{
    const char *const arguments[] = {"--transfer",  "--size", "16384,20480", "--case",
                                     "rows_up",     "--case", "rows_down",   "--case",
                                     "rows_device", NULL};
    struct outcome outcome = bench_on_device("copy", arguments);

    (void)state;
    if (outcome.status != 0)
        fail_msg("it failed: %s", outcome.err);
    assert_non_null(strstr(outcome.out, "\nrows_up "));
    assert_non_null(strstr(outcome.out, "\nrows_device "));
    assert_non_null(strstr(outcome.out, " 20480 "));
    assert_null(strstr(outcome.out, "\nup_list "));
    outcome_free(&outcome);
}

/* ---- Both ----------------------------------------------------------------------------------- */

/* With gnuplot a picture, without it a sentence that says how to get it. */
static void check_picture(const char *benchmark, const char *const *arguments, const char *file)
{
    struct outcome outcome = bench_on_device(benchmark, arguments);
    char start[256] = "";
    FILE *picture;

    if (outcome.status != 0) {
        assert_int_equal(outcome.status, 1);
        assert_true(one_line(&outcome, "gantry: bench: can't run gnuplot", "gnuplot-nox"));
        print_message("no picture: %s", outcome.err);
    } else {
        picture = fopen(file, "r");
        assert_non_null(picture);
        assert_true(fread(start, 1, sizeof start - 1, picture) > 0);
        fclose(picture);
        assert_non_null(strstr(start, "<svg"));
        assert_string_equal(outcome.err, "");
    }
    outcome_free(&outcome);
}

static void test_pictures(void **state)
{
    const char *file = scratch_path("rates.svg");
    const char *const bars[] = {"--case", "copy", "--case", "saxpy_each", "--svg", file, NULL};
    const char *const curves[] = {"--case", "device", "--svg", file, NULL};

    (void)state;
    check_picture("bandwidth", bars, file);
    check_picture("copy", curves, file);
}

static void test_wrong_usage(void **state)
{
    static const struct {
        const char *benchmark, *arguments[4], *part;
    } cases[] = {
        {"bandwidth", {"--n", "4095"}, "'4095'"},
        {"bandwidth", {"--n", "65536 "}, "'65536 '"},
        {"bandwidth", {"--n", "99999999999999999999"}, "1073741824"},
        {"bandwidth", {"--case", "chain"}, "'chain'"},
        {"bandwidth", {"--size", "4096"}, "'--size'"},
        {"copy", {"--size", "4095"}, "'4095'"},
        {"copy", {"--size", "4096,"}, "'4096,'"},
        {"copy", {"--size", "0"}, "'0'"},
        {"copy", {"--case", "up"}, "'up'"},
        {"copy", {"--n", "4096"}, "'--n'"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct outcome outcome = bench(cases[i].benchmark, cases[i].arguments);

        assert_int_equal(outcome.status, 2);
        assert_string_equal(outcome.out, "");
        assert_true(one_line(&outcome, "gantry: bench: ", cases[i].part));
        outcome_free(&outcome);
    }
}

/* Of another package the program says that it is the wrong one. */
static void test_wrong_package(void **state)
{
    const char *package = getenv("GANTRY_TEST_OTHER_PACKAGE");
    const char *const argv[] = {gantry_path(), "bench", "bandwidth", "--quick",
                                "--package",   package, NULL};
    struct outcome outcome;

    (void)state;
    assert_non_null(package);
    outcome = run(argv, NULL);
    assert_int_equal(outcome.status, 1);
    if (strstr(outcome.err, "no device"))
        print_message("there is no device: %s", outcome.err);
    else
        assert_true(one_line(&outcome, "gantry: bench: ", "no kernel 'copy'"));
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bandwidth),         cmocka_unit_test(test_operations),
        cmocka_unit_test(test_bandwidth_as_text), cmocka_unit_test(test_copy),
        cmocka_unit_test(test_copy_as_text),      cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_wrong_usage),       cmocka_unit_test(test_wrong_package),
    };

    return cmocka_run_group_tests_name("bench-rates", tests, scratch_open, scratch_close);
}
