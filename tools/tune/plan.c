/* What is tried: the trials, their values, and the work that they are tried on. */
#include <stdio.h>
#include <string.h>

#include "../output.h"
#include "tuner.h"

/* Coarse, because a finer choice is one between values that are alike. */
static const char *const batch_sizes[] = {"4", "8", "16", "64", "256", NULL};
static const char *const chain_counts[] = {"1", "4", "8", "16", "32", NULL};
static const char *const families[] = {"auto", "compute", "graphics", NULL};
static const char *const per_unit[] = {"auto", "2", "4", "8", "16", "32", NULL};

/* Of longer waits a sleep at the end is a small part, and spinning takes a processor. */
static const char *const spins[] = {"0", "50", "200", "1000", "4000", NULL};

static const char *const lines[] = {"64", "128", "256", "512", "1024", NULL};
static const char *const planes[] = {"8x8", "16x8", "32x4", "16x16", "32x8", "64x4", "32x16", NULL};
static const char *const cubes[] = {"4x4x4", "8x4x4", "8x8x4", "16x4x4", "8x8x8", "32x4x2", NULL};

/* ---- Loads ---------------------------------------------------------------------------------- */

static void add_work(struct trial *trial, enum load_kind kind, struct work work)
{
    trial->loads[trial->load_count++] = (struct load){.kind = kind, .work = work};
}

static void add_job(struct trial *trial, const struct job *job)
{
    if (trial->load_count < CONTEST_LOADS)
        trial->loads[trial->load_count++] = (struct load){.kind = LOAD_JOB, .job = job};
}

/* A launch that fills half the device: it is not folded with others. */
static uint32_t half_wave(const struct view *view)
{
    uint32_t wave = gantry_side_wave(&view->base);

    return wave > 1 ? wave / 2 : 1;
}

static void add_chain(struct trial *trial, enum load_kind kind, uint32_t launches, uint32_t blocks)
{
    add_work(trial, kind,
             (struct work){.launches = launches, .width = 1, .blocks = blocks, .kernels = 1});
}

static void add_wide(struct trial *trial, uint32_t launches, uint32_t width, uint32_t blocks,
                     uint32_t kernels)
{
    add_work(
        trial, LOAD_REPLAY,
        (struct work){.launches = launches, .width = width, .blocks = blocks, .kernels = kernels});
}

/* Waits of very different lengths. */
static void load_spins(struct trial *trial, bool cpu)
{
    add_chain(trial, LOAD_REPLAY, 1, 1);
    add_chain(trial, LOAD_REPLAY, cpu ? 8 : 128, cpu ? 2 : 8);
    add_chain(trial, LOAD_REPLAY, cpu ? 64 : 2048, cpu ? 2 : 8);
}

/* Independent launches that do not fold into one: of several kernels, and large ones. */
static void load_chains(struct trial *trial, const struct view *view, bool cpu)
{
    add_wide(trial, 64, 64, 1, KERNEL_COUNT);
    add_wide(trial, cpu ? 16 : 64, 16, half_wave(view), KERNEL_COUNT);
}

/* Bursts of several lengths, each waited for. */
static void load_batches(struct trial *trial, bool cpu)
{
    add_chain(trial, LOAD_STREAM, 16, cpu ? 2 : 8);
    add_chain(trial, LOAD_STREAM, cpu ? 64 : 512, cpu ? 2 : 8);
    add_chain(trial, LOAD_STREAM, cpu ? 64 : 512, 1);
}

/* A bit of everything, for what concerns everything. */
static void load_mixture(struct trial *trial, const struct view *view, bool cpu)
{
    add_chain(trial, LOAD_REPLAY, 1, 1);
    add_chain(trial, LOAD_REPLAY, cpu ? 16 : 64, cpu ? 2 : 8);
    add_chain(trial, LOAD_STREAM, cpu ? 16 : 64, cpu ? 2 : 8);
    add_wide(trial, cpu ? 16 : 64, 16, half_wave(view), KERNEL_COUNT);
}

/* ---- Making trials -------------------------------------------------------------------------- */

/* NULL when the key is not wanted, or there is no room. */
static struct trial *begin_trial(struct tuner *tuner, unsigned backend, enum trial_kind kind,
                                 const char *key)
{
    struct trial *trial = &tuner->trials[tuner->trial_count];

    if (!tune_wants(&tuner->options, key) || tuner->trial_count == MOST_TRIALS)
        return NULL;
    *trial = (struct trial){.kind = kind, .backend = backend};
    snprintf(trial->key, sizeof trial->key, "%s", key);
    return trial;
}

static void add_values(struct trial *trial, const char *const *values)
{
    for (; *values; values++)
        trial_add_value(trial, *values);
}

