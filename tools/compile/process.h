/* Running other programs: argument lists, never a shell. */
#ifndef GANTRY_COMPILE_PROCESS_H
#define GANTRY_COMPILE_PROCESS_H

#include <stdbool.h>

#include "pool.h"

/* A command that is being put together; arguments are not copied. */
struct command {
    struct pool *pool;
    const char **arguments;
    size_t count;
};

struct command command_new(struct pool *pool, const char *program);
void command_add(struct command *command, const char *argument);

/* A program with arguments in one text, as make's variables hold them: "ccache g++". */
struct command command_new_words(struct pool *pool, const char *words);

enum command_output {
    OUTPUT_SHOWN, /* stdout and stderr are ours */
    OUTPUT_HIDDEN,
};

/* True when the program ran and ended with status 0. What it writes to stdout is added to `out`
 * unless that is NULL. */
bool command_run(const struct command *command, enum command_output output, struct text *out);

/* Runs them all, as many at a time as there are processors; true when every one succeeded. After a
 * failure no more are started. */
bool commands_run(const struct command *commands, size_t count);

/* Show each command on stderr before it starts. */
extern bool command_verbose;

#endif
