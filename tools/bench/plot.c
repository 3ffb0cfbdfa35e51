/* Results as a picture: for each case a small diagram, ns per launch over n, both axes logarithmic.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../output.h"
#include "gnuplot.h"
#include "results.h"

enum {
    COLUMNS = 3,
    WIDTH = 340, /* of a diagram, in pixels */
    HEIGHT = 260,
};

/* ---- The script ----------------------------------------------------------------------------- */

/* Rows of one case lie together. */
static size_t case_end(const struct results *results, size_t first)
{
    size_t end = first;

    while (end < results->count && strcmp(results->rows[end].test, results->rows[first].test) == 0)
        end++;
    return end;
}

/* The sweep is over blocks, not over n; cases with one n are no curve. */
static bool is_curve(const struct results *results, size_t first, size_t end)
{
    return end - first > 1 && strcmp(results->rows[first].test, "sweep") != 0;
}

static size_t count_curves(const struct results *results)
{
    size_t count = 0;

    for (size_t first = 0, end; first < results->count; first = end) {
        end = case_end(results, first);
        count += is_curve(results, first, end);
    }
    return count;
}

static void write_diagram(FILE *script, const struct results *results, size_t first, size_t end)
{
    bool raw = false;

    fputs("$data << end_of_data\n", script);
    for (size_t i = first; i < end; i++) {
        const struct row *row = &results->rows[i];

        fprintf(script, "%u", row->n);
        gnuplot_figure(script, row->gantry_ns);
        gnuplot_figure(script, row->raw_ns);
        fputc('\n', script);
        raw = raw || !isnan(row->raw_ns);
    }
    fprintf(script,
            "end_of_data\n"
            "set title '%s'\n"
            "plot $data using 1:2 with linespoints pt 7 lc rgb '#0060ad' title 'gantry'",
            results->rows[first].test);
    if (raw)
        fputs(", $data using 1:3 with linespoints pt 6 lc rgb '#b03020' title 'raw driver'",
              script);
    fputc('\n', script);
}

static void write_script(FILE *script, const void *what)
{
    const struct results *results = what;
    size_t count = count_curves(results), lines = (count + COLUMNS - 1) / COLUMNS;

    fprintf(script,
            "set terminal svg size %d,%zu font 'sans-serif,11' background '#ffffff'\n"
            "set logscale xy\n"
            "set grid\n"
            "set key below\n"
            "set format x '10^{%%L}'\n"
            "set format y '10^{%%L}'\n"
            "set xlabel 'n' offset 0,0.7\n"
            "set ylabel 'ns per launch'\n"
            "set multiplot layout %zu,%d\n",
            COLUMNS * WIDTH, lines * HEIGHT, lines, COLUMNS);
    for (size_t first = 0, end; first < results->count; first = end) {
        end = case_end(results, first);
        if (is_curve(results, first, end))
            write_diagram(script, results, first, end);
    }
    fputs("unset multiplot\n", script);
}

bool results_plot(const struct results *results, const char *file)
{
    if (count_curves(results) == 0) {
        output_error(
            "bench: there is nothing to draw in %s: no case ran with several n (give --n a "
            "list)",
            file);
        return false;
    }
    return gnuplot_draw(file, write_script, results);
}
