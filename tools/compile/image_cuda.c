/* CUDA images: a cubin of all kernels for each architecture, and PTX of each kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "image.h"
#include "process.h"
#include "wrapper.h"

/* PTX versions, ten times the number, since the oldest that knows sm_75. */
static const uint32_t ptx_versions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81,
                                        82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94, 95};

struct job {
    struct image image;
    const char *output;
};

struct jobs {
    struct job *jobs;
    struct command *commands;
    size_t count;
};

static void add_job(struct compilation *c, struct jobs *jobs, const struct architecture *arch,
                    const struct kernel *kernel, const char *input)
{
    const struct settings *settings = c->settings;
    struct job job = {
        .image =
            {
                .kernel = kernel,
                .kind = arch->ptx ? GANTRY_IMAGE_PTX : GANTRY_IMAGE_CUBIN,
                .entry = GANTRY_ENTRY_ALL,
                .arch = arch->number,
                .name = "",
                .data = text_new(c->pool),
            },
        .output = pool_print(c->pool, "%s.%u.%s", input, arch->number, arch->ptx ? "ptx" : "cubin"),
    };
    struct command command = command_new(c->pool, settings->nvcc);
    command_add(&command, "-std=c++17");
    command_add(&command, "-fmad=false"); /* see contraction.h */
    command_add(&command, arch->ptx ? "-ptx" : "-cubin");
    command_add(&command,
                pool_print(c->pool, "-arch=%s_%u", arch->ptx ? "compute" : "sm", arch->number));
    command_add(&command, "-I");
    command_add(&command, path_folder(c->pool, c->unit->path));
    for (size_t i = 0; i < settings->folder_count; i++) {
        command_add(&command, "-I");
        command_add(&command, settings->folders[i]);
    }
    command_add(&command, "-o");
    command_add(&command, job.output);
    command_add(&command, input);
    jobs->jobs = pool_grow(c->pool, jobs->jobs, jobs->count, sizeof(*jobs->jobs));
    jobs->commands = pool_grow(c->pool, jobs->commands, jobs->count, sizeof(*jobs->commands));
    jobs->jobs[jobs->count] = job;
    jobs->commands[jobs->count++] = command;
}

static bool add_cubins(struct compilation *c, struct jobs *jobs)
{
    struct text text = wrap_cpp(c->unit, c->settings, NULL);
    const char *input = work_file(c, pool_print(c->pool, "%s.cu", c->unit->name), &text);
    for (size_t i = 0; input && i < c->settings->architecture_count; i++)
        if (!c->settings->architectures[i].ptx)
            add_job(c, jobs, &c->settings->architectures[i], NULL, input);
    return input != NULL;
}

/* A file for each kernel: what one needs raises the PTX version of the whole file. */
static bool add_ptx(struct compilation *c, struct jobs *jobs, const struct kernel *kernel)
{
    struct text text = wrap_cpp(c->unit, c->settings, kernel);
    const char *name = pool_print(c->pool, "%s.%s.cu", c->unit->name, kernel->name);
    const char *input = work_file(c, name, &text);
    for (size_t i = 0; input && i < c->settings->architecture_count; i++)
        if (c->settings->architectures[i].ptx)
            add_job(c, jobs, &c->settings->architectures[i], kernel, input);
    return input != NULL;
}

/* ---- Lowering PTX
 * -------------------------------------------------------------------------------- */

/* `.version 9.0`: where its number stands. NULL, with a complaint, when it is not there. */
static const char *find_version(const struct text *ptx, const char *path)
{
    const char *version = strstr(ptx->data, "\n.version ");
    if (!version)
        fprintf(stderr, "gantry: compile: %s has no .version line\n", path);
    return version ? version + strlen("\n.version ") : NULL;
}

/* `.pragma "used_bytes_mask 4095";` says which bytes of a wide load count, needs PTX 8.3, and
 * changes nothing. */
static struct text without_hints(struct compilation *c, const struct text *ptx)
{
    struct text rest = text_new(c->pool);
    for (const char *line = ptx->data, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        const char *word = line + strspn(line, " \t");
        if (strncmp(word, ".pragma \"used_bytes_mask", strlen(".pragma \"used_bytes_mask")) != 0)
            text_add(&rest, line, (size_t)(end - line));
    }
    return rest;
}

static struct text with_version(struct compilation *c, const struct text *ptx, const char *version,
                                uint32_t number)
{
    struct text lowered = text_new(c->pool);
    const char *rest = version + strcspn(version, "\n");
    text_add(&lowered, ptx->data, (size_t)(version - ptx->data));
    text_print(&lowered, "%u.%u", number / 10, number % 10);
    text_add(&lowered, rest, ptx->size - (size_t)(rest - ptx->data));
    return lowered;
}

static bool assembles(struct compilation *c, const struct job *job, const struct text *ptx)
{
    const char *path = pool_print(c->pool, "%s.lowered", job->output);
    struct command command = command_new(c->pool, c->settings->ptxas);
    command_add(&command, pool_print(c->pool, "-arch=sm_%u", job->image.arch));
    command_add(&command, path);
    command_add(&command, "-o");
    command_add(&command, "/dev/null");
    return file_write(c->pool, path, ptx->data, ptx->size) &&
           command_run(&command, OUTPUT_HIDDEN, NULL);
}

/* nvcc states its own version, which older drivers refuse though they know every instruction. Takes
 * the oldest version with which ptxas accepts the text. */
static bool lower(struct compilation *c, struct job *job)
{
    struct text *ptx = &job->image.data;
    *ptx = without_hints(c, ptx);
    const char *version = find_version(ptx, job->output);
    if (!version)
        return false;
    uint32_t stated = (uint32_t)strtoul(version, NULL, 10) * 10;
    stated += (uint32_t)strtoul(version + strcspn(version, ".\n") + 1, NULL, 10);
    job->image.isa_version = stated;
    for (size_t i = 0; i < sizeof(ptx_versions) / sizeof(ptx_versions[0]); i++) {
        if (ptx_versions[i] >= stated)
            break;
        struct text lowered = with_version(c, ptx, version, ptx_versions[i]);
        if (!assembles(c, job, &lowered))
            continue;
        job->image.isa_version = ptx_versions[i];
        *ptx = lowered;
        return true;
    }
    if (assembles(c, job, ptx))
        return true;
    fprintf(stderr, "gantry: compile: ptxas refuses %s as nvcc wrote it\n", job->output);
    return false;
}

bool make_cuda_images(struct compilation *c)
{
    struct jobs jobs = {0};
    bool good = add_cubins(c, &jobs);
    for (size_t i = 0; good && i < c->unit->kernel_count; i++)
        good = add_ptx(c, &jobs, c->unit->kernels[i]);
    good = good && commands_run(jobs.commands, jobs.count);
    for (size_t i = 0; good && i < jobs.count; i++) {
        good = file_read(jobs.jobs[i].output, &jobs.jobs[i].image.data);
        if (good && jobs.jobs[i].image.kind == GANTRY_IMAGE_PTX)
            good = lower(c, &jobs.jobs[i]);
        image_add(c, &jobs.jobs[i].image);
    }
    return good;
}
