/* gantry bench submit on the device that the environment names: that it runs, finds its results
 * right, and prints what was promised. How long anything takes is not looked at. */
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

enum { MOST_ARGUMENTS = 16 };

/* gantry bench submit --quick, the kernels of the test, and up to the first NULL what is given. */
static struct outcome bench(const char *const *arguments)
{
    const char *argv[MOST_ARGUMENTS] = {gantry_path(), "bench", "submit", "--quick"};
    const char *package = getenv("GANTRY_TEST_PACKAGE");
    size_t count = 4;

    if (package) {
        argv[count++] = "--package";
        argv[count++] = package;
    }
    while (*arguments && count < MOST_ARGUMENTS - 1)
        argv[count++] = *arguments++;
    return run(argv, NULL);
}

static void skip_without_device(struct outcome *outcome)
{
    if (outcome->status == 1 && strstr(outcome->err, "no device")) {
        print_message("there is no device: %s", outcome->err);
        outcome_free(outcome);
        skip();
    }
}

static bool is_number_or_null(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) || json_is_null(value);
}

static bool has_raw_twin(const char *test)
{
    return strcmp(test, "record") != 0 && strcmp(test, "stream") != 0 && strcmp(test, "patch") != 0;
}

static void check_row(const json_t *row, bool raw_side)
{
    const char *test = json_string_value(json_object_get(row, "case"));
    const json_t *raw = json_object_get(row, "raw_ns");
    bool sweep;

    assert_non_null(test);
    sweep = strcmp(test, "sweep") == 0;
    assert_true(json_integer_value(json_object_get(row, "n")) > 0);
    assert_true(json_is_number(json_object_get(row, "gantry_ns")));
    assert_true(json_is_number(json_object_get(row, "gantry_p95_ns")));
    assert_true(is_number_or_null(row, "ratio"));
    assert_int_equal(json_is_number(raw), has_raw_twin(test) && (raw_side || sweep));
    assert_int_equal(json_is_string(json_object_get(row, "raw_how")), json_is_number(raw));
    assert_true(json_is_number(raw) || json_is_null(raw));
    if (strcmp(test, "stream") == 0) {
        assert_true(json_integer_value(json_object_get(row, "n")) >= 10000);
        assert_true(json_is_number(json_object_get(row, "p50_ns")));
        assert_true(json_is_number(json_object_get(row, "p99_ns")));
        assert_true(json_is_number(json_object_get(row, "mean_ns")));
    }
}

/* How many rows are of this case with this n; 0 stands for any n. */
static int count_rows(const json_t *rows, const char *test, int n)
{
    int count = 0;
    size_t i;
    json_t *row;

    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        count += strcmp(json_string_value(json_object_get(row, "case")), test) == 0 &&
                 (n == 0 || json_integer_value(json_object_get(row, "n")) == n);
    }
    return count;
}

static void check_all_cases(const json_t *rows)
{
    static const char *const by_count[] = {"record", "oneshot",     "oneshot1", "chain",
                                           "chain1", "independent", "patch"};

    for (size_t i = 0; i < sizeof by_count / sizeof *by_count; i++) {
        assert_int_equal(count_rows(rows, by_count[i], 8), 1);
        assert_int_equal(count_rows(rows, by_count[i], 32), 1);
    }
    assert_int_equal(count_rows(rows, "mixed", 0), 2);
    assert_int_equal(count_rows(rows, "stages", 0), 1); /* 8 are no 16 stages */
    assert_int_equal(count_rows(rows, "stream", 0), 1);
    assert_int_equal(count_rows(rows, "roundtrip", 1), 1);
    assert_true(count_rows(rows, "sweep", 0) > 1);
}

static void test_all_cases(void **state)
{
    const char *const arguments[] = {"--n", "8,32", "--json", NULL};
    const char *const ways = getenv("GANTRY_TEST_RAW");
    struct outcome outcome = bench(arguments);
    json_t *object, *rows, *row;
    bool raw_side;
    size_t i;

    (void)state;
    skip_without_device(&outcome);
    if (outcome.status != 0)
        fail_msg("it failed: %s", outcome.err);
    object = outcome_json(&outcome);
    assert_true(json_is_string(json_object_get(object, "device")));
    assert_true(json_is_string(json_object_get(object, "backend")));
    assert_true(json_is_integer(json_object_get(object, "spin_us")));
    raw_side = json_is_null(json_object_get(object, "raw_missing"));
    if (ways)
        assert_int_equal(raw_side, strcmp(ways, "yes") == 0);
    rows = json_object_get(object, "rows");
    assert_true(json_is_array(rows));
    json_array_foreach(rows, i, row) check_row(row, raw_side);
    check_all_cases(rows);
    json_decref(object);
    outcome_free(&outcome);
}

