/* SPIR-V images: one for each entry that a kernel has, and one more where a kernel adds floats
 * atomically. */
#include <stdio.h>
#include <string.h>

#include "contraction.h"
#include "file.h"
#include "image.h"
#include "optimise.h"
#include "process.h"
#include "reflect.h"
#include "spirv.h"
#include "wrapper.h"

enum { ISA_VERSION = 15 }; /* what glslc makes for Vulkan 1.2 */

struct command glslc_command(struct compilation *c)
{
    struct command command = command_new(c->pool, c->settings->glslc);
    static const char *const options[] = {"-x", "glsl", "-fshader-stage=compute",
                                          "--target-env=vulkan1.2", "-I"};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        command_add(&command, options[i]);
    command_add(&command, path_folder(c->pool, c->unit->path));
    for (size_t i = 0; i < c->settings->folder_count; i++) {
        command_add(&command, "-I");
        command_add(&command, c->settings->folders[i]);
    }
    return command;
}

/* Adds the command that compiles a variant to `output`. False when its wrapper can't be written. */
static bool add_compilation(struct compilation *c, struct command *command,
                            const struct glsl_variant *variant, const char *option,
                            const char *output)
{
    struct text text = wrap_glsl(c->unit, c->settings, variant);
    const char *input = work_file(c, pool_print(c->pool, "%s.comp", path_name(output)), &text);
    *command = glslc_command(c);
    if (option)
        command_add(command, option);
    command_add(command, "-o");
    command_add(command, output);
    command_add(command, input);
    return input != NULL;
}

/* ---- Reading the kernels
 * ------------------------------------------------------------------------- */

static bool read_kernel(struct compilation *c, struct kernel *kernel, const char *path)
{
    struct text code = text_new(c->pool);
    if (!file_read(path, &code))
        return false;
    if (code.size < 20 || code.size % 4) {
        fprintf(stderr, "gantry: compile: %s is no SPIR-V module\n", path);
        return false;
    }
    uint32_t *words = pool_allocate(c->pool, code.size, 1);
    memcpy(words, code.data, code.size);
    spirv_read(c->unit, kernel, words, code.size / 4);
    if (!reflect(c->unit, kernel, words, code.size / 4))
        return false;
    kernel->layout_hash = layout_hash(c->unit, kernel->args);
    return true;
}

