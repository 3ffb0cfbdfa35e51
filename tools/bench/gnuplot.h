#ifndef GANTRY_BENCH_GNUPLOT_H
#define GANTRY_BENCH_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Runs gnuplot over the script that `write` writes; what it draws becomes the file. False, and why
 * was said, when there is no gnuplot or no file. */
bool gnuplot_draw(const char *file, void (*write)(FILE *script, const void *what),
                  const void *what);

/* A blank and a number of a data block; NAN is a gap. */
void gnuplot_figure(FILE *script, double value);

#endif
