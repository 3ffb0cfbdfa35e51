/* A case of gantry bench bandwidth: made, timed beside the driver's copy, looked at. */
#include <stdio.h>
#include <stdlib.h>

#include "../output.h"
#include "bandwidth.h"
#include "stopwatch.h"

enum {
    MOST_GOES = 64,      /* of a case in one run */
    REPETITIONS = 51,    /* of a run */
    FEW_REPETITIONS = 3, /* where they take long, or with --quick */
};

static const double long_enough = 10e6; /* ns: the cost of submitting and waiting is lost in it */
static const double patience = 2e9;     /* ns for all repetitions of a run */

/* ---- All cases ------------------------------------------------------------------------------ */

static const struct bandwidth_case *const tables[] = {simple_cases, ordered_cases, dense_cases,
                                                      particle_cases, product_cases};

const struct bandwidth_case *bandwidth_case_at(size_t index)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const struct bandwidth_case *test = tables[t]; test->name; test++) {
            if (index-- == 0)
                return test;
        }
    }
    return NULL;
}

uint64_t bandwidth_c_size(uint64_t n)
{
    uint64_t sort = gantry_sort_temporary((uint32_t)n, true), weights = 4 * TRIAL_WEIGHTS;

    return sort > weights ? sort : weights;
}

uint32_t bandwidth_edge(uint64_t n)
{
    uint32_t value = 1;

    while (UINT64_C(4) * value * value <= n)
        value *= 2;
    return value;
}

/* ---- Helpers of cases ----------------------------------------------------------------------- */

bool trial_fill_a(struct trial *trial)
{
    struct arrays *arrays = &trial->bench->arrays;

    return arrays_fill(arrays, arrays->a, 0, trial->n, arrays->floats, 0);
}

bool trial_fill_a_and_b(struct trial *trial)
{
    struct arrays *arrays = &trial->bench->arrays;

    return trial_fill_a(trial) &&
           arrays_fill(arrays, arrays->b, 0, trial->n, arrays->floats, SECOND);
}

bool trial_fill_a_and_c(struct trial *trial)
{
    struct arrays *arrays = &trial->bench->arrays;

    return trial_fill_a(trial) &&
           arrays_fill(arrays, arrays->c, 0, TRIAL_WEIGHTS, arrays->floats, SECOND);
}

bool trial_check(struct trial *trial, struct gantry_buffer *array, uint64_t count,
                 double (*expect)(const void *trial, uint64_t i, double *size), double tolerance)
{
    const struct expectation expectation = {.expect = expect,
                                            .what = trial,
                                            .tolerance = tolerance};

    return arrays_check(&trial->bench->arrays, array, count, &expectation);
}

/* ---- A way of running it -------------------------------------------------------------------- */

struct trial_way {
    struct way way;
    struct trial *trial;
    struct gantry_list *list;
};

static bool run(struct way *way, struct timing *timing)
{
    struct trial_way *self = (struct trial_way *)way;
    struct trial *trial = self->trial;
    struct gantry_queue *queue = trial->bench->side.queue;
    struct gantry_point point;
    uint64_t start;
    bool done;

    if (trial->test->restore && !trial->test->restore(trial))
        return false;
    start = stopwatch_read();
    done = (gantry_queue_submit(queue, self->list, NULL, 0, &point) == GANTRY_OK ||
            gantry_side_failed()) &&
           gantry_side_wait(point);
    timing->ns = stopwatch_between(start, stopwatch_read());
    return done;
}

static void destroy(struct way *way)
{
    struct trial_way *self = (struct trial_way *)way;

    gantry_list_destroy(&self->list);
    free(self);
}

/* The case so many times one after the other, in a finished list. NULL: why was said. */
static struct way *make_way(struct trial *trial, unsigned goes)
{
    struct trial_way *self = calloc(1, sizeof *self);

    if (!self) {
        output_error("bench: out of memory for a way of running %s", trial->test->name);
        return NULL;
    }
    self->way = (struct way){.how = "finished list", .run = run, .destroy = destroy};
    self->trial = trial;
    if (gantry_list_create(trial->bench->side.device, NULL, &self->list) == GANTRY_OK) {
        for (unsigned i = 0; i < goes; i++)
            trial->test->record(trial, self->list);
        if (gantry_list_finish(self->list) == GANTRY_OK)
            return &self->way;
    }
    gantry_side_failed();
    destroy(&self->way);
    return NULL;
}

/* ---- Timing --------------------------------------------------------------------------------- */

