/* Rules: what the configuration's sources set, each with where it came from. */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#include "ascii.h"
#include "ini.h"

void rules_init(struct rules *rules, struct arena *arena)
{
    *rules = (struct rules){.arena = arena, .remarks = {.arena = arena, .file = "built-in"}};
}

static void mistake(struct rules *rules, uint32_t line, const char *what)
{
    remark(&rules->remarks, REMARK_MISTAKE, line, "%s", what);
}

void rules_add(struct rules *rules, struct rule rule, const char *origin)
{
    struct rule *items = arena_extend(rules->arena, rules->items, rules->count, sizeof(*items));
    const char *title = rule.section ? rule.section->title : "";

    rule.origin = origin;
    rule.source = rules->source;
    rule.order = rules->count;
    rule.description = arena_format(rules->arena, "%s (%s%s%s)", rule.value.text, origin,
                                    rule.section ? ", " : "", title);
    if (!items || !rule.key || !rule.origin || !rule.description)
        return;
    rules->items = items;
    items[rules->count++] = rule;
}

void rules_add_built_in(struct rules *rules)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        struct rule rule = {.option = (enum option_id)id, .key = options[id].name};
        const char *fallback = options[id].fallback;
        char *text = arena_copy(rules->arena, fallback, strlen(fallback));
        char why[OPTION_WHY_SIZE];

        if (text && option_parse(rule.option, text, &rule.value, why))
            rules_add(rules, rule, "built-in");
    }
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static void refuse_unknown(struct rules *rules, const struct section *section, uint32_t line,
                           const char *name)
{
    bool global = section->kind == SECTION_GANTRY;
    enum option_id nearest = option_nearest(name, section_scopes(section));

    if (option_find(name) != OPTION_COUNT)
        remark(&rules->remarks, REMARK_MISTAKE, line, "%s is a key of %s, not of %.100s", name,
               global ? "[policy] and [gpu NAME]" : "[gantry]", section->title);
    else if (nearest != OPTION_COUNT)
        remark(&rules->remarks, REMARK_MISTAKE, line, "%.100s has no key \"%s\": is it \"%s\"?",
               section->title, name, options[nearest].name);
    else
        remark(&rules->remarks, REMARK_MISTAKE, line,
               "%.100s has no key \"%s\": gantry config lists the keys", section->title, name);
}

/* A plugin may have any name, so only what looks like a slip is doubted. */
static void doubt_backend(struct rules *rules, uint32_t line, const char *name)
{
    static const char *const known[] = {"cuda", "vulkan"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        unsigned unlike = ascii_unlike(name, known[i]);

        if (unlike > 0 && ascii_near(name, unlike))
            remark(&rules->remarks, REMARK_DOUBT, line,
                   "the key counts for a backend called \"%s\": is it \"%s\"?", name, known[i]);
    }
}

/* Takes "BACKEND." off the front of a name, and returns the rest. KEY.KERNEL has none. */
static char *take_backend(char *name, const char **backend)
{
    char *dot = strchr(name, '.');
    enum option_id id;

    *backend = NULL;
    if (!dot)
        return name;
    *dot = '\0';
    id = option_find(name);
    if (id != OPTION_COUNT && options[id].scope == OPTION_OF_KERNEL) {
        *dot = '.';
        return name;
    }
    ascii_lower_all(name);
    *backend = name;
    return dot + 1;
}

/* Takes ".KERNEL" or ".PACKAGE/KERNEL" off the end of a key that may have one. */
static bool take_kernel(char *name, const char **package, const char **kernel)
{
    char *dot = strchr(name, '.');
    char *slash = strrchr(name, '/');
    enum option_id id;

    *package = *kernel = NULL;
    if (!dot)
        return true;
    *dot = '\0';
    if (slash && slash < dot)
        return false;
    if (slash) {
        *slash = '\0';
        *package = dot + 1;
    }
    *kernel = slash ? slash + 1 : dot + 1;
    id = option_find(name);
    return **kernel && (!slash || **package) && id != OPTION_COUNT &&
           options[id].scope == OPTION_OF_KERNEL;
}

static char *rule_key(struct rules *rules, const struct rule *rule)
{
    return arena_format(rules->arena, "%s%s%s%s%s", options[rule->option].name,
                        rule->kernel ? "." : "", rule->package ? rule->package : "",
                        rule->package ? "/" : "", rule->kernel ? rule->kernel : "");
}

