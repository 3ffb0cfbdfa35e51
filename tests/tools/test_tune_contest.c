/* Who wins a contest between values, on times that are made up: gantry tune's decisions without a
 * device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/tune/contest.h"
#include "../../tools/tune/estimate.h"

enum { SEEDS = 50, MS = 1000000 };

/* A world in which a run takes `ns`, more or less by `noise`, and more and more by `drift`. */
struct world {
    double ns[CONTEST_ENTRANTS][CONTEST_LOADS];
    double noise; /* the largest, as a share */
    double drift; /* for each second */
    uint64_t clock;
    uint32_t seed;
    unsigned runs, stop_at; /* 0: never */
    int wrong, fails;       /* entrants; -1: none */
};

static double next_random(struct world *world)
{
    world->seed = world->seed * 1664525u + 1013904223u;
    return (double)(world->seed >> 8) / (1 << 24);
}

/* The sum of three is bell-shaped, more or less. */
static double next_noise(struct world *world)
{
    double sum = next_random(world) + next_random(world) + next_random(world);

    return 1 + world->noise * (sum / 1.5 - 1);
}

static bool run(void *user, unsigned entrant, unsigned load, double *ns)
{
    struct world *world = user;

    world->runs++;
    if ((int)entrant == world->fails)
        return false;
    *ns = world->ns[entrant][load] * next_noise(world) *
          (1 + world->drift * (double)world->clock * 1e-9);
    world->clock += (uint64_t)*ns;
    return true;
}

static bool right(void *user, unsigned entrant)
{
    return (int)entrant != ((struct world *)user)->wrong;
}

static uint64_t now(void *user)
{
    return ((struct world *)user)->clock;
}

static bool stopped(void *user)
{
    const struct world *world = user;

    return world->stop_at && world->runs >= world->stop_at;
}

/* `count` entrants that all take 1 ms, under one load. */
static struct world equals(unsigned count, double noise, uint32_t seed)
{
    struct world world = {.noise = noise, .seed = seed * 7919 + 1, .wrong = -1, .fails = -1};

    for (unsigned i = 0; i < count; i++) {
        for (unsigned load = 0; load < CONTEST_LOADS; load++)
            world.ns[i][load] = MS;
    }
    return world;
}

static struct contest contest_in(struct world *world, unsigned entrants, unsigned incumbent)
{
    return (struct contest){.entrants = entrants,
                            .loads = 1,
                            .incumbent = incumbent,
                            .rounds = 9,
                            .end = UINT64_C(2000) * MS,
                            .limit = UINT64_C(3000) * MS,
                            .user = world,
                            .run = run,
                            .right = right,
                            .now = now,
                            .stopped = stopped};
}

/* ---- Deciding ------------------------------------------------------------------------------- */

static void test_within_the_noise_the_incumbent_stays(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct world world = equals(2, 0.2, seed);
        struct contest contest = contest_in(&world, 2, 0);
        struct contest_verdict verdict;

        world.ns[1][0] = 0.995 * MS;
        contest_run(&contest, &verdict);
        assert_int_equal(verdict.outcome, CONTEST_KEPT);
        assert_int_equal(verdict.winner, 0);
        assert_int_equal(verdict.runner_up, 1);
        assert_true(verdict.noise > 0);
    }
}

static void test_less_than_the_least_gain_is_none(void **state)
{
    struct world world = equals(2, 0, 1);
    struct contest contest = contest_in(&world, 2, 0);
    struct contest_verdict verdict;

    (void)state;
    world.ns[1][0] = (1 - 0.9 * CONTEST_LEAST_GAIN) * MS;
    contest_run(&contest, &verdict);
    assert_int_equal(verdict.outcome, CONTEST_KEPT);
    world.ns[1][0] = (1 - 1.1 * CONTEST_LEAST_GAIN) * MS;
    world.clock = 0;
    contest_run(&contest, &verdict);
    assert_int_equal(verdict.outcome, CONTEST_WON);
}

