/* Gantry's plugins: every place where each was looked for, and what became of the file there. */
#include <stdio.h>
#include <string.h>

#include "checks.h"

static enum code code_of(enum gantry_attempt_outcome outcome)
{
    static const enum code codes[] = {
        [GANTRY_ATTEMPT_LOADED] = CODE_PLUGIN_LOADED,
        [GANTRY_ATTEMPT_MISSING] = CODE_PLUGIN_MISSING,
        [GANTRY_ATTEMPT_UNREADABLE] = CODE_PLUGIN_UNREADABLE,
        [GANTRY_ATTEMPT_NOT_A_LIBRARY] = CODE_PLUGIN_NOT_A_LIBRARY,
        [GANTRY_ATTEMPT_MISSING_DEPENDENCY] = CODE_PLUGIN_DEPENDENCY_MISSING,
        [GANTRY_ATTEMPT_NO_DESCRIPTOR] = CODE_PLUGIN_NO_DESCRIPTOR,
        [GANTRY_ATTEMPT_WRONG_ABI] = CODE_PLUGIN_WRONG_ABI,
        [GANTRY_ATTEMPT_REFUSED] = CODE_PLUGIN_REFUSED,
    };

    return codes[outcome];
}

/* A file that is there and can't be used. */
static void report_bad_file(struct report *report, const struct gantry_backend_info *info,
                            const struct gantry_backend_attempt *attempt)
{
    struct finding finding = {code_of(attempt->outcome), .subject = attempt->path,
                              .why = attempt->text};

    if (info->loaded) {
        finding.code = CODE_PLUGIN_PASSED_OVER;
        report_add(report, &finding, "the file can't be used; the plugin %s was loaded from %s",
                   info->name, info->path);
    } else {
        report_add(report, &finding, "the file can't be used as the plugin %s", info->name);
    }
}

static void report_missing(struct report *report, struct gantry *g, uint32_t index,
                           const struct gantry_backend_info *info)
{
    uint32_t count = gantry_backend_attempt_count(g, index);
    struct gantry_backend_attempt attempt;
    char subject[64], places[4096] = "";

    for (uint32_t i = 0; i < count && gantry_backend_attempt(g, index, i, &attempt) == GANTRY_OK;
         i++)
        snprintf(places + strlen(places), sizeof places - strlen(places), "%s%s", i ? "\n" : "",
                 attempt.text);
    snprintf(subject, sizeof subject, "plugin %s", info->name);
    report_add(report, &(struct finding){CODE_PLUGIN_MISSING, .subject = subject, .why = places},
               "gantry-%s.so is in none of the places that are searched", info->name);
}

static void check_backend(struct report *report, struct gantry *g, uint32_t index)
{
    uint32_t count = gantry_backend_attempt_count(g, index), bad = 0;
    struct gantry_backend_attempt attempt;
    struct gantry_backend_info info;

    gantry_backend_describe(g, index, &info);
    for (uint32_t i = 0; i < count; i++) {
        gantry_backend_attempt(g, index, i, &attempt);
        if (attempt.outcome == GANTRY_ATTEMPT_LOADED || attempt.outcome == GANTRY_ATTEMPT_MISSING)
            continue;
        bad++;
        report_bad_file(report, &info, &attempt);
    }
    if (info.loaded)
        report_add(report, &(struct finding){CODE_PLUGIN_LOADED, .subject = info.path},
                   "the plugin %s, version %s, is loaded", info.name, info.version);
    else if (count == 0)
        report_add(report,
                   &(struct finding){CODE_PLUGIN_UNUSED,
                                     .subject = info.path ? info.path : info.name,
                                     .why = info.reason},
                   "the plugin %s is there, but not used", info.name);
    else if (bad == 0)
        report_missing(report, g, index, &info);
}

void check_plugins(struct report *report, const struct patient *patient)
{
    uint32_t count = gantry_backend_count(patient->g);

    for (uint32_t i = 0; i < count; i++)
        check_backend(report, patient->g, i);
}
