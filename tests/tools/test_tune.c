/* gantry tune on the device that the environment names: that it measures, finds results right,
 * writes what it says, can be stopped and goes on. What is best here, and how long it takes, is not
 * looked at. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../unit/scratch.h"
#include "run.h"

enum { MOST_ARGUMENTS = 32 };

/* A folder of its own for the user's files, so that tests don't see each other's. */
static void use_home(const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/config", scratch_path(name));
    setenv("XDG_CONFIG_HOME", path, 1);
    snprintf(path, sizeof path, "%s/state", scratch_path(name));
    setenv("XDG_STATE_HOME", path, 1);
}

static size_t add_all(const char **argv, size_t count, const char *const *arguments)
{
    while (*arguments && count < MOST_ARGUMENTS - 1)
        argv[count++] = *arguments++;
    return count;
}

/* gantry tune with the kernels of the test. */
static size_t tune_argv(const char **argv, const char *const *arguments)
{
    const char *kernels = getenv("GANTRY_TEST_KERNELS");
    size_t count = 0;

    argv[count++] = gantry_path();
    argv[count++] = "tune";
    if (kernels) {
        argv[count++] = "--kernels";
        argv[count++] = kernels;
    }
    return add_all(argv, count, arguments);
}

static struct outcome tune(const char *const *arguments)
{
    const char *argv[MOST_ARGUMENTS] = {NULL};

    tune_argv(argv, arguments);
    return run(argv, NULL);
}

static struct outcome gantry(const char *const *arguments)
{
    const char *argv[MOST_ARGUMENTS] = {gantry_path()};

    add_all(argv, 1, arguments);
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

static void expect_done(struct outcome *outcome)
{
    skip_without_device(outcome);
    if (outcome->status != 0)
        fail_msg("it failed: %s", outcome->err);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    if (!text)
        fail_msg("there is no text %s", key);
    return text;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);

