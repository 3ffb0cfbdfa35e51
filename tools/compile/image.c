#include "image.h"

#include <string.h>

#include "file.h"
#include "process.h"
#include "wrapper.h"

void image_add(struct compilation *c, const struct image *image)
{
    c->images = pool_grow(c->pool, c->images, c->image_count, sizeof(*c->images));
    c->images[c->image_count++] = *image;
}

const char *work_file(struct compilation *c, const char *name, const struct text *text)
{
    const char *path = pool_print(c->pool, "%s/%s", c->workdir, name);
    return file_write(c->pool, path, text->data, text->size) ? path : NULL;
}

/* The language's headers for other targets are left out. */
static bool needed_by_nvrtc(const char *name)
{
    return strncmp(name, "gantry/kernel_", 14) != 0 || strcmp(name, "gantry/kernel_cuda.h") == 0;
}

bool make_source_images(struct compilation *c)
{
    struct image main = {
        .kind = GANTRY_IMAGE_SOURCE,
        .entry = GANTRY_ENTRY_ALL,
        .name = pool_print(c->pool, "%s.cu", c->unit->name),
        .data = wrap_cpp(c->unit, c->settings, NULL),
    };
    image_add(c, &main);
    for (size_t i = 0; i < c->unit->include_count; i++) {
        const struct include *include = &c->unit->includes[i];
        struct image image = {
            .kind = GANTRY_IMAGE_SOURCE,
            .entry = GANTRY_ENTRY_ALL,
            .name = include->name,
            .data = text_new(c->pool),
        };
        if (!needed_by_nvrtc(include->name))
            continue;
        if (!file_read(include->path, &image.data))
            return false;
        image_add(c, &image);
    }
    return true;
}

bool make_host_image(struct compilation *c)
{
    const struct settings *settings = c->settings;
    struct text text = wrap_cpp(c->unit, settings, NULL);
    const char *input = work_file(c, pool_print(c->pool, "%s.host.cpp", c->unit->name), &text);
    const char *output = pool_print(c->pool, "%s/%s.host.so", c->workdir, c->unit->name);
    struct command command = command_new_words(c->pool, settings->cxx);
    static const char *const options[] = {"-std=c++17", "-O2",   "-ffp-contract=off",
                                          "-shared",    "-fPIC", "-fvisibility=hidden",
                                          "-I"};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        command_add(&command, options[i]);
    command_add(&command, path_folder(c->pool, c->unit->path));
    for (size_t i = 0; i < settings->folder_count; i++) {
        command_add(&command, "-I");
        command_add(&command, settings->folders[i]);
    }
    command_add(&command, input);
    command_add(&command, "-o");
    command_add(&command, output);
    struct image image = {
        .kind = GANTRY_IMAGE_HOST,
        .entry = GANTRY_ENTRY_ALL,
        .name = "",
        .data = text_new(c->pool),
    };
    if (!input || !command_run(&command, OUTPUT_SHOWN, NULL) || !file_read(output, &image.data))
        return false;
    image_add(c, &image);
    return !settings->host_so ||
           file_write(c->pool, settings->host_so, image.data.data, image.data.size);
}
