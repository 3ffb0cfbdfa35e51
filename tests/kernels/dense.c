#include "dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint32_t UNWRITTEN = 0xcdcdcdcd; /* make_array() fills with it */

const unsigned skews[SKEWS] = {0, 4, 12};

void run_grid(struct conform *c, struct gantry_kernel *kernel, struct gantry_size threads,
              const void *args, size_t size)
{
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_launch(list, kernel, threads, args, size));
    submit_and_wait(c, list);
    drop_list(c, list);
}

void within_at(struct conform *c, const char *file, int line, const char *what, const float *found,
               const double *expected, const double *scale, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(found[i] - expected[i]) <= tolerance * scale[i]))
            fail_at(c, file, line, "%s[%zu] of %zu is %.9g, expected %.9g within %.3g", what, i, n,
                    found[i], expected[i], tolerance * scale[i]);
}

void gaps_unwritten_at(struct conform *c, const char *file, int line, const char *what,
                       const float *found, size_t rows, size_t columns, size_t pitch)
{
    uint32_t word;

    for (size_t row = 0; row < rows; row++)
        for (size_t i = columns; i < pitch; i++) {
            memcpy(&word, &found[row * pitch + i], sizeof(word));
            if (word != UNWRITTEN)
                fail_at(c, file, line, "%s was written behind row %zu: 0x%08x", what, row, word);
        }
}

static double tolerance_in(struct conform *c, const struct gantry_package *package,
                           const char *kernel)
{
    struct gantry_kernel_source source;

    for (uint32_t i = 0; i < gantry_package_kernel_count(package); i++) {
        OK(gantry_package_kernel(package, i, &source));
        if (!strcmp(source.name, kernel))
            return source.tolerance;
    }
    return -1.0;
}

double tolerance_of(struct conform *c, const char *kernel)
{
    char path[4096];
    struct gantry_package *package;
    double tolerance;

    snprintf(path, sizeof(path), "%s/gantry-kernels.gpk", c->options->packages);
    struct gantry_package_params params = {.file = path};
    OK(gantry_package_open(&params, &package));
    tolerance = tolerance_in(c, package, kernel);
    gantry_package_close(&package);
    CHECK(tolerance > 0.0, "kernel %s of %s states no tolerance", kernel, path);
    return tolerance;
}
