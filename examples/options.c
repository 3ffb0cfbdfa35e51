#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { MAX_REPEAT = 1000000 };

static const char usage[] =
    "usage: edge [OPTION…] INPUT.png OUTPUT.png\n"
    "       edge --all [OPTION…] INPUT.png [OUTPUT.png]\n"
    "       edge --make-test-picture FILE.png\n"
    "\n"
    "  --all           run on every device through every backend, and compare each with plain C\n"
    "  --repeat N      run the list N times (1 to 1000000); default 1\n"
    "  --device D      an index, a name pattern, uuid:…, pci:…, cuda:0, or auto\n"
    "  --backend B     cuda or vulkan\n"
    "  --kernels FILE  a package made from edge.gk, instead of the one in this program\n"
    "  --config FILE   an INI file, weaker than the user's own\n"
    "  --help          this text\n"
    "\n"
    "Exit status: 0 done, 1 failed or different from plain C, 2 wrong usage.\n";

static int wrong_usage(const char *what)
{
    fprintf(stderr, "edge: %s (see edge --help)\n", what);
    return USAGE;
}

/* Digits only: strtoul would take signs, blanks and what does not fit. */
static bool read_repeat(const char *text, uint32_t *repeat)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 7 || text[digits])
        return false;
    *repeat = (uint32_t)strtoul(text, NULL, 10);
    return *repeat >= 1 && *repeat <= MAX_REPEAT;
}

static int check_operands(const struct options *options, int given)
{
    if (options->test_picture)
        return given == 0 ? DONE : wrong_usage("--make-test-picture takes no other file");
    if (options->all && (options->device || options->backend))
        return wrong_usage("--all leaves no choice: drop --device and --backend");
    if (given < 1)
        return wrong_usage("INPUT.png is missing");
    if (given < 2 && !options->all)
        return wrong_usage("OUTPUT.png is missing");
    return given <= 2 ? DONE : wrong_usage("there are more files than two");
}

int options_read(struct options *options, int argc, char **argv)
{
    static const struct option table[] = {{"all", no_argument, NULL, 'a'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"backend", required_argument, NULL, 'b'},
                                          {"config", required_argument, NULL, 'c'},
                                          {"make-test-picture", required_argument, NULL, 'm'},
                                          {"kernels", required_argument, NULL, 'k'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    int option;

    *options = (struct options){.repeat = 1};
    while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
        switch (option) {
        case 'a':
            options->all = true;
            break;
        case 'r':
            if (!read_repeat(optarg, &options->repeat))
                return wrong_usage("--repeat takes a whole number from 1 to 1000000");
            break;
        case 'd':
            options->device = optarg;
            break;
        case 'b':
            options->backend = optarg;
            break;
        case 'c':
            options->config = optarg;
            break;
        case 'k':
            options->kernels = optarg;
            break;
        case 'm':
            options->test_picture = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return -1;
        default:
            return wrong_usage("that is no way to call it");
        }
    }
    options->input = optind < argc ? argv[optind] : NULL;
    options->output = optind + 1 < argc ? argv[optind + 1] : NULL;
    return check_operands(options, argc - optind);
}
