/* A contest between the values of a key: who runs when, and who wins. It knows neither keys nor
 * devices, so tests can run it on times that they make up.
 *
 * In each round every entrant has its turn at every load, between two turns of the incumbent, so
 * that what drifts (clocks, heat, other programs) drifts for all. What counts is the ratio of an
 * entrant's time to the incumbent's of the same round: the geometric mean over the loads, the
 * median over the rounds. The incumbent's two turns, compared with each other, tell the noise.
 *
 * A challenger wins when it is faster by more than the noise and by more than CONTEST_LEAST_GAIN,
 * slower under no load by more than these, and all of that once more in rounds of the two alone:
 * the best of several has been lucky, and the second time luck does not count. Of challengers that
 * are as good as the best one the nearest to the incumbent is taken, so that a flat curve does not
 * give another value each time. */
#ifndef GANTRY_TUNE_CONTEST_H
#define GANTRY_TUNE_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

#define CONTEST_LEAST_GAIN 0.02
#define CONTEST_MOST_NOISE 0.2 /* with more nothing is decided */

enum { CONTEST_ENTRANTS = 12, CONTEST_LOADS = 8, CONTEST_ROUNDS = 31, CONTEST_LEAST_ROUNDS = 5 };

struct contest {
    unsigned entrants; /* in the order of their values; at least 1 */
    unsigned loads;
    unsigned incumbent;
    unsigned rounds; /* wanted; at most CONTEST_ROUNDS. As many again for the two alone */
    uint64_t end;    /* of the time, as now() tells it, in ns. CONTEST_LEAST_ROUNDS are run all the
                        same, up to `limit` */
    uint64_t limit;

    void *user;
    /* Runs a load once under an entrant's value, to its end. False: it can't. */
    bool (*run)(void *user, unsigned entrant, unsigned load, double *ns);
    /* Whether all that the entrant has computed since the last time is right. */
    bool (*right)(void *user, unsigned entrant);
    uint64_t (*now)(void *user);
    bool (*stopped)(void *user); /* the user wants it to end */
};

enum contest_standing {
    CONTEST_RUNS,
    CONTEST_WRONG,  /* gave a wrong result, which rules it out */
    CONTEST_FAILED, /* could not be run */
};

enum contest_outcome {
    CONTEST_KEPT,      /* the incumbent stays */
    CONTEST_WON,       /* a challenger is better */
    CONTEST_UNDECIDED, /* there was not enough time; the incumbent stays */
    CONTEST_STOPPED,
    CONTEST_BROKEN, /* the incumbent is wrong or fails */
};

struct contest_score {
    enum contest_standing standing;
    double ratio;     /* to the incumbent's time; 0: not measured */
    double noise;     /* how far off that may be; at least the verdict's */
    bool slower;      /* under one of the loads, by more than the noise */
    bool unconfirmed; /* it won, but not when the two were alone */
};

struct contest_verdict {
    enum contest_outcome outcome;
    unsigned winner;
    int runner_up; /* -1: there is none */
    double noise;  /* of the incumbent against itself */
    unsigned rounds;
    struct contest_score scores[CONTEST_ENTRANTS];
};

/* Asks right() once after the first round and once at the end of each part. */
void contest_run(const struct contest *contest, struct contest_verdict *verdict);

#endif
