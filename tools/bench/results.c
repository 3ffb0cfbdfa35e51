#include "results.h"

#include <math.h>
#include <stdlib.h>

#include "../output.h"

struct row *results_add(struct results *results, const char *test, uint32_t n)
{
    struct row *rows = realloc(results->rows, (results->count + 1) * sizeof *rows);
    struct row *row;

    if (!rows) {
        output_error("bench: out of memory for %zu results", results->count + 1);
        return NULL;
    }
    results->rows = rows;
    row = &rows[results->count++];
    *row =
        (struct row){.test = test, .n = n, .gantry_ns = NAN, .gantry_p95_ns = NAN, .raw_ns = NAN};
    return row;
}

void results_free(struct results *results)
{
    free(results->rows);
    results->rows = NULL;
    results->count = 0;
}

void row_extra(struct row *row, const char *key, double value)
{
    size_t i = 0;

    while (row->extras[i].key)
        i++;
    row->extras[i].key = key;
    row->extras[i].value = value;
}

double row_ratio(const struct row *row)
{
    return row->raw_ns > 0 ? row->gantry_ns / row->raw_ns : NAN;
}
