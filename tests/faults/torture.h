/* Every way of failing, at every step of the main job: what the parts of the driver share. */
#ifndef GANTRY_TESTS_FAULTS_TORTURE_H
#define GANTRY_TESTS_FAULTS_TORTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- What can fail: injectors.c -------------------------------------------------------------- */

struct code {
    const char
        *text; /* as the plan writes it: "-2", "E_DRIVER"; "": the entry has one way to fail */
    const char *name;      /* as sentences write it */
    const char *status;    /* that says it without that name; NULL: none does */
    bool onwards;          /* from that call on, until the fault is removed */
    bool sticky;           /* stays when it is removed */
    const char *beginning; /* only for entries whose names begin so; NULL: for all */
};

struct injector {
    const char *name; /* "cuda"; "memory-cuda" for allocations of gantry's own over that backend */
    const char *device;       /* selector of the job */
    const char *plan;         /* variable that gets ENTRY:COUNT[+]:CODE */
    const char *report;       /* variable that names the report's file */
    bool own_memory;          /* the plan is COUNT[+] alone */
    const struct code *codes; /* ends with one without a text */

    /* Beginnings of entries after whose failure an object can't be given back, or that tell whether
     * work is over; ends with NULL. Leaks are then nobody's fault. */
    const char *const *may_leak;
};

/* NULL: there is none of that name. */
const struct injector *injector_find(const char *name);

/* Sets the environment in which the job finds the injector's backend and nothing else. `build` is
 * the build folder. False: it can't be had here, and a sentence has been printed. */
bool injector_prepare(const struct injector *injector, const char *build);

/* ---- One run: run.c -------------------------------------------------------------------------- */

#define ENTRY_SIZE 64

struct run {
    char entry[ENTRY_SIZE];
    uint64_t count; /* the call that fails; 0: none does */
    const struct code *code;
};

struct tally {
    uint32_t faults, survived, leaked, crashed;
};

/* Runs the job with each fault, several at once, and prints a line for each:
 *
 *     fault: INJECTOR ENTRY COUNT[+] CODE: survived STEP STATUS SENTENCE
 *     fault: INJECTOR ENTRY COUNT[+] CODE: FAILED what is wrong */
void runs_do(const struct injector *injector, const char *job, const struct run *runs,
             uint32_t count, struct tally *tally);

/* Runs the job without a fault and passes each entry with the number of its calls. False: it
 * failed, which has been printed. */
bool run_record(const struct injector *injector, const char *job,
                void (*visit)(void *user, const char *entry, uint64_t calls), void *user);

#endif
