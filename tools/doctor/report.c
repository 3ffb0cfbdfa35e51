#include "report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/utf8.h"

static const struct row {
    const char *name;
    enum topic topic;
    enum severity severity, mild;
    const char *remedy;
} rows[] = {
#define X(code, topic, severity, mild, remedy) \
    {#code, TOPIC_##topic, SEVERITY_##severity, SEVERITY_##mild, remedy},
    CODE_MAP(X)
#undef X
};

static const struct row *row_of(const json_t *finding)
{
    const char *name = json_string_value(json_object_get(finding, "code"));

    for (size_t i = 0; i < CODE_COUNT; i++) {
        if (name && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return &rows[0]; /* of findings only: they are made from rows */
}

/* ---- Adding --------------------------------------------------------------------------------- */

static json_t *mended(const char *text)
{
    char *copy = strdup(text);
    json_t *string;

    if (!copy)
        return NULL;
    utf8_mend(copy);
    string = json_string(copy);
    free(copy);
    return string;
}

/* The same, line by line. */
static json_t *mended_lines(const char *text)
{
    char *copy = strdup(text), *line = copy, *end = copy;
    json_t *string;

    if (!copy)
        return NULL;
    for (; end; line = end + 1) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        utf8_mend(line);
        if (end)
            *end = '\n';
    }
    string = json_string(copy);
    free(copy);
    return string;
}

static json_t *make(const struct finding *finding, const char *what)
{
    const struct row *row = &rows[finding->code];

    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "code", row->name, "subject",
                     mended(finding->subject), "what", mended(what), "why",
                     mended_lines(finding->why ? finding->why : ""), "remedy",
                     mended(finding->remedy ? finding->remedy : row->remedy));
}

static void keep(struct report *report, json_t *finding)
{
    if (report->findings && json_array_append_new(report->findings, finding) == 0)
        return;
    json_decref(report->findings);
    report->findings = NULL;
}

void report_add(struct report *report, const struct finding *finding, const char *what, ...)
{
    va_list arguments;
    json_t *made = NULL;
    char *sentence;

    va_start(arguments, what);
    if (vasprintf(&sentence, what, arguments) < 0)
        sentence = NULL;
    va_end(arguments);
    if (sentence)
        made = make(finding, sentence);
    free(sentence);
    if (report->stream && made) {
        json_dumpf(made, report->stream, JSON_COMPACT);
        fputc('\n', report->stream);
        fflush(report->stream); /* what comes next may be the end of us */
    }
    keep(report, made);
}

/* The last line of a process that was ended can be cut. */
void report_take(struct report *report, const char *line)
{
    json_t *finding = json_loads(line, 0, NULL);

    if (finding)
        keep(report, finding);
}

/* ---- Judging -------------------------------------------------------------------------------- */

bool report_has(const struct report *report, enum code code)
{
    const json_t *finding;
    size_t i;

    json_array_foreach(report->findings, i, finding)
    {
        if (row_of(finding) == &rows[code])
            return true;
    }
    return false;
}

enum severity report_severity(const struct report *report, const json_t *finding)
{
    const struct row *row = row_of(finding);

    return report_has(report, CODE_DEVICE) ? row->mild : row->severity;
}

enum topic report_topic(const json_t *finding)
{
    return row_of(finding)->topic;
}

const char *severity_text(enum severity severity)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SEVERITY_MAP(X)
#undef X
    };

    return texts[severity];
}
