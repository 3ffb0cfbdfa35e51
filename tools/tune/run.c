/* A trial, from opening its sides to the verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/stopwatch.h"
#include "../output.h"
#include "tuner.h"

enum { JOB_RUN_NS = 300000, MOST_REPEATS = 32, LONG = 120 /* seconds for all */ };

/* One value. */
struct entrant {
    struct gantry_side *side; /* the view's base, or `own` */
    struct gantry_side own;
    struct way *ways[CONTEST_LOADS]; /* all NULL: it can't take part */
    bool present, compared;          /* its jobs' results have been looked at */
};

struct stage {
    struct tuner *tuner;
    struct trial *trial;
    struct entrant entrants[CONTEST_ENTRANTS];
    void *references[CONTEST_LOADS]; /* the incumbent's results */
    bool inexact[CONTEST_LOADS];     /* they differ from run to run, within the tolerance */
};

static void note(struct stage *stage, unsigned entrant, const char *text)
{
    snprintf(stage->trial->notes[entrant], TRIAL_NOTE_SIZE, "%s", text);
}

/* ---- Opening -------------------------------------------------------------------------------- */

static struct view *view_of(struct stage *stage, unsigned entrant)
{
    bool backends = stage->trial->kind == TRIAL_BACKEND;

    return &stage->tuner->views[backends ? entrant : stage->trial->backend];
}

static uint32_t blocks_needed(const struct trial *trial)
{
    uint32_t most = 1;

    for (unsigned i = 0; i < trial->load_count; i++) {
        uint32_t blocks = load_blocks(&trial->loads[i]);

        most = blocks > most ? blocks : most;
    }
    return most;
}

/* Values of a policy have devices of their own, except the one that is in force. */
static bool open_side(struct stage *stage, unsigned index)
{
    struct entrant *entrant = &stage->entrants[index];
    struct view *view = view_of(stage, index);
    char line[TRIAL_KEY_SIZE + TRIAL_VALUE_SIZE + 8];

    entrant->side = &view->base;
    if (stage->trial->kind != TRIAL_POLICY || index == stage->trial->incumbent)
        return true;
    snprintf(line, sizeof line, "%s = %s\n", stage->trial->key, stage->trial->values[index]);
    entrant->side = &entrant->own;
    if (view_open_side(stage->tuner, view, line, &entrant->own))
        return true;
    note(stage, index, gantry_last_error());
    return false;
}

static bool make_ways(struct stage *stage, unsigned index)
{
    struct entrant *entrant = &stage->entrants[index];
    bool demands = stage->trial->kind == TRIAL_BLOCK && index != stage->trial->incumbent;
    struct gantry_size block = {0, 0, 0};

    if (demands)
        block = job_block_read(stage->trial->values[index]);
    for (unsigned i = 0; i < stage->trial->load_count; i++) {
        entrant->ways[i] = load_way(entrant->side, &stage->trial->loads[i], block);
        if (!entrant->ways[i]) {
            note(stage, index, gantry_last_error());
            return false;
        }
    }
    return true;
}

static uint32_t family_of(const struct gantry_side *side)
{
    struct gantry_native_queue native = {0};

    gantry_queue_native(side->queue, &native);
    return native.vk_family;
}

/* A queue family that has two names is tried under one; the incumbent's, if it is among them. */
static bool is_double(struct stage *stage, unsigned index)
{
    unsigned incumbent = stage->trial->incumbent;
    char text[TRIAL_VALUE_SIZE + 32];

    if (strcmp(stage->trial->key, "queue_family") != 0 || index == incumbent)
        return false;
    for (unsigned i = 0; i < stage->trial->value_count; i++) {
        const struct entrant *other = &stage->entrants[i];

        if (i == index || !other->present ||
            family_of(other->side) != family_of(stage->entrants[index].side))
            continue;
        snprintf(text, sizeof text, "the same family as %s", stage->trial->values[i]);
        note(stage, index, text);
        return true;
    }
    return false;
}

