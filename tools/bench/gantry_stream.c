/* The library's streaming queue. */
#include "gantry_side.h"

#include <stdio.h>
#include <stdlib.h>

#include "../output.h"
#include "statistics.h"
#include "stopwatch.h"

enum { MOST_REPETITIONS = 16 };

/* All launches of a stream here are alike. */
struct stream {
    struct gantry_side *side;
    struct work work;
    struct launch launch;
};

static bool stream_open(struct stream *stream, struct gantry_side *side, const struct work *work)
{
    struct launch *launches = work_launches(work, gantry_buffer_address(side->y));

    if (!launches)
        return false;
    *stream = (struct stream){side, *work, launches[0]};
    free(launches);
    return true;
}

static bool launch(const struct stream *stream, struct gantry_point *point)
{
    const struct launch *launch = &stream->launch;
    struct gantry_size threads = {.x = launch->args.n};

    return gantry_queue_launch(stream->side->queue, stream->side->kernels[launch->kernel], threads,
                               &launch->args, sizeof launch->args, point) == GANTRY_OK;
}

static bool drain(struct stream *stream, struct gantry_point point)
{
    cells_run(&stream->side->cells, &stream->work);
    return gantry_side_wait(point);
}

/* ---- A way ---------------------------------------------------------------------------------- */

struct stream_way {
    struct way way;
    struct stream stream;
};

static bool run(struct way *way, struct timing *timing)
{
    struct stream *stream = &((struct stream_way *)way)->stream;
    struct gantry_point point;
    uint64_t start = stopwatch_read();
    bool done = true;

    for (uint32_t i = 0; i < stream->work.launches && done; i++)
        done = launch(stream, &point) || gantry_side_failed();
    done = done && gantry_side_wait(point);
    timing->ns = stopwatch_between(start, stopwatch_read());
    cells_run(&stream->side->cells, &stream->work);
    return done;
}

static void destroy(struct way *way)
{
    free(way);
}

struct way *gantry_way_stream(struct gantry_side *side, const struct work *work)
{
    struct stream_way *self = calloc(1, sizeof *self);

    if (!self) {
        output_error("%s: out of memory for a way of streaming %u launches", output_subcommand(),
                     work->launches);
        return NULL;
    }
    self->way = (struct way){.how = "gantry_queue_launch", .run = run, .destroy = destroy};
    if (stream_open(&self->stream, side, work))
        return &self->way;
    destroy(&self->way);
    return NULL;
}

/* ---- Many calls ----------------------------------------------------------------------------- */

/* The whole of it, flush included, without a look at the clock between. */
static bool stream_whole(struct stream *stream, double *mean)
{
    struct gantry_point point;
    uint64_t start = stopwatch_read();
    bool done = true;

    for (uint32_t i = 0; i < stream->work.launches && done; i++)
        done = launch(stream, &point);
    done = (done && gantry_queue_flush(stream->side->queue) == GANTRY_OK) || gantry_side_failed();
    *mean = stopwatch_between(start, stopwatch_read()) / stream->work.launches;
    return done && drain(stream, point);
}

/* The clock is read once a call; its cost is taken off afterwards, so as not to time that too. */
static bool stream_calls(struct stream *stream, double *ns)
{
    uint64_t before = stopwatch_read(), now;
    struct gantry_point point;
    bool done = true;

    for (uint32_t i = 0; i < stream->work.launches && done; i++) {
        done = launch(stream, &point) || gantry_side_failed();
        now = stopwatch_read();
        ns[i] = (double)(now - before);
        before = now;
    }
    for (uint32_t i = 0; i < stream->work.launches; i++)
        ns[i] = stopwatch_between(0, (uint64_t)ns[i]);
    return done && drain(stream, point);
}

/* After one stream for warming up. Fills in the median of the means. */
static bool stream_repeated(struct stream *stream, unsigned repetitions, double *mean)
{
    double means[MOST_REPETITIONS];
    bool done = stream_whole(stream, mean);

    for (unsigned i = 0; i < repetitions && done; i++)
        done = stream_whole(stream, &means[i]);
    if (done)
        *mean = percentile(means, repetitions, 0.5);
    return done;
}

static void report(double *ns, uint32_t calls, double mean, struct row *row)
{
    row->gantry_ns = percentile(ns, calls, 0.5);
    row->gantry_p95_ns = percentile(ns, calls, 0.95);
    row_extra(row, "p50_ns", row->gantry_ns);
    row_extra(row, "p99_ns", percentile(ns, calls, 0.99));
    row_extra(row, "mean_ns", mean);
}

bool gantry_stream_measure(struct gantry_side *side, uint32_t calls, unsigned repetitions,
                           struct row *row)
{
    const struct work work = {.launches = calls, .width = 1, .blocks = 1, .kernels = 1};
    struct gantry_config_value batch_size;
    double *ns = calloc(calls, sizeof *ns), mean;
    struct stream stream;
    bool done;

    if (!ns)
        output_error("%s: out of memory for the times of %u calls", output_subcommand(), calls);
    done = ns && gantry_side_config(side, "batch_size", &batch_size) &&
           stream_open(&stream, side, &work) && stream_repeated(&stream, repetitions, &mean) &&
           stream_calls(&stream, ns);
    if (done) {
        report(ns, calls, mean, row);
        row_extra(row, "batch_size", strtod(batch_size.value, NULL));
    }
    free(ns);
    return done;
}
