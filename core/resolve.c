/* Which rules hold for a device, strongest first. */
#include "resolve.h"

#include <string.h>

static bool section_applies(const struct section *section, const struct policy_subject *subject)
{
    if (!section || section->kind != SECTION_GPU)
        return true;
    return subject && selector_matches(&section->selector, subject);
}

/* A rule without a name takes any; one with a name takes the same one. */
static bool takes(const char *rule, const char *asked)
{
    return !rule || (asked && strcmp(rule, asked) == 0);
}

bool resolve_applies(const struct rule *rule, const struct policy_subject *subject)
{
    return takes(rule->backend, subject ? subject->backend : NULL) &&
           section_applies(rule->section, subject);
}

static bool answers(const struct rule *rule, const struct question *question)
{
    return rule->option == question->option && takes(rule->package, question->package) &&
           takes(rule->kernel, question->kernel) && resolve_applies(rule, question->subject);
}

static const struct rule *search(const struct rules *rules, const struct question *question,
                                 const struct rule *from)
{
    const struct rule *end = rules->items + rules->count;

    for (; from < end; from++) {
        if (answers(from, question))
            return from;
    }
    return NULL;
}

const struct rule *resolve(const struct rules *rules, const struct question *question)
{
    return search(rules, question, rules->items);
}

const struct rule *resolve_next(const struct rules *rules, const struct question *question,
                                const struct rule *rule)
{
    return search(rules, question, rule + 1);
}
