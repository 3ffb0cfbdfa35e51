/* gantry config --check: everything that was planted in mistakes.ini, and nothing else. */
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

static struct outcome check(const char *const *arguments)
{
    static const char *const clean[] = {"GANTRY_CONFIG", "GANTRY_BACKEND", NULL};
    const char *argv[12] = {gantry_path(), "config", "--check"};

    for (int i = 0; arguments[i]; i++)
        argv[3 + i] = arguments[i];
    return run(argv, clean);
}

#define CHECK(...) check((const char *const[]){__VA_ARGS__, NULL})

static const char *planted_file(void)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/tests/tools/mistakes.ini", getenv("TEST_SOURCE_DIR"));
    return path;
}

/* ---- mistakes.ini --------------------------------------------------------------------------- */

struct planted {
    int line;
    bool mistake;
    char part[160];
};

enum { PLANTED_MAX = 64, MISTAKES = 22, DOUBTS = 5 };

static int read_planted(struct planted *planted)
{
    FILE *file = fopen(planted_file(), "r");
    char line[1024], severity[16];
    int count = 0, number = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct planted *next = &planted[count];

        number++;
        if (sscanf(line, "; %15[a-z]: %159[^\n]", severity, next->part) != 2 ||
            (strcmp(severity, "mistake") != 0 && strcmp(severity, "doubtful") != 0))
            continue;
        assert_true(count < PLANTED_MAX);
        next->mistake = strcmp(severity, "mistake") == 0;
        next->line = number + 1;
        count++;
    }
    fclose(file);
    return count;
}

static void test_planted_mistakes_as_text(void **state)
{
    struct planted planted[PLANTED_MAX + 1];
    int count = read_planted(planted), found = 0, mistakes = 0;
    struct outcome outcome = CHECK(planted_file());

    (void)state;
    assert_int_equal(outcome.status, 1);
    assert_string_equal(outcome.err, "");
    for (char *line = strtok(outcome.out, "\n"); line; line = strtok(NULL, "\n"), found++) {
        const struct planted *expected = &planted[found];
        char front[600];

        if (found == count)
            fail_msg("nothing was planted here: %s", line);
        snprintf(front, sizeof front, "%s:%d: %s: ", planted_file(), expected->line,
                 expected->mistake ? "mistake" : "doubtful");
        if (strncmp(line, front, strlen(front)) != 0 || !strstr(line, expected->part))
            fail_msg("\"%s\" is not \"%s…%s\"", line, front, expected->part);
        mistakes += expected->mistake;
    }
    assert_int_equal(found, count);
    assert_int_equal(mistakes, MISTAKES);
    assert_int_equal(count - mistakes, DOUBTS);
    outcome_free(&outcome);
}

static void test_planted_mistakes_as_json(void **state)
{
    struct planted planted[PLANTED_MAX + 1];
    size_t count = (size_t)read_planted(planted), i;
    struct outcome outcome = CHECK("--json", planted_file());
    json_t *object = outcome_json(&outcome);
    const json_t *file = json_array_get(json_object_get(object, "files"), 0);
    json_t *remark;

    (void)state;
    assert_int_equal(outcome.status, 1);
    assert_int_equal(json_integer_value(json_object_get(object, "mistakes")), MISTAKES);
    assert_int_equal(json_integer_value(json_object_get(object, "doubtful")), DOUBTS);
    assert_string_equal(json_string_value(json_object_get(file, "file")), planted_file());
    assert_true(json_is_true(json_object_get(file, "read")));
    assert_int_equal(json_array_size(json_object_get(file, "remarks")), count);
    json_array_foreach(json_object_get(file, "remarks"), i, remark)
    {
        assert_int_equal(json_integer_value(json_object_get(remark, "line")), planted[i].line);
        assert_string_equal(json_string_value(json_object_get(remark, "severity")),
                            planted[i].mistake ? "mistake" : "doubtful");
        assert_non_null(
            strstr(json_string_value(json_object_get(remark, "text")), planted[i].part));
    }
    json_decref(object);
    outcome_free(&outcome);
}

/* ---- Other files ---------------------------------------------------------------------------- */

static void test_exit_status(void **state)
{
    const char *good = scratch_write("good.ini", "[policy]\nchains = 2\n");
    const char *odd = scratch_write("odd.ini", "[policy]\nchains = 2\nchains = 3\n");
    const char *bad = scratch_write("bad.ini", "[policy]\nchains = x\n");
    struct outcome outcome = CHECK(good);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);

    outcome = CHECK(odd, good);
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "odd.ini:3: doubtful: chains = 3"));
    outcome_free(&outcome);

    outcome = CHECK(good, bad, odd);
    assert_int_equal(outcome.status, 1);
    assert_non_null(strstr(outcome.out, "bad.ini:2: mistake: chains: \"x\""));
    assert_non_null(strstr(outcome.out, "odd.ini:3: doubtful: "));
    outcome_free(&outcome);

    outcome = CHECK(good, scratch_path("missing.ini"));
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: config: ", "missing.ini: the file can't be read"));
    outcome_free(&outcome);
}

static void test_wrong_usage(void **state)
{
    struct outcome outcome = CHECK("--json");

    (void)state;
    assert_int_equal(outcome.status, 2);
    assert_true(one_line(&outcome, "gantry: ", "FILE is missing"));
    outcome_free(&outcome);
    outcome = CHECK("--device=0", "x.ini");
    assert_int_equal(outcome.status, 2);
    assert_true(one_line(&outcome, "gantry: ", "'--device=0'"));
    outcome_free(&outcome);
    outcome = CHECK("--help");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "FILE:LINE: doubtful"));
    outcome_free(&outcome);
}

static void test_kernels_of_packages(void **state)
{
    const char *package = getenv("GANTRY_TEST_PACKAGE");
    const char *file = scratch_write("kernels.ini", "[policy]\nblock_size.levls = 64\n"
                                                    "block_size.edge/levels = 100\n"
                                                    "block_size.edge/nothing_like_it = 64\n");
    struct outcome outcome = CHECK(file);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);

    outcome = CHECK(file, "--package", package);
    assert_non_null(strstr(outcome.out, "kernels.ini:2: doubtful: block_size.levls: no kernel is "
                                        "called \"levls\": is it \"levels\"?"));
    assert_non_null(strstr(outcome.out, "kernels.ini:4: doubtful: "));
    assert_non_null(strstr(outcome.out, "kernels.ini:3: mistake: "));
    assert_int_equal(outcome.status, 1);
    outcome_free(&outcome);

    outcome = CHECK(file, "--package", file);
    assert_int_equal(outcome.status, 1);
    assert_string_equal(outcome.out, "");
    assert_true(one_line(&outcome, "gantry: config: ", "kernels.ini"));
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted_mistakes_as_text),
        cmocka_unit_test(test_planted_mistakes_as_json),
        cmocka_unit_test(test_exit_status),
        cmocka_unit_test(test_wrong_usage),
        cmocka_unit_test(test_kernels_of_packages),
    };

    return cmocka_run_group_tests_name("config_check", tests, scratch_open, scratch_close);
}
