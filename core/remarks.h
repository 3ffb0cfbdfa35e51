/* What was found wrong in configuration texts. */
#ifndef GANTRY_CORE_REMARKS_H
#define GANTRY_CORE_REMARKS_H

#include <stdint.h>

#include <gantry/gantry.h>

#include "arena.h"

enum remark_kind {
    REMARK_MISTAKE, /* something was not understood and does not count */
    REMARK_DOUBT,   /* it counts, but is unlikely to be what was meant */
};

struct remark {
    enum remark_kind kind;
    bool named;       /* the user or the application named the source */
    const char *file; /* or "environment NAME" */
    uint32_t line;    /* from 1; 0: the file as such */
    uint32_t order;   /* of finding */
    const char *text; /* "FILE:LINE: what is wrong" */
    const char *what; /* its end: "what is wrong", in UTF-8 without control characters */
};

struct remarks {
    struct arena *arena; /* for the texts */
    struct remark *items;
    uint32_t count;

    /* Set before a source is read; remarks take them over. */
    const char *file;
    bool named;
};

/* Whether a configuration with this remark is refused. */
bool remark_fatal(const struct remark *remark);

/* GANTRY_E_CONFIG, with the first fatal remark and how many more there are as the sentence;
 * GANTRY_OK when there is none. */
enum gantry_status remarks_status(const struct remarks *remarks);

void remark(struct remarks *remarks, enum remark_kind kind, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
