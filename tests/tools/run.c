#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "run.h"

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);

    if (!value)
        fail_msg("%s is not set: run this through ctest", name);
    return value;
}

const char *gantry_path(void)
{
    return from_environment("GANTRY_TEST_TOOL");
}

const char *edge_path(void)
{
    return from_environment("GANTRY_TEST_EDGE");
}

static char *read_back(FILE *file)
{
    char *text;
    long size;

    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

static void change_environment(const char *const *environment)
{
    for (size_t i = 0; environment && environment[i]; i++) {
        if (strchr(environment[i], '='))
            putenv((char *)(uintptr_t)environment[i]);
        else
            unsetenv(environment[i]);
    }
}

struct outcome run(const char *const *argv, const char *const *environment)
{
    FILE *out = tmpfile(), *err = tmpfile();
    struct outcome outcome = {.status = -1};
    pid_t child;
    int state;

    assert_non_null(out);
    assert_non_null(err);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        change_environment(environment);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &state, 0), child);
    if (WIFEXITED(state))
        outcome.status = WEXITSTATUS(state);
    outcome.out = read_back(out);
    outcome.err = read_back(err);
    if (outcome.status == 127 || outcome.status < 0)
        fail_msg("%s could not be run or was killed:\n%s", argv[0], outcome.err);
    return outcome;
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
}

json_t *outcome_json(const struct outcome *outcome)
{
    json_error_t error;
    json_t *object = json_loads(outcome->out, JSON_REJECT_DUPLICATES, &error);

    if (!json_is_object(object))
        fail_msg("no JSON object: %s in line %d of\n%s", error.text, error.line, outcome->out);
    return object;
}

bool one_line(const struct outcome *outcome, const char *start, const char *part)
{
    const char *end = strchr(outcome->err, '\n');
    bool right = end && !end[1] && strncmp(outcome->err, start, strlen(start)) == 0 &&
                 strstr(outcome->err, part);

    if (!right)
        print_error("not one line \"%s…%s…\": %s\n", start, part, outcome->err);
    return right;
}
