#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool command_verbose;

struct command command_new(struct pool *pool, const char *program)
{
    struct command command = {.pool = pool};
    command_add(&command, program);
    return command;
}

void command_add(struct command *command, const char *argument)
{
    /* One more than the arguments: the list ends in NULL. */
    command->arguments = pool_grow(command->pool, command->arguments, command->count + 1,
                                   sizeof(*command->arguments));
    command->arguments[command->count++] = argument;
    command->arguments[command->count] = NULL;
}

struct command command_new_words(struct pool *pool, const char *words)
{
    struct command command = {.pool = pool};
    while (*(words += strspn(words, " \t"))) {
        size_t size = strcspn(words, " \t");
        command_add(&command, pool_copy(pool, words, size));
        words += size;
    }
    return command;
}

static void show(const struct command *command)
{
    for (size_t i = 0; i < command->count; i++)
        fprintf(stderr, "%s%s", i ? " " : "", command->arguments[i]);
    fputc('\n', stderr);
}

/* Starts the command; `out` is the descriptor of its stdout, -1 for ours. Returns 0 on failure. */
static pid_t start(const struct command *command, enum command_output output, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    if (command_verbose)
        show(command);
    fflush(NULL);
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        goto fail;
    if (output == OUTPUT_HIDDEN) {
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    }
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&actions, out, 1);
    error = posix_spawnp(&child, command->arguments[0], &actions, NULL,
                         (char *const *)command->arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!error)
        return child;
fail:
    fprintf(stderr, "gantry: compile: can't run %s: %s\n", command->arguments[0], strerror(error));
    return 0;
}

static bool ended_well(const struct command *command, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "gantry: compile: %s was ended by signal %d\n", command->arguments[0],
                WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool finish(const struct command *command, pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return ended_well(command, status);
}

static void read_all(int descriptor, struct text *out)
{
    char part[65536];
    ssize_t size;
    while ((size = read(descriptor, part, sizeof(part))) > 0 || (size < 0 && errno == EINTR))
        if (size > 0)
            text_add(out, part, (size_t)size);
}

bool command_run(const struct command *command, enum command_output output, struct text *out)
{
    int ends[2] = {-1, -1};
    if (out && pipe2(ends, O_CLOEXEC)) {
        fprintf(stderr, "gantry: compile: can't make a pipe: %s\n", strerror(errno));
        return false;
    }
    pid_t child = start(command, output, ends[1]);
    if (out) {
        close(ends[1]);
        if (child)
            read_all(ends[0], out);
        close(ends[0]);
    }
    return child && finish(command, child);
}

/* ---- Many at a time
 * ------------------------------------------------------------------------------- */

struct running {
    pid_t child;
    const struct command *command;
};

/* Waits for whichever ends first, and takes it off the list. */
static bool finish_one(struct running *running, size_t *count)
{
    for (;;) {
        int status;
        pid_t child = waitpid(-1, &status, 0);
        if (child < 0 && errno != EINTR)
            return false;
        for (size_t i = 0; child > 0 && i < *count; i++)
            if (running[i].child == child) {
                const struct command *command = running[i].command;
                running[i] = running[--*count];
                return ended_well(command, status);
            }
    }
}

bool commands_run(const struct command *commands, size_t count)
{
    struct running running[64];
    size_t busy = 0;
    bool good = true;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t limit = processors < 1 ? 1 : processors > 64 ? 64 : (size_t)processors;
    for (size_t i = 0; i < count && good; i++) {
        if (busy == limit)
            good = finish_one(running, &busy);
        pid_t child = good ? start(&commands[i], OUTPUT_SHOWN, -1) : 0;
        good = child != 0;
        if (good)
            running[busy++] = (struct running){child, &commands[i]};
    }
    while (busy > 0)
        good = finish_one(running, &busy) && good;
    return good;
}
