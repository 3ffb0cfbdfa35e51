/* The program `gantry`: finds the subcommand and hands over to it. */
#include <stdio.h>
#include <string.h>

#include <gantry/gantry.h>

#include "output.h"
#include "tool.h"

static const struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} subcommands[] = {
    {"bench", cmd_bench, "what launches and memory cost, beside the raw driver"},
    {"compile", cmd_compile, "make a kernel package and its C header from a .gk file"},
    {"config", cmd_config, "every value of the configuration, and what set it"},
    {"doctor", cmd_doctor, "what is wrong with this machine, and what can be done"},
    {"info", cmd_info, "backends and devices, and how each device would be opened"},
    {"inspect", cmd_inspect, "what a kernel package holds, and how it does on a device"},
    {"tune", cmd_tune, "measure the policy's keys on a device and write them down"},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof *subcommands };

static void print_usage(FILE *stream)
{
    fputs("usage: gantry SUBCOMMAND [ARGUMENT…]\n"
          "       gantry SUBCOMMAND --help\n"
          "       gantry --help | --version\n"
          "\n"
          "Subcommands:\n",
          stream);
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
        fprintf(stream, "  %-8s %s\n", subcommands[i].name, subcommands[i].summary);
    fputs("\nExit status: 0 done, 1 a problem was found or the work failed, 2 wrong usage.\n",
          stream);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0) {
        print_usage(stdout);
        return output_finish(TOOL_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("gantry %s\n", gantry_version());
        return output_finish(TOOL_DONE);
    }
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(argv[1], subcommands[i].name) != 0)
            continue;
        output_begin(subcommands[i].name);
        return subcommands[i].run(argc - 1, argv + 1);
    }
    output_error("there is no subcommand '%s' (see gantry --help)", argv[1]);
    return TOOL_USAGE;
}
