/* How gantry begins, forks and ends.
 *
 *     life [--device SELECTOR] [--rounds N] [--gpu] [--list] [CASE…]
 *
 * A CASE is a name, or the beginning of one ("fork/"). Exit status: 0 all passed or skipped, 1 some
 * failed, 2 wrong usage, 77 the device is not there. --gpu is for drivers of real hardware: they
 * need not work in the child of a process that has used them. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"

enum { SECONDS = 100, SECONDS_A_ROUND = 1, EXIT_SKIP = 77, DEFAULT_ROUNDS = 1000 };

struct life_options life = {.rounds = DEFAULT_ROUNDS};

static const struct life_case *const tables[] = {
    close_cases, end_cases, fork_cases, instance_cases, thread_cases, surroundings_cases, NULL,
};

noreturn void skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    _exit(EXIT_SKIP);
}

bool refuses_children(void)
{
    return life.gpu || (scene_device && strncmp(scene_device, "vulkan", 6) == 0);
}

void report_rounds(const char *name, unsigned rounds, long leaked)
{
    const char *colon = scene_device ? strchr(scene_device, ':') : NULL;

    printf("reliability: life/%s-%.*s rounds=%u leaked=%ld crashed=0\n", name,
           colon ? (int)(colon - scene_device) : 6, colon ? scene_device : "device", rounds,
           leaked);
}

/* ---- One case -------------------------------------------------------------------------------- */

/* In a process that has done nothing else. */
static int run_alone(const char *name)
{
    for (const struct life_case *const *table = tables; *table; table++) {
        for (const struct life_case *one = *table; one->name; one++) {
            if (strcmp(one->name, name) == 0) {
                one->run();
                return EXIT_SUCCESS;
            }
        }
    }
    die("there is no case %s", name);
}

static void become(const struct life_case *one, char **argv, int argc)
{
    char **args = calloc((size_t)argc + 3, sizeof(*args));

    if (!args)
        _exit(127);
    memcpy(args, argv, (size_t)argc * sizeof(*args));
    args[argc] = "--alone";
    args[argc + 1] = (char *)one->name;
    if (one->leaves) { /* what stays open is no fault, and the system takes it back */
        unsetenv("STANDIN_STRICT");
        setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    }
    alarm(SECONDS + life.rounds * SECONDS_A_ROUND);
    execv("/proc/self/exe", args);
    _exit(127);
}

/* Prints the case's line behind whatever it has printed itself; its failures. */
static int run_case(const struct life_case *one, char **argv, int argc)
{
    const char *verdict = "ok  ";
    char reason[64] = "";
    pid_t child;
    int status = 0;

    fflush(stdout);
    child = fork();
    if (child == 0)
        become(one, argv, argc);
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("no process could be started");
    if (WIFSIGNALED(status))
        snprintf(reason, sizeof(reason), ": ended by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? ", it hung" : "");
    else if (WEXITSTATUS(status) != EXIT_SKIP && WEXITSTATUS(status) != 0)
        snprintf(reason, sizeof(reason), ": exit status %d", WEXITSTATUS(status));
    if (reason[0])
        verdict = "FAIL";
    else if (WEXITSTATUS(status) == EXIT_SKIP)
        verdict = "skip";
    printf("%s %s%s%s%s%s\n", verdict, one->name, one->field ? " (" : "",
           one->field ? one->field : "", one->field ? ")" : "", reason);
    return reason[0] != '\0';
}

/* ---- The command line ------------------------------------------------------------------------ */

/* Asked in a child: the cases' own processes inherit no state, but this one must stay untouched. */
static int find_device(void)
{
    struct gantry_device_params params = {.device = scene_device};
    struct gantry_device *device;
    int status = 0;
    struct gantry *g;
    pid_t child = fork();

    if (child == 0) {
        OK(gantry_open(NULL, &g));
        if (gantry_device_open(g, &params, &device) != GANTRY_OK) {
            printf("skip: %s\n", gantry_last_error());
            status = EXIT_SKIP;
        }
        gantry_device_close(&device);
        gantry_close(&g);
        fflush(stdout);
        _exit(status);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return EXIT_FAILURE;
    return WEXITSTATUS(status);
}

static bool is_wanted(const char *name, char **cases, int count)
{
    for (int i = 0; i < count; i++)
        if (strncmp(name, cases[i], strlen(cases[i])) == 0)
            return true;
    return count == 0;
}

static int run_all(int argc, char **argv, int first, bool list)
{
    int failures = 0, status = list ? 0 : find_device();

    for (const struct life_case *const *table = tables; *table && status == 0; table++) {
        for (const struct life_case *one = *table; one->name; one++) {
            if (!is_wanted(one->name, argv + first, argc - first))
                continue;
            if (list)
                printf("%-40s %s\n", one->name, one->field ? one->field : "");
            else
                failures += run_case(one, argv, first);
        }
    }
    return status ? status : failures != 0;
}

int main(int argc, char **argv)
{
    bool list = false;
    int i = 1;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--gpu") == 0) {
            life.gpu = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (value && strcmp(argv[i], "--device") == 0) {
            scene_device = argv[++i];
        } else if (value && strcmp(argv[i], "--rounds") == 0) {
            life.rounds = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (value && strcmp(argv[i], "--alone") == 0) {
            return run_alone(value);
        } else {
            fprintf(stderr, "%s is no option, or lacks its value\n", argv[i]);
            return 2;
        }
    }
    return run_all(argc, argv, i, list);
}
