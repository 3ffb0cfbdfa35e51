/* Which rules hold for a device, strongest first. */
#ifndef GANTRY_CORE_RESOLVE_H
#define GANTRY_CORE_RESOLVE_H

#include "policy.h"
#include "rules.h"

/* What is asked for. */
struct question {
    const struct policy_subject *subject; /* NULL: no device in particular */
    enum option_id option;
    const char *package, *kernel; /* for block_size; NULL: no kernel in particular */
};

/* The strongest rule that answers, from sorted rules; never NULL, since every option has a built-in
 * value. */
const struct rule *resolve(const struct rules *rules, const struct question *question);

/* The next weaker one behind `rule`; NULL behind the built-in value. */
const struct rule *resolve_next(const struct rules *rules, const struct question *question,
                                const struct rule *rule);

/* Whether a rule's section and backend are the subject's, whatever its key. */
bool resolve_applies(const struct rule *rule, const struct policy_subject *subject);

#endif
