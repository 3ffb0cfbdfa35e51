#include "isolate.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The child's end: what is found goes into the pipe. */
_Noreturn static void do_work(int pipe, void (*work)(struct report *report, void *context),
                              void *context)
{
    static const struct rlimit no_core = {0, 0};
    struct report report = {json_array(), fdopen(pipe, "w")};

    setrlimit(RLIMIT_CORE, &no_core); /* crashing is what this child is for */
    if (report.stream)
        work(&report, context);
    /* Exit handlers are the parent's and the drivers': neither is wanted here. */
    _exit(report.stream ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- Listening ------------------------------------------------------------------------------ */

static long long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* False: time is up. */
static bool wait_for_bytes(int pipe, long long end)
{
    struct pollfd waited = {.fd = pipe, .events = POLLIN};

    for (;;) {
        long long left = end - now_ms();
        int ready = left > 0 ? poll(&waited, 1, (int)left) : 0;

        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static void take_lines(struct report *report, char *lines)
{
    char *rest = NULL;

    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        report_take(report, line);
}

/* Reads until the child has closed its end. False: time was up. */
static bool listen_to(struct report *report, int pipe, unsigned seconds)
{
    long long end = now_ms() + seconds * 1000LL;
    char *lines = NULL, part[4096];
    size_t size = 0;
    FILE *copy = open_memstream(&lines, &size);
    bool in_time = false;
    ssize_t got = copy ? 1 : 0;

    while (got > 0 && (in_time = wait_for_bytes(pipe, end))) {
        got = read(pipe, part, sizeof part);
        if (got > 0)
            fwrite(part, 1, (size_t)got, copy);
    }
    if (copy && fclose(copy) == 0)
        take_lines(report, lines);
    free(lines);
    return in_time;
}

/* ---- The child's end ------------------------------------------------------------------------ */

static bool judge(struct report *report, const struct isolation *isolation, int state)
{
    int code = WIFSIGNALED(state) ? WTERMSIG(state) : 0;

    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_SUCCESS)
        return true;
    report_add(report, &(struct finding){isolation->crashed, .subject = isolation->subject},
               "the process that tried it was ended by %s", code ? strsignal(code) : "the driver");
    return false;
}

static bool wait_for(struct report *report, const struct isolation *isolation, pid_t child,
                     int pipe)
{
    bool in_time = listen_to(report, pipe, isolation->seconds);
    int state = 0;

    if (!in_time)
        kill(child, SIGKILL);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    if (in_time)
        return judge(report, isolation, state);
    report_add(report, &(struct finding){isolation->hangs, .subject = isolation->subject},
               "the process that tried it was ended after %u seconds without an answer",
               isolation->seconds);
    return false;
}

bool isolate(struct report *report, const struct isolation *isolation,
             void (*work)(struct report *report, void *context), void *context)
{
    int ends[2] = {-1, -1};
    pid_t child;
    bool well;

    fflush(NULL); /* what waits in buffers must not be written twice */
    child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        close(ends[0]);
        do_work(ends[1], work, context);
    }
    if (child < 0)
        report_add(report, &(struct finding){isolation->crashed, .subject = isolation->subject},
                   "no process could be made to try it: %s", strerror(errno));
    close(ends[1]);
    well = child > 0 && wait_for(report, isolation, child, ends[0]);
    close(ends[0]);
    return well;
}
