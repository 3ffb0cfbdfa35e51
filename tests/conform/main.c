/* The conformance suite: what every backend must do, asked through gantry.h alone.
 *
 *     conform [--device SELECTOR] [--packages DIR] [--big] [--gpu] [--list] [CASE…]
 *
 * A CASE is a name, or the beginning of one ("copy/"). Exit status: 0 all passed or skipped, 1 some
 * failed, 2 wrong usage, 77 the device is not there. docs/conformance.md says more. */
#include <stdio.h>
#include <string.h>

#include "run.h"

#ifndef PACKAGES
#define PACKAGES "."
#endif

static const struct conform_case *const tables[] = {
    device_cases, memory_cases, copy_cases,  launch_cases, kernel_cases,  language_cases,
    list_cases,   order_cases,  mixed_cases, fold_cases,   patch_cases,   stream_cases,
    wait_cases,   limit_cases,  error_cases, thread_cases, process_cases,
};

static const char usage[] =
    "usage: conform [--device SELECTOR] [--packages DIR] [--big] [--gpu] [--list] [CASE...]\n";

static bool is_wanted(const char *name, char **wanted, int count)
{
    for (int i = 0; i < count; i++)
        if (strncmp(name, wanted[i], strlen(wanted[i])) == 0)
            return true;
    return count == 0;
}

static void list_cases_of(char **wanted, int count)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const struct conform_case *one = tables[t]; one->name; one++)
            if (is_wanted(one->name, wanted, count))
                printf("%-40s %s\n", one->name, one->field ? one->field : "");
}

static int run_cases(struct conform *c, char **wanted, int count)
{
    int status = open_device(c);

    if (status)
        return status;
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const struct conform_case *one = tables[t]; one->name; one++)
            if (is_wanted(one->name, wanted, count))
                run_case(c, one);
    close_device(c);
    return print_summary(c);
}

int main(int argc, char **argv)
{
    struct options options = {.packages = PACKAGES};
    struct run run = {0};
    struct conform c = {.options = &options, .run = &run};
    bool list = false;
    int i = 1;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--big") == 0) {
            options.big = true;
        } else if (strcmp(argv[i], "--gpu") == 0) {
            options.gpu = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            options.device = argv[++i];
        } else if (strcmp(argv[i], "--packages") == 0 && i + 1 < argc) {
            options.packages = argv[++i];
        } else {
            fprintf(stderr, "conform: %s is no option, or lacks its value\n%s", argv[i], usage);
            return 2;
        }
    }
    if (list) {
        list_cases_of(argv + i, argc - i);
        return 0;
    }
    return run_cases(&c, argv + i, argc - i);
}