static void open_entrant(struct stage *stage, unsigned index)
{
    struct entrant *entrant = &stage->entrants[index];

    entrant->present = open_side(stage, index) && !is_double(stage, index) &&
                       (stage->trial->kind == TRIAL_BLOCK ||
                        gantry_side_reserve(entrant->side, blocks_needed(stage->trial))) &&
                       make_ways(stage, index);
}

/* So many launches of a job in a run that the launch itself is what takes the time. */
static bool calibrate(struct stage *stage)
{
    const struct trial *trial = stage->trial;

    for (unsigned i = 0; i < trial->load_count; i++) {
        struct job *job = (struct job *)(uintptr_t)trial->loads[i].job;
        struct timing timing = {1, -1};
        struct way *way;
        double repeats;
        bool ran;

        if (!job)
            continue;
        job->repeats = 1;
        way = job_way(stage->entrants[trial->incumbent].side, job, (struct gantry_size){0, 0, 0});
        ran = way && way->run(way, &timing) && way->run(way, &timing);
        if (!way)
            gantry_side_failed();
        else
            way->destroy(way);
        if (!ran)
            return false;
        repeats = JOB_RUN_NS / (timing.ns > 1 ? timing.ns : 1);
        job->repeats = repeats < 1 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : (unsigned)repeats;
    }
    return true;
}

/* The incumbent's results, to compare with. They must come again: atomic additions of floats, for
 * one, need not. */
static bool fetch_reference(struct stage *stage, unsigned load, struct way *way)
{
    const struct job *job = stage->trial->loads[load].job;
    void *reference = malloc(job_result_size(job)), *again = malloc(job_result_size(job));
    char why[JOB_WHY_SIZE];
    bool fetched =
        reference && again && job_way_result(way, reference) && job_way_result(way, again);
    bool same = fetched && job_same(job, reference, again, false, why);

    stage->references[load] = reference;
    stage->inexact[load] = !same;
    if (fetched && !same)
        same = job->source.tolerance > 0 && job_same(job, reference, again, true, why);
    if (fetched && !same)
        tuner_leave_out(stage->tuner,
                        "%s: results differ from run to run, so that wrong ones can't be told: %s",
                        stage->trial->key, why);
    if (!reference || !again)
        output_error("tune: out of memory for the results of %s", job->name);
    free(again);
    return same;
}

static bool fetch_references(struct stage *stage)
{
    struct entrant *incumbent = &stage->entrants[stage->trial->incumbent];

    for (unsigned i = 0; i < stage->trial->load_count; i++) {
        if (stage->trial->loads[i].job && !fetch_reference(stage, i, incumbent->ways[i]))
            return false;
    }
    incumbent->compared = true;
    return true;
}

static bool stage_open(struct stage *stage)
{
    unsigned incumbent = stage->trial->incumbent;

    stage->entrants[incumbent].side = &view_of(stage, incumbent)->base;
    if (calibrate(stage))
        open_entrant(stage, incumbent);
    if (!stage->entrants[incumbent].present) {
        stage->tuner->problem = true;
        output_error("tune: %s = %s, which is in force, can't be tried: %s", stage->trial->key,
                     stage->trial->values[incumbent], stage->trial->notes[incumbent]);
        return false;
    }
    for (unsigned i = 0; i < stage->trial->value_count && !progress_stopped(); i++) {
        progress_tick(&stage->tuner->progress);
        if (i != incumbent)
            open_entrant(stage, i);
    }
    return fetch_references(stage);
}

static void stage_close(struct stage *stage)
{
    for (unsigned i = 0; i < stage->trial->value_count; i++) {
        struct entrant *entrant = &stage->entrants[i];

        for (unsigned load = 0; load < stage->trial->load_count; load++) {
            if (entrant->ways[load])
                entrant->ways[load]->destroy(entrant->ways[load]);
        }
        gantry_side_close(&entrant->own);
    }
    for (unsigned load = 0; load < stage->trial->load_count; load++)
        free(stage->references[load]);
}

/* ---- The contest ---------------------------------------------------------------------------- */