static void test_beyond_the_noise_the_challenger_wins(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct world world = equals(3, 0.05, seed);
        struct contest contest = contest_in(&world, 3, 1);
        struct contest_verdict verdict;

        world.ns[0][0] = 0.85 * MS;
        contest_run(&contest, &verdict);
        assert_int_equal(verdict.outcome, CONTEST_WON);
        assert_int_equal(verdict.winner, 0);
        assert_true(verdict.scores[0].ratio > 0.8 && verdict.scores[0].ratio < 0.9);
        assert_true(verdict.scores[1].ratio == 1);
    }
}

/* Several that are equal are a temptation: one of them is always lucky. */
static void test_luck_does_not_win(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 4 * SEEDS; seed++) {
        struct world world = equals(8, 0.3, seed);
        struct contest contest = contest_in(&world, 8, 3);
        struct contest_verdict verdict;

        contest_run(&contest, &verdict);
        assert_int_equal(verdict.outcome, CONTEST_KEPT);
    }
}

static void test_what_drifts_drifts_for_all(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct world world = equals(4, 0.02, seed);
        struct contest contest = contest_in(&world, 4, 3);
        struct contest_verdict verdict;

        world.drift = 0.5;
        contest_run(&contest, &verdict);
        assert_int_equal(verdict.outcome, CONTEST_KEPT);
        assert_true(verdict.scores[0].ratio > 0.97 && verdict.scores[0].ratio < 1.03);
    }
}

/* 16, 32, 64 and 128 all better than 8, and alike: 16. */
static void test_of_equals_the_nearest_is_taken(void **state)
{
    int nearest = 0;

    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct world world = equals(6, 0.04, seed);
        struct contest contest = contest_in(&world, 6, 1);
        struct contest_verdict verdict;

        for (unsigned i = 2; i < 6; i++)
            world.ns[i][0] = 0.7 * MS;
        contest_run(&contest, &verdict);
        assert_int_equal(verdict.outcome, CONTEST_WON);
        nearest += verdict.winner == 2 ? 1 : 0;
    }
    assert_true(nearest >= SEEDS - 5);
}

static void test_a_second_run_agrees(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct world world = equals(5, 0.05, seed);
        struct contest contest = contest_in(&world, 5, 0);
        struct contest_verdict first, second;

        for (unsigned i = 1; i < 5; i++)
            world.ns[i][0] = (0.9 - 0.01 * i) * MS;
        contest_run(&contest, &first);
        assert_int_equal(first.outcome, CONTEST_WON);
        world.clock = 0;
        contest.incumbent = first.winner;
        contest_run(&contest, &second);
        if (second.outcome == CONTEST_WON) /* then there was something to be gained */
            assert_true(world.ns[second.winner][0] < 0.98 * world.ns[first.winner][0]);
        else
            assert_int_equal(second.outcome, CONTEST_KEPT);
    }
}

static void test_faster_in_all_but_slower_somewhere(void **state)
{
    struct world world = equals(2, 0.01, 3);
    struct contest contest = contest_in(&world, 2, 0);
    struct contest_verdict verdict;

    (void)state;
    contest.loads = 3;
    world.ns[1][0] = world.ns[1][1] = 0.5 * MS;
    world.ns[1][2] = 1.1 * MS;
    contest_run(&contest, &verdict);
    assert_int_equal(verdict.outcome, CONTEST_KEPT);
    assert_true(verdict.scores[1].ratio < 0.8);
    assert_true(verdict.scores[1].slower);
}

/* ---- Ruling out ----------------------------------------------------------------------------- */

static void test_wrong_results_are_out(void **state)
{
    struct world world = equals(3, 0.01, 1);
    struct contest contest = contest_in(&world, 3, 0);
    struct contest_verdict verdict;

    (void)state;
    world.ns[1][0] = 0.5 * MS;
    world.ns[2][0] = 0.8 * MS;
    world.wrong = 1;
    contest_run(&contest, &verdict);
    assert_int_equal(verdict.scores[1].standing, CONTEST_WRONG);
    assert_int_equal(verdict.outcome, CONTEST_WON);
    assert_int_equal(verdict.winner, 2);
    assert_int_equal(verdict.runner_up, 0);
}

