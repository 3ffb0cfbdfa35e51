/* The ways in which one would use CUDA by hand. */
#include "raw_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../output.h"
#include "stopwatch.h"

enum { SPINS_PER_QUESTION = 65536 }; /* asking the driver takes as long as a thousand spins */

/* ---- Waiting -------------------------------------------------------------------------------- */

enum raw_finish raw_cuda_finish(const struct raw_cuda *cuda)
{
    return cuda->write_value ? SPIN_ON_WRITE : POLL_EVENT;
}

const char *raw_cuda_finish_name(enum raw_finish finish)
{
    return finish == SPIN_ON_WRITE ? "spin on a stream write" : "event polling";
}

/* The driver is asked now and then: a lost device writes nothing. */
static bool spin(struct raw_cuda *cuda)
{
    for (uint32_t i = 1; atomic_load_explicit(cuda->done, memory_order_acquire) < cuda->submitted;
         i++) {
        CUresult result;

        if (i % SPINS_PER_QUESTION != 0)
            continue;
        result = cuda->cu.cuStreamQuery(cuda->stream);
        if (result != CUDA_ERROR_NOT_READY &&
            !raw_cuda_check(cuda, result, "cuStreamQuery(cuda->stream)"))
            return false;
    }
    return true;
}

static bool poll_event(struct raw_cuda *cuda)
{
    CUresult result;

    if (!CU(cuda, cuEventRecord(cuda->event, cuda->stream)))
        return false;
    do {
        result = cuda->cu.cuEventQuery(cuda->event);
    } while (result == CUDA_ERROR_NOT_READY);
    return raw_cuda_check(cuda, result, "cuEventQuery(cuda->event)");
}

bool raw_cuda_wait(struct raw_cuda *cuda, enum raw_finish finish)
{
    if (finish == POLL_EVENT)
        return poll_event(cuda);
    cuda->submitted++;
    return CU(cuda, cuStreamWriteValue64(cuda->stream, cuda->done_address, cuda->submitted,
                                         CU_STREAM_WRITE_VALUE_DEFAULT)) &&
           spin(cuda);
}

/* ---- A way ---------------------------------------------------------------------------------- */

struct cuda_way {
    struct way way;
    struct raw_cuda *cuda;
    struct work work;
    struct launch *launches;
    CUgraphExec graph;
    enum raw_finish finish;
    bool (*go)(struct cuda_way *self, struct timing *timing); /* with the context current */
};

static bool run(struct way *way, struct timing *timing)
{
    struct cuda_way *self = (struct cuda_way *)way;
    bool done;

    if (!raw_cuda_enter(self->cuda))
        return false;
    done = self->go(self, timing);
    raw_cuda_leave(self->cuda);
    cells_run(&self->cuda->raw.cells, &self->work);
    return done;
}

static void destroy(struct way *way)
{
    struct cuda_way *self = (struct cuda_way *)way;

    if (self->graph && raw_cuda_enter(self->cuda)) {
        self->cuda->cu.cuGraphExecDestroy(self->graph);
        raw_cuda_leave(self->cuda);
    }
    free(self->launches);
    free(self);
}

static struct cuda_way *make(struct raw *raw, const struct work *work, enum raw_finish finish,
                             bool (*go)(struct cuda_way *, struct timing *))
{
    struct cuda_way *self = calloc(1, sizeof *self);

    if (!self) {
        output_error("bench: out of memory for a way of running %u launches", work->launches);
        return NULL;
    }
    *self = (struct cuda_way){.way = {.run = run, .destroy = destroy},
                              .cuda = (struct raw_cuda *)raw,
                              .work = *work,
                              .finish = finish,
                              .go = go};
    self->launches = work_launches(work, self->cuda->y);
    if (self->launches)
        return self;
    free(self);
    return NULL;
}

static bool launch_one(struct cuda_way *self, struct launch *launch)
{
    struct raw_cuda *cuda = self->cuda;
    CUfunction kernel = cuda->kernels[launch->kernel];
    struct raw_cuda_args args;

    raw_cuda_args_set(&args, launch);
    return CU(cuda, cuLaunchKernel(kernel, self->work.blocks, 1, 1, BLOCK_THREADS, 1, 1, 0,
                                   cuda->stream, NULL, args.list));
}

