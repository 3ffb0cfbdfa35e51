/* Results for programs. */
#include <math.h>

#include "../output.h"
#include "../tool.h"
#include "results.h"

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *text(const char *value)
{
    return value && *value ? json_string(value) : json_null();
}

/* On failure NULL, which json_list_add() takes. */
static json_t *describe_row(const struct row *row)
{
    json_t *object =
        json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "case", row->test, "n", (json_int_t)row->n,
                  "gantry_ns", number(row->gantry_ns), "gantry_p95_ns", number(row->gantry_p95_ns),
                  "raw_ns", number(row->raw_ns), "raw_how", text(row->raw_how), "ratio",
                  number(row_ratio(row)));

    for (size_t i = 0; object && i < EXTRA_COUNT && row->extras[i].key; i++) {
        if (json_object_set_new(object, row->extras[i].key, number(row->extras[i].value)) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

int results_print_json(const struct results *results)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < results->count; i++)
        rows = json_list_add(rows, describe_row(&results->rows[i]));
    return output_json(json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "device", results->device,
                                 "backend", results->backend, "driver_version",
                                 results->driver_version, "spin_us", (json_int_t)results->spin_us,
                                 "raw_missing", text(results->raw_missing), "rows", rows),
                       TOOL_DONE);
}
