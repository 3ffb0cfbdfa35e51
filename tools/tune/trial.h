/* One key through one backend: the values that are tried, and what came of it. */
#ifndef GANTRY_TUNE_TRIAL_H
#define GANTRY_TUNE_TRIAL_H

#include "contest.h"
#include "load.h"

enum {
    TRIAL_KEY_SIZE = 160,
    TRIAL_VALUE_SIZE = 24,
    TRIAL_NOTE_SIZE = 200,
    TRIAL_ORIGIN_SIZE = 512
};

enum trial_kind {
    TRIAL_POLICY,  /* a key that a device is opened with */
    TRIAL_BLOCK,   /* block_size of a job's kernel */
    TRIAL_BACKEND, /* the backends themselves */
};

struct trial {
    enum trial_kind kind;
    unsigned backend;         /* its number in struct tuner; of TRIAL_BACKEND: the incumbent's */
    char key[TRIAL_KEY_SIZE]; /* "chains", "block_size.edge/sobel", "backend" */
    const struct job *job;    /* of TRIAL_BLOCK */
    struct load loads[CONTEST_LOADS];
    unsigned load_count;

    char values[CONTEST_ENTRANTS][TRIAL_VALUE_SIZE];
    unsigned value_count, incumbent;
    char origin[TRIAL_ORIGIN_SIZE]; /* what set the incumbent: "built-in", "FILE:LINE" */

    bool measured; /* or taken over from an earlier run */
    struct contest_verdict verdict;
    char notes[CONTEST_ENTRANTS][TRIAL_NOTE_SIZE]; /* why a value could not take part; "": it did */
};

/* Adds a value in its place: numbers in their order, words as they come. One that is there already
 * is not added again. False: there is no room. */
bool trial_add_value(struct trial *trial, const char *value);

/* Adds the incumbent's value, likewise. */
bool trial_set_incumbent(struct trial *trial, const char *value);

/* Whether it was measured, and the times said something. */
bool trial_decided(const struct trial *trial);

/* Whether the winner is another value than the one that was in force. */
bool trial_changed(const struct trial *trial);
const char *trial_winner(const struct trial *trial);

/* The share of the incumbent's time that the value saves: 0.05 for 5 %. */
double trial_gain(const struct trial *trial, unsigned value);

/* What came of it, as "8 stays; runner-up 16, 1.2 ± 0.8 % less time; noise 0.5 %". */
enum { TRIAL_SENTENCE_SIZE = 320 };
void trial_sentence(const struct trial *trial, char text[TRIAL_SENTENCE_SIZE]);

#endif
