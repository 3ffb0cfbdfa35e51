/* stream: frames of a picture sequence are uploaded, filtered and downloaded, three at a time, and
 * what that hides of the time for copies is measured.
 *
 *     stream [OPTION…]
 *
 * docs/transfers.md explains the pattern. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline.h"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

enum { RUNS = 3 };

struct options {
    const char *device, *backend, *config, *kernels; /* NULL: not given */
    uint32_t width, height, frames, radius;          /* radius 0: as much work as copies take */
    bool staged;
};

static const char usage[] =
    "usage: stream [OPTION…]\n"
    "\n"
    "  --frames N      frames of the sequence (3 to 100000); default 120\n"
    "  --size WxH      pixels of a frame; default 1920x1080\n"
    "  --radius N      of the blur, which is the filter's work (1 to 4096); default: so that\n"
    "                  filtering takes as long as copying\n"
    "  --staged        don't lend the frames' memory to the device\n"
    "  --device D      an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --backend B     cuda or vulkan\n"
    "  --kernels FILE  a package made from motion.gk, instead of the one in this program\n"
    "  --config FILE   an INI file, weaker than the user's own\n"
    "  --help          this text\n"
    "\n"
    "Exit status: 0 done, 1 failed or a wrong frame, 2 wrong usage.\n";

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "stream: %s: %s\n", what, why);
    return FAILED;
}

/* ---- The command line ----------------------------------------------------------------------- */

static bool read_number(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 9 || text[digits])
        return false;
    *number = (uint32_t)strtoul(text, NULL, 10);
    return *number >= least && *number <= most;
}

static bool read_size(const char *text, struct options *options)
{
    char width[16];
    const char *x = strchr(text, 'x');

    if (!x || (size_t)(x - text) >= sizeof width)
        return false;
    memcpy(width, text, (size_t)(x - text));
    width[x - text] = '\0';
    return read_number(width, 1, 32768, &options->width) &&
           read_number(x + 1, 1, 32768, &options->height);
}

static const char *take_option(struct options *options, int option)
{
    switch (option) {
    case 'f':
        return read_number(optarg, PIPELINE_DEPTH, 100000, &options->frames)
                   ? NULL
                   : "--frames takes a whole number from 3 to 100000";
    case 's':
        return read_size(optarg, options) ? NULL : "--size takes WIDTHxHEIGHT, each up to 32768";
    case 'r':
        return read_number(optarg, 1, 4096, &options->radius)
                   ? NULL
                   : "--radius takes a whole number from 1 to 4096";
    case 't':
        options->staged = true;
        return NULL;
    case 'd':
        options->device = optarg;
        return NULL;
    case 'b':
        options->backend = optarg;
        return NULL;
    case 'k':
        options->kernels = optarg;
        return NULL;
    case 'c':
        options->config = optarg;
        return NULL;
    default:
        return "that is no way to call it";
    }
}

