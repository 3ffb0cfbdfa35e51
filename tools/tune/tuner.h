/* gantry tune: what its parts share. */
#ifndef GANTRY_TUNE_TUNER_H
#define GANTRY_TUNE_TUNER_H

#include <jansson.h>

#include "ini_lines.h"
#include "progress.h"
#include "trial.h"

enum { MOST_KEYS = 32, MOST_ARGS = 32, MOST_JOBS = 16, MOST_TRIALS = 64, MOST_LEFT_OUT = 32 };

struct options {
    const char *device, *backend;
    const char *keys[MOST_KEYS + 1]; /* up to a NULL; none: all */
    const char *package, *kernel;    /* the user's own; package NULL: none */
    const char *args[MOST_ARGS];
    size_t arg_count;
    struct gantry_size threads;
    const char *kernels;    /* folder of the shipped packages, NULL: wherever they are */
    const char *write_file; /* NULL: the usual one */
    unsigned seconds;       /* that it may take */
    bool write, resume, list, json;
};

/* False: nothing is left to do but to exit with *status. */
bool tune_options_read(int argc, char **argv, struct options *options, int *status);

/* Whether a key is to be tuned: by its name, or by that in front of its ".KERNEL". */
bool tune_wants(const struct options *options, const char *key);

/* The device as one backend sees it. */
struct view {
    const char *backend;
    const char *driver;
    char selector[48];       /* "cuda:0" */
    struct gantry_side base; /* open with what is in force, and the winners so far */
    bool open, outdated;     /* a winner is not in force there yet */
    char *settings;          /* INI lines: the winners so far */
};

struct tuner {
    struct options options;
    char *kernels; /* the file of the bench's kernels */
    struct gantry *g;
    struct gantry_device_info info;
    struct view views[GANTRY_MAX_DEVICE_BACKENDS];
    unsigned view_count, preferred; /* the backend that the configuration takes */
    struct job jobs[MOST_JOBS];
    char *job_files[MOST_JOBS];
    unsigned job_count;
    struct trial trials[MOST_TRIALS];
    unsigned trial_count;
    char model[256];                            /* the device's normalised name */
    char left_out[MOST_LEFT_OUT][JOB_WHY_SIZE]; /* what can't be tuned, and why */
    unsigned left_out_count;
    bool problem;               /* a result was wrong, or what is in force does not work */
    uint64_t begin, end, limit; /* of the time for all, as of the stopwatch */
    struct progress progress;
};

/* Notes what can't be tuned. */
void tuner_leave_out(struct tuner *tuner, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Finds the device, and opens it through each backend. False: and why was said. */
bool tuner_open(struct tuner *tuner);
void tuner_close(struct tuner *tuner);

/* How many backends can use the device, tuned or not. */
unsigned tuner_usable_backends(const struct tuner *tuner);

/* Opens the view's base again when a winner is not in force there. False: and why was said. */
bool view_refresh(struct tuner *tuner, struct view *view);

/* Opens another side of the view, with one line more; quietly. */
bool view_open_side(const struct tuner *tuner, const struct view *view, const char *line,
                    struct gantry_side *side);

/* Puts the winner of a trial in force for the trials that follow. False: no memory, said. */
bool view_adopt(struct tuner *tuner, const struct trial *trial);

/* The jobs: of the options' package, or of the shipped kernels. False: and why was said. */
bool jobs_open(struct tuner *tuner);
void jobs_close(struct tuner *tuner);

/* Makes the list of trials. False: and why was said. */
bool plan_trials(struct tuner *tuner);

/* Runs one trial until about `end`; the verdict is in it, when it was measured. */
void trial_run(struct tuner *tuner, struct trial *trial, uint64_t end, uint64_t limit);

/* ---- What comes of it ----------------------------------------------------------------------- */

/* The trials of this device that an earlier run, which was stopped, has measured. */

/* Takes over what the state file holds. False: it is about something else, or can't be read, and
 * why was said. */
bool state_load(struct tuner *tuner);

/* Keeps what was measured so far; a failure is said, and does not end anything. */
void state_save(const struct tuner *tuner);

/* Nothing is left to go on with. */
void state_remove(const struct tuner *tuner);

json_t *trial_json(const struct tuner *tuner, const struct trial *trial);

/* Prints what was found, and the section. */
void report_print(const struct tuner *tuner, const char *section, const char *written);
int report_print_json(const struct tuner *tuner, const char *section, const char *written,
                      int status);
void report_print_list(const struct tuner *tuner);

#endif
