/* The policy: what the configuration sources say, and which value wins for a device. */
#include "policy.h"

#include <stdlib.h>
#include <string.h>

#include "interned.h"
#include "resolve.h"
#include "sources.h"
#include "status.h"

struct policy {
    struct arena arena;
    struct rules rules; /* sorted */
    struct sources sources;
    struct interned *values; /* lists that policy_value() has handed out */
};

static enum gantry_status no_memory(void)
{
    return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "out of host memory while reading the configuration");
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* Logs every remark; fails for the first mistake in a source that somebody named. */
static enum gantry_status judge(const struct remarks *remarks, const struct log *log)
{
    for (uint32_t i = 0; i < remarks->count; i++) {
        const struct remark *remark = &remarks->items[i];

        log_write(log, remark_fatal(remark) ? GANTRY_LOG_ERROR : GANTRY_LOG_WARNING, "%s",
                  remark->text);
    }
    return remarks_status(remarks);
}

enum gantry_status policy_open(const struct policy_params *params, struct policy **out)
{
    struct policy *policy = calloc(1, sizeof(*policy));
    enum gantry_status status;

    *out = NULL;
    if (!policy)
        return no_memory();
    rules_init(&policy->rules, &policy->arena);
    policy->sources.rules = &policy->rules;
    policy->values = arena_allocate(&policy->arena, sizeof(*policy->values));
    if (!policy->values) {
        free(policy);
        return no_memory();
    }
    interned_init(policy->values);
    sources_read(&policy->sources, params);
    rules_sort(&policy->rules);
    status = policy->arena.failed ? no_memory() : judge(&policy->rules.remarks, params->log);
    if (status != GANTRY_OK)
        policy_close(&policy);
    *out = policy;
    return status;
}

void policy_close(struct policy **handle)
{
    struct policy *policy = *handle;

    if (!policy)
        return;
    *handle = NULL;
    interned_release(policy->values);
    arena_release(&policy->arena);
    free(policy);
}

/* ---- Asking --------------------------------------------------------------------------------- */

const char *policy_file(const struct policy *policy, uint32_t i)
{
    return i < policy->sources.file_count ? policy->sources.files[i] : NULL;
}

const char *policy_global(const struct policy *policy, const char *key, const char **origin)
{
    const struct question question = {.option = option_find(key)};
    const struct rule *rule = resolve(&policy->rules, &question);

    if (origin)
        *origin = rule->origin;
    return rule->value.text;
}

static const struct option_value *
value_of(const struct policy *policy, const struct policy_subject *subject, enum option_id option)
{
    const struct question question = {.subject = subject, .option = option};

    return &resolve(&policy->rules, &question)->value;
}

static uint32_t whole(const struct policy *policy, const struct policy_subject *subject,
                      enum option_id option)
{
    return value_of(policy, subject, option)->whole;
}

/* In the order of the option's words. */
static int32_t family(const struct option_value *value)
{
    static const int32_t words[] = {GANTRY_FAMILY_AUTO, GANTRY_FAMILY_COMPUTE,
                                    GANTRY_FAMILY_GRAPHICS};

    return value->word >= 0 ? words[value->word] : (int32_t)value->whole;
}

/* Its only word is "auto". */
static bool validate(const struct option_value *value, enum gantry_device_type type)
{
    return value->word >= 0 ? type == GANTRY_DEVICE_CPU : value->on;
}

void policy_for_device(const struct policy *policy, const struct policy_subject *subject,
                       struct policy_device *values)
{
    *values = (struct policy_device){
        .chains = whole(policy, subject, OPTION_CHAINS),
        .fold = value_of(policy, subject, OPTION_FOLD)->on,
        .programmatic = value_of(policy, subject, OPTION_PROGRAMMATIC)->on,
        .submit = (enum gantry_submit_mode)value_of(policy, subject, OPTION_SUBMIT)->word,
        .spin_us = whole(policy, subject, OPTION_SPIN_US),
        .blocks_per_cu = whole(policy, subject, OPTION_BLOCKS_PER_CU),
        .queue_family = family(value_of(policy, subject, OPTION_QUEUE_FAMILY)),
        .transfer_family = family(value_of(policy, subject, OPTION_TRANSFER_FAMILY)),
        .validate = validate(value_of(policy, subject, OPTION_VALIDATE), subject->type),
        .batch_size = whole(policy, subject, OPTION_BATCH_SIZE),
        .batch_max_ms = value_of(policy, subject, OPTION_BATCH_MAX_MS)->decimal,
        .pool_block_mib = whole(policy, subject, OPTION_POOL_BLOCK_MIB),
        .staging_mib = whole(policy, subject, OPTION_STAGING_MIB),
    };
}

