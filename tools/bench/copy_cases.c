/* A case of gantry bench copy: made, timed beside the driver's own copy, looked at. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "copy.h"
#include "statistics.h"
#include "stopwatch.h"

enum {
    REPETITIONS = 51,
    FEW_REPETITIONS = 3, /* where they take long, or with --quick */
    FRAME_ROW = 16384,   /* bytes: 4096 pixels */
    SMALL_ROW = 4096,
    ROW_GAP = 512, /* bytes behind a row in device memory */
};

static const double patience = 5e8; /* ns for all repetitions */

static const struct copy_case cases[] = {
    {"up_pageable", RAW_UP, PAGEABLE, false},     {"up_registered", RAW_UP, REGISTERED, false},
    {"up_buffer", RAW_UP, BUFFER, false},         {"up_list", RAW_UP, LIST, false},
    {"down_pageable", RAW_DOWN, PAGEABLE, false}, {"down_registered", RAW_DOWN, REGISTERED, false},
    {"down_buffer", RAW_DOWN, BUFFER, false},     {"down_list", RAW_DOWN, LIST, false},
    {"device", RAW_ACROSS, DEVICE, false},        {"rows_up", RAW_UP, PAGEABLE, true},
    {"rows_up_buffer", RAW_UP, BUFFER, true},     {"rows_down", RAW_DOWN, PAGEABLE, true},
    {"rows_down_buffer", RAW_DOWN, BUFFER, true}, {"rows_device", RAW_ACROSS, DEVICE, true},
};

const struct copy_case *copy_case_at(size_t index)
{
    return index < sizeof cases / sizeof *cases ? &cases[index] : NULL;
}

/* ---- Shapes --------------------------------------------------------------------------------- */

struct copy_shape copy_shape(uint64_t size, bool rows)
{
    uint64_t width = size % FRAME_ROW == 0 ? FRAME_ROW : SMALL_ROW;

    if (!rows)
        return (struct copy_shape){size, 1, size};
    return (struct copy_shape){width, size / width, width + ROW_GAP};
}

uint64_t copy_room(uint64_t size)
{
    return size / SMALL_ROW * (SMALL_ROW + ROW_GAP);
}

/* ---- A copy --------------------------------------------------------------------------------- */

static struct gantry_rect rect_of(const struct copy *copy)
{
    const struct copy_shape *shape = &copy->shape;
    bool up = copy->test->route == RAW_UP;

    return (struct gantry_rect){.width = shape->width,
                                .rows = shape->rows,
                                .to_pitch = up ? shape->pitch : shape->width,
                                .from_pitch = up ? shape->width : shape->pitch};
}

static void record(struct copy *copy)
{
    const struct copy_bench *bench = copy->bench;

    if (copy->test->route == RAW_UP)
        gantry_list_upload(copy->list, bench->device[0], 0, copy->host, copy->size);
    else
        gantry_list_download(copy->list, bench->device[0], 0, copy->host, copy->size);
}

/* The status of what can't be had on this device. */
static enum gantry_status open_copy(struct copy *copy)
{
    struct gantry_device *device = copy->bench->side.device;
    const struct gantry_host_params plain = {.pointer = copy->bench->host[0], .size = copy->size};
    const struct gantry_buffer_params params = {
        .size = copy->size,
        .memory = copy->test->route == RAW_UP ? GANTRY_MEMORY_UPLOAD : GANTRY_MEMORY_READBACK,
    };
    enum gantry_status status = GANTRY_OK;

    copy->host = copy->bench->host[0];
    if (copy->test->kind == REGISTERED)
        return gantry_host_register(device, &plain, &copy->made);
    if (copy->test->kind == BUFFER) {
        status = gantry_buffer_create(device, &params, &copy->made);
        copy->host = gantry_buffer_host(copy->made);
    } else if (copy->test->kind == LIST) {
        status = gantry_list_create(device, NULL, &copy->list);
        if (status != GANTRY_OK)
            return status;
        record(copy);
        status = gantry_list_finish(copy->list);
    }
    return status;
}

static void close_copy(struct copy *copy)
{
    gantry_list_destroy(&copy->list);
    gantry_buffer_destroy(&copy->made);
}

/* Between plain memory and the device's. */
static enum gantry_status submit_plain(const struct copy *copy, struct gantry_point *point)
{
    struct gantry_queue *queue = copy->bench->side.queue;
    struct gantry_buffer *device = copy->bench->device[0];
    const struct gantry_rect rect = rect_of(copy);
    bool up = copy->test->route == RAW_UP;

    if (copy->test->rows)
        return up ? gantry_queue_upload_rect(queue, device, 0, copy->host, &rect, point)
                  : gantry_queue_download_rect(queue, device, 0, copy->host, &rect, point);
    return up ? gantry_queue_upload(queue, device, 0, copy->host, copy->size, point)
              : gantry_queue_download(queue, device, 0, copy->host, copy->size, point);
}

static enum gantry_status submit(const struct copy *copy, struct gantry_point *point)
{
    struct gantry_queue *queue = copy->bench->side.queue;
    struct gantry_buffer *const *device = copy->bench->device;
    struct gantry_buffer *from = copy->test->route == RAW_UP ? copy->made : device[0];
    struct gantry_buffer *to = copy->test->route == RAW_UP     ? device[0]
                               : copy->test->route == RAW_DOWN ? copy->made
                                                               : device[1];
    const struct gantry_rect rect = rect_of(copy);