/* A key of the policy, with what is in force now. */
static struct trial *begin_policy(struct tuner *tuner, unsigned backend, const char *key,
                                  const char *const *values)
{
    struct trial *trial = begin_trial(tuner, backend, TRIAL_POLICY, key);
    struct gantry_config_value value;

    if (!trial || !gantry_side_config(&tuner->views[backend].base, key, &value))
        return NULL;
    add_values(trial, values);
    if (!trial_set_incumbent(trial, value.value))
        return NULL;
    snprintf(trial->origin, sizeof trial->origin, "%s", value.origin);
    tuner->trial_count++;
    return trial;
}

static void plan_policy(struct tuner *tuner, unsigned backend)
{
    const struct view *view = &tuner->views[backend];
    bool cpu = tuner->info.type == GANTRY_DEVICE_CPU;
    struct trial *trial = NULL;

    if (strcmp(view->backend, "vulkan") == 0)
        trial = begin_policy(tuner, backend, "queue_family", families);
    if (trial)
        load_mixture(trial, view, cpu);
    trial = begin_policy(tuner, backend, "spin_us", spins);
    if (trial)
        load_spins(trial, cpu);
    trial = begin_policy(tuner, backend, "chains", chain_counts);
    if (trial)
        load_chains(trial, view, cpu);
    trial = begin_policy(tuner, backend, "batch_size", batch_sizes);
    if (trial)
        load_batches(trial, cpu);
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static const char *const *blocks_for(const struct job *job)
{
    return job->source.dimensions == 1 ? lines : job->source.dimensions == 2 ? planes : cubes;
}

static void add_blocks(struct trial *trial, struct gantry_side *side, const char *already)
{
    for (const char *const *text = blocks_for(trial->job); *text; text++) {
        if (strcmp(*text, already) != 0 && job_takes_block(side, trial->job, job_block_read(*text)))
            trial_add_value(trial, *text);
    }
}

/* The block that the device chooses by itself is "auto"; a rule's is a number. */
static void plan_block(struct tuner *tuner, unsigned backend, const struct job *job)
{
    struct gantry_side *side = &tuner->views[backend].base;
    char key[TRIAL_KEY_SIZE], text[JOB_BLOCK_SIZE];
    struct job_kernel now;
    struct trial *trial;

    snprintf(key, sizeof key, "block_size.%s", job->name);
    trial = begin_trial(tuner, backend, TRIAL_BLOCK, key);
    if (!trial || job->source.block.x)
        return;
    if (!job_kernel_now(side, job, &now)) {
        tuner_leave_out(tuner, "%s through %s: %s", key, tuner->views[backend].backend,
                        gantry_last_error());
        return;
    }
    trial->job = job;
    job_block_text(job, now.block, text);
    if (!trial_set_incumbent(trial, now.automatic ? "auto" : text))
        return;
    snprintf(trial->origin, sizeof trial->origin, "%s", now.automatic ? "built-in" : now.origin);
    add_blocks(trial, side, text);
    add_job(trial, job);
    tuner->trial_count++;
}

static void plan_blocks_per_unit(struct tuner *tuner, unsigned backend)
{
    const struct view *view = &tuner->views[backend];
    struct trial *trial;

    if (!tune_wants(&tuner->options, "blocks_per_cu"))
        return;
    if (view->base.info.limits.compute_units == 0) {
        tuner_leave_out(tuner,
                        "blocks_per_cu through %s: the device does not tell how many compute "
                        "units it has, so it has no effect",
                        view->backend);
        return;
    }
    trial = begin_policy(tuner, backend, "blocks_per_cu", per_unit);
    for (unsigned i = 0; trial && i < tuner->job_count; i++) {
        if (tuner->jobs[i].source.grid_stride)
            add_job(trial, &tuner->jobs[i]);
    }
    if (trial && trial->load_count == 0)
        tuner->trial_count--;
}

/* ---- All ------------------------------------------------------------------------------------ */

static void plan_backends(struct tuner *tuner)
{
    struct trial *trial;

    if (tuner->view_count < 2)
        return;
    trial = begin_trial(tuner, tuner->preferred, TRIAL_BACKEND, "backend");
    if (!trial)
        return;
    for (unsigned i = 0; i < tuner->view_count; i++)
        trial_add_value(trial, tuner->views[i].backend);
    trial->incumbent = tuner->preferred;
    snprintf(trial->origin, sizeof trial->origin, "the order of the configuration");
    load_mixture(trial, &tuner->views[tuner->preferred], tuner->info.type == GANTRY_DEVICE_CPU);
    for (unsigned i = 0; i < tuner->job_count; i++)
        add_job(trial, &tuner->jobs[i]);
    tuner->trial_count++;
}

bool plan_trials(struct tuner *tuner)
{
    for (unsigned backend = 0; backend < tuner->view_count; backend++) {
        plan_policy(tuner, backend);
        for (unsigned i = 0; i < tuner->job_count; i++)
            plan_block(tuner, backend, &tuner->jobs[i]);
        plan_blocks_per_unit(tuner, backend);
    }
    plan_backends(tuner);
    if (tuner->trial_count == 0)
        output_error("tune: there is nothing to be tuned: %s",
                     tuner->left_out_count ? tuner->left_out[0] : "see gantry tune --help");
    return tuner->trial_count > 0;
}
