/* Does the main job, and once more when something failed: job DEVICE [passing|steady|sticky]
 *
 * The word says what kind of fault the environment plans for the first round. `passing`: one call
 * fails; the step that it is in must succeed when it is tried again, unless the device is lost.
 * `steady`: it stays while the job is torn down. `sticky`: it outlives its removal, as the loss of
 * a CUDA context does; then the second round may end with the same loss. Without a word nothing may
 * fail, and there is one round.
 *
 * The last line says how it went: "job: survived STEP STATUS SENTENCE" (STEP and STATUS of the
 * first failure, "-" when every step succeeded), or "job: failed TEXT" and exit status 1. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mode { SOUND, PASSING, STEADY, STICKY };

/* "out of host memory", where there is none for a longer one. */
enum { SHORTEST_SENTENCE = 18 };

struct failure {
    const char *step; /* NULL: none */
    enum gantry_status status;
    char sentence[8192];
};

/* What must not happen, in words; "" while nothing has. */
static char verdict[16384];

/* Where the device was lost its own report belongs to the sentence. */
static void note(struct failure *failure, const struct job *job, const char *step,
                 enum gantry_status status)
{
    const char *loss = job->opened ? gantry_device_loss(job->opened) : NULL;

    failure->step = step;
    failure->status = status;
    snprintf(failure->sentence, sizeof(failure->sentence), "%s%s%s", gantry_last_error(),
             loss ? " | " : "", loss ? loss : "");
    for (char *at = failure->sentence; *at; at++)
        if (*at == '\n')
            *at = ' ';
    if (strlen(failure->sentence) < SHORTEST_SENTENCE)
        snprintf(verdict, sizeof(verdict), "step %s: %s without a sentence: \"%s\"", step,
                 gantry_status_name(status), failure->sentence);
}

/* What a lost device must still do: refuse at once, and be closed. */
static void check_lost(const struct job *job)
{
    struct gantry_queue *queue;

    if (job->opened && gantry_queue_create(job->opened, NULL, &queue) != GANTRY_E_DEVICE_LOST)
        snprintf(verdict, sizeof(verdict), "a lost device makes another queue");
}

static enum gantry_status try_again(struct job *job, const struct step *step)
{
    enum gantry_status status = step->run(job);

    if (status != GANTRY_OK && status != GANTRY_E_DEVICE_LOST)
        snprintf(verdict, sizeof(verdict), "step %s fails again without the fault: %s: %s",
                 step->name, gantry_status_name(status), gantry_last_error());
    return status;
}

/* The steps in turn, up to the first failure that ends the job. */
static void run_steps(struct job *job, enum mode mode, struct failure *failure)
{
    enum gantry_status status = GANTRY_OK;

    for (const struct step *step = steps; step->name && status == GANTRY_OK; step++) {
        status = step->run(job);
        if (status == GANTRY_OK || verdict[0])
            continue;
        if (!failure->step)
            note(failure, job, step->name, status);
        if (mode == PASSING && step->repeatable && status != GANTRY_E_DEVICE_LOST)
            status = try_again(job, step);
    }
    if (status == GANTRY_E_DEVICE_LOST && !verdict[0])
        check_lost(job);
}

static void run_round(const char *device, enum mode mode, struct failure *failure)
{
    struct job job = {.device = device};

    run_steps(&job, mode, failure);
    job_close(&job);
    if (job.wrong[0])
        snprintf(verdict, sizeof(verdict), "wrong result: %s", job.wrong);
    else if (job.broken)
        snprintf(verdict, sizeof(verdict), "%u messages: %s", job.broken, job.broken_text);
}

static void remove_fault(void)
{
    static const char *const names[] = {"STANDIN_FAIL", "GANTRY_HOST_FAIL", "FAULTS_VULKAN_FAIL",
                                        "FAULTS_MALLOC_FAIL"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

static enum mode parse_mode(const char *word)
{
    if (!word)
        return SOUND;
    if (strcmp(word, "steady") == 0)
        return STEADY;
    return strcmp(word, "sticky") == 0 ? STICKY : PASSING;
}

int main(int argc, char **argv)
{
    enum mode mode = parse_mode(argc > 2 ? argv[2] : NULL);
    struct failure first = {0}, again = {0};

    if (argc < 2) {
        fprintf(stderr, "usage: %s DEVICE [passing|steady|sticky]\n", argv[0]);
        return 2;
    }
    run_round(argv[1], mode, &first);
    remove_fault();
    if (mode != SOUND && !verdict[0])
        run_round(argv[1], SOUND, &again);
    if (!verdict[0] && again.step && mode != STICKY)
        snprintf(verdict, sizeof(verdict), "second round, step %s: %s: %s", again.step,
                 gantry_status_name(again.status), again.sentence);
    if (!verdict[0] && mode == SOUND && first.step)
        snprintf(verdict, sizeof(verdict), "step %s: %s: %s", first.step,
                 gantry_status_name(first.status), first.sentence);
    if (verdict[0])
        printf("job: failed %s\n", verdict);
    else if (first.step)
        printf("job: survived %s %s %s\n", first.step, gantry_status_name(first.status),
               first.sentence);
    else
        printf("job: survived - - -\n");
    return verdict[0] ? 1 : 0;
}
