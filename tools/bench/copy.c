/* gantry bench copy: getting bytes to the device, from it, and about in it. */
#include "copy.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../arguments.h"
#include "../output.h"
#include "../tool.h"
#include "bench.h"
#include "case_names.h"

static const char usage[] =
    "usage: gantry bench copy [--device D] [--backend B] [--case C]... [--size LIST]\n"
    "                         [--transfer] [--quick] [--json] [--svg FILE]\n"
    "\n"
    "Measures how fast bytes get to the device, from it and about in it, beside the driver's\n"
    "own copy of as many from and to memory that it made for that, in turn, in one process.\n"
    "GB/s, of which a copied byte counts once; one copy and the wait for it. The exit status\n"
    "is 1 when a byte is wrong.\n"
    "\n"
    "  --device D   an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --backend B  open it through this backend: cuda or vulkan\n"
    "  --case C     run this case; may be given several times (default: all)\n"
    "  --size LIST  sizes in bytes, multiples of 4096, as 4096,1048576 (default: from 4 KiB to\n"
    "               1 GiB, as far as there is memory)\n"
    "  --transfer   through a transfer queue\n"
    "  --quick      two sizes, few repetitions: a smoke test, not a measurement\n"
    "  --json       print one JSON object\n"
    "  --svg FILE   draw GB/s over size; needs gnuplot\n"
    "\n"
    "Cases:";

static const uint64_t usual_sizes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30};
static const uint64_t quick_sizes[] = {4 << 10, 1 << 20};

enum { GRAIN = 4096 };

static const uint64_t largest_size = UINT64_C(1) << 34;

/* ---- Options -------------------------------------------------------------------------------- */

/* "4096,8192": strictly decimal, separated by single commas. */
static bool read_sizes(const char *list, struct copy_bench *bench)
{
    const char *at = list;

    do {
        char *end = NULL;
        unsigned long long size = isdigit((unsigned char)*at) ? strtoull(at, &end, 10) : 0;

        if (size == 0 || size % GRAIN != 0 || size > largest_size || (*end && *end != ',') ||
            bench->size_count == MOST_SIZES) {
            output_error("bench: --size takes at most %d multiples of %d up to %" PRIu64
                         " with commas between, not '%s'",
                         MOST_SIZES, GRAIN, largest_size, list);
            return false;
        }
        bench->sizes[bench->size_count++] = size;
        at = *end ? end + 1 : NULL;
    } while (at);
    return true;
}

static const char *name_at(size_t index)
{
    const struct copy_case *test = copy_case_at(index);

    return test ? test->name : NULL;
}