    if (!file)
        fail_msg("%s is not there", path);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static const char *package_file(void)
{
    const char *file = getenv("GANTRY_TEST_TUNE_PACKAGE");

    if (!file)
        fail_msg("GANTRY_TEST_TUNE_PACKAGE is not set: run this through ctest");
    return file;
}

/* ---- Measuring and writing ------------------------------------------------------------------ */

static void check_trial(const json_t *trial)
{
    const char *winner = text_of(trial, "winner"), *incumbent = text_of(trial, "incumbent");
    const json_t *values = json_object_get(trial, "values"), *value;
    bool has_winner = false, has_incumbent = false;
    size_t i;

    assert_true(json_is_number(json_object_get(trial, "noise")));
    json_array_foreach((json_t *)(uintptr_t)values, i, value)
    {
        has_winner |= strcmp(text_of(value, "value"), winner) == 0;
        has_incumbent |= strcmp(text_of(value, "value"), incumbent) == 0;
        assert_string_not_equal(text_of(value, "standing"), "wrong");
    }
    assert_true(has_winner && has_incumbent);
    if (strcmp(text_of(trial, "outcome"), "won") == 0)
        assert_string_not_equal(winner, incumbent);
    else
        assert_string_equal(winner, incumbent);
}

/* The value of a plain key that `gantry config` shows for the device, and what set it. */
static void check_in_force(const char *key, const char *wanted, const char *file)
{
    const char *const arguments[] = {"config", "--device", "auto", "--json", NULL};
    struct outcome outcome = gantry(arguments);
    json_t *object, *value;
    bool found = false;
    size_t i;

    assert_int_equal(outcome.status, 0);
    object = outcome_json(&outcome);
    json_array_foreach(json_object_get(object, "values"), i, value)
    {
        if (strcmp(text_of(value, "key"), key) != 0)
            continue;
        found = true;
        assert_string_equal(text_of(value, "value"), wanted);
        assert_memory_equal(text_of(value, "origin"), file, strlen(file));
    }
    assert_true(found);
    assert_int_equal(json_array_size(json_object_get(object, "stale")), 0);
    json_decref(object);
    outcome_free(&outcome);
}

/* All keys, written to the user's file; a second run leaves a good file, too. */
static void test_quick_and_written(void **state)
{
    const char *const arguments[] = {"--quick", "--write", "--json",
                                     getenv("GANTRY_TEST_TUNE_KEYS"), NULL};
    json_t *object, *trials, *trial;

    (void)state;
    use_home("quick");
    for (int again = 0; again < 2; again++) {
        struct outcome outcome = tune(arguments);
        const char *written;
        char *text;
        size_t i;

        expect_done(&outcome);
        object = outcome_json(&outcome);
        trials = json_object_get(object, "trials");
        assert_true(json_array_size(trials) >= 2);
        json_array_foreach(trials, i, trial) check_trial(trial);
        written = text_of(object, "written");
        assert_non_null(strstr(written, "/config/gantry/gpu.d/"));
        text = read_file(written);
        if (!again) /* then nothing else is in the file */
            assert_string_equal(text, text_of(object, "section"));
        assert_non_null(strstr(text, "; tuned: "));
        json_array_foreach(trials, i, trial)
        {
            if (strcmp(text_of(trial, "outcome"), "won") == 0 &&
                !strchr(text_of(trial, "key"), '.') &&
                json_array_size(json_object_get(object, "backends")) == 1)
                check_in_force(text_of(trial, "key"), text_of(trial, "winner"), written);
        }
        free(text);
        json_decref(object);
        outcome_free(&outcome);
    }
}

/* What is in force because of the file is tried with the others, and stays in the file. */
static void test_a_file_that_is_there(void **state)
{
    const char *const arguments[] = {"--seconds", "5", "--keys", "batch_size", "--write", NULL};
    const char *const probe[] = {"--list", "--keys", "batch_size", NULL};
    char *file, *text, before[512];
    struct outcome outcome;

    (void)state;
    use_home("there");
    outcome = tune(probe);
    expect_done(&outcome);
    outcome_free(&outcome);
    outcome = tune(arguments);
    expect_done(&outcome);
    file = strstr(outcome.out, "Written to ");
    assert_non_null(file);
    file += strlen("Written to ");
    *strstr(file, ":\n") = '\0';
    text = read_file(file);
    *strchr(text, ']') = '\0';
    snprintf(before, sizeof before,
             "# mine\n%s] # this one\nbatch_size = 33 # odd\n[policy]\nfold = on", text);
    free(text);
    text = strdup(file);
    outcome_free(&outcome);
    scratch_write(strstr(text, "there/"), before);

    outcome = tune(arguments);
    expect_done(&outcome);
    outcome_free(&outcome);
    file = text;
    text = read_file(file);
    assert_memory_equal(text, "# mine\n[gpu ", 12);
    assert_non_null(strstr(text, "] # this one\n; tuned: "));
    assert_non_null(strstr(text, "\nbatch_size = "));
    assert_non_null(strstr(text, " # odd\n[policy]\nfold = on"));
    assert_non_null(strstr(text, "tuned batch_size through "));
    free(text);
    free(file);
}

static void test_list(void **state)
{
    const char *const arguments[] = {"--list", NULL};
    struct outcome outcome;

    (void)state;
    use_home("list");
    outcome = tune(arguments);
    expect_done(&outcome);
    assert_non_null(strstr(outcome.out, "spin_us"));
    assert_non_null(strstr(outcome.out, "1000*"));
    assert_non_null(strstr(outcome.out, "block_size.edge/sobel"));
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
}

/* ---- A section that is out of date ---------------------------------------------------------- */

static void test_stale(void **state)
{
    const char *const arguments[] = {"--seconds", "5",      "--keys", "chains",
                                     "--write",   "--json", NULL};
    const char *const config[] = {"config", "--device", "auto", NULL};
    struct outcome outcome;
    char *text, *version;
    const char *written;
    json_t *object;
    FILE *file;

    (void)state;
    use_home("stale");
    outcome = tune(arguments);
    expect_done(&outcome);
    object = outcome_json(&outcome);
    outcome_free(&outcome);
    written = text_of(object, "written");
    text = read_file(written);
    outcome = gantry(config);
    assert_null(strstr(outcome.out, "\nstale: "));
    assert_non_null(strstr(outcome.out, "\ntuned: "));
    outcome_free(&outcome);

    version = strstr(text, "; tuned: ");
    version = strchr(version + strlen("; tuned: "), ' ');
    memset(version + 1, '0', 1); /* the driver's version begins otherwise */
    version[1] = 'X';
    file = fopen(written, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    outcome = gantry(config);
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "\nstale: "));
    assert_non_null(strstr(outcome.out, written));
    outcome_free(&outcome);
    free(text);
    json_decref(object);
}

