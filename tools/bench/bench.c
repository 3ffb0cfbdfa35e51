/* gantry bench: this library and the raw driver, side by side. */
#include <stdio.h>
#include <string.h>

#include "../output.h"
#include "../tool.h"
#include "bench.h"

static const struct benchmark {
    const char *name;
    int (*run)(int argc, char **argv); /* as a subcommand's; argv[0] is "bench" */
    const char *summary;
} benchmarks[] = {
    {"submit", bench_submit, "what launches cost"},
    {"memory", bench_memory, "what making and destroying buffers costs, and what memory it holds"},
    {"bandwidth", bench_bandwidth, "how much of the memory's bandwidth kernels reach"},
    {"copy", bench_copy, "how fast bytes get to the device, from it, and about in it"},
};

enum { BENCHMARK_COUNT = sizeof benchmarks / sizeof *benchmarks };

static int print_usage(void)
{
    fputs("usage: gantry bench BENCHMARK [ARGUMENT…]\n"
          "       gantry bench BENCHMARK --help\n"
          "\n"
          "Measures this library and the raw driver, in turn, in one process.\n"
          "\n"
          "Benchmarks:\n",
          stdout);
    for (size_t i = 0; i < BENCHMARK_COUNT; i++)
        printf("  %-9s %s\n", benchmarks[i].name, benchmarks[i].summary);
    return output_finish(TOOL_DONE);
}

static int refuse(const char *name)
{
    char names[128] = "";
    size_t length = 0;

    for (size_t i = 0; i < BENCHMARK_COUNT; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                   benchmarks[i].name);
    if (name)
        output_error("bench: there is no benchmark '%s' (there are: %s)", name, names);
    else
        output_error("bench: the benchmark is missing (there are: %s)", names);
    return TOOL_USAGE;
}

int cmd_bench(int argc, char **argv)
{
    if (argc < 2)
        return refuse(NULL);
    if (strcmp(argv[1], "--help") == 0)
        return print_usage();
    for (size_t i = 0; i < BENCHMARK_COUNT; i++) {
        if (strcmp(argv[1], benchmarks[i].name) != 0)
            continue;
        argv[1] = argv[0];
        return benchmarks[i].run(argc - 1, argv + 1);
    }
    return refuse(argv[1]);
}