static bool launch_all(struct cuda_way *self)
{
    bool launched = true;

    for (uint32_t i = 0; i < self->work.launches && launched; i++)
        launched = launch_one(self, &self->launches[i]);
    return launched;
}

/* ---- Replaying ------------------------------------------------------------------------------ */

static bool go_graph(struct cuda_way *self, struct timing *timing)
{
    struct raw_cuda *cuda = self->cuda;
    uint64_t start = stopwatch_read();
    bool done =
        CU(cuda, cuGraphLaunch(self->graph, cuda->stream)) && raw_cuda_wait(cuda, self->finish);

    timing->ns = stopwatch_between(start, stopwatch_read());
    return done;
}

static bool add_graph(struct raw *raw, const struct work *work, uint32_t chains, bool programmatic,
                      struct ways *ways)
{
    struct raw_cuda *cuda = (struct raw_cuda *)raw;
    enum raw_finish finish = raw_cuda_finish(cuda);
    struct cuda_way *self = make(raw, work, finish, go_graph);
    bool built;

    if (!self)
        return false;
    snprintf(self->way.how, sizeof self->way.how, "graph on %u chain%s%s, %s", chains,
             chains > 1 ? "s" : "", programmatic ? ", programmatic edges" : "",
             raw_cuda_finish_name(finish));
    ways_add(ways, &self->way);
    if (!raw_cuda_enter(cuda))
        return false;
    built = raw_cuda_graph(cuda, work, chains, programmatic, &self->graph);
    raw_cuda_leave(cuda);
    return built;
}

/* Independent launches go on a few chains: a wide fan costs the host 780 ns a node. */
bool raw_cuda_replay(struct raw *raw, const struct work *work, struct ways *ways)
{
    bool programmatic = ((struct raw_cuda *)raw)->programmatic;

    if (work->width == 1)
        return add_graph(raw, work, 1, programmatic, ways);
    return add_graph(raw, work, 8, false, ways) && add_graph(raw, work, 16, false, ways) &&
           (!programmatic || add_graph(raw, work, 16, true, ways));
}

/* ---- Once ----------------------------------------------------------------------------------- */

static bool go_loop(struct cuda_way *self, struct timing *timing)
{
    uint64_t start = stopwatch_read();
    bool done = launch_all(self);

    timing->ns = stopwatch_between(start, stopwatch_read());
    return done && raw_cuda_wait(self->cuda, self->finish);
}

bool raw_cuda_oneshot(struct raw *raw, const struct work *work, struct ways *ways)
{
    enum raw_finish finish = raw_cuda_finish((struct raw_cuda *)raw);
    struct cuda_way *self = make(raw, work, finish, go_loop);

    if (self)
        snprintf(self->way.how, sizeof self->way.how, "loop of cuLaunchKernel");
    return self && ways_add(ways, &self->way);
}

/* ---- There and back ------------------------------------------------------------------------- */

static bool go_launch_and_wait(struct cuda_way *self, struct timing *timing)
{
    uint64_t start = stopwatch_read();
    bool done = launch_all(self) && raw_cuda_wait(self->cuda, self->finish);

    timing->ns = stopwatch_between(start, stopwatch_read());
    return done;
}

static bool add_launch_and_wait(struct raw *raw, const struct work *work, enum raw_finish finish,
                                struct ways *ways)
{
    struct cuda_way *self = make(raw, work, finish, go_launch_and_wait);

    if (self)
        snprintf(self->way.how, sizeof self->way.how, "cuLaunchKernel, %s",
                 raw_cuda_finish_name(finish));
    return self && ways_add(ways, &self->way);
}

/* A graph of one node is not slower than a launch on every driver. */
bool raw_cuda_roundtrip(struct raw *raw, const struct work *work, struct ways *ways)
{
    if (((struct raw_cuda *)raw)->write_value &&
        !add_launch_and_wait(raw, work, SPIN_ON_WRITE, ways))
        return false;
    return add_launch_and_wait(raw, work, POLL_EVENT, ways) && add_graph(raw, work, 1, false, ways);
}