static bool section_stronger(const struct rule *a, const struct rule *b)
{
    uint32_t a_rank = section_rank(a->section), b_rank = section_rank(b->section);

    if (a->source != b->source)
        return a->source > b->source;
    return a_rank != b_rank ? a_rank > b_rank : a->section->order > b->section->order;
}

const char *policy_section(const struct policy *policy, const struct policy_subject *subject)
{
    const struct rule *strongest = NULL;

    for (uint32_t i = 0; i < policy->rules.count; i++) {
        const struct rule *rule = &policy->rules.items[i];

        if (!rule->section || rule->section->kind == SECTION_GANTRY ||
            !resolve_applies(rule, subject))
            continue;
        if (!strongest || section_stronger(rule, strongest))
            strongest = rule;
    }
    return strongest ? strongest->section->place : "built-in";
}

void policy_block_size(const struct policy *policy, const struct policy_subject *subject,
                       const char *package, const char *kernel, struct gantry_size *size,
                       const char **origin)
{
    const struct question question = {
        .subject = subject,
        .option = OPTION_BLOCK_SIZE,
        .package = package,
        .kernel = kernel,
    };
    const struct rule *rule = resolve(&policy->rules, &question);

    *size = rule->value.block;
    *origin = rule->origin;
}

bool policy_selects(const char *selector, const struct policy_subject *subject)
{
    struct selector parsed;
    char why[OPTION_WHY_SIZE];

    return selector_parse(selector, &parsed, why, sizeof(why)) &&
           selector_matches(&parsed, subject);
}

/* ---- Every value ---------------------------------------------------------------------------- */

static bool same_kernel(const struct rule *a, const struct rule *b)
{
    return strcmp(a->key, b->key) == 0;
}

/* The i-th of the kernels that some rule names for the subject, NULL past the end; *count gets how
 * many were seen before it. A kernel counts where its strongest rule stands. */
static const struct rule *kernel_rule(const struct policy *policy,
                                      const struct policy_subject *subject, uint32_t i,
                                      uint32_t *count)
{
    const struct rule *rules = policy->rules.items;

    *count = 0;
    for (const struct rule *rule = rules; rule < rules + policy->rules.count; rule++) {
        const struct rule *earlier = rules;

        if (!rule->kernel || !resolve_applies(rule, subject))
            continue;
        while (earlier < rule && !(same_kernel(earlier, rule) && resolve_applies(earlier, subject)))
            earlier++;
        if (earlier == rule && (*count)++ == i)
            return rule;
    }
    return NULL;
}

uint32_t policy_value_count(const struct policy *policy, const struct policy_subject *subject)
{
    uint32_t kernels;

    kernel_rule(policy, subject, UINT32_MAX, &kernels);
    return OPTION_COUNT + kernels;
}

/* What the i-th row of the listing asks for, and its key: the options, then the kernels. */
static bool row(const struct policy *policy, const struct policy_subject *subject, uint32_t i,
                struct question *question, const char **key)
{
    const struct rule *rule;
    uint32_t count;

    *question = (struct question){.subject = subject};
    if (i < OPTION_COUNT) {
        question->option = (enum option_id)i;
        *key = options[i].name;
        return true;
    }
    rule = kernel_rule(policy, subject, i - OPTION_COUNT, &count);
    if (!rule)
        return false;
    question->option = rule->option;
    question->package = rule->package;
    question->kernel = rule->kernel;
    *key = rule->key;
    return true;
}

enum gantry_status policy_value(const struct policy *policy, const struct policy_subject *subject,
                                uint32_t i, struct gantry_config_value *value)
{
    const struct rule *rule, *next;
    struct question question;
    const char **beaten;
    const char *key;
    uint32_t count = 0;

    if (!row(policy, subject, i, &question, &key))
        return fail(GANTRY_E_INVALID_ARGUMENT, "value %u of the configuration: there are %u", i,
                    policy_value_count(policy, subject));
    beaten = malloc(policy->rules.count * sizeof(*beaten));
    if (!beaten)
        return no_memory();
    rule = resolve(&policy->rules, &question);
    for (next = rule; (next = resolve_next(&policy->rules, &question, next));)
        beaten[count++] = next->description;
    *value = (struct gantry_config_value){
        .key = key,
        .value = rule->value.text,
        .origin = rule->origin,
        .section = rule->section ? rule->section->title : NULL,
        .override_count = count,
        .overrides = interned_get(policy->values, beaten, count),
    };
    free(beaten);
    return value->overrides ? GANTRY_OK : no_memory();
}