static void test_chosen_cases_as_text(void **state)
{
    const char *const arguments[] = {"--case", "chain", "--case=patch", "--n", "4", NULL};
    struct outcome outcome = bench(arguments);

    (void)state;
    skip_without_device(&outcome);
    if (outcome.status != 0)
        fail_msg("it failed: %s", outcome.err);
    assert_non_null(strstr(outcome.out, "(spin_us)"));
    assert_non_null(strstr(outcome.out, "\nchain "));
    assert_non_null(strstr(outcome.out, "\npatch "));
    assert_null(strstr(outcome.out, "\nrecord "));
    outcome_free(&outcome);
}

/* With gnuplot a picture, without it a sentence that says how to get it. */
static void test_picture(void **state)
{
    const char *file = scratch_path("bench.svg");
    const char *const arguments[] = {"--case", "record", "--n", "1,8", "--svg", file, NULL};
    struct outcome outcome = bench(arguments);
    char start[256] = "";
    FILE *picture;

    (void)state;
    skip_without_device(&outcome);
    if (outcome.status != 0) {
        assert_int_equal(outcome.status, 1);
        assert_true(one_line(&outcome, "gantry: bench: can't run gnuplot", "gnuplot-nox"));
    } else {
        picture = fopen(file, "r");
        assert_non_null(picture);
        assert_true(fread(start, 1, sizeof start - 1, picture) > 0);
        fclose(picture);
        assert_non_null(strstr(start, "<svg"));
    }
    assert_non_null(strstr(outcome.out, "\nrecord "));
    outcome_free(&outcome);
}

/* gantry bench memory finds its books in order, also with as little as --quick does. */
static void test_memory(void **state)
{
    const char *const argv[] = {gantry_path(), "bench", "memory", "--quick", "--json", NULL};
    const char *const ways = getenv("GANTRY_TEST_RAW");
    struct outcome outcome = run(argv, NULL);
    json_t *object, *rows, *row, *churn;
    size_t i;

    (void)state;
    skip_without_device(&outcome);
    if (outcome.status != 0)
        fail_msg("it failed: %s", outcome.err);
    object = outcome_json(&outcome);
    rows = json_object_get(object, "rows");
    assert_true(json_array_size(rows) >= 5);
    json_array_foreach(rows, i, row)
    {
        assert_true(json_integer_value(json_object_get(row, "size")) > 0);
        assert_true(json_is_number(json_object_get(row, "gantry_ns")));
        if (ways)
            assert_int_equal(json_is_number(json_object_get(row, "raw_ns")),
                             strcmp(ways, "yes") == 0);
    }
    churn = json_object_get(object, "churn");
    assert_int_equal(json_integer_value(json_object_get(churn, "creates")), 10000);
    assert_true(json_integer_value(json_object_get(churn, "used")) > 0);
    assert_true(json_integer_value(json_object_get(churn, "reserved")) >=
                json_integer_value(json_object_get(churn, "used")));
    assert_true(json_real_value(json_object_get(churn, "worst_unused_share")) < 1);
    json_decref(object);
    outcome_free(&outcome);
}

static void test_no_benchmark(void **state)
{
    const char *const none[] = {gantry_path(), "bench", NULL};
    const char *const unknown[] = {gantry_path(), "bench", "start", NULL};
    struct outcome outcome = run(none, NULL);

    (void)state;
    assert_int_equal(outcome.status, 2);
    assert_true(one_line(&outcome, "gantry: bench: ", "submit, memory"));
    outcome_free(&outcome);
    outcome = run(unknown, NULL);
    assert_int_equal(outcome.status, 2);
    assert_true(one_line(&outcome, "gantry: bench: ", "'start'"));
    outcome_free(&outcome);
}

static void test_wrong_usage(void **state)
{
    static const struct {
        const char *arguments[6], *part;
    } cases[] = {
        {{"--n", "8,"}, "'8,'"},
        {{"--n", "0"}, "'0'"},
        {{"--n", "4 "}, "'4 '"},
        {{"--n", "65537"}, "65536"},
        {{"--case", "fast"}, "'fast'"},
        {{"--case"}, "needs a value"},
        {{"--n", "1", "--n", "2"}, "twice"},
        {{"start"}, "'start'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome outcome = bench(cases[i].arguments);

        assert_int_equal(outcome.status, 2);
        assert_string_equal(outcome.out, "");
        assert_true(one_line(&outcome, "gantry: bench: ", cases[i].part));
        outcome_free(&outcome);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_cases),    cmocka_unit_test(test_chosen_cases_as_text),
        cmocka_unit_test(test_picture),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_no_benchmark), cmocka_unit_test(test_wrong_usage),
    };

    return cmocka_run_group_tests_name("bench", tests, scratch_open, scratch_close);
}