/* How often to run a case, and how many goes a run has. */
struct plan {
    unsigned goes, repetitions;
};

/* The second run counts: what is made at the first is made then. */
static bool time_one_go(struct trial *trial, double *ns)
{
    struct way *way = make_way(trial, 1);
    struct timing timing = {0};
    bool done = way && way->run(way, &timing) && way->run(way, &timing);

    if (way)
        way->destroy(way);
    *ns = timing.ns > 1 ? timing.ns : 1;
    return done;
}

static struct plan make_plan(const struct trial *trial, double ns)
{
    struct plan plan = {1, FEW_REPETITIONS};
    double runs;

    if (trial->bench->options.quick)
        return plan;
    if (ns < long_enough && !trial->test->restore)
        plan.goes = long_enough / ns > MOST_GOES ? MOST_GOES : (unsigned)(long_enough / ns) + 1;
    runs = patience / (ns * plan.goes);
    if (runs > FEW_REPETITIONS)
        plan.repetitions = runs > REPETITIONS ? REPETITIONS : (unsigned)runs;
    return plan;
}

/* The copy takes as many goes as the case. */
static bool measure(struct trial *trial, const struct plan *plan, struct rate *rate)
{
    struct raw *raw = trial->bench->raw;
    const struct raw_copy copy = {.route = RAW_ACROSS,
                                  .width = 4 * trial->n,
                                  .rows = 1,
                                  .pitch = 4 * trial->n,
                                  .times = plan->goes};
    struct ways gantry = {0}, raw_ways = {0};
    bool done = ways_add(&gantry, make_way(trial, plan->goes)) &&
                (!raw || raw->ops->copy(raw, &copy, &raw_ways)) &&
                ways_measure(gantry.items[0], &raw_ways, plan->goes, plan->repetitions, &rate->row);

    ways_destroy(&gantry);
    ways_destroy(&raw_ways);
    rate->raw_bytes = 2 * copy.width;
    return done;
}

static void add_figures(const struct trial *trial, const struct plan *plan, struct rate *rate)
{
    if (trial->test->operations) /* a TFLOP/s is 1000 operations a ns */
        row_extra(&rate->row, "tflops",
                  trial->test->operations(trial->n) / rate->row.gantry_ns / 1e3);
    row_extra(&rate->row, "goes", plan->goes);
    row_extra(&rate->row, "repetitions", plan->repetitions);
}

/* ---- A case --------------------------------------------------------------------------------- */

/* Once more from fresh inputs: some cases work in place. */
static bool check(struct trial *trial)
{
    struct way *way = make_way(trial, 1);
    struct timing timing;
    bool right =
        way && trial->test->fill(trial) && way->run(way, &timing) && trial->test->check(trial);

    if (way)
        way->destroy(way);
    return right;
}

static bool run_trial(struct trial *trial)
{
    struct bandwidth *bench = trial->bench;
    struct rate *rate =
        rates_add(&bench->rates, trial->test->name, trial->n, trial->test->bytes(trial->n));
    struct plan plan;
    double ns;

    if (!rate || !trial->test->fill(trial) || !time_one_go(trial, &ns))
        return false;
    plan = make_plan(trial, ns);
    if (!measure(trial, &plan, rate))
        return false;
    add_figures(trial, &plan, rate);
    return check(trial);
}

static void destroy_kernels(struct trial *trial)
{
    for (int i = 0; i < TRIAL_KERNELS; i++)
        gantry_kernel_destroy(&trial->kernels[i]);
}

static enum gantry_status make_kernels(struct trial *trial)
{
    struct gantry_module *module = trial->bench->library.module;
    enum gantry_status status = GANTRY_OK;

    for (int i = 0; i < TRIAL_KERNELS && trial->test->kernels[i] && status == GANTRY_OK; i++)
        status = gantry_kernel_create(module, trial->test->kernels[i], NULL, &trial->kernels[i]);
    return status;
}

bool bandwidth_case_run(struct bandwidth *bench, const struct bandwidth_case *test)
{
    struct trial trial = {.bench = bench, .test = test, .n = bench->n};
    enum gantry_status status = make_kernels(&trial);
    bool done = true;

    /* What the device lacks is no failure. */
    if (status == GANTRY_E_UNSUPPORTED || status == GANTRY_E_LIMIT)
        rates_skip(&bench->rates, test->name, gantry_last_error());
    else
        done = status == GANTRY_OK ? run_trial(&trial) : gantry_side_failed();
    destroy_kernels(&trial);
    return done;
}
