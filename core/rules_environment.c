/* Rules that the environment sets. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascii.h"
#include "rules.h"

static const char prefix[] = "GANTRY_";

/* GANTRY_BATCH_SIZE for "batch_size". */
static char *variable_name(struct rules *rules, const char *key)
{
    char *name = arena_format(rules->arena, "%s%s", prefix, key);

    for (char *c = name; c && *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    return name;
}

static void read_variable(struct rules *rules, enum option_id id)
{
    struct rule rule = {.option = id, .key = options[id].name};
    const char *name = variable_name(rules, rule.key);
    const char *set = name ? secure_getenv(name) : NULL;
    char *text = set ? arena_copy(rules->arena, set, strlen(set)) : NULL;
    char why[OPTION_WHY_SIZE];

    text = text ? ascii_trim(text) : NULL;
    if (!text || !*text)
        return;
    rules->remarks.file = arena_format(rules->arena, "environment %s", name);
    if (!rules->remarks.file)
        return;
    if (option_parse(id, text, &rule.value, why))
        rules_add(rules, rule, rules->remarks.file);
    else
        remark(&rules->remarks, REMARK_MISTAKE, 0, "\"%.200s\" %s", text, why);
}

/* `variable` is "NAME=VALUE". */
static void doubt_variable(struct rules *rules, const char *variable)
{
    size_t length = strcspn(variable, "=");
    const char *name = arena_copy(rules->arena, variable, length);
    const char *key = name ? name + strlen(prefix) : NULL;
    enum option_id nearest;

    if (!key || ascii_same(key, "config") || option_find(key) != OPTION_COUNT)
        return;
    nearest = option_nearest(key, OPTION_OF_ANY);
    if (nearest == OPTION_COUNT)
        return;
    rules->remarks.file = arena_format(rules->arena, "environment %s", name);
    if (rules->remarks.file)
        remark(&rules->remarks, REMARK_DOUBT, 0, "means nothing to gantry: is it %s?",
               variable_name(rules, options[nearest].name));
}

void rules_read_environment(struct rules *rules)
{
    rules->remarks.named = true;
    for (int id = 0; id < OPTION_COUNT; id++)
        read_variable(rules, (enum option_id)id);
    for (char **variable = environ; variable && *variable; variable++) {
        if (strncmp(*variable, prefix, strlen(prefix)) == 0)
            doubt_variable(rules, *variable);
    }
}