static bool read_options(int argc, char **argv, struct copy_bench *bench, int *status)
{
    struct copy_options *options = &bench->options;
    const char *sizes = NULL;
    struct argument_list cases = {.items = options->cases, .room = MOST_COPY_CASES};
    const struct argument table[] = {
        {"--device", .value = &options->device},
        {"--backend", .value = &options->backend},
        {"--svg", .value = &options->svg},
        {"--size", .value = &sizes},
        {"--case", .list = &cases},
        {"--json", .flag = &options->json},
        {"--transfer", .flag = &options->transfer},
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
    return (!sizes || read_sizes(sizes, bench)) &&
           case_names_check("copy", options->cases, options->case_count, name_at);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static uint64_t largest(const struct copy_bench *bench)
{
    uint64_t size = 0;

    for (size_t i = 0; i < bench->size_count; i++) {
        if (bench->sizes[i] > size)
            size = bench->sizes[i];
    }
    return size;
}

/* Two pieces for each side on the device; on the host two plain ones, one to look at, one that the
 * case makes, and the raw side's two. */
static bool fits(const struct copy_bench *bench, uint64_t size)
{
    const struct gantry_limits *limits = &bench->side.info.limits;
    uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t room = copy_room(size), on_device = 4 * room, on_host = 6 * room;

    if (bench->side.info.type == GANTRY_DEVICE_CPU)
        on_host += on_device;
    return room <= limits->max_buffer_size && on_device <= limits->memory_size / 2 &&
           on_host <= host / 2;
}

static bool choose_sizes(struct copy_bench *bench)
{
    const bool quick = bench->options.quick;
    const uint64_t *sizes = quick ? quick_sizes : usual_sizes;
    size_t count =
        quick ? sizeof quick_sizes / sizeof *quick_sizes : sizeof usual_sizes / sizeof *usual_sizes;

    if (bench->size_count && !fits(bench, largest(bench))) {
        output_error("bench: --size %" PRIu64 " needs more than half of the memory of the device "
                     "or of this machine (give smaller sizes)",
                     largest(bench));
        return false;
    }
    for (size_t i = 0; bench->size_count == i && i < count && fits(bench, sizes[i]); i++)
        bench->sizes[bench->size_count++] = sizes[i];
    return true;
}

static bool make(struct copy_bench *bench, uint64_t size, enum gantry_memory memory,
                 struct gantry_buffer **buffer)
{
    const struct gantry_buffer_params params = {.size = size, .memory = memory};

    return gantry_buffer_create(bench->side.device, &params, buffer) == GANTRY_OK ||
           gantry_side_failed();
}

/* Pages are touched, or the kernel would map the same page of zeros everywhere. */
static bool make_host(struct copy_bench *bench, uint64_t size)
{
    for (int i = 0; i < 2; i++) {
        bench->host[i] = aligned_alloc(GRAIN, size);
        if (!bench->host[i]) {
            output_error("bench: out of memory for %" PRIu64 " bytes to copy", size);
            return false;
        }
        memset(bench->host[i], 1, size);
    }
    return true;
}

static bool make_memory(struct copy_bench *bench)
{
    uint64_t size = largest(bench), room = copy_room(size);

    return make_host(bench, size) && make(bench, room, GANTRY_MEMORY_DEVICE, &bench->device[0]) &&
           make(bench, room, GANTRY_MEMORY_DEVICE, &bench->device[1]) &&
           make(bench, room, GANTRY_MEMORY_READBACK, &bench->readback) &&
           (!bench->raw || bench->raw->ops->reserve_copies(bench->raw, room, size));
}

/* ---- Running -------------------------------------------------------------------------------- */

static bool chosen(const struct copy_options *options, const char *name)
{
    for (size_t i = 0; i < options->case_count; i++) {
        if (strcmp(options->cases[i], name) == 0)
            return true;
    }
    return options->case_count == 0;
}

static bool run_cases(struct copy_bench *bench)
{
    const struct copy_case *test;

    for (size_t i = 0; (test = copy_case_at(i)); i++) {
        if (!chosen(&bench->options, test->name))
            continue;
        for (size_t size = 0; size < bench->size_count; size++) {
            if (copy_case_run(bench, test, size))
                continue;
            output_error("bench: case %s of %" PRIu64 " bytes failed", test->name,
                         bench->sizes[size]);
            return false;
        }
    }
    return true;
}

/* The raw side takes the same queue where that matters. */
static bool change_queue(struct copy_bench *bench)
{
    const struct gantry_queue_params params = {.kind = GANTRY_QUEUE_TRANSFER};

    gantry_queue_destroy(&bench->side.queue);
    return gantry_queue_create(bench->side.device, &params, &bench->side.queue) == GANTRY_OK ||
           gantry_side_failed();
}

static bool open_sides(struct copy_bench *bench)
{
    const struct gantry_side_params params = {.device = bench->options.device,
                                              .backend = bench->options.backend,
                                              .app = "gantry bench"};

    if (!gantry_side_open(&bench->side, &params) || !choose_sizes(bench) ||
        (bench->options.transfer && !change_queue(bench)))
        return false;
    bench->raw = raw_open(&bench->side, NULL, bench->raw_missing);
    return make_memory(bench);
}

static int run(struct copy_bench *bench)
{
    if (!open_sides(bench))
        return TOOL_FAILED;
    rates_describe(&bench->rates, &bench->side, bench->raw ? NULL : bench->raw_missing, "size");
    if (!run_cases(bench))
        return TOOL_FAILED;
    return rates_show(&bench->rates, bench->options.json, bench->options.svg, rates_plot_curves);
}

static void close_all(struct copy_bench *bench)
{
    raw_close(&bench->raw);
    for (int i = 0; i < 2; i++) {
        gantry_buffer_destroy(&bench->device[i]);
        free(bench->host[i]);
    }
    gantry_buffer_destroy(&bench->readback);
    gantry_side_close(&bench->side);
    rates_free(&bench->rates);
}

int bench_copy(int argc, char **argv)
{
    static struct copy_bench bench;
    int status;

    if (!read_options(argc, argv, &bench, &status))
        return status;
    status = run(&bench);
    close_all(&bench);
    return status;
}
