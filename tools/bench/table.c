/* Results for people. */
#include <math.h>
#include <stdio.h>

#include "results.h"

/* Few digits where they are noise. */
static void print_ns(double ns, int width)
{
    if (isnan(ns))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, ns < 100 ? 1 : 0, ns);
}

static void print_row(const struct row *row)
{
    double ratio = row_ratio(row);

    printf("%-16s %6u ", row->test, row->n);
    print_ns(row->gantry_ns, 10);
    print_ns(row->gantry_p95_ns, 10);
    print_ns(row->raw_ns, 10);
    if (isnan(ratio))
        printf("%8s", "-");
    else
        printf("%8.3f", ratio);
    printf("  %s", row->raw_how);
    for (size_t i = 0; i < EXTRA_COUNT && row->extras[i].key; i++)
        printf("%s%s %.4g", i || row->raw_how[0] ? ", " : "", row->extras[i].key,
               row->extras[i].value);
    putchar('\n');
}

void results_print_table(const struct results *results)
{
    printf("%s through %s, driver %s; ns per launch\n", results->device, results->backend,
           results->driver_version);
    printf("gantry's waits spin for at most %u us (spin_us), then sleep\n", results->spin_us);
    if (results->raw_missing)
        printf("no raw side: %s\n", results->raw_missing);
    printf("\n%-16s %6s %10s%10s%10s%8s  %s\n", "case", "n", "gantry", "p95", "raw", "ratio",
           "raw way, other figures");
    for (size_t i = 0; i < results->count; i++)
        print_row(&results->rows[i]);
}
