/* gantry bench memory: what making and destroying buffers costs, and what memory it holds. */
#include "memory.h"

#include <math.h>
#include <stdio.h>

#include "../arguments.h"
#include "../output.h"
#include "../tool.h"
#include "bench.h"

static const char usage[] =
    "usage: gantry bench memory [--device D] [--backend B] [--quick] [--json]\n"
    "\n"
    "Measures what it costs to make a buffer and destroy it, for several sizes, beside the\n"
    "driver's own memory calls: ns, the median and the 95th percentile. Then a million\n"
    "buffers of mixed sizes come and go, and what stays reserved for them is shown.\n"
    "\n"
    "  --device D   an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --backend B  open it through this backend: cuda or vulkan\n"
    "  --quick      few repetitions: a smoke test, not a measurement\n"
    "  --json       print one JSON object\n";

static const uint64_t sizes[] = {256, 4096, 65536, 1 << 20, 16 << 20, 64 << 20};

enum { SIZE_COUNT = sizeof sizes / sizeof *sizes, MIB = 1 << 20 };

struct memory_bench {
    const char *device, *backend;
    bool quick, json;
    struct gantry_side side;
    struct raw *raw; /* NULL: there is none, and why */
    char raw_missing[REASON_SIZE];
    const char *block_mib; /* effective pool_block_mib */
    struct memory_row rows[SIZE_COUNT];
    struct memory_churn churn;
};

/* ---- Output --------------------------------------------------------------------------------- */

static double ratio(const struct memory_row *row)
{
    return row->gantry_ns / row->raw_ns;
}

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *describe_row(const struct memory_bench *bench, const struct memory_row *row)
{
    return json_pack("{s:I, s:f, s:f, s:o, s:s?, s:o}", "size", (json_int_t)row->size, "gantry_ns",
                     row->gantry_ns, "gantry_p95_ns", row->gantry_p95_ns, "raw_ns",
                     number(row->raw_ns), "raw_how",
                     bench->raw ? bench->raw->ops->come_and_go_how : NULL, "ratio",
                     number(ratio(row)));
}

static json_t *describe_churn(const struct memory_churn *churn)
{
    const struct gantry_memory_info *info = &churn->info;

    return json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I}", "creates",
                     (json_int_t)churn->creates, "live", (json_int_t)churn->live, "ns", churn->ns,
                     "used", (json_int_t)info->used, "reserved", (json_int_t)info->reserved,
                     "cached", (json_int_t)info->cached, "largest_free",
                     (json_int_t)info->largest_free, "blocks", (json_int_t)info->blocks,
                     "unused_share", memory_unused(info), "worst_unused_share", churn->worst_unused,
                     "resident_early", (json_int_t)churn->resident_early, "resident_late",
                     (json_int_t)churn->resident_late);
}

static int print_json(const struct memory_bench *bench)
{
    json_t *rows = json_array();

    for (int i = 0; i < SIZE_COUNT; i++)
        rows = json_list_add(rows, describe_row(bench, &bench->rows[i]));
    return output_json(json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o}", "device",
                                 bench->side.info.name, "backend", bench->side.info.chosen_backend,
                                 "driver_version", gantry_side_driver_version(&bench->side),
                                 "pool_block_mib", bench->block_mib, "raw_missing",
                                 bench->raw ? NULL : bench->raw_missing, "rows", rows, "churn",
                                 describe_churn(&bench->churn)),
                       TOOL_DONE);
}

static void print_row(const struct memory_bench *bench, const struct memory_row *row)
{
    printf("%12llu %10.1f%10.1f", (unsigned long long)row->size, row->gantry_ns,
           row->gantry_p95_ns);
    if (bench->raw)
        printf("%12.0f%9.4f  %s\n", row->raw_ns, ratio(row), bench->raw->ops->come_and_go_how);
    else
        printf("%12s%9s\n", "-", "-");
}

static void print_churn(const struct memory_churn *churn)
{
    const struct gantry_memory_info *info = &churn->info;

    printf("\n%u buffers of mixed sizes, %u at a time: %.1f ns each\n", churn->creates, churn->live,
           churn->ns);
    printf("  in use %.1f MiB of %.1f MiB in %u blocks: %.1f%% unused, %.1f%% at worst; the "
           "largest free piece has %.1f MiB\n",
           (double)info->used / MIB, (double)info->reserved / MIB, info->blocks,
           100 * memory_unused(info), 100 * churn->worst_unused, (double)info->largest_free / MIB);
    printf("  resident memory of this process: %.1f MiB after a tenth, %.1f MiB at the end\n",
           (double)churn->resident_early / MIB, (double)churn->resident_late / MIB);
}

static int print_table(const struct memory_bench *bench)
{
    printf("%s through %s, driver %s; ns per buffer made and destroyed\n", bench->side.info.name,
           bench->side.info.chosen_backend, gantry_side_driver_version(&bench->side));
    printf("blocks of up to %s MiB (pool_block_mib)\n", bench->block_mib);
    if (!bench->raw)
        printf("no raw side: %s\n", bench->raw_missing);
    printf("\n%12s %10s%10s%12s%9s  %s\n", "bytes", "gantry", "p95", "raw", "ratio", "raw way");
    for (int i = 0; i < SIZE_COUNT; i++)
        print_row(bench, &bench->rows[i]);
    print_churn(&bench->churn);
    return output_finish(TOOL_DONE);
}

/* ---- Running -------------------------------------------------------------------------------- */

static bool open_sides(struct memory_bench *bench)
{
    const struct gantry_side_params params = {.device = bench->device,
                                              .backend = bench->backend,
                                              .app = "gantry bench"};
    struct gantry_config_value value;

    if (!gantry_side_open(&bench->side, &params) ||
        !gantry_side_config(&bench->side, "pool_block_mib", &value))
        return false;
    bench->block_mib = value.value;
    bench->raw = raw_open(&bench->side, NULL, bench->raw_missing);
    return true;
}

static bool measure(struct memory_bench *bench)
{
    for (int i = 0; i < SIZE_COUNT; i++) {
        bench->rows[i].size = sizes[i];
        if (!memory_measure_row(&bench->side, bench->raw, bench->quick, &bench->rows[i]))
            return false;
    }
    return memory_measure_churn(&bench->side, bench->quick, &bench->churn);
}

int bench_memory(int argc, char **argv)
{
    static struct memory_bench bench;
    const struct argument table[] = {
        {"--device", .value = &bench.device},
        {"--backend", .value = &bench.backend},
        {"--json", .flag = &bench.json},
        {"--quick", .flag = &bench.quick},
    };
    int status;

    if (!arguments_read(argc, argv, usage, table, sizeof table / sizeof *table, &status))
        return status;
    status = TOOL_FAILED;
    if (open_sides(&bench) && measure(&bench))
        status = bench.json ? print_json(&bench) : print_table(&bench);
    raw_close(&bench.raw);
    gantry_side_close(&bench.side);
    return status;
}
