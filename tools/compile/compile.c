/* gantry compile: from a .gk file to a kernel package and its C header. */
#include <stdio.h>
#include <string.h>

#include "../tool.h"
#include "file.h"
#include "flow.h"
#include "header.h"
#include "image.h"
#include "includes.h"
#include "lint.h"
#include "package.h"
#include "process.h"
#include "scan.h"
#include "token.h"
#include "wrapper.h"
#include "writes.h"

/* Reads the source's words; false when it can't be preprocessed or has mistakes. */
static bool read_words(struct compilation *c)
{
    struct unit *unit = c->unit;
    struct text wrapper = wrap_scan(unit, c->settings);
    const char *path = work_file(c, pool_print(c->pool, "%s.scan.comp", unit->name), &wrapper);
    struct text words = text_new(c->pool);
    struct command command = glslc_command(c);
    command_add(&command, "-E");
    command_add(&command, path);
    if (!path || !command_run(&command, OUTPUT_SHOWN, &words))
        return false;
    tokenize(unit, words.data, path);
    scan(unit);
    if (unit->mistakes == 0)
        lint(unit);
    if (unit->mistakes == 0)
        find_early_returns(unit);
    return unit->mistakes == 0;
}

/* The first line of "TOOL --version" that names one. */
static const char *tool_version(struct compilation *c, const char *tool, const char *key)
{
    struct text text = text_new(c->pool);
    struct command command = command_new(c->pool, tool);
    command_add(&command, "--version");
    const char *found = command_run(&command, OUTPUT_SHOWN, &text) ? strstr(text.data, key) : NULL;
    return found ? pool_copy(c->pool, found, strcspn(found, "\n")) : "unknown";
}

static const char *describe_toolchain(struct compilation *c)
{
    struct text text = text_new(c->pool);
    text_print(&text, "gantry %s; glslc %s", gantry_version(),
               tool_version(c, c->settings->glslc, "shaderc"));
    if (c->settings->cuda)
        text_print(&text, "; nvcc %s", tool_version(c, c->settings->nvcc, "release"));
    return text.data;
}

static bool make_images(struct compilation *c)
{
    const struct settings *settings = c->settings;
    return (!settings->spirv || make_spirv_images(c)) && (!settings->cuda || make_cuda_images(c)) &&
           (!settings->source || make_source_images(c)) && (!settings->host || make_host_image(c));
}

/* Of a kernel that adds floats atomically, the entry that does so with a loop is optimised. Without
 * SPIR-V images every pointer counts as written. */
static void read_writes(struct compilation *c)
{
    for (size_t i = 0; i < c->image_count; i++) {
        const struct image *image = &c->images[i];
        if (image->kind != GANTRY_IMAGE_SPIRV || image->entry != GANTRY_ENTRY_DIRECT ||
            image->features & GANTRY_FEATURE_ATOMIC_FLOAT_ADD)
            continue;
        uint32_t *words = pool_allocate(c->pool, image->data.size, 1);
        memcpy(words, image->data.data, image->data.size);
        find_writes(c->pool, image->kernel, words, image->data.size / 4);
    }
}

/* Paths in a make rule: blanks are escaped, dollars doubled. */
static void add_make_path(struct text *text, const char *path)
{
    for (; *path; path++) {
        if (*path == ' ' || *path == '#')
            text_print(text, "\\");
        text_print(text, *path == '$' ? "$$" : "%c", *path);
    }
}

/* Each file also gets a rule of its own without a recipe, so that make survives its removal. */
static bool write_depfile(struct compilation *c)
{
    const struct settings *settings = c->settings;
    struct text text = text_new(c->pool), rules = text_new(c->pool);
    add_make_path(&text, settings->output);
    if (settings->header) {
        text_print(&text, " ");
        add_make_path(&text, settings->header);
    }
    text_print(&text, ":");
    for (size_t i = 0; i < c->unit->include_count; i++) {
        text_print(&text, " \\\n ");
        add_make_path(&text, c->unit->includes[i].path);
        add_make_path(&rules, c->unit->includes[i].path);
        text_print(&rules, ":\n");
    }
    text_print(&text, "\n\n%s", rules.data);
    return file_write(c->pool, settings->depfile, text.data, text.size);
}

static bool write_outputs(struct compilation *c)
{
    const struct settings *settings = c->settings;
    read_writes(c);
    struct text package = package_bytes(c, describe_toolchain(c));
    struct text header = header_text(c->unit, settings->prefix, settings->embed ? &package : NULL);
    return (!settings->header || file_write(c->pool, settings->header, header.data, header.size)) &&
           (!settings->depfile || write_depfile(c)) &&
           file_write(c->pool, settings->output, package.data, package.size);
}

static int compile(struct pool *pool, const struct settings *settings)
{
    struct unit unit = {
        .pool = pool,
        .path = settings->input,
        .name = path_stem(pool, settings->input),
    };
    struct compilation c = {
        .pool = pool,
        .settings = settings,
        .unit = &unit,
        .workdir = workdir_open(pool, settings->keep),
    };
    bool good = c.workdir != NULL;
    if (good && !file_exists(settings->input)) {
        fprintf(stderr, "gantry: compile: can't read %s\n", settings->input);
        good = false;
    }
    good = good && find_includes(&unit, settings) && read_words(&c) && reflect_kernels(&c) &&
           unit.mistakes == 0 && make_images(&c) && write_outputs(&c);
    workdir_remove();
    return good ? TOOL_DONE : TOOL_FAILED;
}

int cmd_compile(int argc, char **argv)
{
    struct pool pool = {0};
    struct settings settings = {0};
    int status = settings_read(&settings, &pool, argc, argv);
    if (status == TOOL_DONE)
        status = compile(&pool, &settings);
    else if (status == -1)
        status = TOOL_DONE;
    pool_free(&pool);
    return status;
}