static void test_who_can_not_run_is_out(void **state)
{
    struct world world = equals(2, 0.01, 1);
    struct contest contest = contest_in(&world, 2, 0);
    struct contest_verdict verdict;

    (void)state;
    world.fails = 1;
    contest_run(&contest, &verdict);
    assert_int_equal(verdict.scores[1].standing, CONTEST_FAILED);
    assert_int_equal(verdict.outcome, CONTEST_KEPT);
    assert_int_equal(verdict.runner_up, -1);
}

static void test_a_wrong_incumbent_is_said(void **state)
{
    struct world world = equals(2, 0.01, 1);
    struct contest contest = contest_in(&world, 2, 0);
    struct contest_verdict verdict;

    (void)state;
    world.wrong = 0;
    world.ns[1][0] = 0.5 * MS;
    contest_run(&contest, &verdict);
    assert_int_equal(verdict.outcome, CONTEST_BROKEN);
    assert_int_equal(verdict.winner, 0);
}

/* ---- Time ----------------------------------------------------------------------------------- */

static void test_stopping(void **state)
{
    struct world world = equals(3, 0.01, 1);
    struct contest contest = contest_in(&world, 3, 0);
    struct contest_verdict verdict;

    (void)state;
    world.stop_at = 20;
    contest_run(&contest, &verdict);
    assert_int_equal(verdict.outcome, CONTEST_STOPPED);
    assert_int_equal(world.runs, 20);
}

static void test_it_keeps_to_its_time(void **state)
{
    struct world world = equals(5, 0.01, 1);
    struct contest contest = contest_in(&world, 5, 0);
    struct contest_verdict verdict;
    uint64_t round;

    (void)state;
    contest.loads = 2;
    for (unsigned ms = 1; ms < 200; ms *= 3) {
        for (unsigned i = 0; i < 5; i++)
            world.ns[i][0] = world.ns[i][1] = ms * (double)MS;
        world.clock = 0;
        contest_run(&contest, &verdict);
        round = UINT64_C(6) * 2 * 2 * ms * MS; /* turns, loads, runs */
        assert_true(world.clock <= contest.limit + 2 * round);
        if (verdict.outcome == CONTEST_KEPT)
            assert_true(verdict.rounds >= CONTEST_LEAST_ROUNDS);
        else
            assert_int_equal(verdict.outcome, CONTEST_UNDECIDED);
    }
    assert_int_equal(verdict.outcome, CONTEST_UNDECIDED);
    assert_int_equal(verdict.winner, 0);
}

static void test_estimates(void **state)
{
    static const double samples[] = {1.1, 0.9, 1.0, 5.0, 1.05};
    struct estimate estimate = estimate_of(samples, 5);

    (void)state;
    assert_true(estimate.ratio == 1.05);
    assert_true(estimate.noise > 0.08 && estimate.noise < 0.1); /* 2 * 0.1 / sqrt(5) */
    assert_true(estimate_of_null(samples, 5).noise > estimate.noise + 0.04);
    assert_true(samples[0] == 1.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_within_the_noise_the_incumbent_stays),
        cmocka_unit_test(test_less_than_the_least_gain_is_none),
        cmocka_unit_test(test_beyond_the_noise_the_challenger_wins),
        cmocka_unit_test(test_luck_does_not_win),
        cmocka_unit_test(test_what_drifts_drifts_for_all),
        cmocka_unit_test(test_of_equals_the_nearest_is_taken),
        cmocka_unit_test(test_a_second_run_agrees),
        cmocka_unit_test(test_faster_in_all_but_slower_somewhere),
        cmocka_unit_test(test_wrong_results_are_out),
        cmocka_unit_test(test_who_can_not_run_is_out),
        cmocka_unit_test(test_a_wrong_incumbent_is_said),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_it_keeps_to_its_time),
        cmocka_unit_test(test_estimates),
    };

    return cmocka_run_group_tests_name("contest", tests, NULL, NULL);
}