bool reflect_kernels(struct compilation *c)
{
    struct unit *unit = c->unit;
    size_t count = unit->kernel_count;
    struct command *commands = pool_allocate(c->pool, count, sizeof(*commands));
    const char **outputs = pool_allocate(c->pool, count, sizeof(*outputs));
    for (size_t i = 0; i < count; i++) {
        struct glsl_variant variant = {unit->kernels[i], .reflect = true, .float_atomics = true};
        outputs[i] = pool_print(c->pool, "%s/%s.%s.reflect.spv", c->workdir, unit->name,
                                unit->kernels[i]->name);
        if (!add_compilation(c, &commands[i], &variant, "-g", outputs[i]))
            return false;
    }
    /* Each reads the whole file: the first alone shows what is wrong with it, once. */
    if (count > 0 &&
        (!command_run(&commands[0], OUTPUT_SHOWN, NULL) || !commands_run(commands + 1, count - 1)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_kernel(c, unit->kernels[i], outputs[i]))
            return false;
    return true;
}

/* ---- Making the images
 * ---------------------------------------------------------------------------- */

struct job {
    struct image image;
    const char *output;
};

struct batch {
    struct command *commands;
    size_t count;
};

/* The batches run one after the other. */
struct jobs {
    struct job *jobs;
    size_t count;
    struct batch compile, unroll, optimise, validate;
};

static void batch_add(struct pool *pool, struct batch *batch, struct command command)
{
    batch->commands = pool_grow(pool, batch->commands, batch->count, sizeof(*batch->commands));
    batch->commands[batch->count++] = command;
}

static bool batch_run(const struct batch *batch)
{
    return commands_run(batch->commands, batch->count);
}

static struct command validate_command(struct compilation *c, const char *path)
{
    struct command command = command_new(c->pool, c->settings->spirv_val);
    command_add(&command, "--scalar-block-layout");
    command_add(&command, "--target-env");
    command_add(&command, "vulkan1.2");
    command_add(&command, path);
    return command;
}

static uint32_t features_of(const struct glsl_variant *variant)
{
    return variant->kernel->features |
           (variant->float_atomics ? GANTRY_FEATURE_ATOMIC_FLOAT_ADD : 0) |
           (variant->entry == GANTRY_ENTRY_CHAINED ? GANTRY_FEATURE_MEMORY_MODEL : 0);
}

static bool add_job(struct compilation *c, struct jobs *jobs, const struct glsl_variant *variant)
{
    static const char *const names[] = {
        [GANTRY_ENTRY_DIRECT] = "direct",
        [GANTRY_ENTRY_FOLDED] = "folded",
        [GANTRY_ENTRY_CHAINED] = "chained",
    };
    const struct kernel *kernel = variant->kernel;
    struct job job = {
        .image =
            {
                .kernel = kernel,
                .kind = GANTRY_IMAGE_SPIRV,
                .entry = variant->entry,
                .isa_version = ISA_VERSION,
                .features = features_of(variant),
                .name = "",
                .data = text_new(c->pool),
            },
        .output = pool_print(c->pool, "%s/%s.%s.%s%s.spv", c->workdir, c->unit->name, kernel->name,
                             names[variant->entry], variant->float_atomics ? ".atomics" : ""),
    };
    struct command compile;
    bool good = add_compilation(c, &compile, variant, "-O0", job.output);
    jobs->jobs = pool_grow(c->pool, jobs->jobs, jobs->count, sizeof(*jobs->jobs));
    jobs->jobs[jobs->count++] = job;
    batch_add(c->pool, &jobs->compile, compile);
    /* spirv-opt up to 2023 does not know the float atomics, and leaves half its work undone. */
    if (!variant->float_atomics) {
        batch_add(c->pool, &jobs->unroll, unroll_command(c, job.output));
        batch_add(c->pool, &jobs->optimise, optimise_command(c, job.output));
    }
    batch_add(c->pool, &jobs->validate, validate_command(c, job.output));
    return good;
}

static bool add_entry(struct compilation *c, struct jobs *jobs, const struct kernel *kernel,
                      enum gantry_entry entry)
{
    bool good = true;
    for (int atomics = kernel->float_atomics; atomics >= 0; atomics--) {
        struct glsl_variant variant = {kernel, .entry = entry, .float_atomics = atomics};
        good = add_job(c, jobs, &variant) && good;
    }
    return good;
}

static bool forbid_contraction(struct compilation *c, const struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (!spirv_forbid_contraction(c->pool, jobs->jobs[i].output))
            return false;
    return true;
}

bool make_spirv_images(struct compilation *c)
{
    struct jobs jobs = {0};
    bool good = true;
    for (size_t i = 0; i < c->unit->kernel_count; i++) {
        const struct kernel *kernel = c->unit->kernels[i];
        good = add_entry(c, &jobs, kernel, GANTRY_ENTRY_DIRECT) &&
               add_entry(c, &jobs, kernel, GANTRY_ENTRY_FOLDED) &&
               (kernel->early_return || add_entry(c, &jobs, kernel, GANTRY_ENTRY_CHAINED)) && good;
    }
    good = good && batch_run(&jobs.compile) && batch_run(&jobs.unroll) &&
           forbid_contraction(c, &jobs) && batch_run(&jobs.optimise) && batch_run(&jobs.validate);
    for (size_t i = 0; good && i < jobs.count; i++) {
        good = file_read(jobs.jobs[i].output, &jobs.jobs[i].image.data);
        image_add(c, &jobs.jobs[i].image);
    }
    return good;
}
