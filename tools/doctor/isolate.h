/* Work that may end the process or never end, done by a child. */
#ifndef GANTRY_DOCTOR_ISOLATE_H
#define GANTRY_DOCTOR_ISOLATE_H

#include "report.h"

/* What the work is, and what is found when it does not end well. */
struct isolation {
    const char *subject;
    enum code crashed, hangs;
    unsigned seconds; /* that it may take */
};

/* Runs work(report, context) in a child; what that finds is found here, also when it does not end
 * well. False then, and that was found, too. */
bool isolate(struct report *report, const struct isolation *isolation,
             void (*work)(struct report *report, void *context), void *context);

#endif
