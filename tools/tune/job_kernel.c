/* The blocks of a job's kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

void job_block_text(const struct job *job, struct gantry_size block, char text[JOB_BLOCK_SIZE])
{
    if (job->source.dimensions == 1)
        snprintf(text, JOB_BLOCK_SIZE, "%u", block.x);
    else if (job->source.dimensions == 2)
        snprintf(text, JOB_BLOCK_SIZE, "%ux%u", block.x, block.y);
    else
        snprintf(text, JOB_BLOCK_SIZE, "%ux%ux%u", block.x, block.y, block.z);
}

struct gantry_size job_block_read(const char *text)
{
    struct gantry_size block = {0, 0, 0};

    sscanf(text, "%ux%ux%u", &block.x, &block.y, &block.z);
    return block;
}

static bool make(struct gantry_side *side, const struct job *job, struct gantry_size block,
                 struct job_kernel *now)
{
    const struct gantry_module_params params = {.file = job->file};
    const struct gantry_kernel_params demand = {.block = block};
    struct gantry_kernel *kernel = NULL;
    struct gantry_module *module = NULL;
    struct gantry_kernel_info info;
    bool made = gantry_module_load(side->device, &params, &module) == GANTRY_OK &&
                gantry_kernel_create(module, job->source.name, &demand, &kernel) == GANTRY_OK &&
                gantry_kernel_describe(kernel, &info) == GANTRY_OK;

    if (made && now) {
        now->block = info.block;
        now->automatic = strcmp(info.block_origin, "device occupancy") == 0;
        snprintf(now->origin, sizeof now->origin, "%s", info.block_origin);
    }
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
    return made;
}

bool job_kernel_now(struct gantry_side *side, const struct job *job, struct job_kernel *now)
{
    return make(side, job, (struct gantry_size){0, 0, 0}, now);
}

bool job_takes_block(struct gantry_side *side, const struct job *job, struct gantry_size block)
{
    return make(side, job, block, NULL);
}
