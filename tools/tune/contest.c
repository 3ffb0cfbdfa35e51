#include "contest.h"

#include <math.h>
#include <stdlib.h>

#include "../bench/statistics.h"
#include "estimate.h"

enum { MOST_RUNS = 25 }; /* timed ones in a turn */

/* The ratios of a part: of the incumbent's second turn to its first, and of each entrant to the
 * mean of the two. */
struct rounds {
    unsigned count;
    double null[CONTEST_LOADS][CONTEST_ROUNDS];
    double ratio[CONTEST_ENTRANTS][CONTEST_LOADS][CONTEST_ROUNDS];
};

struct match {
    const struct contest *contest;
    struct contest_verdict *verdict;
    bool watching[CONTEST_ENTRANTS]; /* has no turns in this part */
    unsigned runs[CONTEST_LOADS];    /* timed ones in a turn */
    struct rounds rounds;
};

static uint64_t now(const struct match *match)
{
    return match->contest->now(match->contest->user);
}

static bool runs(const struct match *match, unsigned entrant)
{
    return match->verdict->scores[entrant].standing == CONTEST_RUNS && !match->watching[entrant];
}

static bool ended(const struct match *match)
{
    return match->verdict->outcome == CONTEST_STOPPED || match->verdict->outcome == CONTEST_BROKEN;
}

static void rule_out(struct match *match, unsigned entrant, enum contest_standing standing)
{
    match->verdict->scores[entrant].standing = standing;
    if (entrant == match->contest->incumbent)
        match->verdict->outcome = CONTEST_BROKEN;
}

/* ---- Turns ---------------------------------------------------------------------------------- */

static bool run(struct match *match, unsigned entrant, unsigned load, double *ns)
{
    const struct contest *contest = match->contest;

    if (contest->stopped(contest->user))
        match->verdict->outcome = CONTEST_STOPPED;
    else if (!contest->run(contest->user, entrant, load, ns))
        rule_out(match, entrant, CONTEST_FAILED);
    return !ended(match) && runs(match, entrant);
}

/* The first run of a turn pays for the change: of the GPU's context, of what caches hold. */
static bool turn(struct match *match, unsigned entrant, unsigned load, double *median)
{
    double ns[MOST_RUNS];

    if (!run(match, entrant, load, &ns[0]))
        return false;
    for (unsigned i = 0; i < match->runs[load]; i++) {
        if (!run(match, entrant, load, &ns[i]))
            return false;
    }
    *median = percentile(ns, match->runs[load], 0.5);
    if (*median < 1)
        *median = 1;
    return true;
}

static unsigned count_running(const struct match *match)
{
    unsigned count = 0;

    for (unsigned i = 0; i < match->contest->entrants; i++)
        count += runs(match, i) ? 1 : 0;
    return count;
}

/* As many runs a turn as the time until `end` has room for in all rounds. */
static void plan_turns(struct match *match, uint64_t end)
{
    const struct contest *contest = match->contest;
    unsigned turns = contest->rounds * (count_running(match) + 1) * contest->loads;
    uint64_t begin = now(match);
    double room = end > begin ? (double)(end - begin) / turns : 0;

    for (unsigned load = 0; load < contest->loads && !ended(match); load++) {
        double ns = 1, runs;

        match->runs[load] = 1;
        if (!turn(match, contest->incumbent, load, &ns))
            continue;
        runs = room / ns - 1; /* one is not timed */
        match->runs[load] = runs < 1 ? 1 : runs > MOST_RUNS ? MOST_RUNS : (unsigned)runs;
    }
}

/* ---- Rounds --------------------------------------------------------------------------------- */

/* Every other round goes backwards, because those who come late may find the device warmer. */
static unsigned in_turn(const struct match *match, unsigned i)
{
    return match->rounds.count % 2 ? match->contest->entrants - 1 - i : i;
}

static void play_load(struct match *match, unsigned load)
{
    const struct contest *contest = match->contest;
    double times[CONTEST_ENTRANTS] = {0}, first, second;
    unsigned round = match->rounds.count;

    if (!turn(match, contest->incumbent, load, &first))
        return;
    for (unsigned i = 0; i < contest->entrants; i++) {
        unsigned entrant = in_turn(match, i);

        if (entrant == contest->incumbent || !runs(match, entrant))
            continue;
        if (!turn(match, entrant, load, &times[entrant]) && ended(match))
            return;
    }
    if (!turn(match, contest->incumbent, load, &second))
        return;
    match->rounds.null[load][round] = second / first;
    times[contest->incumbent] = (first + second) / 2;
    for (unsigned i = 0; i < contest->entrants; i++)
        match->rounds.ratio[i][load][round] = times[i] / times[contest->incumbent];
}

static void check_all(struct match *match)
{
    const struct contest *contest = match->contest;

    for (unsigned i = 0; i < contest->entrants; i++) {
        if (runs(match, i) && !contest->right(contest->user, i))
            rule_out(match, i, CONTEST_WRONG);
    }
}

static bool time_left(const struct match *match, uint64_t end)
{
    uint64_t until = match->rounds.count < CONTEST_LEAST_ROUNDS ? match->contest->limit : end;

    return match->rounds.count < match->contest->rounds && now(match) < until;
}

/* False: it ended before there were enough rounds. */
static bool play(struct match *match, uint64_t end)
{
    match->rounds.count = 0;
    plan_turns(match, end);
    while (!ended(match) && count_running(match) > 1 && time_left(match, end)) {
        for (unsigned load = 0; load < match->contest->loads && !ended(match); load++)
            play_load(match, load);
        if (!ended(match) && ++match->rounds.count == 1)
            check_all(match);
    }
    if (!ended(match))
        check_all(match);
    return !ended(match) && match->rounds.count >= CONTEST_LEAST_ROUNDS;
}

