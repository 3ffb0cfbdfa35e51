/* What was found wrong in configuration texts. */
#ifndef GANTRY_CORE_REMARKS_H
#define GANTRY_CORE_REMARKS_H

#include <stdint.h>

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
    const char *text; /* "FILE:LINE: what is wrong" */
};

struct remarks {
    struct arena *arena; /* for the texts */
    struct remark *items;
    uint32_t count;

    /* Set before a source is read; remarks take them over. */
    const char *file;
    bool named;
};

void remark(struct remarks *remarks, enum remark_kind kind, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
