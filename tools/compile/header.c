#include "header.h"

#include <string.h>

#include "file.h"

static const char *c_type(enum gantry_scalar scalar)
{
    static const char *const types[] = {"gantry_ptr", "int8_t",   "uint8_t",  "int16_t",
                                        "uint16_t",   "int32_t",  "uint32_t", "int64_t",
                                        "uint64_t",   "uint16_t", "float",    "double"};
    return types[scalar];
}

/* A name for macros and variables: "my-file" → "my_file". */
static const char *identifier(struct pool *pool, const char *name)
{
    char *copy = pool_print(pool, "%s%s", name[0] >= '0' && name[0] <= '9' ? "_" : "", name);
    for (char *c = copy; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    return copy;
}

static void add_field(struct text *text, const struct field *field)
{
    /* A vector is an array, aligned as a whole. */
    if (field->components > 1)
        text_print(text, "    GANTRY_ALIGNED(%u) %s %s", field->size / field->count,
                   c_type(field->scalar), field->name);
    else
        text_print(text, "    %s %s", c_type(field->scalar), field->name);
    if (field->array)
        text_print(text, "[%u]", field->count);
    if (field->components > 1)
        text_print(text, "[%u]", field->components);
    text_print(text, ";");
    if (field->pointee[0])
        text_print(text, " /* %s */", field->pointee);
    else if (field->scalar == GANTRY_SCALAR_HALF)
        text_print(text, " /* half */");
    text_print(text, "\n");
}

/* Two headers may share a struct through a common include file: whoever comes first defines it, and
 * both check it. */
static void add_record(struct text *text, const struct record *record, const char *name)
{
    text_print(text, "\n#ifndef GANTRY_STRUCT_%s\n#define GANTRY_STRUCT_%s\nstruct %s {\n", name,
               name, name);
    for (size_t i = 0; i < record->field_count; i++)
        add_field(text, &record->fields[i]);
    text_print(text, "};\n#endif\n");
    text_print(text, "static_assert(sizeof(struct %s) == %u, \"struct %s\");\n", name, record->size,
               name);
    for (size_t i = 0; i < record->field_count; i++)
        text_print(text, "static_assert(offsetof(struct %s, %s) == %u, \"%s.%s\");\n", name,
                   record->fields[i].name, record->fields[i].offset, name, record->fields[i].name);
}

static void add_kernel(struct text *text, const struct kernel *kernel, const char *name,
                       const char *args_name)
{
    text_print(text,
               "\n#define %s_LAYOUT UINT64_C(0x%016llx)\n"
               "\n"
               "static inline enum gantry_status %s_create(struct gantry_module *module,\n"
               "    struct gantry_size block, struct gantry_kernel **kernel)\n"
               "{\n"
               "    struct gantry_kernel_params params = {block, %s_LAYOUT};\n"
               "    return gantry_kernel_create(module, \"%s\", &params, kernel);\n"
               "}\n",
               name, (unsigned long long)kernel->layout_hash, name, name, kernel->name);
    text_print(text,
               "\n"
               "static inline uint32_t %s_launch(struct gantry_list *list,\n"
               "    struct gantry_kernel *kernel, struct gantry_size threads,\n"
               "    const struct %s *args)\n"
               "{\n"
               "    return gantry_list_launch(list, kernel, threads, args, sizeof(*args));\n"
               "}\n",
               name, args_name);
}

static void add_package(struct text *text, const char *name, const struct text *package)
{
    text_print(text, "\nstatic const unsigned char %s_gpk[%zu] = {", name, package->size);
    for (size_t i = 0; i < package->size; i++)
        text_print(text, "%s%u,", i % 24 ? "" : "\n    ", (unsigned char)package->data[i]);
    text_print(text, "\n};\nstatic const size_t %s_gpk_size = sizeof(%s_gpk);\n", name, name);
}

struct text header_text(const struct unit *unit, const char *prefix, const struct text *package)
{
    struct pool *pool = unit->pool;
    struct text text = text_new(pool);
    const char *name = identifier(pool, unit->name);
    text_print(&text,
               "/* Made by gantry compile from %s. */\n"
               "#ifndef GANTRY_PACKAGE_%s\n"
               "#define GANTRY_PACKAGE_%s\n"
               "\n"
               "#include <assert.h>\n"
               "#include <stddef.h>\n"
               "#include <stdint.h>\n"
               "\n"
               "#include <gantry/gantry.h>\n",
               path_name(unit->path), name, name);
    text_print(&text, "\n"
                      "#ifdef __cplusplus\n"
                      "#define GANTRY_ALIGNED(bytes) alignas(bytes)\n"
                      "#else\n"
                      "#define GANTRY_ALIGNED(bytes) _Alignas(bytes)\n"
                      "#endif\n");
    for (size_t i = 0; i < unit->record_count; i++)
        if (unit->records[i]->reflected)
            add_record(&text, unit->records[i],
                       pool_print(pool, "%s%s", prefix, unit->records[i]->name));
    text_print(&text, "\n#undef GANTRY_ALIGNED\n");
    for (size_t i = 0; i < unit->kernel_count; i++) {
        const struct kernel *kernel = unit->kernels[i];
        add_kernel(&text, kernel, pool_print(pool, "%s%s", prefix, kernel->name),
                   pool_print(pool, "%s%s", prefix, kernel->args->name));
    }
    if (package)
        add_package(&text, pool_print(pool, "%s%s", prefix, name), package);
    text_print(&text, "\n#endif\n");
    return text;
}
