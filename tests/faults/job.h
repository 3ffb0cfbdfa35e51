/* The main job: what a program does with gantry from the first call to the last, in steps that can
 * each be tried again. */
#ifndef GANTRY_TESTS_FAULTS_JOB_H
#define GANTRY_TESTS_FAULTS_JOB_H

#include <gantry/gantry.h>

#define GROWTH 5 /* buffers that don't fit into one block of the pool */

struct job {
    const char *device;    /* selector: "cuda:0" */
    char wrong[256];       /* a result that no call has failed for; "": none */
    unsigned broken;       /* messages of the log about broken contracts */
    char broken_text[256]; /* the first of them */

    struct gantry *g;
    struct gantry_device *opened;
    struct gantry_queue *queue, *other, *transfer;
    struct gantry_buffer *cells, *spare, *upload, *readback, *registered, *growth[GROWTH];
    struct gantry_module *module;
    struct gantry_kernel *step, *hop;
    struct gantry_list *list, *once, *side;
    uint32_t patchable; /* the command of the list */
};

/* One step of the job. It makes what is missing and does its work from the beginning, so that a
 * failed one can be tried again. GANTRY_OK, or the status of the call that failed; a result that is
 * wrong although no call failed goes to job->wrong. */
struct step {
    const char *name;
    bool repeatable; /* must succeed when it is tried again after the fault is gone */
    enum gantry_status (*run)(struct job *job);
};

/* Ends with a step without a name. */
extern const struct step steps[];

/* Destroys whatever there is, in an order that leaves the counted objects for last. */
void job_close(struct job *job);

#endif
