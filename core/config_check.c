/* Checking a configuration file that is not in force, also against the packages that it is for. */
#include <stdlib.h>
#include <string.h>

#include "ascii.h"
#include "block.h"
#include "config_file.h"
#include "package.h"
#include "rules.h"
#include "status.h"

/* ---- Blocks of kernels ---------------------------------------------------------------------- */

/* What no kernel can be refused for: a device's limits are not known here. */
static const struct gantry_limits no_limits = {
    .max_threads_per_block = UINT32_MAX,
    .max_block = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
    .max_shared_bytes = UINT32_MAX,
};

static void check_block(struct rules *rules, const struct rule *rule,
                        const struct gantry_package *package,
                        const struct gantry_kernel_source *kernel)
{
    const struct block_rules block_rules = {.source = kernel, .limits = &no_limits};
    char text[BLOCK_TEXT_SIZE], why[BLOCK_WHY_SIZE];
    struct gantry_size block = rule->value.block;

    if (kernel->block.x) {
        remark(&rules->remarks, REMARK_MISTAKE, rule->line,
               "%s is never used: BLOCK() in the source of kernel %s of package %s fixes %s",
               rule->key, kernel->name, package->name, block_text(kernel->block, text));
        return;
    }
    if (!block.x)
        return; /* auto */
    block = block_complete(&block_rules, block, true);
    if (!block_allowed(&block_rules, block, why))
        remark(&rules->remarks, REMARK_MISTAKE, rule->line,
               "%s: block %s is not for kernel %s of package %s: it %s", rule->key,
               block_text(block, text), kernel->name, package->name, why);
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* The nearest of the names that were offered. */
struct nearest {
    const char *given, *known; /* known: NULL when none is near */
    unsigned unlike;
};

static void offer(struct nearest *nearest, const char *known)
{
    unsigned unlike = ascii_unlike(nearest->given, known);

    if (!ascii_near(nearest->given, unlike) || (nearest->known && unlike >= nearest->unlike))
        return;
    nearest->known = known;
    nearest->unlike = unlike;
}

static void doubt_name(struct rules *rules, const struct rule *rule, const char *what,
                       const struct nearest *nearest)
{
    if (nearest->known)
        remark(&rules->remarks, REMARK_DOUBT, rule->line,
               "%s: no %s is called \"%s\": is it \"%s\"?", rule->key, what, nearest->given,
               nearest->known);
    else
        remark(&rules->remarks, REMARK_DOUBT, rule->line, "%s: no %s is called \"%s\"", rule->key,
               what, nearest->given);
}

/* Compares a rule for one kernel with the kernels of the packages that it is for. */
static void check_kernel(struct rules *rules, const struct rule *rule,
                         const struct gantry_config_check_params *params)
{
    struct nearest package = {.given = rule->package}, kernel = {.given = rule->kernel};
    bool package_found = false, kernel_found = false;

    for (uint32_t i = 0; i < params->package_count; i++) {
        const struct gantry_package *candidate = params->packages[i];

        if (rule->package && strcmp(rule->package, candidate->name) != 0) {
            offer(&package, candidate->name);
            continue;
        }
        package_found = true;
        for (uint32_t j = 0; j < candidate->kernel_count; j++) {
            const struct gantry_kernel_source *source = &candidate->kernels[j];

            offer(&kernel, source->name);
            if (strcmp(rule->kernel, source->name) != 0)
                continue;
            kernel_found = true;
            check_block(rules, rule, candidate, source);
        }
    }
    if (!package_found)
        doubt_name(rules, rule, "package", &package);
    else if (!kernel_found)
        doubt_name(rules, rule, "kernel", &kernel);
}

/* ---- The whole text ------------------------------------------------------------------------- */

static int by_line(const void *left, const void *right)
{
    const struct remark *a = left, *b = right;

    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void report(const struct remarks *remarks, const struct gantry_config_check_params *params)
{
    for (uint32_t i = 0; params->remark && i < remarks->count; i++) {
        const struct gantry_config_remark remark = {
            .file = remarks->items[i].file,
            .line = remarks->items[i].line,
            .mistake = remarks->items[i].kind == REMARK_MISTAKE,
            .text = remarks->items[i].what,
        };

        params->remark(params->user, &remark);
    }
}

static enum gantry_status check_text(const struct gantry_config_check_params *params,
                                     const char *text, size_t size)
{
    struct arena arena = {0};
    struct rules rules;
    enum gantry_status status;

    rules_init(&rules, &arena);
    rules.remarks.file = params->file ? params->file : "text";
    rules.remarks.named = true;
    rules_read(&rules, text, size);
    for (uint32_t i = 0; i < rules.count && params->package_count; i++) {
        if (rules.items[i].kernel)
            check_kernel(&rules, &rules.items[i], params);
    }
    if (rules.remarks.count)
        qsort(rules.remarks.items, rules.remarks.count, sizeof(struct remark), by_line);
    if (arena.failed) {
        status = fail(GANTRY_E_OUT_OF_HOST_MEMORY, "%s: out of host memory while checking it",
                      rules.remarks.file);
    } else {
        report(&rules.remarks, params);
        status = remarks_status(&rules.remarks);
    }
    arena_release(&arena);
    return status;
}

static enum gantry_status check_file(const struct gantry_config_check_params *params)
{
    struct config_file file;
    enum gantry_status status;

    if (config_file_read(params->file, &file))
        status = check_text(params, file.text, file.size);
    else
        status = fail(file.no_memory ? GANTRY_E_OUT_OF_HOST_MEMORY : GANTRY_E_IO, "%s: %s",
                      params->file, file.why);
    free(file.text);
    return status;
}

static enum gantry_status check_params(const struct gantry_config_check_params *params)
{
    static const char what[] = "gantry_config_check";

    if (!params || (!params->file && !params->text))
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: neither a file nor a text is given", what);
    if (params->package_count && !params->packages)
        return fail(GANTRY_E_INVALID_ARGUMENT, "%s: packages is NULL, but package_count is %u",
                    what, params->package_count);
    for (uint32_t i = 0; i < params->package_count; i++) {
        if (!params->packages[i])
            return fail(GANTRY_E_INVALID_ARGUMENT, "%s: package %u of %u is NULL", what, i,
                        params->package_count);
    }
    return GANTRY_OK;
}

enum gantry_status gantry_config_check(const struct gantry_config_check_params *params)
{
    enum gantry_status status = check_params(params);

    if (status != GANTRY_OK)
        return status;
    return params->text ? check_text(params, params->text, params->size) : check_file(params);
}
