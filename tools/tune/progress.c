#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../bench/stopwatch.h"
#include "../output.h"

enum { BAR = 24, BETWEEN_NS = 100000000 };

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

void progress_catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool progress_stopped(void)
{
    return stopped != 0;
}

void progress_open(struct progress *progress, unsigned steps)
{
    *progress = (struct progress){.terminal = isatty(STDERR_FILENO) == 1, .steps = steps};
}

/* The share of all that is done; later steps are thought to take as long as this one. */
static double share_done(const struct progress *progress)
{
    double passed = (double)(stopwatch_read() - progress->begin);
    double part = progress->length ? passed / (double)progress->length : 1;

    return (progress->step + (part > 1 ? 1 : part)) / progress->steps;
}

static void draw(struct progress *progress)
{
    double share = share_done(progress);
    double left = (1 - share) * progress->steps * (double)progress->length * 1e-9;
    int filled = (int)(share * BAR);

    progress->drawn = stopwatch_read();
    fprintf(stderr, "\r\033[K[%.*s%.*s] %3.0f %% %u:%02u left  %s", filled,
            "########################", BAR - filled, "........................", 100 * share,
            (unsigned)left / 60, (unsigned)left % 60, progress->what);
    fflush(stderr);
}

void progress_clear(const struct progress *progress)
{
    if (progress->terminal)
        fputs("\r\033[K", stderr);
}

void progress_begin(struct progress *progress, unsigned step, const char *what, uint64_t length)
{
    progress->step = step;
    progress->length = length;
    progress->begin = stopwatch_read();
    snprintf(progress->what, sizeof progress->what, "%s", what);
    if (progress->terminal)
        draw(progress);
}

void progress_tick(struct progress *progress)
{
    if (progress->terminal && stopwatch_read() - progress->drawn > BETWEEN_NS)
        draw(progress);
}

void progress_end(struct progress *progress, const char *outcome)
{
    progress_clear(progress);
    fprintf(stderr, "%u of %u  %s: %s\n", progress->step + 1, progress->steps, progress->what,
            outcome);
}
