#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../arguments.h"
#include "../output.h"
#include "../tool.h"
#include "tuner.h"

static const char usage[] =
    "usage: gantry tune [--device D] [--backend B] [--keys LIST] [--quick | --seconds N]\n"
    "                   [--resume] [--write [FILE]] [--json] [--list] [--kernels FOLDER]\n"
    "                   [--package FILE [--kernel K] [--threads N] [--arg NAME=VALUE]...]\n"
    "\n"
    "Tries values for the keys of the policy on a device, through each backend that opens it,\n"
    "and prints the [gpu …] section that makes programs faster there. A value takes the place\n"
    "of the one in force only when it is faster by more than the noise and by more than 2 %,\n"
    "twice, and when all results are right. Nothing else should run on the device meanwhile.\n"
    "\n"
    "  --device D        an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --backend B       through this backend alone\n"
    "  --keys LIST       these keys alone, with commas between: queue_family, spin_us, chains,\n"
    "                    batch_size, block_size, block_size.PACKAGE/KERNEL, blocks_per_cu,\n"
    "                    backend\n"
    "  --quick           within 30 seconds, instead of within 5 minutes\n"
    "  --seconds N       within that time, from 5 to 3600\n"
    "  --write [FILE]    write the section into FILE, or into gpu.d/MODEL.ini of your own\n"
    "                    configuration; what else a file holds stays as it is\n"
    "  --resume          go on where a run was stopped\n"
    "  --list            print what would be tried, and try nothing\n"
    "  --json            print one JSON object\n"
    "  --kernels FOLDER  the packages that come with gantry, when they are not in their place\n"
    "\n"
    "A kernel of your own, whose block_size is tuned, alone unless --keys says otherwise:\n"
    "\n"
    "  --package FILE    its package\n"
    "  --kernel K        which; not needed when it is the only one\n"
    "  --threads N       how many it is launched with: 1000000, 1920x1080, 64x64x64\n"
    "  --arg NAME=VALUE  an argument: a number; V,V,… for an array; for a pointer ELEMENTS of its\n"
    "                    buffer, or ELEMENTS:BELOW for random elements instead of zeros, or\n"
    "                    SIZEB in bytes. Pointers need none: they get an element for each\n"
    "                    thread. Nor do n, count, size, length, width, height and depth\n";

static const char *const key_names[] = {"queue_family", "spin_us",       "chains", "batch_size",
                                        "block_size",   "blocks_per_cu", "backend"};

static bool known_key(const char *key)
{
    for (size_t i = 0; i < sizeof key_names / sizeof *key_names; i++) {
        if (strcmp(key, key_names[i]) == 0)
            return true;
    }
    return strncmp(key, "block_size.", 11) == 0 && key[11];
}

/* Cuts the list into its words, in place. */
static bool read_keys(char *list, struct options *options)
{
    size_t count = 0;
    char *rest = NULL;

    for (char *key = strtok_r(list, ",", &rest); key; key = strtok_r(NULL, ",", &rest)) {
        if (!known_key(key)) {
            output_error("tune: '%s' is no key that can be tuned (see gantry tune --help)", key);
            return false;
        }
        if (count == MOST_KEYS) {
            output_error("tune: --keys names more than %d keys", MOST_KEYS);
            return false;
        }
        options->keys[count++] = key;
    }
    if (count == 0)
        output_error("tune: --keys names no key (see gantry tune --help)");
    return count > 0;
}

bool tune_wants(const struct options *options, const char *key)
{
    if (!options->keys[0])
        return !options->package || strncmp(key, "block_size", 10) == 0;
    for (const char *const *wanted = options->keys; *wanted; wanted++) {
        size_t length = strlen(*wanted);

        if (strncmp(key, *wanted, length) == 0 && (key[length] == '\0' || key[length] == '.'))
            return true;
    }
    return false;
}

/* "1920x1080": one to three numbers with an x between. */
static bool read_threads(const char *text, struct gantry_size *threads)
{
    uint32_t axes[3] = {0, 0, 0};
    const char *at = text;

    for (int i = 0; at && i < 3; i++) {
        char *end = NULL;
        unsigned long long n = isdigit((unsigned char)*at) ? strtoull(at, &end, 10) : 0;

        if (n < 1 || n > UINT32_MAX || (*end && *end != 'x'))
            break;
        axes[i] = (uint32_t)n;
        at = *end ? end + 1 : NULL;
    }
    *threads = (struct gantry_size){axes[0], axes[1], axes[2]};
    if (at)
        output_error("tune: --threads takes numbers such as 1000000, 1920x1080 or 64x64x64, not "
                     "'%s'",
                     text);
    return !at;
}

/* The time for all. */
static bool read_seconds(const char *text, bool quick, unsigned *seconds)
{
    enum { QUICK = 30, FULL = 300, LEAST = 5, MOST = 3600 };
    char *end = NULL;
    unsigned long n = text && isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;

    *seconds = quick ? QUICK : FULL;
    if (!text)
        return true;
    *seconds = (unsigned)n;
    if (quick)
        output_error("tune: --quick and --seconds both say how long it may take (leave out one)");
    else if (n < LEAST || n > MOST || *end)
        output_error("tune: --seconds takes a number from %d to %d, not '%s'", LEAST, MOST, text);
    else
        return true;
    return false;
}

static bool check(const struct options *options, const char *threads)
{
    const char *without = NULL;

    for (size_t i = 0; i < options->arg_count; i++) {
        const char *equals = strchr(options->args[i], '=');

        if (!equals || equals == options->args[i]) {
            output_error("tune: --arg takes NAME=VALUE, not '%s'", options->args[i]);
            return false;
        }
    }
    if (!options->package)
        without = options->kernel ? "--kernel" : threads ? "--threads" : NULL;
    if (!options->package && !without && options->arg_count)
        without = "--arg";
    if (without)
        output_error("tune: %s is about a kernel of your own (name its package with --package)",
                     without);
    return !without;
}

bool tune_options_read(int argc, char **argv, struct options *options, int *status)
{
    const char *keys = NULL, *threads = NULL, *seconds = NULL;
    bool quick = false;
    struct argument_list args = {.items = options->args, .room = MOST_ARGS};
    const struct argument table[] = {
        {"--device", .value = &options->device},
        {"--backend", .value = &options->backend},
        {"--keys", .value = &keys},
        {"--package", .value = &options->package},
        {"--kernel", .value = &options->kernel},
        {"--threads", .value = &threads},
        {"--arg", .list = &args},
        {"--kernels", .value = &options->kernels},
        {"--write", .value = &options->write_file, .flag = &options->write},
        {"--quick", .flag = &quick},
        {"--seconds", .value = &seconds},
        {"--resume", .flag = &options->resume},
        {"--list", .flag = &options->list},
        {"--json", .flag = &options->json},
    };

    if (!arguments_read(argc, argv, usage, table, sizeof table / sizeof *table, status))
        return false;
    options->arg_count = args.count;
    *status = TOOL_USAGE;
    /* argv's strings may be changed. */
    return read_seconds(seconds, quick, &options->seconds) &&
           (!keys || read_keys((char *)(uintptr_t)keys, options)) &&
           (!threads || read_threads(threads, &options->threads)) && check(options, threads);
}