/* ---- Stopping and going on ------------------------------------------------------------------ */

/* Whether the folder has a state file by now. */
static bool has_state(void)
{
    char command[4200];

    snprintf(command, sizeof command, "ls %s/gantry/tune-*.json >/dev/null 2>&1",
             getenv("XDG_STATE_HOME"));
    return system(command) == 0;
}

/* Starts a full run and interrupts it when its first key has been measured. */
static int run_and_stop(const char *const *arguments, const char *err)
{
    const char *argv[MOST_ARGUMENTS] = {NULL};
    const struct timespec wait = {.tv_nsec = 20000000};
    pid_t child;
    int state;

    tune_argv(argv, arguments);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) && freopen(err, "w", stderr))
            execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    for (int i = 0; i < 5000 && !has_state(); i++)
        nanosleep(&wait, NULL);
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

static void change_state(const char *from, const char *to)
{
    char command[8400];

    snprintf(command, sizeof command, "sed -i 's/%s/%s/' %s/gantry/tune-*.json", from, to,
             getenv("XDG_STATE_HOME"));
    assert_int_equal(system(command), 0);
}

static void test_stopped_and_resumed(void **state)
{
    const char *const arguments[] = {"--seconds", "5", "--keys", "spin_us,chains,batch_size", NULL};
    const char *const resume[] = {"--seconds", "5",      "--keys", "spin_us,chains,batch_size",
                                  "--resume",  "--json", NULL};
    const char *const full[] = {"--resume", NULL};
    const char *err = scratch_path("stopped.txt");
    struct outcome outcome;
    json_t *object, *trial;
    char *text;
    size_t i;

    (void)state;
    use_home("resume");
    outcome = tune(resume);
    skip_without_device(&outcome);
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: tune: no run on this device was stopped", "--resume"));
    outcome_free(&outcome);

    assert_int_equal(run_and_stop(arguments, err), 1);
    text = read_file(err);
    assert_non_null(strstr(text, "gantry: tune: stopped: "));
    free(text);
    assert_true(has_state());

    outcome = tune(full);
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: tune: the run that was stopped", "--seconds"));
    outcome_free(&outcome);

    change_state("\"drivers\": {", "\"drivers\": {\"other\": \"1\",");
    outcome = tune(resume);
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: tune: the run that was stopped", "another driver"));
    outcome_free(&outcome);
    change_state("\"other\": \"1\",", "");
    change_state("\"noise\": [0-9.e-]*", "\"noise\": 0.015625");

    outcome = tune(resume);
    expect_done(&outcome);
    object = outcome_json(&outcome);
    assert_int_equal(json_array_size(json_object_get(object, "trials")) % 3, 0);
    json_array_foreach(json_object_get(object, "trials"), i, trial) check_trial(trial);
    trial = json_array_get(json_object_get(object, "trials"), 0);
    assert_true(json_number_value(json_object_get(trial, "noise")) == 0.015625);
    assert_false(has_state());
    json_decref(object);
    outcome_free(&outcome);
}

/* ---- A kernel of one's own ------------------------------------------------------------------ */

static void test_own_kernel(void **state)
{
    const char *const arguments[] = {"--seconds",
                                     "5",
                                     "--package",
                                     package_file(),
                                     "--kernel",
                                     "choosy",
                                     "--threads",
                                     "20000",
                                     "--arg",
                                     "sums=80000B",
                                     "--arg=weights=1,0.5,-2",
                                     "--arg=shift=-3",
                                     "--json",
                                     NULL};
    struct outcome outcome;
    json_t *object, *trial;

    (void)state;
    use_home("own");
    outcome = tune(arguments);
    expect_done(&outcome);
    object = outcome_json(&outcome);
    trial = json_array_get(json_object_get(object, "trials"), 0);
    assert_string_equal(text_of(trial, "key"), "block_size.tune/choosy");
    check_trial(trial);
    json_decref(object);
    outcome_free(&outcome);
}

