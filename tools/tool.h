/* The program `gantry`: one file a subcommand, named after it. */
#ifndef GANTRY_TOOLS_TOOL_H
#define GANTRY_TOOLS_TOOL_H

/* What the program's exit status says. */
enum {
    TOOL_DONE = 0,
    TOOL_FAILED = 1, /* a problem was found, or the work failed; stderr says which */
    TOOL_USAGE = 2,  /* it was called wrongly */
};

/* The subcommands. argv[0] is the subcommand's name; each returns the exit status. */
int cmd_bench(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_tune(int argc, char **argv);

#endif
