/* The life of gantry in a process: how it begins, forks, ends, and what it leaves.
 *
 * A case is a function that runs in a process of its own, started by exec, so that it may exit,
 * fork, crash or hang. What it finds wrong it says with die(). */
#ifndef GANTRY_TESTS_LIFE_H
#define GANTRY_TESTS_LIFE_H

#include "scene.h"

struct life_case {
    const char *name;  /* "fork/open" */
    const char *field; /* the failures from the field that it retells, "C41"; NULL: none */
    bool leaves;       /* ends without closing, so that a driver's books can't be even */
    void (*run)(void);
};

/* One table a file, ended by a case without a name. */
extern const struct life_case close_cases[], end_cases[], fork_cases[], instance_cases[],
    thread_cases[], surroundings_cases[];

struct life_options {
    unsigned rounds; /* of opening and closing */
    bool gpu;        /* a driver of real hardware */
};
extern struct life_options life;

/* Whether the driver need not work in a child of a process that has opened gantry, nor survive the
 * child's exit handlers. */
bool refuses_children(void);

/* Ends the case's process with a reason why it can't be run here. */
noreturn void skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The numbers for docs/reliability.md: "reliability: life/NAME-BACKEND rounds= leaked= crashed=".
 * What crashes prints nothing, so the last is always 0. */
void report_rounds(const char *name, unsigned rounds, long leaked);

/* ---- Forked children ------------------------------------------------------------------------- */

/* Runs a function in a child, which then exits as programs do, or by _exit() where the driver may
 * refuse it; the whole must take no longer than five seconds, unless it begins anew. */
void in_child(void (*run)(struct scene *), struct scene *scene);

/* Makes every call of the public API on the parent's objects, and sees that each says so. */
void call_everything(struct scene *scene);

#endif