static void test_what_a_kernel_needs_is_said(void **state)
{
    static const struct {
        const char *kernel, *arguments[6], *part;
    } cases[] = {
        {"choosy", {NULL}, "(add --arg weights=V,V,…, each float)"},
        {"choosy", {"--arg=weights=1,2", NULL}, "3 numbers of type float"},
        {"choosy", {"--arg=weights=1,2,3", "--arg=shift=1e9", NULL}, "'1e9'"},
        {"choosy", {"--arg=weights=1,2,3", NULL}, "(add --arg shift=VALUE"},
        {"choosy",
         {"--arg=weights=1,2,3", "--arg=shift=1", "--arg=sums=-1", NULL},
         "ELEMENTS:BELOW"},
        {"choosy",
         {"--arg=weights=1,2,3", "--arg=shift=1", "--arg=particles=9:1", NULL},
         "can only be zeros"},
        {"nosy", {"--arg=m=1", NULL}, "names none of its arguments"},
        {"nosy", {"--threads", "9x9", NULL}, "has 1 dimension"},
        {"fixed", {NULL}, "BLOCK in the kernel's source"},
        {"none", {NULL}, "has no kernel none"},
        {NULL, {NULL}, "holds 3 kernels"},
    };

    (void)state;
    use_home("needs");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *arguments[MOST_ARGUMENTS] = {"--package", package_file()};
        size_t count = 2;
        struct outcome outcome;

        if (cases[i].kernel) {
            arguments[count++] = "--kernel";
            arguments[count++] = cases[i].kernel;
        }
        add_all(arguments, count, cases[i].arguments);
        outcome = tune(arguments);
        skip_without_device(&outcome);
        assert_int_equal(outcome.status, 1);
        assert_true(one_line(&outcome, "gantry: tune: ", cases[i].part));
        outcome_free(&outcome);
    }
}

/* A kernel whose results depend on the size of its blocks: every challenger is out, loudly. */
static void test_wrong_results(void **state)
{
    const char *const arguments[] = {"--seconds", "5",    "--package", package_file(),
                                     "--kernel",  "nosy", "--threads", "4096",
                                     "--json",    NULL};
    struct outcome outcome;
    json_t *object, *trial, *value;
    size_t i, wrong = 0;

    (void)state;
    use_home("wrong");
    outcome = tune(arguments);
    skip_without_device(&outcome);
    assert_int_equal(outcome.status, 1);
    assert_non_null(strstr(outcome.err, "WRONG RESULTS through "));
    object = outcome_json(&outcome);
    trial = json_array_get(json_object_get(object, "trials"), 0);
    assert_string_equal(text_of(trial, "outcome"), "kept");
    json_array_foreach(json_object_get(trial, "values"), i, value)
    {
        wrong += strcmp(text_of(value, "standing"), "wrong") == 0 ? 1 : 0;
        assert_true((strcmp(text_of(value, "standing"), "wrong") == 0) ==
                    (strcmp(text_of(value, "value"), text_of(trial, "incumbent")) != 0));
    }
    assert_true(wrong > 0);
    json_decref(object);
    outcome_free(&outcome);
}

/* ---- Usage ---------------------------------------------------------------------------------- */

static void test_wrong_usage(void **state)
{
    static const struct {
        const char *arguments[6], *part;
    } cases[] = {
        {{"--keys", "fold", NULL}, "'fold'"},
        {{"--keys", ",", NULL}, "names no key"},
        {{"--seconds", "4", NULL}, "'4'"},
        {{"--seconds", "9s", NULL}, "'9s'"},
        {{"--seconds", "9", "--quick", NULL}, "leave out one"},
        {{"--kernel", "x", NULL}, "--package"},
        {{"--threads", "4", NULL}, "--package"},
        {{"--arg", "n=1", NULL}, "--package"},
        {{"--package", "x", "--threads", "4x", NULL}, "'4x'"},
        {{"--package", "x", "--arg", "n", NULL}, "'n'"},
        {{"--write", "a", "--write", NULL}, "twice"},
        {{"now", NULL}, "'now'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome outcome = tune(cases[i].arguments);

        assert_int_equal(outcome.status, 2);
        assert_string_equal(outcome.out, "");
        assert_true(one_line(&outcome, "gantry: tune: ", cases[i].part));
        outcome_free(&outcome);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_usage),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_what_a_kernel_needs_is_said),
        cmocka_unit_test(test_own_kernel),
        cmocka_unit_test(test_wrong_results),
        cmocka_unit_test(test_a_file_that_is_there),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_stopped_and_resumed),
        cmocka_unit_test(test_quick_and_written),
    };

    return cmocka_run_group_tests_name("tune", tests, scratch_open, scratch_close);
}
