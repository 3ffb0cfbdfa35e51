/* A job as a whole: its package, and comparing results. */
#include "job.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool find_kernel(struct job *job, const struct job_params *params, char *why)
{
    uint32_t count = gantry_package_kernel_count(job->package);

    if (!params->kernel && count != 1) {
        snprintf(why, JOB_WHY_SIZE, "%s holds %u kernels (say which with --kernel K)", params->file,
                 count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (gantry_package_kernel(job->package, i, &job->source) == GANTRY_OK &&
            (!params->kernel || strcmp(job->source.name, params->kernel) == 0))
            return true;
    }
    snprintf(why, JOB_WHY_SIZE, "%s has no kernel %s (see gantry inspect)", params->file,
             params->kernel);
    return false;
}

static bool check_threads(const struct job *job, char *why)
{
    const uint32_t axes[] = {job->threads.x, job->threads.y, job->threads.z};

    for (uint32_t i = job->source.dimensions; i < 3; i++) {
        if (axes[i] > 1) {
            snprintf(why, JOB_WHY_SIZE,
                     "kernel %s has %u dimension%s, which --threads must not "
                     "exceed",
                     job->name, job->source.dimensions, job->source.dimensions == 1 ? "" : "s");
            return false;
        }
    }
    return true;
}

bool job_open(struct job *job, const struct job_params *params, char why[JOB_WHY_SIZE])
{
    const struct gantry_package_params file = {.file = params->file};

    *job = (struct job){.file = params->file, .threads = params->threads, .repeats = 1};
    if (gantry_package_open(&file, &job->package) != GANTRY_OK) {
        snprintf(why, JOB_WHY_SIZE, "%s", gantry_last_error());
        return false;
    }
    if (!find_kernel(job, params, why))
        return false;
    snprintf(job->name, sizeof job->name, "%s/%s", gantry_package_name(job->package),
             job->source.name);
    job->args = calloc(1, job->source.args_size ? job->source.args_size : 1);
    if (!job->args) {
        snprintf(why, JOB_WHY_SIZE, "out of memory for the arguments of %s", job->name);
        return false;
    }
    return check_threads(job, why) && job_read_args(job, params, why);
}

void job_close(struct job *job)
{
    for (unsigned i = 0; i < job->buffer_count; i++)
        free(job->buffers[i].initial);
    free(job->args);
    gantry_package_close(&job->package);
    *job = (struct job){0};
}

uint64_t job_result_size(const struct job *job)
{
    uint64_t size = 0;

    for (unsigned i = 0; i < job->buffer_count; i++)
        size += job->buffers[i].size;
    return size;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* Relative to the larger of the two, or to what is usual in the buffer where they are small. */
static bool floats_near(const float *a, const float *b, uint64_t count, double tolerance,
                        uint64_t *where)
{
    double sum = 0, usual;

    for (uint64_t i = 0; i < count; i++)
        sum += isfinite(a[i]) ? fabs((double)a[i]) : 0;
    usual = sum / (double)count;
    for (uint64_t i = 0; i < count; i++) {
        double size = fmax(fmax(fabs((double)a[i]), fabs((double)b[i])), usual);
        bool same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));

        if (!same && !(fabs((double)a[i] - (double)b[i]) <= tolerance * size)) {
            *where = i * sizeof *a;
            return false;
        }
    }
    return true;
}

static bool bytes_same(const unsigned char *a, const unsigned char *b, uint64_t size,
                       uint64_t *where)
{
    if (memcmp(a, b, size) == 0)
        return true;
    for (*where = 0; a[*where] == b[*where]; ++*where)
        ;
    return false;
}

bool job_same(const struct job *job, const void *a, const void *b, bool two_backends,
              char why[JOB_WHY_SIZE])
{
    bool tolerant = two_backends && job->source.tolerance > 0;
    const unsigned char *left = a, *right = b;
    uint64_t where;

    for (unsigned i = 0; i < job->buffer_count; i++) {
        const struct job_buffer *buffer = &job->buffers[i];
        bool same = true;

        if (!tolerant)
            same = bytes_same(left, right, buffer->size, &where);
        else if (buffer->floats)
            same =
                floats_near((const float *)(const void *)left, (const float *)(const void *)right,
                            buffer->size / sizeof(float), job->source.tolerance, &where);
        if (!same) {
            snprintf(why, JOB_WHY_SIZE, "byte %" PRIu64 " of what %s of %s points to differs",
                     where, buffer->name, job->name);
            return false;
        }
        left += buffer->size;
        right += buffer->size;
    }
    return true;
}