/* -1: help was printed. */
static int read_options(struct options *options, int argc, char **argv)
{
    static const struct option table[] = {
        {"frames", required_argument, NULL, 'f'},  {"size", required_argument, NULL, 's'},
        {"radius", required_argument, NULL, 'r'},  {"staged", no_argument, NULL, 't'},
        {"device", required_argument, NULL, 'd'},  {"backend", required_argument, NULL, 'b'},
        {"kernels", required_argument, NULL, 'k'}, {"config", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},          {0}};
    const char *mistake = NULL;
    int option;

    *options = (struct options){.width = 1920, .height = 1080, .frames = 120};
    while (!mistake && (option = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return -1;
        }
        mistake = take_option(options, option);
    }
    if (!mistake && optind < argc)
        mistake = "it takes no files";
    if (!mistake)
        return DONE;
    fprintf(stderr, "stream: %s (see stream --help)\n", mistake);
    return USAGE;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Milliseconds for all frames. */
struct times {
    double upload, filter, download; /* each alone */
    double copies;                   /* up and down at once */
    double serial, overlapped;
};

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* The shortest of several runs: others use the machine, too. */
static enum gantry_status measure(struct pipeline *p, unsigned steps, bool overlapped, double *time)
{
    enum gantry_status status = GANTRY_OK;

    *time = 0;
    for (int run = 0; run < RUNS && status == GANTRY_OK; run++) {
        double start = milliseconds(), took;

        status = pipeline_run(p, steps, overlapped);
        took = milliseconds() - start;
        *time = run == 0 || took < *time ? took : *time;
    }
    return status;
}

/* Makes the filter take as long as the copies. Its time grows with the pixels that it reads for
 * each one, once there are many of them; so from a guess to a better one. */
static enum gantry_status choose_radius(struct pipeline *p, double copies)
{
    enum gantry_status status = GANTRY_OK;
    double filter;

    for (int guess = 0; guess < 3 && status == GANTRY_OK; guess++) {
        double radius;

        status = measure(p, STEP_FILTER, true, &filter);
        if (status != GANTRY_OK)
            break;
        radius = (2 * p->radius + 1) * copies / filter / 2;
        radius = radius < 1 ? 1 : radius > 4096 ? 4096 : radius;
        status = pipeline_set_radius(p, (uint32_t)radius);
    }
    return status;
}

static enum gantry_status measure_all(struct pipeline *p, uint32_t radius, struct times *times)
{
    enum gantry_status status = pipeline_run(p, STEP_ALL, true); /* pays for what is paid once */

    if (status == GANTRY_OK)
        status = measure(p, STEP_UPLOAD | STEP_DOWNLOAD, true, &times->copies);
    if (status == GANTRY_OK)
        status = radius ? pipeline_set_radius(p, radius) : choose_radius(p, times->copies);
    if (status == GANTRY_OK)
        status = measure(p, STEP_UPLOAD, true, &times->upload);
    if (status == GANTRY_OK)
        status = measure(p, STEP_FILTER, true, &times->filter);
    if (status == GANTRY_OK)
        status = measure(p, STEP_DOWNLOAD, true, &times->download);
    if (status == GANTRY_OK)
        status = measure(p, STEP_UPLOAD | STEP_DOWNLOAD, true, &times->copies);
    return status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

/* FNV-1a, by pixels: the frames of the serial run need not be kept. */
static uint64_t hash_frame(const struct pipeline *p, uint32_t frame)
{
    const uint32_t *pixels = pipeline_result(p, frame);
    size_t count = pipeline_frame_size(p) / sizeof(uint32_t);
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ pixels[i]) * 0x100000001b3u;
    return hash;
}

static void hash_all(const struct pipeline *p, uint64_t *hashes)
{
    for (uint32_t frame = 0; frame < p->frames; frame++)
        hashes[frame] = hash_frame(p, frame);
}

static void spoil_results(struct pipeline *p)
{
    memset(p->results, 0xa5, pipeline_frame_size(p) * p->frames);
}

/* The first frames against plain C. */
static uint32_t count_wrong(const struct pipeline *p, uint32_t *expected)
{
    uint32_t wrong = 0;

    for (uint32_t frame = 0; frame < PIPELINE_DEPTH; frame++) {
        pipeline_expect(p, frame, expected);
        wrong += memcmp(expected, pipeline_result(p, frame), pipeline_frame_size(p)) != 0;
    }
    return wrong;
}

/* Runs serially and overlapped, and counts the frames that differ from what they must be. */
static enum gantry_status compare(struct pipeline *p, struct times *times, uint64_t *hashes,
                                  uint32_t *expected, uint32_t *wrong)
{
    enum gantry_status status;

    spoil_results(p);
    status = measure(p, STEP_ALL, false, &times->serial);
    if (status != GANTRY_OK)
        return status;
    *wrong = count_wrong(p, expected);
    hash_all(p, hashes);
    spoil_results(p);
    status = measure(p, STEP_ALL, true, &times->overlapped);
    for (uint32_t frame = 0; frame < p->frames && status == GANTRY_OK; frame++)
        *wrong += hash_frame(p, frame) != hashes[frame];
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void print_line(const char *what, double ms, const struct pipeline *p, int directions)
{
    double bytes = (double)pipeline_frame_size(p) * p->frames * directions;

    printf("%-20s%9.3f ms a frame", what, ms / p->frames);
    if (directions)
        printf("%8.1f GB/s", bytes / ms * 1e-6);
    putchar('\n');
}

static void print_times(const struct pipeline *p, const struct times *times)
{
    double shorter = times->copies < times->filter ? times->copies : times->filter;
    double hidden = times->copies + times->filter - times->overlapped;

    /* What was measured apart may not add up: on a processor copies and filter share it. */
    hidden = hidden < 0 ? 0 : hidden > shorter ? shorter : hidden;

    print_line("upload alone", times->upload, p, 1);
    print_line("download alone", times->download, p, 1);
    print_line("both at once", times->copies, p, 2);
    print_line("filter alone", times->filter, p, 0);
    print_line("one after the other", times->serial, p, 0);
    print_line("three deep", times->overlapped, p, 0);
    printf("hidden              %9.1f %% of the shorter of copying and filtering\n",
           100 * hidden / shorter);
}

static int run(struct pipeline *p, uint32_t radius)
{
    uint64_t *hashes = malloc(p->frames * sizeof(*hashes));
    uint32_t *expected = malloc(pipeline_frame_size(p)), wrong = 0;
    enum gantry_status status = GANTRY_E_OUT_OF_HOST_MEMORY;
    struct times times;

    if (hashes && expected)
        status = measure_all(p, radius, &times);
    if (status == GANTRY_OK)
        status = compare(p, &times, hashes, expected, &wrong);
    free(hashes);
    free(expected);
    if (status != GANTRY_OK)
        return complain("running", gantry_last_error());
    printf("radius              %9u pixels\n", p->radius);
    print_times(p, &times);
    printf("%u frames, %u wrong\n", p->frames, wrong);
    return wrong ? FAILED : DONE;
}

static int run_on(struct gantry_device *device, const struct options *options)
{
    const struct pipeline_params params = {.kernels = options->kernels,
                                           .width = options->width,
                                           .height = options->height,
                                           .frames = options->frames};
    struct gantry_device_info info;
    struct pipeline pipeline;
    int status = DONE;

    if (pipeline_open(&pipeline, device, &params) != GANTRY_OK ||
        gantry_device_info(device, &info) != GANTRY_OK)
        status = complain("setting up",
                          *gantry_last_error() ? gantry_last_error() : "out of host memory");
    if (status == DONE) {
        printf("device              %s through %s\n", info.name, info.chosen_backend);
        if (options->staged)
            puts("host memory         staged, as was asked");
        else if (pipeline_register(&pipeline) == GANTRY_OK)
            puts("host memory         registered");
        else
            printf("host memory         staged: %s\n", gantry_last_error());
        status = run(&pipeline, options->radius);
    }
    pipeline_close(&pipeline);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    int status = read_options(&options, argc, argv);
    const struct gantry_params params = {.app_name = "stream", .config_file = options.config};
    const struct gantry_device_params device_params = {.device = options.device,
                                                       .backend = options.backend};
    struct gantry_device *device = NULL;
    struct gantry *g = NULL;

    if (status != DONE)
        return status < 0 ? DONE : status;
    if (gantry_open(&params, &g) != GANTRY_OK ||
        gantry_device_open(g, &device_params, &device) != GANTRY_OK)
        status = complain("opening a device", gantry_last_error());
    else
        status = run_on(device, &options);
    gantry_device_close(&device);
    gantry_close(&g);
    if (fflush(stdout) != 0)
        status = complain("output", "it could not be written");
    return status;
}
