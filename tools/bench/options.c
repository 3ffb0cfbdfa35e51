#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../arguments.h"
#include "../output.h"
#include "../tool.h"
#include "bench.h"

static const char usage[] =
    "usage: gantry bench submit [--device D] [--backend B] [--case C]... [--n LIST]\n"
    "                           [--quick] [--json] [--svg FILE] [--package FILE]\n"
    "\n"
    "Measures what launches cost through this library and through the raw driver, in\n"
    "turn, in one process, with the same kernels. Times are ns per launch: the median, the\n"
    "95th percentile, and the median of the fastest raw way. The exit status is 1 when a\n"
    "result is wrong.\n"
    "\n"
    "  --device D      an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --backend B     open it through this backend: cuda or vulkan\n"
    "  --case C        run this case; may be given several times (default: all)\n"
    "  --n LIST        numbers of launches, as 8,512 (default: 1,8,32,128,512,2048)\n"
    "  --quick         few repetitions and small sweeps: a smoke test, not a measurement\n"
    "  --json          print one JSON object\n"
    "  --svg FILE      draw the times over n; needs gnuplot\n"
    "  --package FILE  the kernels, when bench.gpk is not where it was built or installed\n"
    "\n"
    "Cases:";

enum { LARGEST_COUNT = 65536 };

/* The usage ends in the names of the cases. */
static bool print_usage_or_read(int argc, char **argv, const struct argument *table, size_t count,
                                int *status)
{
    const struct bench_case *test;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    bool read;

    if (!stream) {
        output_error("bench: out of memory");
        *status = TOOL_FAILED;
        return false;
    }
    fputs(usage, stream);
    for (size_t i = 0; (test = case_at(i)); i++)
        fprintf(stream, "%s%s", i % 8 == 7 ? "\n       " : " ", case_name(test));
    fputc('\n', stream);
    fclose(stream);
    read = arguments_read(argc, argv, text, table, count, status);
    free(text);
    return read;
}

/* "8,512": strictly decimal, separated by single commas. */
static bool read_counts(const char *list, struct options *options)
{
    const char *at = list;
    size_t count = 0;

    do {
        char *end = NULL;
        unsigned long n = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;

        if (n < 1 || n > LARGEST_COUNT || (*end && *end != ',') || count == MOST_COUNTS) {
            output_error(
                "bench: --n takes at most %d numbers from 1 to %d with commas between, not "
                "'%s'",
                MOST_COUNTS, LARGEST_COUNT, list);
            return false;
        }
        options->counts[count++] = (uint32_t)n;
        at = *end ? end + 1 : NULL;
    } while (at);
    return true;
}

static bool check_cases(const struct options *options)
{
    for (size_t i = 0; i < options->case_count; i++) {
        if (!case_find(options->cases[i])) {
            output_error("bench: there is no case '%s' (see gantry bench --help)",
                         options->cases[i]);
            return false;
        }
    }
    return true;
}

bool options_read(int argc, char **argv, struct options *options, int *status)
{
    const char *counts = NULL;
    struct argument_list cases = {.items = options->cases, .room = MOST_CASES};
    const struct argument table[] = {
        {"--device", .value = &options->device},
        {"--backend", .value = &options->backend},
        {"--package", .value = &options->package},
        {"--svg", .value = &options->svg},
        {"--n", .value = &counts},
        {"--case", .list = &cases},
        {"--json", .flag = &options->json},
        {"--quick", .flag = &options->quick},
    };

    if (!print_usage_or_read(argc, argv, table, sizeof table / sizeof *table, status))
        return false;
    options->case_count = cases.count;
    *status = TOOL_USAGE;
    return (!counts || read_counts(counts, options)) && check_cases(options);
}