/* ---- Judging -------------------------------------------------------------------------------- */

static void mean_over_loads(struct match *match, double by_load[CONTEST_LOADS][CONTEST_ROUNDS],
                            double means[CONTEST_ROUNDS])
{
    for (unsigned round = 0; round < match->rounds.count; round++) {
        double sum = 0;

        for (unsigned load = 0; load < match->contest->loads; load++)
            sum += log(by_load[load][round]);
        means[round] = exp(sum / match->contest->loads);
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool is_slower_somewhere(const struct match *match, unsigned entrant)
{
    unsigned count = match->rounds.count;

    for (unsigned load = 0; load < match->contest->loads; load++) {
        struct estimate null = estimate_of_null(match->rounds.null[load], count);
        struct estimate own = estimate_of(match->rounds.ratio[entrant][load], count);

        if (own.ratio - 1 > larger(larger(null.noise, own.noise), CONTEST_LEAST_GAIN))
            return true;
    }
    return false;
}

static void score(struct match *match)
{
    const struct contest *contest = match->contest;
    double means[CONTEST_ROUNDS], noise;

    mean_over_loads(match, match->rounds.null, means);
    noise = match->verdict->noise = estimate_of_null(means, match->rounds.count).noise;
    for (unsigned i = 0; i < contest->entrants; i++) {
        struct contest_score *score = &match->verdict->scores[i];
        struct estimate estimate;

        if (!runs(match, i))
            continue;
        mean_over_loads(match, match->rounds.ratio[i], means);
        estimate = estimate_of(means, match->rounds.count);
        score->ratio = estimate.ratio;
        score->noise = larger(estimate.noise, noise);
        score->slower = is_slower_somewhere(match, i);
    }
}

static bool beats_incumbent(const struct match *match, unsigned entrant)
{
    const struct contest_score *score = &match->verdict->scores[entrant];

    return runs(match, entrant) && !score->slower && score->noise <= CONTEST_MOST_NOISE &&
           1 - score->ratio > larger(score->noise, CONTEST_LEAST_GAIN);
}

static unsigned distance(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

/* The challenger to prefer; -1 when none beats the incumbent. */
static int prefer(const struct match *match)
{
    const struct contest *contest = match->contest;
    const struct contest_score *scores = match->verdict->scores;
    int best = -1, nearest;
    double as_good;

    for (unsigned i = 0; i < contest->entrants; i++) {
        if (beats_incumbent(match, i) && (best < 0 || scores[i].ratio < scores[best].ratio))
            best = (int)i;
    }
    if (best < 0)
        return -1;
    nearest = best;
    as_good = scores[best].ratio + scores[best].noise;
    for (unsigned i = 0; i < contest->entrants; i++) {
        if (beats_incumbent(match, i) && scores[i].ratio <= as_good &&
            distance(i, contest->incumbent) < distance((unsigned)nearest, contest->incumbent))
            nearest = (int)i;
    }
    return nearest;
}

/* The best of those that did not win, by what was measured; the incumbent too. */
static int find_runner_up(const struct match *match)
{
    const struct contest_score *scores = match->verdict->scores;
    int best = -1;

    for (unsigned i = 0; i < match->contest->entrants; i++) {
        if (i == match->verdict->winner || !runs(match, i) || !(scores[i].ratio > 0))
            continue;
        if (best < 0 || scores[i].ratio < scores[best].ratio)
            best = (int)i;
    }
    return best;
}

/* ---- The contest ---------------------------------------------------------------------------- */

/* Once more, the two alone. The others keep the scores that they have. */
static bool confirm(struct match *match, unsigned challenger)
{
    bool confirmed;

    for (unsigned i = 0; i < match->contest->entrants; i++)
        match->watching[i] = i != challenger && i != match->contest->incumbent;
    confirmed = play(match, match->contest->end);
    if (confirmed) {
        score(match);
        confirmed = beats_incumbent(match, challenger);
    }
    for (unsigned i = 0; i < match->contest->entrants; i++)
        match->watching[i] = false;
    return confirmed;
}

static void decide(struct match *match)
{
    struct contest_verdict *verdict = match->verdict;
    int challenger;

    score(match);
    verdict->outcome = CONTEST_KEPT;
    verdict->rounds = match->rounds.count;
    challenger = prefer(match);
    if (challenger >= 0 && confirm(match, (unsigned)challenger)) {
        verdict->outcome = CONTEST_WON;
        verdict->winner = (unsigned)challenger;
    } else if (challenger >= 0) {
        verdict->scores[challenger].unconfirmed = true;
    }
    verdict->runner_up = find_runner_up(match);
}

void contest_run(const struct contest *contest, struct contest_verdict *verdict)
{
    struct match *match = calloc(1, sizeof *match);
    uint64_t begin = contest->now(contest->user);
    uint64_t time = contest->end > begin ? contest->end - begin : 0;

    *verdict = (struct contest_verdict){.outcome = CONTEST_UNDECIDED,
                                        .winner = contest->incumbent,
                                        .runner_up = -1};
    if (!match)
        return;
    match->contest = contest;
    match->verdict = verdict;
    if (play(match, begin + time / 3 * 2))
        decide(match);
    else if (!ended(match) && count_running(match) < 2)
        verdict->outcome = CONTEST_KEPT;
    free(match);
}
