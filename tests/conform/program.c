/* The command line of a program that runs cases. */
#include <stdio.h>
#include <string.h>

#include "run.h"

static const char usage[] =
    "usage: %s [--device SELECTOR] [--packages DIR] [--big] [--gpu] [--except CASE]\n"
    "       [--list] [CASE...]\n";

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

static void for_each_case(struct conform *c, const struct conform_case *const *tables,
                          void (*visit)(struct conform *, const struct conform_case *))
{
    for (; *tables; tables++)
        for (const struct conform_case *one = *tables; one->name; one++)
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
            fprintf(stderr, "%s is no option, or lacks its value\n", argv[i]);
            fprintf(stderr, usage, argv[0]);
            return false;
        }
        i += takes_value;
    }
    options->cases = argv + i;
    options->case_count = argc - i;
    return true;
}

int run_program(int argc, char **argv, const char *packages,
                const struct conform_case *const *tables)
{
    struct options options = {.packages = packages};
    struct run run = {0};
    struct conform c = {.options = &options, .run = &run};
    int status;

    if (!parse_options(&options, argc, argv))
        return 2;
    if (options.list) {
        for_each_case(&c, tables, print_case);
        return 0;
    }
    status = open_device(&c);
    if (status)
        return status;
    for_each_case(&c, tables, run_case);
    close_device(&c);
    return print_summary(&c);
}
