/* gantry bench submit: what launches cost, through this library and through the raw driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "../tool.h"
#include "bench.h"

/* Weaker than the user's files: the batches that the figures in docs/benchmarks.md are about. */
static const char config[] = "[policy]\nbatch_size = 64\n";

static bool chosen(const struct options *options, const struct bench_case *test)
{
    for (size_t i = 0; i < options->case_count; i++) {
        if (strcmp(options->cases[i], case_name(test)) == 0)
            return true;
    }
    return options->case_count == 0;
}

static bool open_sides(struct bench *bench)
{
    const struct gantry_side_params params = {.device = bench->options.device,
                                              .backend = bench->options.backend,
                                              .package = bench->package.file,
                                              .config = config,
                                              .app = "gantry bench"};

    if (!gantry_side_open(&bench->side, &params))
        return false;
    bench->raw = raw_open(&bench->side, &bench->package, bench->raw_missing);
    return true;
}

static bool reserve(struct bench *bench)
{
    const struct bench_case *test;
    uint32_t blocks = 1;

    for (size_t i = 0; (test = case_at(i)); i++) {
        if (chosen(&bench->options, test) && case_blocks(bench, test) > blocks)
            blocks = case_blocks(bench, test);
    }
    return gantry_side_reserve(&bench->side, blocks) &&
           (!bench->raw || bench->raw->ops->reserve(bench->raw, blocks));
}

static bool run_cases(struct bench *bench)
{
    const struct bench_case *test;

    for (size_t i = 0; (test = case_at(i)); i++) {
        if (!chosen(&bench->options, test))
            continue;
        if (!case_run(bench, test)) {
            output_error("bench: case %s failed", case_name(test));
            return false;
        }
    }
    return true;
}

static int show(struct bench *bench)
{
    const char *svg = bench->options.svg;
    int status = TOOL_DONE;

    if (svg && !results_plot(&bench->results, svg))
        status = TOOL_FAILED;
    if (bench->options.json)
        return results_print_json(&bench->results) == TOOL_DONE ? status : TOOL_FAILED;
    results_print_table(&bench->results);
    return output_finish(status);
}

/* What the results are about. */
static bool describe(struct bench *bench)
{
    struct results *results = &bench->results;
    struct gantry_config_value spin_us;

    if (!gantry_side_config(&bench->side, "spin_us", &spin_us))
        return false;
    results->device = bench->side.info.name;
    results->backend = bench->side.info.chosen_backend;
    results->driver_version = gantry_side_driver_version(&bench->side);
    results->raw_missing = bench->raw ? NULL : bench->raw_missing;
    results->spin_us = (uint32_t)strtoul(spin_us.value, NULL, 10);
    return true;
}

static int run(struct bench *bench)
{
    if (!package_open(&bench->package, bench->options.package) || !open_sides(bench))
        return TOOL_FAILED;
    if (!describe(bench) || !reserve(bench) || !run_cases(bench))
        return TOOL_FAILED;
    return show(bench);
}

int bench_submit(int argc, char **argv)
{
    static struct bench bench;
    int status;

    if (!options_read(argc, argv, &bench.options, &status))
        return status;
    bench.repetitions = bench.options.quick ? 5 : 101;
    status = run(&bench);
    raw_close(&bench.raw);
    gantry_side_close(&bench.unfolded);
    gantry_side_close(&bench.side);
    package_close(&bench.package);
    results_free(&bench.results);
    return status;
}
