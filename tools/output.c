#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "tool.h"

static const char *subcommand = "gantry";

void output_begin(const char *name)
{
    subcommand = name;
}

const char *output_subcommand(void)
{
    return subcommand;
}

void output_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("gantry: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

int output_failure(const char *what)
{
    output_error("%s: %s", what, gantry_last_error());
    return TOOL_FAILED;
}

int output_json(json_t *object, int status)
{
    int failed;

    if (!object) {
        output_error("making the JSON object: out of memory, or a name is not UTF-8");
        return TOOL_FAILED;
    }
    failed = json_dumpf(object, stdout, JSON_INDENT(2));
    json_decref(object);
    putchar('\n');
    if (failed) {
        output_error("printing the JSON object: it could not be written");
        return TOOL_FAILED;
    }
    return output_finish(status);
}

int output_finish(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        output_error("writing the output: %s", errno ? strerror(errno) : "it did not all get out");
        return TOOL_FAILED;
    }
    return status;
}

json_t *json_list_add(json_t *list, json_t *item)
{
    if (json_array_append_new(list, item) != 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *json_size(struct gantry_size size)
{
    return json_pack("[I, I, I]", (json_int_t)size.x, (json_int_t)size.y, (json_int_t)size.z);
}

json_t *json_config_files(struct gantry *g)
{
    json_t *files = json_array();
    const char *file;

    for (uint32_t i = 0; (file = gantry_config_file(g, i)); i++)
        files = json_list_add(files, json_string(file));
    return files;
}

void print_config_files(struct gantry *g)
{
    const char *file;

    puts("Configuration files, weakest first");
    if (!gantry_config_file(g, 0))
        puts("  none was read");
    for (uint32_t i = 0; (file = gantry_config_file(g, i)); i++)
        printf("  %s\n", file);
}

static const struct {
    uint32_t bit;
    const char *name;
} features_by_bit[] = {
#define X(name, bit, text) {GANTRY_FEATURE_##name, #name},
    GANTRY_FEATURE_MAP(X)
#undef X
};

enum { FEATURE_COUNT = sizeof features_by_bit / sizeof *features_by_bit };

json_t *json_features(uint32_t features)
{
    json_t *names = json_array();

    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        if (features & features_by_bit[i].bit)
            names = json_list_add(names, json_string(features_by_bit[i].name));
    }
    return names;
}

void print_features(uint32_t features)
{
    const char *separator = "";

    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        if (features & features_by_bit[i].bit) {
            printf("%s%s", separator, features_by_bit[i].name);
            separator = ", ";
        }
    }
    if (!*separator)
        fputs("none", stdout);
}

const char *entry_name(enum gantry_entry entry)
{
    static const char *const names[] = {"direct", "folded", "all", "chained"};

    return names[entry];
}

void print_size(struct gantry_size size, uint32_t dimensions)
{
    printf("%u", size.x);
    if (dimensions > 1)
        printf("x%u", size.y);
    if (dimensions > 2)
        printf("x%u", size.z);
}
