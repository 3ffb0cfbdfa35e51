/* The library's ways of running a work. */
#include "gantry_side.h"

#include <stdio.h>
#include <stdlib.h>

#include "../output.h"
#include "stopwatch.h"

struct gantry_way {
    struct way way;
    struct gantry_side *side;
    struct work work;
    struct launch *launches;
    struct gantry_list *list;
    uint32_t *ids; /* of a patchable list's launches */
};

static void destroy(struct way *way)
{
    struct gantry_way *self = (struct gantry_way *)way;

    gantry_list_destroy(&self->list);
    free(self->launches);
    free(self->ids);
    free(self);
}

static struct gantry_way *make(struct gantry_side *side, const struct work *work, const char *how,
                               bool (*run)(struct way *, struct timing *))
{
    struct gantry_way *self = calloc(1, sizeof *self);

    if (!self) {
        output_error("%s: out of memory for a way of running %u launches", output_subcommand(),
                     work->launches);
        return NULL;
    }
    *self =
        (struct gantry_way){.way = {.run = run, .destroy = destroy}, .side = side, .work = *work};
    snprintf(self->way.how, sizeof self->way.how, "%s", how);
    self->launches = work_launches(work, gantry_buffer_address(side->y));
    if (self->launches &&
        (gantry_list_create(side->device, NULL, &self->list) == GANTRY_OK || gantry_side_failed()))
        return self;
    destroy(&self->way);
    return NULL;
}

/* A failure is remembered by the list, and comes out of finish and submit. */
static void record_stage(struct gantry_way *self, const struct launch *launches)
{
    for (uint32_t i = 0; i < self->work.width; i++) {
        const struct launch *launch = &launches[i];
        struct gantry_size threads = {.x = launch->args.n};

        gantry_list_launch(self->list, self->side->kernels[launch->kernel], threads, &launch->args,
                           sizeof launch->args);
    }
}

/* Stages are concurrent sections. */
static void record_all(struct gantry_way *self)
{
    bool section = self->work.width > 1;

    for (uint32_t first = 0; first < self->work.launches; first += self->work.width) {
        if (section)
            gantry_list_begin_concurrent(self->list);
        record_stage(self, &self->launches[first]);
        if (section)
            gantry_list_end_concurrent(self->list);
    }
}

static bool submit(struct gantry_way *self, struct gantry_point *point)
{
    return gantry_queue_submit(self->side->queue, self->list, NULL, 0, point) == GANTRY_OK ||
           gantry_side_failed();
}

static bool finish(struct gantry_way *self)
{
    return gantry_list_finish(self->list) == GANTRY_OK || gantry_side_failed();
}

/* ---- Replaying ------------------------------------------------------------------------------ */

static bool replay(struct way *way, struct timing *timing)
{
    struct gantry_way *self = (struct gantry_way *)way;
    struct gantry_point point;
    uint64_t start = stopwatch_read();
    bool done = submit(self, &point) && gantry_side_wait(point);

    timing->ns = stopwatch_between(start, stopwatch_read());
    cells_run(&self->side->cells, &self->work);
    return done;
}

struct way *gantry_way_replay(struct gantry_side *side, const struct work *work)
{
    struct gantry_way *self = make(side, work, "finished list", replay);

    if (!self)
        return NULL;
    record_all(self);
    if (finish(self))
        return &self->way;
    destroy(&self->way);
    return NULL;
}

/* ---- Recording ------------------------------------------------------------------------------ */

/* Submitting empties the list for the next time. */
static bool record_and_run(struct gantry_way *self, uint64_t times[3])
{
    struct gantry_point point;
    bool done;

    times[0] = stopwatch_read();
    record_all(self);
    times[1] = stopwatch_read();
    done = submit(self, &point);
    times[2] = stopwatch_read();
    cells_run(&self->side->cells, &self->work);
    return done && gantry_side_wait(point);
}

static bool record(struct way *way, struct timing *timing)
{
    uint64_t times[3];
    bool done = record_and_run((struct gantry_way *)way, times);

    timing->ns = stopwatch_between(times[0], times[1]);
    return done;
}

struct way *gantry_way_record(struct gantry_side *side, const struct work *work)
{
    struct gantry_way *self = make(side, work, "recording", record);

    return self ? &self->way : NULL;
}

static bool oneshot(struct way *way, struct timing *timing)
{
    uint64_t times[3];
    bool done = record_and_run((struct gantry_way *)way, times);

    timing->ns = stopwatch_between(times[0], times[2]);
    timing->submit_ns = stopwatch_between(times[1], times[2]);
    return done;
}

struct way *gantry_way_oneshot(struct gantry_side *side, const struct work *work)
{
    struct gantry_way *self = make(side, work, "unfinished list", oneshot);

    return self ? &self->way : NULL;
}

/* ---- Patching ------------------------------------------------------------------------------- */

static bool patch_all(struct gantry_way *self)
{
    bool patched = true;

    for (uint32_t i = 0; i < self->work.launches && patched; i++) {
        const struct tiny_args *args = &self->launches[i].args;

        patched = gantry_list_set_args(self->list, self->ids[i], args, sizeof *args) == GANTRY_OK;
    }
    return patched || gantry_side_failed();
}

/* a alternates between 1 and 0, so that a patch that got lost shows in the result. */
static void choose_args(struct gantry_way *self)
{
    for (uint32_t i = 0; i < self->work.launches; i++) {
        struct tiny_args *args = &self->launches[i].args;

        args->a = 1.0f - args->a;
        cells_launch(&self->side->cells, &self->work, i, args->a);
    }
}

static bool patch(struct way *way, struct timing *timing)
{
    struct gantry_way *self = (struct gantry_way *)way;
    struct gantry_point point;
    uint64_t times[3];
    bool done;

    choose_args(self);
    times[0] = stopwatch_read();
    done = patch_all(self);
    times[1] = stopwatch_read();
    done = done && submit(self, &point);
    times[2] = stopwatch_read();
    timing->ns = stopwatch_between(times[0], times[1]);
    timing->submit_ns = stopwatch_between(times[1], times[2]);
    return done && gantry_side_wait(point);
}

static void record_patchable(struct gantry_way *self)
{
    gantry_list_begin_concurrent(self->list);
    for (uint32_t i = 0; i < self->work.launches; i++) {
        const struct launch *launch = &self->launches[i];
        struct gantry_size threads = {.x = launch->args.n};

        self->ids[i] =
            gantry_list_launch_patchable(self->list, self->side->kernels[launch->kernel], threads,
                                         threads, &launch->args, sizeof launch->args);
    }
    gantry_list_end_concurrent(self->list);
}

struct way *gantry_way_patch(struct gantry_side *side, const struct work *work)
{
    struct gantry_way *self = make(side, work, "gantry_list_set_args", patch);

    if (!self)
        return NULL;
    self->ids = calloc(work->launches, sizeof *self->ids);
    if (!self->ids)
        output_error("%s: out of memory for %u ids", output_subcommand(), work->launches);
    else
        record_patchable(self);
    if (self->ids && finish(self))
        return &self->way;
    destroy(&self->way);
    return NULL;
}
