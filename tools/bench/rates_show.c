/* Rates for people and for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../output.h"
#include "../tool.h"
#include "rates.h"

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_figure(double value, int width, int digits)
{
    if (isnan(value))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, digits, value);
}

/* "4 KiB", "1.5 MiB": exact, or rounded to a digit. */
static void print_bytes(uint64_t bytes, int width)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    char text[32];
    size_t unit = 0;

    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    snprintf(text, sizeof text, "%.*f %s", value != floor(value), value, units[unit]);
    printf("%*s", width, text);
}

static void print_rate(const struct rate *rate)
{
    printf("%-18s%12" PRIu64, rate->row.test, rate->n);
    print_bytes(rate->bytes, 12);
    print_figure(rate->row.gantry_ns / 1e3, 12, rate->row.gantry_ns < 1e5);
    print_figure(rate_gbps(rate), 10, 2);
    print_figure(rate_p95_gbps(rate), 10, 2);
    print_figure(rate_raw_gbps(rate), 10, 2);
    print_figure(rate_ratio(rate), 8, 3);
    printf("  %s", rate->row.raw_how);
    for (size_t i = 0; i < EXTRA_COUNT && rate->row.extras[i].key; i++)
        printf("%s%s %.4g", i || rate->row.raw_how[0] ? ", " : "", rate->row.extras[i].key,
               rate->row.extras[i].value);
    putchar('\n');
}

void rates_print_table(const struct rates *rates)
{
    printf("%s through %s, driver %s; GB/s\n", rates->device, rates->backend,
           rates->driver_version);
    if (rates->raw_missing)
        printf("no raw side: %s\n", rates->raw_missing);
    for (size_t i = 0; i < rates->skip_count; i++)
        printf("no %s: %s\n", rates->skips[i].test, rates->skips[i].why);
    printf("\n%-18s%12s%12s%12s%10s%10s%10s%8s  %s\n", "case", rates->n_key, "bytes", "us",
           "gantry", "p95", "raw", "ratio", "raw way, other figures");
    for (size_t i = 0; i < rates->count; i++)
        print_rate(&rates->items[i]);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *text(const char *value)
{
    return value && *value ? json_string(value) : json_null();
}

/* On failure NULL, which json_list_add() takes. */
static json_t *describe_rate(const struct rates *rates, const struct rate *rate)
{
    const struct row *row = &rate->row;
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "case", row->test,
                  rates->n_key, (json_int_t)rate->n, "bytes", (json_int_t)rate->bytes, "ns",
                  row->gantry_ns, "p95_ns", row->gantry_p95_ns, "gbps", rate_gbps(rate), "p95_gbps",
                  rate_p95_gbps(rate), "raw_gbps", number(rate_raw_gbps(rate)), "raw_how",
                  text(row->raw_how), "ratio", number(rate_ratio(rate)));

    for (size_t i = 0; object && i < EXTRA_COUNT && row->extras[i].key; i++) {
        if (json_object_set_new(object, row->extras[i].key, number(row->extras[i].value)) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

int rates_print_json(const struct rates *rates)
{
    json_t *rows = json_array(), *skips = json_array();

    for (size_t i = 0; i < rates->count; i++)
        rows = json_list_add(rows, describe_rate(rates, &rates->items[i]));
    for (size_t i = 0; i < rates->skip_count; i++)
        skips = json_list_add(skips, json_pack("{s:s, s:s}", "case", rates->skips[i].test, "why",
                                               rates->skips[i].why));
    return output_json(json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "device", rates->device,
                                 "backend", rates->backend, "driver_version", rates->driver_version,
                                 "raw_missing", text(rates->raw_missing), "skipped", skips, "rows",
                                 rows),
                       TOOL_DONE);
}

int rates_show(const struct rates *rates, bool json, const char *svg,
               bool (*plot)(const struct rates *rates, const char *file))
{
    bool drawn = !svg || plot(rates, svg);
    int status;

    if (json) {
        status = rates_print_json(rates);
    } else {
        rates_print_table(rates);
        status = output_finish(TOOL_DONE);
    }
    return drawn ? status : TOOL_FAILED;
}
