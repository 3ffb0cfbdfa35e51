/* The kernels to be tuned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernels.h"
#include "../output.h"
#include "shipped.h"
#include "tuner.h"

/* What a kernel of the user's gets when nothing was said. */
static struct gantry_size usual_threads(uint32_t dimensions, bool cpu)
{
    static const struct gantry_size gpu[] = {{1u << 20, 0, 0}, {1024, 1024, 0}, {128, 128, 64}};
    static const struct gantry_size few[] = {{1u << 15, 0, 0}, {256, 128, 0}, {32, 32, 32}};

    return cpu ? few[dimensions - 1] : gpu[dimensions - 1];
}

static bool is_cpu(const struct tuner *tuner)
{
    return tuner->info.type == GANTRY_DEVICE_CPU;
}

/* ---- The user's own ------------------------------------------------------------------------- */

/* 0: the kernel is not there, which opening the job will say. */
static uint32_t dimensions_of(const struct options *options)
{
    const struct gantry_package_params file = {.file = options->package};
    struct gantry_kernel_source source;
    struct gantry_package *package;
    uint32_t dimensions = 0;

    if (gantry_package_open(&file, &package) != GANTRY_OK)
        return 0;
    for (uint32_t i = 0; i < gantry_package_kernel_count(package); i++) {
        if (gantry_package_kernel(package, i, &source) == GANTRY_OK &&
            (!options->kernel || strcmp(source.name, options->kernel) == 0))
            dimensions = source.dimensions;
    }
    gantry_package_close(&package);
    return dimensions;
}

static bool open_own(struct tuner *tuner)
{
    const struct options *options = &tuner->options;
    struct job *job = &tuner->jobs[tuner->job_count++];
    struct job_params params = {.file = options->package,
                                .kernel = options->kernel,
                                .threads = options->threads,
                                .args = options->args,
                                .arg_count = options->arg_count};
    uint32_t dimensions = dimensions_of(options);
    char why[JOB_WHY_SIZE];

    if (params.threads.x == 0 && dimensions)
        params.threads = usual_threads(dimensions, is_cpu(tuner));
    if (!job_open(job, &params, why)) {
        output_error("tune: %s", why);
        return false;
    }
    if (job->source.block.x && tune_wants(options, "block_size"))
        tuner_leave_out(tuner,
                        "block_size.%s: BLOCK in the kernel's source fixes its blocks, so that "
                        "block_size would change nothing",
                        job->name);
    return true;
}

/* ---- The shipped ones ----------------------------------------------------------------------- */

static char *shipped_file(const struct tuner *tuner, const char *package)
{
    const char *folder = tuner->options.kernels;
    size_t size = (folder ? strlen(folder) : 0) + strlen(package) + sizeof "/.gpk";
    char *path = malloc(size), *found;

    if (path && folder)
        snprintf(path, size, "%s/%s.gpk", folder, package);
    if (!path || folder)
        return path;
    snprintf(path, size, "%s.gpk", package);
    found = kernels_find(path);
    free(path);
    return found;
}

static size_t count_args(const struct shipped *shipped)
{
    size_t count = 0;

    while (count < SHIPPED_ARGS && shipped->args[count])
        count++;
    return count;
}

/* One that is not there is left out: the user did not ask for it. */
static void open_shipped(struct tuner *tuner, const struct shipped *shipped)
{
    char *file = shipped_file(tuner, shipped->package);
    struct job *job = &tuner->jobs[tuner->job_count];
    const struct job_params params = {.file = file,
                                      .kernel = shipped->kernel,
                                      .threads = is_cpu(tuner) ? shipped->few : shipped->threads,
                                      .per_thread = shipped->per_thread,
                                      .args = shipped->args,
                                      .arg_count = count_args(shipped)};
    char why[JOB_WHY_SIZE];

    if (!file) {
        tuner_leave_out(tuner, "kernel %s/%s: its package is not there", shipped->package,
                        shipped->kernel);
    } else if (job_open(job, &params, why)) {
        tuner->job_files[tuner->job_count++] = file;
        return;
    } else {
        tuner_leave_out(tuner, "kernel %s/%s: %s", shipped->package, shipped->kernel, why);
        job_close(job);
    }
    free(file);
}

/* ---- All ------------------------------------------------------------------------------------ */

static bool want_shipped(const struct options *options)
{
    char key[TRIAL_KEY_SIZE];
    bool wanted = tune_wants(options, "blocks_per_cu") || tune_wants(options, "backend");
    const struct shipped *shipped;

    if (options->package)
        return wanted;
    for (size_t i = 0; !wanted && (shipped = shipped_at(i)); i++) {
        snprintf(key, sizeof key, "block_size.%s/%s", shipped->package, shipped->kernel);
        wanted = tune_wants(options, key);
    }
    return wanted;
}

bool jobs_open(struct tuner *tuner)
{
    const struct shipped *shipped;

    if (tuner->options.package && !open_own(tuner))
        return false;
    if (!want_shipped(&tuner->options))
        return true;
    for (size_t i = 0; (shipped = shipped_at(i)) && tuner->job_count < MOST_JOBS; i++)
        open_shipped(tuner, shipped);
    return true;
}

void jobs_close(struct tuner *tuner)
{
    for (unsigned i = 0; i < tuner->job_count; i++) {
        job_close(&tuner->jobs[i]);
        free(tuner->job_files[i]);
    }
    tuner->job_count = 0;
}
