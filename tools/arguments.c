#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "output.h"
#include "tool.h"

static bool is_option(const char *name)
{
    return name[0] == '-';
}

static const struct argument *find_option(const struct argument *table, size_t count,
                                          const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (is_option(table[i].name) && strlen(table[i].name) == length &&
            memcmp(table[i].name, text, length) == 0)
            return &table[i];
    }
    return NULL;
}

/* The first operand that has nothing yet; a list also when it has something, if `more` says so. */
static const struct argument *next_operand(const struct argument *table, size_t count, bool more)
{
    for (size_t i = 0; i < count; i++) {
        const struct argument_list *list = table[i].list;

        if (table[i].optional && !more)
            continue;
        if (!is_option(table[i].name) && (list ? more || list->count == 0 : !*table[i].value))
            return &table[i];
    }
    return NULL;
}

static bool add_to_list(const char *command, const struct argument *argument, const char *value)
{
    struct argument_list *list = argument->list;

    if (list->count == list->room) {
        output_error("%s: %s is given more than %zu times", command, argument->name, list->room);
        return false;
    }
    list->items[list->count++] = value;
    return true;
}

static bool read_operand(const char *command, const char *text, const struct argument *table,
                         size_t count)
{
    const struct argument *operand = next_operand(table, count, true);

    if (!operand) {
        output_error("%s: one argument too many: '%s' (see gantry %s --help)", command, text,
                     command);
        return false;
    }
    if (operand->list)
        return add_to_list(command, operand, text);
    *operand->value = text;
    return true;
}

/* "--option=VALUE" or the word behind; NULL, and that was said, when there is none. */
static const char *value_of(const char *command, const struct argument *option, int argc,
                            char **argv, int *i, const char *equals)
{
    const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : "";

    if (*value)
        return value;
    output_error("%s: %s needs a value (see gantry %s --help)", command, option->name, command);
    return NULL;
}

static bool add_value(const char *command, const struct argument *option, int argc, char **argv,
                      int *i, const char *equals)
{
    const char *value = value_of(command, option, argc, argv, i, equals);

    return value && add_to_list(command, option, value);
}

/* Reads an option and what belongs to it; *i is its place, and then that of its last word. */
static bool read_option(const char *command, int argc, char **argv, int *i,
                        const struct argument *table, size_t count)
{
    const char *text = argv[*i], *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    const struct argument *option = find_option(table, count, text, length);

    if (!option) {
        output_error("%s: there is no option '%s' (see gantry %s --help)", command, text, command);
        return false;
    }
    if (option->list)
        return add_value(command, option, argc, argv, i, equals);
    if (option->flag ? *option->flag : *option->value != NULL) {
        output_error("%s: %s is given twice (give it once)", command, option->name);
        return false;
    }
    if (option->flag && option->value) {
        *option->flag = true;
        if (!equals && (*i + 1 == argc || is_option(argv[*i + 1])))
            return true;
    } else if (option->flag) {
        if (equals)
            output_error("%s: %s takes no value (leave out '%s')", command, option->name, equals);
        *option->flag = true;
        return !equals;
    }
    *option->value = value_of(command, option, argc, argv, i, equals);
    return *option->value != NULL;
}

static bool read_all(int argc, char **argv, const struct argument *table, size_t count)
{
    const struct argument *missing;
    bool options_end = false;

    for (int i = 1; i < argc; i++) {
        bool read;

        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
            continue;
        }
        if (!options_end && is_option(argv[i]))
            read = read_option(argv[0], argc, argv, &i, table, count);
        else
            read = read_operand(argv[0], argv[i], table, count);
        if (!read)
            return false;
    }
    missing = next_operand(table, count, false);
    if (missing)
        output_error("%s: %s is missing (see gantry %s --help)", argv[0], missing->name, argv[0]);
    return !missing;
}

bool arguments_read(int argc, char **argv, const char *usage, const struct argument *table,
                    size_t count, int *exit_status)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            *exit_status = output_finish(TOOL_DONE);
            return false;
        }
    }
    if (!read_all(argc, argv, table, count)) {
        *exit_status = TOOL_USAGE;
        return false;
    }
    return true;
}
