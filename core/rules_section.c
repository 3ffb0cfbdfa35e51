/* The sections of a text: for which devices their keys count. */
#include <string.h>

#include "ascii.h"
#include "rules.h"
#include "tie.h"

static bool parse_selector(struct rules *rules, const struct ini_section *ini,
                           struct selector *selector)
{
    const char *text = ini->name + strlen("gpu");
    char why[OPTION_WHY_SIZE];

    text += strspn(text, " \t");
    if (!selector_parse(text, selector, why, sizeof(why))) {
        remark(&rules->remarks, REMARK_MISTAKE, ini->line, "[%.100s] can never match a device: %s",
               ini->name, why);
        return false;
    }
    if (selector_is_vendor(selector))
        remark(&rules->remarks, REMARK_DOUBT, ini->line,
               "[%.100s] takes a device of that name alone: is it [gpu vendor:%s]?", ini->name,
               selector->text);
    return true;
}

static bool parse_section(struct rules *rules, const struct ini_section *ini,
                          struct section *section)
{
    const char *name = ini->name;

    if (ascii_same(name, "gantry") || ascii_same(name, "policy")) {
        section->kind = ascii_same(name, "gantry") ? SECTION_GANTRY : SECTION_POLICY;
        return true;
    }
    if (ascii_same(name, "gpu")) {
        remark(&rules->remarks, REMARK_MISTAKE, ini->line,
               "[gpu] names no device: write [gpu NAME], or [policy] for all");
        return false;
    }
    if (!ascii_starts(name, "gpu") || !ascii_blank(name[strlen("gpu")])) {
        remark(&rules->remarks, REMARK_MISTAKE, ini->line,
               "no section is called [%.100s]: use [gantry], [policy] or [gpu NAME]", name);
        return false;
    }
    section->kind = SECTION_GPU;
    return parse_selector(rules, ini, &section->selector);
}

/* Names the first of the earlier sections that makes this one doubtful. */
static void doubt_section(struct rules *rules, const struct section *section,
                          const struct section *const *earlier, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct section *other = earlier[i];

        if (other && section_same(section, other)) {
            remark(&rules->remarks, REMARK_DOUBT, section->line,
                   "%.100s is already in line %u: both count, and where they differ the later "
                   "line wins",
                   section->title, other->line);
            return;
        }
        if (other && section->kind == SECTION_GPU && other->kind == SECTION_GPU &&
            tie_between(&section->selector, &other->selector)) {
            remark(&rules->remarks, REMARK_DOUBT, section->line,
                   "%.100s is as specific as %.100s in line %u, and some devices are both: where "
                   "they differ the later line wins",
                   section->title, other->title, other->line);
            return;
        }
    }
}

const struct section *rules_read_section(struct rules *rules, const struct ini_section *ini,
                                         const struct section *const *earlier, uint32_t count)
{
    struct section *section = arena_allocate(rules->arena, sizeof(*section));

    if (!section || !ini->name || !parse_section(rules, ini, section))
        return NULL;
    section->line = ini->line;
    section->order = rules->section_count++;
    section->title = arena_format(rules->arena, "[%s]", ini->name);
    section->place =
        arena_format(rules->arena, "[%s] at %s:%u", ini->name, rules->remarks.file, ini->line);
    if (!section->title || !section->place)
        return NULL;
    doubt_section(rules, section, earlier, count);
    return section;
}

unsigned section_scopes(const struct section *section)
{
    return section->kind == SECTION_GANTRY ? OPTION_OF_PROGRAM : OPTION_OF_POLICY;
}

bool section_same(const struct section *a, const struct section *b)
{
    return a->kind == b->kind && selector_same(&a->selector, &b->selector);
}

uint32_t section_rank(const struct section *section)
{
    return section && section->kind == SECTION_GPU ? selector_rank(&section->selector) : 0;
}
