/* What the doctor has found, in the order of finding. */
#ifndef GANTRY_DOCTOR_REPORT_H
#define GANTRY_DOCTOR_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "codes.h"

struct report {
    json_t *findings; /* objects with code, subject, what, why, remedy; NULL once memory ran out */
    FILE *stream;     /* not NULL: findings go there, a line each, as report_take() reads them */
};

struct finding {
    enum code code;
    const char *subject; /* the file, driver, device or kernel that it is about */
    const char *why;     /* one reason a line; NULL: there is no more to say than what */
    const char *remedy;  /* NULL: the code's */
};

/* `what` is one sentence. Bytes that are no UTF-8, and control characters, become '?'. */
void report_add(struct report *report, const struct finding *finding, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* Takes over a line that another report has written to its stream. */
void report_take(struct report *report, const char *line);

bool report_has(const struct report *report, enum code code);

/* How much a finding's code counts, in the light of all the others. */
enum severity report_severity(const struct report *report, const json_t *finding);
enum topic report_topic(const json_t *finding);

/* "ok", "note", … */
const char *severity_text(enum severity severity);

/* Prints all, for people or as one JSON object. Returns the exit status. */
int report_show(const struct report *report, bool json);

#endif
