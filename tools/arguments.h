/* The arguments of a subcommand, read strictly: no abbreviations, nothing unknown, and
 * twice only what may be.
 */
#ifndef GANTRY_TOOLS_ARGUMENTS_H
#define GANTRY_TOOLS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* The values of an option that may be given several times. */
struct argument_list {
    const char **items;
    size_t count, room;
};

/* A row of a subcommand's table; exactly one of flag, value and list is set, or flag and value for
 * an option whose value may be missing: it takes the word behind that does not begin with '-'. */
struct argument {
    const char *name;   /* "--json", or without dashes an operand's name: "PACKAGE" */
    bool *flag;         /* set to true when the option is given */
    const char **value; /* gets the option's value ("--device D", "--device=D") or the operand,
                           which must be given; start it with NULL */
    struct argument_list *list; /* gets each of the option's values; or the operands, one at least,
                                   that the rows above it leave */
    bool optional;              /* a list of operands may stay empty */
};

/* Reads argv[1] to argv[argc - 1]; argv[0] is the subcommand's name. False: there is nothing left
 * to do but to exit with *exit_status, because `usage` was asked for and printed, or because of a
 * mistake, which was reported. */
bool arguments_read(int argc, char **argv, const char *usage, const struct argument *table,
                    size_t count, int *exit_status);

#endif
