#include "wrapper.h"

#include <string.h>

#include <gantry/backend.h>

#include "file.h"

/* Definitions stand in the text and not on a command line, so that NVRTC sees them too. */
static void add_defines(struct text *text, const struct settings *settings)
{
    for (size_t i = 0; i < settings->define_count; i++) {
        const char *name = settings->defines[i];
        const char *equals = strchr(name, '=');
        if (equals)
            text_print(text, "#define %.*s %s\n", (int)(equals - name), name, equals + 1);
        else
            text_print(text, "#define %s 1\n", name);
    }
}

static void add_source(struct text *text, const struct unit *unit)
{
    text_print(text, "#include <gantry/kernel.h>\n#include \"%s\"\n", path_name(unit->path));
}

static struct text begin_glsl(const struct unit *unit, const struct settings *settings)
{
    struct text text = text_new(unit->pool);
    text_print(&text, "#version 460 core\n");
    add_defines(&text, settings);
    return text;
}

struct text wrap_scan(const struct unit *unit, const struct settings *settings)
{
    struct text text = begin_glsl(unit, settings);
    text_print(&text, "#define GANTRY_SCAN\n");
    add_source(&text, unit);
    return text;
}

struct text wrap_glsl(const struct unit *unit, const struct settings *settings,
                      const struct glsl_variant *variant)
{
    struct text text = begin_glsl(unit, settings);
    if (variant->entry == GANTRY_ENTRY_FOLDED)
        text_print(&text, "#define GANTRY_FOLDED\n");
    if (variant->entry == GANTRY_ENTRY_CHAINED)
        text_print(&text, "#define GANTRY_CHAINED\n#define GANTRY_ARGS_SIZE %u\n",
                   variant->kernel->args->size);
    if (variant->float_atomics)
        text_print(&text, "#define GANTRY_NATIVE_FLOAT_ATOMICS\n");
    for (size_t i = 0; i < unit->kernel_count; i++)
        text_print(&text, "#define GANTRY_KERNEL_%s GANTRY_KERNEL_%s\n", unit->kernels[i]->name,
                   unit->kernels[i] == variant->kernel ? "THIS" : "OTHER");
    add_source(&text, unit);
    if (variant->reflect)
        text_print(&text, "void main() { %s gantry_whole_ = args; gantry_body_(); }\n",
                   variant->kernel->args->name);
    else
        text_print(&text, "GANTRY_MAIN\n");
    return text;
}

static void add_checks(struct text *text, const struct record *record)
{
    text_print(text, "GANTRY_CHECK_SIZE(%s, %u, %u);\n", record->name, record->size, record->align);
    for (size_t i = 0; i < record->field_count; i++)
        text_print(text, "GANTRY_CHECK_OFFSET(%s, %s, %u);\n", record->name, record->fields[i].name,
                   record->fields[i].offset);
}

/* The most threads a block can have by the kernel's own rules; 0: the device's limit. */
static uint32_t most_threads(const struct kernel *kernel)
{
    uint32_t block = kernel->block[0] * kernel->block[1] * kernel->block[2];
    return block ? block : kernel->block_max;
}

static const char *thread_bound(const struct unit *unit, const struct kernel *kernel)
{
    uint32_t most = most_threads(kernel);
    if (!most)
        return "GANTRY_ANY_THREADS";
    if (kernel->resident)
        return pool_print(unit->pool, "GANTRY_RESIDENT_THREADS(%u, %u)", most, kernel->resident);
    return pool_print(unit->pool, "GANTRY_MAX_THREADS(%u)", most);
}

enum { CUDA_STATIC_SHARED = 48 << 10 }; /* what a CUDA kernel can declare */

static void add_entries(struct text *text, const struct unit *unit, const struct kernel *kernel)
{
    const char *bound = thread_bound(unit, kernel);
    text_print(text, "GANTRY_ENTRIES(%s, %s, %s)\n", kernel->name, kernel->args->name, bound);
    if (!kernel->early_return && kernel->shared_bytes + GANTRY_CHAINED_SHARED <= CUDA_STATIC_SHARED)
        text_print(text, "GANTRY_CHAINED_ENTRY(%s, %s, %s)\n", kernel->name, kernel->args->name,
                   bound);
}

struct text wrap_cpp(const struct unit *unit, const struct settings *settings,
                     const struct kernel *only)
{
    struct text text = text_new(unit->pool);
    add_defines(&text, settings);
    add_source(&text, unit);
    for (size_t i = 0; i < unit->record_count; i++)
        if (unit->records[i]->reflected)
            add_checks(&text, unit->records[i]);
    for (size_t i = 0; i < unit->kernel_count; i++)
        if (!only || only == unit->kernels[i])
            add_entries(&text, unit, unit->kernels[i]);
    return text;
}
