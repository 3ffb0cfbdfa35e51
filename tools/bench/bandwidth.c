/* gantry bench bandwidth: the kernel library beside the driver's own copy. */
#include "bandwidth.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../arguments.h"
#include "../output.h"
#include "../tool.h"
#include "bench.h"
#include "case_names.h"

static const char usage[] =
    "usage: gantry bench bandwidth [--device D] [--backend B] [--case C]... [--n N]\n"
    "                              [--quick] [--json] [--svg FILE] [--package FILE]\n"
    "\n"
    "Measures how fast the kernels of the library move the bytes that they must move, beside\n"
    "the driver's own copy from device memory to device memory, in turn, in one process.\n"
    "GB/s, of which a copied byte counts twice. The exit status is 1 when a result is wrong.\n"
    "\n"
    "  --device D      an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --backend B     open it through this backend: cuda or vulkan\n"
    "  --case C        run this case; may be given several times (default: all)\n"
    "  --n N           words of an array (default: 536870912, fewer on small devices)\n"
    "  --quick         small arrays, few repetitions: a smoke test, not a measurement\n"
    "  --json          print one JSON object\n"
    "  --svg FILE      draw bars of GB/s; needs gnuplot\n"
    "  --package FILE  the kernels, when gantry-kernels.gpk is not where it was built or "
    "installed\n"
    "\n"
    "Cases:";

enum {
    QUICK_N = 1 << 16,
    CPU_N = 1 << 22,   /* of devices that are processors: beyond most of their caches */
    USUAL_N = 1 << 29, /* of all others, where a quarter of their memory suffices */
    LARGEST_N = 1 << 30,
};

/* ---- Options -------------------------------------------------------------------------------- */

static bool read_n(const char *text, struct bandwidth_options *options)
{
    char *end = NULL;
    unsigned long long n;

    errno = 0;
    n = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    if (n < LEAST_N || n > LARGEST_N || *end || errno) {
        output_error("bench: --n takes a number from %d to %d, not '%s'", LEAST_N, LARGEST_N, text);
        return false;
    }
    options->n = n;
    return true;
}

static const char *name_at(size_t index)
{
    const struct bandwidth_case *test = bandwidth_case_at(index);

    return test ? test->name : NULL;
}

static bool read_options(int argc, char **argv, struct bandwidth_options *options, int *status)
{
    const char *n = NULL;
    struct argument_list cases = {.items = options->cases, .room = MOST_BANDWIDTH_CASES};
    const struct argument table[] = {
        {"--device", .value = &options->device},
        {"--backend", .value = &options->backend},
        {"--package", .value = &options->package},
        {"--svg", .value = &options->svg},
        {"--n", .value = &n},
        {"--case", .list = &cases},
        {"--json", .flag = &options->json},
        {"--quick", .flag = &options->quick},
    };
    char *text = case_names_usage(usage, name_at);
    bool read;

    *status = TOOL_FAILED;
    if (!text)
        return false;
    read = arguments_read(argc, argv, text, table, sizeof table / sizeof *table, status);
    free(text);
    if (!read)
        return false;
    options->case_count = cases.count;
    *status = TOOL_USAGE;
    return (!n || read_n(n, options)) &&
           case_names_check("bandwidth", options->cases, options->case_count, name_at);
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Of both sides: the raw one has two arrays to copy between. */
static uint64_t memory_for(uint64_t n)
{
    return arrays_size(n, bandwidth_c_size(n)) + 2 * 4 * n;
}

static uint64_t largest_buffer(uint64_t n)
{
    return bandwidth_c_size(n) > 4 * n ? bandwidth_c_size(n) : 4 * n;
}

/* Far more than caches hold, and no more than a quarter of the memory. */
static uint64_t suitable_n(const struct bandwidth *bench)
{
    const struct gantry_limits *limits = &bench->side.info.limits;
    uint64_t n = bench->side.info.type == GANTRY_DEVICE_CPU ? CPU_N : USUAL_N;

    if (bench->options.quick)
        return QUICK_N;
    while (n > LEAST_N &&
           (memory_for(n) > limits->memory_size / 4 || largest_buffer(n) > limits->max_buffer_size))
        n /= 2;
    return n;
}

static bool choose_n(struct bandwidth *bench)
{
    const struct gantry_limits *limits = &bench->side.info.limits;

    bench->n = bench->options.n ? bench->options.n : suitable_n(bench);
    if (memory_for(bench->n) <= limits->memory_size &&
        largest_buffer(bench->n) <= limits->max_buffer_size)
        return true;
    output_error("bench: --n %" PRIu64 " takes %" PRIu64 " MiB, a buffer of %" PRIu64
                 " MiB among them, and the device has %" PRIu64 " MiB in buffers of up to %" PRIu64
                 " MiB (give a smaller --n)",
                 bench->n, memory_for(bench->n) >> 20, largest_buffer(bench->n) >> 20,
                 limits->memory_size >> 20, limits->max_buffer_size >> 20);
    return false;
}

/* ---- Running -------------------------------------------------------------------------------- */

static bool chosen(const struct bandwidth_options *options, const struct bandwidth_case *test)
{
    for (size_t i = 0; i < options->case_count; i++) {
        if (strcmp(options->cases[i], test->name) == 0)
            return true;
    }
    return options->case_count == 0;
}

static bool run_cases(struct bandwidth *bench)
{
    const struct bandwidth_case *test;

    for (size_t i = 0; (test = bandwidth_case_at(i)); i++) {
        if (!chosen(&bench->options, test))
            continue;
        if (!bandwidth_case_run(bench, test)) {
            output_error("bench: case %s failed", test->name);
            return false;
        }
    }
    return true;
}

/* The raw side's arrays come after gantry's, which must have their memory. */
static bool open_sides(struct bandwidth *bench)
{
    const struct gantry_side_params params = {.device = bench->options.device,
                                              .backend = bench->options.backend,
                                              .app = "gantry bench"};

    if (!gantry_side_open(&bench->side, &params) || !choose_n(bench) ||
        !library_open(&bench->library, bench->side.device, bench->options.package) ||
        !pattern_open(&bench->pattern) ||
        !arrays_open(&bench->arrays, &bench->side, &bench->pattern, bench->n,
                     bandwidth_c_size(bench->n)))
        return false;
    bench->raw = raw_open(&bench->side, NULL, bench->raw_missing);
    return !bench->raw || bench->raw->ops->reserve_copies(bench->raw, 4 * bench->n, 0);
}

static int run(struct bandwidth *bench)
{
    if (!open_sides(bench))
        return TOOL_FAILED;
    rates_describe(&bench->rates, &bench->side, bench->raw ? NULL : bench->raw_missing, "n");
    if (!run_cases(bench))
        return TOOL_FAILED;
    return rates_show(&bench->rates, bench->options.json, bench->options.svg, rates_plot_bars);
}

int bench_bandwidth(int argc, char **argv)
{
    static struct bandwidth bench;
    int status;

    if (!read_options(argc, argv, &bench.options, &status))
        return status;
    status = run(&bench);
    raw_close(&bench.raw);
    arrays_close(&bench.arrays);
    pattern_close(&bench.pattern);
    library_close(&bench.library);
    gantry_side_close(&bench.side);
    rates_free(&bench.rates);
    return status;
}
