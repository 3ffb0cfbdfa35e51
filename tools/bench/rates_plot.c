/* Rates as pictures. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../output.h"
#include "gnuplot.h"
#include "rates.h"

enum {
    COLUMNS = 3,
    WIDTH = 340, /* of a diagram of curves, in pixels */
    HEIGHT = 260,
    BAR = 44,     /* from one bar to the next */
    MARGIN = 300, /* beside the bars */
};

static const char page[] = "set terminal svg size %d,%d font 'sans-serif,11' background '#ffffff'\n"
                           "set grid y\n"
                           "set ylabel 'GB/s'\n";

/* ---- Bars ----------------------------------------------------------------------------------- */

static void write_bars(FILE *script, const void *what)
{
    const struct rates *rates = what;

    fprintf(script, page, (int)rates->count * BAR + MARGIN, 420);
    fputs("$data << end_of_data\n", script);
    for (size_t i = 0; i < rates->count; i++) {
        const struct rate *rate = &rates->items[i];

        fprintf(script, "%s", rate->row.test);
        gnuplot_figure(script, rate_gbps(rate));
        gnuplot_figure(script, rate_raw_gbps(rate));
        fputc('\n', script);
    }
    fprintf(script,
            "end_of_data\n"
            "set title '%s through %s' noenhanced\n"
            "set style fill solid 0.8\n"
            "set boxwidth 0.7\n"
            "set xtics rotate by -40 noenhanced\n"
            "set rmargin 12\n"
            "set yrange [0:*]\n"
            "set key below\n"
            "plot $data using 2:xtic(1) with boxes lc rgb '#0060ad' title 'gantry'",
            rates->device, rates->backend);
    if (!rates->raw_missing)
        fputs(", $data using 3 with linespoints pt 6 lc rgb '#b03020' title \"the driver's copy\"",
              script);
    fputc('\n', script);
}

static bool is_empty(const struct rates *rates, const char *file)
{
    if (rates->count == 0)
        output_error("bench: there is nothing to draw in %s: no case ran", file);
    return rates->count == 0;
}

bool rates_plot_bars(const struct rates *rates, const char *file)
{
    return !is_empty(rates, file) && gnuplot_draw(file, write_bars, rates);
}

/* ---- Curves --------------------------------------------------------------------------------- */

static size_t case_end(const struct rates *rates, size_t first)
{
    size_t end = first;

    while (end < rates->count &&
           strcmp(rates->items[end].row.test, rates->items[first].row.test) == 0)
        end++;
    return end;
}

static void write_curve(FILE *script, const struct rates *rates, size_t first, size_t end)
{
    bool raw = false;

    fputs("$data << end_of_data\n", script);
    for (size_t i = first; i < end; i++) {
        const struct rate *rate = &rates->items[i];

        fprintf(script, "%" PRIu64, rate->n);
        gnuplot_figure(script, rate_gbps(rate));
        gnuplot_figure(script, rate_raw_gbps(rate));
        fputc('\n', script);
        raw = raw || !isnan(rate_raw_gbps(rate));
    }
    fprintf(script,
            "end_of_data\n"
            "set title '%s' noenhanced\n"
            "plot $data using 1:2 with linespoints pt 7 lc rgb '#0060ad' title 'gantry'",
            rates->items[first].row.test);
    if (raw)
        fputs(", $data using 1:3 with linespoints pt 6 lc rgb '#b03020' title 'raw driver'",
              script);
    fputc('\n', script);
}

static void write_curves(FILE *script, const void *what)
{
    const struct rates *rates = what;
    int count = 0, lines;

    for (size_t first = 0; first < rates->count; first = case_end(rates, first))
        count++;
    lines = (count + COLUMNS - 1) / COLUMNS;
    fprintf(script, page, COLUMNS * WIDTH, lines * HEIGHT);
    fprintf(script,
            "set logscale x 2\n"
            "set logscale y\n"
            "set format x '2^{%%L}'\n"
            "set xtics 16\n"
            "set xlabel 'bytes'\n"
            "set key below\n"
            "set multiplot layout %d,%d\n",
            lines, COLUMNS);
    for (size_t first = 0, end; first < rates->count; first = end) {
        end = case_end(rates, first);
        write_curve(script, rates, first, end);
    }
    fputs("unset multiplot\n", script);
}

bool rates_plot_curves(const struct rates *rates, const char *file)
{
    return !is_empty(rates, file) && gnuplot_draw(file, write_curves, rates);
}
