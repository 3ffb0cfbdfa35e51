/* The doctor's report, for people and for programs. */
#include <stdio.h>
#include <string.h>

#include "../output.h"
#include "../tool.h"
#include "report.h"

struct counts {
    unsigned errors, warnings;
};

static struct counts count(const struct report *report)
{
    struct counts counts = {0, 0};
    const json_t *finding;
    size_t i;

    json_array_foreach(report->findings, i, finding)
    {
        enum severity severity = report_severity(report, finding);

        counts.errors += severity == SEVERITY_ERROR;
        counts.warnings += severity == SEVERITY_WARNING;
    }
    return counts;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static const char *text_of(const json_t *finding, const char *key)
{
    return json_string_value(json_object_get(finding, key));
}

static void print_why(const char *why)
{
    for (; *why; why += strspn(why, "\n")) {
        int length = (int)strcspn(why, "\n");

        printf("           %.*s\n", length, why);
        why += length;
    }
}

static void print_finding(const json_t *finding, enum severity severity)
{
    const char *why = text_of(finding, "why"), *remedy = text_of(finding, "remedy");

    printf("  %-8s %s: %s", severity_text(severity), text_of(finding, "subject"),
           text_of(finding, "what"));
    if (severity > SEVERITY_OK)
        printf(" [%s]", text_of(finding, "code"));
    putchar('\n');
    print_why(why);
    if (*remedy)
        printf("           to do: %s\n", remedy);
}

static void print_topic(const struct report *report, enum topic topic, const char *heading)
{
    const json_t *finding;
    bool first = true;
    size_t i;

    json_array_foreach(report->findings, i, finding)
    {
        if (report_topic(finding) != topic)
            continue;
        if (first)
            printf("%s%s\n", topic ? "\n" : "", heading);
        first = false;
        print_finding(finding, report_severity(report, finding));
    }
}

static void print_counts(struct counts counts)
{
    if (!counts.errors && !counts.warnings)
        puts("\nNothing is wrong.");
    else
        printf("\n%u %s, %u %s.%s\n", counts.errors, counts.errors == 1 ? "error" : "errors",
               counts.warnings, counts.warnings == 1 ? "warning" : "warnings",
               counts.errors ? "" : " Nothing must be mended.");
}

static int print_text(const struct report *report, int status)
{
#define X(name, heading) print_topic(report, TOPIC_##name, heading);
    TOPIC_MAP(X)
#undef X
    print_counts(count(report));
    return output_finish(status);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *with_severity(const struct report *report, json_t *finding)
{
    json_t *copy = json_copy(finding);

    if (copy &&
        json_object_set_new(copy, "severity",
                            json_string(severity_text(report_severity(report, finding)))) == 0)
        return copy;
    json_decref(copy);
    return NULL;
}

static json_t *all_findings(const struct report *report)
{
    json_t *list = json_array(), *finding;
    size_t i;

    for (enum topic topic = 0; topic < TOPIC_COUNT; topic++) {
        json_array_foreach(report->findings, i, finding)
        {
            if (report_topic(finding) == topic)
                list = json_list_add(list, with_severity(report, finding));
        }
    }
    return list;
}

int report_show(const struct report *report, bool json)
{
    struct counts counts = count(report);
    int status = counts.errors ? TOOL_FAILED : TOOL_DONE;

    if (!report->findings) {
        output_error("doctor: out of memory");
        return TOOL_FAILED;
    }
    if (!json)
        return print_text(report, status);
    return output_json(json_pack("{s:s, s:I, s:I, s:o}", "version", gantry_version(), "errors",
                                 (json_int_t)counts.errors, "warnings", (json_int_t)counts.warnings,
                                 "findings", all_findings(report)),
                       status);
}