static bool run(void *user, unsigned entrant, unsigned load, double *ns)
{
    struct stage *stage = user;
    struct way *way = stage->entrants[entrant].ways[load];
    struct timing timing = {0, -1};

    progress_tick(&stage->tuner->progress);
    if (!stage->entrants[entrant].present)
        return false;
    if (!way->run(way, &timing)) {
        note(stage, entrant, gantry_last_error());
        return false;
    }
    *ns = timing.ns;
    return true;
}

/* Loud, because a wrong result is a fault of gantry, of a driver or of the kernel. */
static void report_wrong(struct stage *stage, unsigned entrant, const char *why)
{
    stage->tuner->problem = true;
    snprintf(stage->trial->notes[entrant], TRIAL_NOTE_SIZE, "wrong results: %s", why);
    output_error("tune: WRONG RESULTS through %s with %s = %s: %s (that value is out)",
                 view_of(stage, entrant)->backend, stage->trial->key, stage->trial->values[entrant],
                 why);
}

/* What a job leaves depends on its arguments alone, so looking once is enough. */
static bool jobs_right(struct stage *stage, unsigned index)
{
    struct entrant *entrant = &stage->entrants[index];
    bool other_backend = stage->trial->kind == TRIAL_BACKEND && index != stage->trial->incumbent;
    bool right = true;
    char why[JOB_WHY_SIZE];

    if (entrant->compared)
        return true;
    entrant->compared = true;
    for (unsigned i = 0; i < stage->trial->load_count && right; i++) {
        const struct job *job = stage->trial->loads[i].job;
        void *result = job ? malloc(job_result_size(job)) : NULL;

        if (!job)
            continue;
        snprintf(why, sizeof why, "they could not be fetched");
        right =
            result && job_way_result(entrant->ways[i], result) &&
            job_same(job, stage->references[i], result, other_backend || stage->inexact[i], why);
        free(result);
    }
    if (!right)
        report_wrong(stage, index, why);
    return right;
}

static bool right(void *user, unsigned index)
{
    struct stage *stage = user;

    progress_tick(&stage->tuner->progress);
    if (stage->trial->kind != TRIAL_BLOCK && !gantry_side_check(stage->entrants[index].side)) {
        report_wrong(stage, index, "memory is not what the host computes");
        return false;
    }
    return jobs_right(stage, index);
}

static uint64_t now(void *user)
{
    (void)user;
    return stopwatch_read();
}

static bool stopped(void *user)
{
    (void)user;
    return progress_stopped();
}

static bool refresh_views(struct stage *stage)
{
    struct tuner *tuner = stage->tuner;

    if (stage->trial->kind != TRIAL_BACKEND)
        return view_refresh(tuner, &tuner->views[stage->trial->backend]);
    for (unsigned i = 0; i < tuner->view_count; i++) {
        if (!view_refresh(tuner, &tuner->views[i]))
            return false;
    }
    return true;
}

void trial_run(struct tuner *tuner, struct trial *trial, uint64_t end, uint64_t limit)
{
    struct stage *stage = calloc(1, sizeof *stage);
    struct contest contest = {.entrants = trial->value_count,
                              .loads = trial->load_count,
                              .incumbent = trial->incumbent,
                              .rounds = tuner->options.seconds < LONG ? 9 : 21,
                              .end = end,
                              .limit = limit,
                              .user = stage,
                              .run = run,
                              .right = right,
                              .now = now,
                              .stopped = stopped};
    bool opened;

    if (!stage) {
        output_error("tune: out of memory for a trial");
        tuner->problem = true;
        return;
    }
    *stage = (struct stage){.tuner = tuner, .trial = trial};
    opened = refresh_views(stage) && stage_open(stage);
    if (opened) {
        contest_run(&contest, &trial->verdict);
        trial->measured = trial->verdict.outcome != CONTEST_STOPPED;
        tuner->problem |= trial->verdict.outcome == CONTEST_BROKEN;
    }
    stage_close(stage);
    free(stage);
}
