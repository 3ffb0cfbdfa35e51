/* The conformance suite: what every backend must do, asked through gantry.h alone.
 *
 *     conform [--device SELECTOR] [--packages DIR] [--big] [--gpu] [--except CASE] [--list] [CASE…]
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
    "usage: conform [--device SELECTOR] [--packages DIR] [--big] [--gpu] [--except CASE]\n"
    "               [--list] [CASE...]\n";

static bool begins(const char *name, const char *beginning)
{
    return strncmp(name, beginning, strlen(beginning)) == 0;
}

static bool is_wanted(const struct options *options, const char *name)
{
    if (options->except && begins(name, options->except))
        return false;
    for (int i = 0; i < options->case_count; i++)
        if (begins(name, options->cases[i]))
            return true;
    return options->case_count == 0;
}

static void print_case(struct conform *c, const struct conform_case *one)
{
    (void)c;
    printf("%-40s %s\n", one->name, one->field ? one->field : "");
}

static void for_each_case(struct conform *c,
                          void (*visit)(struct conform *, const struct conform_case *))
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const struct conform_case *one = tables[t]; one->name; one++)
            if (is_wanted(c->options, one->name))
                visit(c, one);
}

static bool parse_options(struct options *options, int argc, char **argv)
{
    int i = 1;

    for (; i < argc && begins(argv[i], "--"); i++) {
        const char *name = argv[i] + 2, *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool takes_value = true;

        if (strcmp(name, "device") == 0)
            options->device = value;
        else if (strcmp(name, "packages") == 0)
            options->packages = value;
        else if (strcmp(name, "except") == 0)
            options->except = value;
        else
            takes_value = false;
        if (strcmp(name, "big") == 0)
            options->big = true;
        else if (strcmp(name, "gpu") == 0)
            options->gpu = true;
        else if (strcmp(name, "list") == 0)
            options->list = true;
        else if (!takes_value || !value) {
            fprintf(stderr, "conform: %s is no option, or lacks its value\n%s", argv[i], usage);
            return false;
        }
        i += takes_value;
    }
    options->cases = argv + i;
    options->case_count = argc - i;
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.packages = PACKAGES};
    struct run run = {0};
    struct conform c = {.options = &options, .run = &run};
    int status;

    if (!parse_options(&options, argc, argv))
        return 2;
    if (options.list) {
        for_each_case(&c, print_case);
        return 0;
    }
    status = open_device(&c);
    if (status)
        return status;
    for_each_case(&c, run_case);
    close_device(&c);
    return print_summary(&c);
}