    if (copy->test->kind == LIST)
        return gantry_queue_submit(queue, copy->list, NULL, 0, point);
    if (copy->test->kind == PAGEABLE)
        return submit_plain(copy, point);
    if (copy->test->rows)
        return gantry_queue_copy_rect(queue, to, 0, from, 0, &rect, point);
    return gantry_queue_copy(queue, to, 0, from, 0, copy->size, point);
}

bool copy_wait(enum gantry_status status, const struct gantry_point *point)
{
    return (status == GANTRY_OK || gantry_side_failed()) && gantry_side_wait(*point);
}

/* ---- Timing --------------------------------------------------------------------------------- */

struct copy_way {
    struct way way;
    const struct copy *copy;
};

static bool run(struct way *way, struct timing *timing)
{
    const struct copy *copy = ((struct copy_way *)way)->copy;
    struct gantry_point point = {0};
    uint64_t start = stopwatch_read();
    bool done = copy_wait(submit(copy, &point), &point);

    timing->ns = stopwatch_between(start, stopwatch_read());
    return done;
}

/* It lies on the stack of who runs the case. */
static void keep(struct way *way)
{
    (void)way;
}

/* The second run counts: what is made at the first is made then. */
static bool choose_repetitions(struct way *way, bool quick, unsigned *repetitions)
{
    struct timing timing = {0};
    double runs;

    *repetitions = FEW_REPETITIONS;
    if (!way->run(way, &timing) || !way->run(way, &timing))
        return false;
    runs = patience / (timing.ns + 1);
    if (!quick && runs > FEW_REPETITIONS)
        *repetitions = runs > REPETITIONS ? REPETITIONS : (unsigned)runs;
    return true;
}

/* The driver's copy from memory that it did not make; false also when there is none. */
static bool pageable_gbps(const struct copy *copy, unsigned repetitions, double *gbps)
{
    struct raw *raw = copy->bench->raw;
    const struct raw_copy plain = {
        .route = RAW_UP_PAGEABLE, .width = copy->size, .rows = 1, .pitch = copy->size, .times = 1};
    struct ways ways = {0}, none = {0};
    struct row row = {.gantry_ns = NAN};
    bool done = raw && raw->ops->copy(raw, &plain, &ways) && ways.count == 1 &&
                ways_measure(ways.items[0], &none, 1, repetitions, &row);

    ways_destroy(&ways);
    *gbps = (double)copy->size / row.gantry_ns;
    return done;
}

/* memcpy's, which bounds what can go through staging memory. */
static double host_gbps(struct copy_bench *bench, size_t size, unsigned repetitions)
{
    double ns[REPETITIONS];

    for (unsigned i = 0; i < repetitions && bench->host_gbps[size] == 0; i++) {
        uint64_t start = stopwatch_read();

        memcpy(bench->host[1], bench->host[0], bench->sizes[size]);
        ns[i] = stopwatch_between(start, stopwatch_read());
    }
    if (bench->host_gbps[size] == 0)
        bench->host_gbps[size] =
            (double)bench->sizes[size] / (percentile(ns, repetitions, 0.5) + 1);
    return bench->host_gbps[size];
}

static void add_figures(const struct copy *copy, size_t size, unsigned repetitions,
                        struct rate *rate)
{
    double gbps;

    if (copy->test->kind == PAGEABLE || copy->test->kind == LIST)
        row_extra(&rate->row, "host_gbps", host_gbps(copy->bench, size, repetitions));
    if (copy->test->kind == PAGEABLE && copy->test->route == RAW_UP && !copy->test->rows &&
        pageable_gbps(copy, repetitions, &gbps))
        row_extra(&rate->row, "raw_pageable_gbps", gbps);
    row_extra(&rate->row, "repetitions", repetitions);
}

static bool measure(struct copy *copy, size_t size)
{
    struct copy_way way = {{.how = "", .run = run, .destroy = keep}, copy};
    struct copy_bench *bench = copy->bench;
    const struct raw_copy twin = {.route = copy->test->route,
                                  .width = copy->shape.width,
                                  .rows = copy->shape.rows,
                                  .pitch = copy->shape.pitch,
                                  .times = 1};
    struct rate *rate = rates_add(&bench->rates, copy->test->name, copy->size, copy->size);
    struct ways raw = {0};
    unsigned repetitions;
    bool done = rate && choose_repetitions(&way.way, bench->options.quick, &repetitions) &&
                (!bench->raw || bench->raw->ops->copy(bench->raw, &twin, &raw)) &&
                ways_measure(&way.way, &raw, 1, repetitions, &rate->row);

    ways_destroy(&raw);
    if (!done)
        return false;
    rate->raw_bytes = copy->size;
    add_figures(copy, size, repetitions, rate);
    return true;
}

bool copy_case_run(struct copy_bench *bench, const struct copy_case *test, size_t size)
{
    struct copy copy = {.bench = bench,
                        .test = test,
                        .shape = copy_shape(bench->sizes[size], test->rows),
                        .size = bench->sizes[size]};
    enum gantry_status status = open_copy(&copy);
    bool done = true;

    /* What the device lacks is no failure; it is said once. */
    if (status == GANTRY_E_UNSUPPORTED && size == 0)
        rates_skip(&bench->rates, test->name, gantry_last_error());
    if (status != GANTRY_E_UNSUPPORTED)
        done = status == GANTRY_OK
                   ? copy_prepare(&copy) && measure(&copy, size) && copy_check(&copy)
                   : gantry_side_failed();
    close_copy(&copy);
    return done;
}