/* The key's name may be changed. */
static bool parse_key(struct rules *rules, const struct ini_key *ini, struct rule *rule)
{
    bool global = rule->section->kind == SECTION_GANTRY;
    char *name = take_backend(ini->name, &rule->backend);

    if (rule->backend && option_find(rule->backend) != OPTION_COUNT) {
        remark(&rules->remarks, REMARK_MISTAKE, ini->line,
               "%s can't be set for one kernel: only block_size can", rule->backend);
        return false;
    }
    if (!take_kernel(name, &rule->package, &rule->kernel)) {
        mistake(rules, ini->line,
                "a key for one kernel is block_size.KERNEL or "
                "block_size.PACKAGE/KERNEL");
        return false;
    }
    rule->option = option_find(name);
    if (rule->option == OPTION_COUNT ||
        !(options[rule->option].scope & section_scopes(rule->section))) {
        refuse_unknown(rules, rule->section, ini->line, name);
        return false;
    }
    if (rule->backend && global) {
        mistake(rules, ini->line, "keys of [gantry] hold for all backends: leave the prefix out");
        return false;
    }
    if (rule->backend)
        doubt_backend(rules, ini->line, rule->backend);
    rule->key = rule_key(rules, rule);
    return rule->key != NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void doubt_duplicate(struct rules *rules, uint32_t first, const struct rule *rule)
{
    for (uint32_t i = rules->count; i-- > first;) {
        const struct rule *other = &rules->items[i];

        if (other->option != rule->option || !section_same(other->section, rule->section) ||
            !same_text(other->backend, rule->backend) || !same_text(other->key, rule->key))
            continue;
        remark(&rules->remarks, REMARK_DOUBT, rule->line,
               "%s = %s is already set in line %u, to %s: the later line wins", rule->key,
               rule->value.text, other->line, other->value.text);
        return;
    }
}

static void read_key(struct rules *rules, const struct section *section, const struct ini_key *ini,
                     uint32_t first)
{
    struct rule rule = {.section = section, .line = ini->line};
    char why[OPTION_WHY_SIZE];

    if (!parse_key(rules, ini, &rule))
        return;
    if (!option_parse(rule.option, ini->value, &rule.value, why)) {
        remark(&rules->remarks, REMARK_MISTAKE, ini->line, "%s: \"%s\" %s", rule.key, ini->value,
               why);
        return;
    }
    doubt_duplicate(rules, first, &rule);
    rules_add(rules, rule, arena_format(rules->arena, "%s:%u", rules->remarks.file, ini->line));
}

/* ---- A whole text --------------------------------------------------------------------------- */

/* Says which keys are lost with their section, once. Returns the index of the last one. */
static uint32_t drop_keys(struct rules *rules, const struct ini *ini, uint32_t i)
{
    const struct ini_key *key = &ini->keys[i];
    uint32_t last = i;

    while (last + 1 < ini->key_count && ini->keys[last + 1].section == key->section)
        last++;
    if (key->section == INI_NO_SECTION)
        remark(
            &rules->remarks, REMARK_MISTAKE, key->line,
            "keys up to line %u are ignored: they stand above the first section; put [gantry] or "
            "[policy] above them",
            ini->keys[last].line);
    else
        remark(&rules->remarks, REMARK_MISTAKE, key->line,
               "keys up to line %u are ignored, because the section of line %u is",
               ini->keys[last].line, ini->sections[key->section].line);
    return last;
}

void rules_read(struct rules *rules, const char *text, size_t size)
{
    uint32_t first = rules->count;
    const struct section **sections;
    struct ini ini;

    ini_read(&ini, text, size, &rules->remarks);
    sections =
        arena_allocate(rules->arena, (ini.section_count + 1) * sizeof(const struct section *));
    if (!sections)
        return;
    for (uint32_t i = 0; i < ini.section_count; i++)
        sections[i] = rules_read_section(rules, &ini.sections[i], sections, i);
    for (uint32_t i = 0; i < ini.key_count; i++) {
        uint32_t section = ini.keys[i].section;

        if (section == INI_NO_SECTION || !sections[section])
            i = drop_keys(rules, &ini, i);
        else
            read_key(rules, sections[section], &ini.keys[i], first);
    }
}

/* ---- Strength ------------------------------------------------------------------------------- */

static uint32_t kernel_rank(const struct rule *rule)
{
    return rule->package ? 2 : rule->kernel ? 1 : 0;
}

static int stronger(uint32_t a, uint32_t b)
{
    return a > b ? -1 : a < b;
}

static int compare(const void *left, const void *right)
{
    const struct rule *a = left, *b = right;
    int order = stronger(a->source, b->source);

    if (order == 0)
        order = stronger(kernel_rank(a), kernel_rank(b));
    if (order == 0)
        order = stronger(section_rank(a->section), section_rank(b->section));
    if (order == 0 && a->section && b->section)
        order = stronger(a->section->order, b->section->order);
    if (order == 0)
        order = stronger(a->backend != NULL, b->backend != NULL);
    return order ? order : stronger(a->order, b->order);
}

void rules_sort(struct rules *rules)
{
    if (rules->count)
        qsort(rules->items, rules->count, sizeof(*rules->items), compare);
}
