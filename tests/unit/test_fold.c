/* core/fold.c: which commands share a unit, which never do, and why a chain or a fold ends. That
 * folds keep a list's order is test_plan.c's business. */
#include "unit.h"

#include "recording.h"

static const struct gantry_size one = {1, 1, 1}, two = {2, 1, 1};

static struct recording r;
static struct fold_input input;
static struct fold fold;

static int set_up(void **state)
{
    memset(&r, 0, sizeof(r));
    input = (struct fold_input){.commands = r.commands,
                                .patchables = r.patchables,
                                .limits = {.on = true,
                                           .chains = true,
                                           .compute_units = 4,
                                           .threads_per_unit = 512,
                                           .most_blocks = UINT64_C(1) << 40,
                                           .most_steps = 1000}};
    return reset_kernels(state);
}

static int tear_down(void **state)
{
    (void)state;
    fold_clear(&fold);
    return 0;
}

/* Folds what was recorded and compares the units' sizes, chains as negative ones. */
static void check(const int *sizes, uint32_t count)
{
    input.command_count = r.count;
    assert_int_equal(fold_make(&input, &fold), GANTRY_OK);
    assert_int_equal(fold.unit_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct fold_unit *unit = &fold.units[i];

        assert_int_equal(unit->chain ? -(int)unit->count : (int)unit->count, sizes[i]);
    }
    assert_int_equal(fold.member_count, r.count);
}

#define CHECK(...) \
    check((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void record_side_by_side(int kernel, struct gantry_size blocks, int count)
{
    begin_concurrent(&r);
    while (count--)
        record_launch(&r, kernel, blocks);
    end_concurrent(&r);
}

/* `count` strands of `length` launches of one block each. */
static void record_runs(int kernel, uint32_t count, uint32_t length)
{
    begin_concurrent(&r);
    while (count--) {
        begin_ordered(&r);
        record_run(&r, kernel, length);
        end_ordered(&r);
    }
    end_concurrent(&r);
}

/* ---- Side by side --------------------------------------------------------------------------- */

static void small_launches_of_one_kernel_share_a_unit(void **state)
{
    (void)state;
    record_side_by_side(0, one, 5);
    CHECK(5);
    assert_ptr_equal(fold.units[0].entry, &kernels[0].folded);
    assert_int_equal(fold.folded, 5);
    assert_int_equal(fold.chained, 0);
}

static void kernels_do_not_mix(void **state)
{
    (void)state;
    begin_concurrent(&r);
    for (int i = 0; i < 9; i++)
        record_launch(&r, i % 2, i % 3 ? one : two);
    record_fill(&r);
    end_concurrent(&r);
    CHECK(5, 4, 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(fold.members[i], 2 * i);
}

/* CPU devices: a chain could be too long for one invocation. */
static void without_chains_runs_stay_single(void **state)
{
    (void)state;
    input.limits.chains = false;
    record_run(&r, 0, 3);
    CHECK(1, 1, 1);
    assert_int_equal(fold.chained, 0);
    assert_int_equal(fold.unchained, 1);
    assert_int_equal(entries_asked, 0);
}

static void off_means_off(void **state)
{
    (void)state;
    input.limits.on = false;
    record_side_by_side(0, one, 3);
    record_run(&r, 0, 2);
    CHECK(1, 1, 1, 1, 1);
    for (int i = 0; i < 5; i++)
        assert_null(fold.units[i].entry);
    assert_int_equal(entries_asked, 0);
}

/* A wave of 6 units of 8 blocks: up to 12 blocks are small. */
static void large_launches_stay_alone(void **state)
{
    (void)state;
    input.limits.compute_units = 6;
    kernels[0].info.blocks_per_unit = 8;
    begin_concurrent(&r);
    record_launch(&r, 0, (struct gantry_size){13, 1, 1});
    record_launch(&r, 0, (struct gantry_size){12, 1, 1});
    record_launch(&r, 0, (struct gantry_size){2, 2, 3});
    record_launch(&r, 0, (struct gantry_size){2, 2, 4});
    record_launch(&r, 0, (struct gantry_size){65536, 65536, 1});
    end_concurrent(&r);
    CHECK(1, 2, 1, 1);
    assert_int_equal(fold.members[1], 1);
    assert_int_equal(fold.members[2], 2);
}

/* Four units of 512 threads hold 32 blocks of 64 threads, so 8 blocks are small. */
static void without_occupancy_threads_tell_the_wave(void **state)
{
    (void)state;
    begin_concurrent(&r);
    record_launch(&r, 0, (struct gantry_size){8, 1, 1});
    record_launch(&r, 0, (struct gantry_size){4, 2, 1});
    record_launch(&r, 0, (struct gantry_size){9, 1, 1});
    end_concurrent(&r);
    CHECK(2, 1);
}

/* CPU devices tell no units: only chains are folded there. */
static void without_units_only_chains_are_folded(void **state)
{
    (void)state;
    input.limits.compute_units = 0;
    record_side_by_side(0, one, 3);
    CHECK(1, 1, 1);
    record_run(&r, 0, 4);
    CHECK(1, 1, 1, -4);
}

/* One launch alone gains nothing, unless it must read its arguments from a table anyway. */
static void a_single_launch_is_not_folded(void **state)
{
    (void)state;
    begin_concurrent(&r);
    record_launch(&r, 0, one);
    record_launch(&r, 1, one);
    record_patchable(&r, 2, one, two);
    end_concurrent(&r);
    CHECK(1, 1, 1);
    assert_null(fold.units[0].entry);
    assert_null(fold.units[1].entry);
    assert_ptr_equal(fold.units[2].entry, &kernels[2].folded);
    assert_int_equal(fold.folded, 0);
}

static void a_kernel_without_the_entry_is_not_folded(void **state)
{
    (void)state;
    entry_rules[0][FOLDED].missing = true;
    record_side_by_side(0, one, 3);
    CHECK(1, 1, 1);
    assert_null(fold.units[0].entry);
}

/* Patchable launches count the grid that they may grow to. */
static void patchable_launches_count_their_largest_grid(void **state)
{
    (void)state;
    begin_concurrent(&r);
    record_patchable(&r, 0, (struct gantry_size){0, 0, 0}, (struct gantry_size){8, 1, 1});
    record_patchable(&r, 0, one, (struct gantry_size){9, 1, 1});
    record_launch(&r, 0, one);
    end_concurrent(&r);
    CHECK(2, 1);
    assert_int_equal(fold.members[1], 2);
}

/* A wave of 32 blocks is all that batch_max_ms leaves time for. */
static void a_fold_ends_where_its_time_is_over(void **state)
{
    (void)state;
    input.limits.most_steps = 1;
    record_side_by_side(0, (struct gantry_size){8, 1, 1}, 10);
    CHECK(4, 4, 2);
}

static void a_fold_ends_where_the_grid_is_full(void **state)
{
    (void)state;
    input.limits.most_blocks = 6;
    record_side_by_side(0, two, 7);
    CHECK(3, 3, 1);
}

static void a_fold_ends_where_the_table_is_full(void **state)
{
    struct gantry_kernel_source large = *kernels[0].source;

    (void)state;
    large.args_size = 1 << 20;
    kernels[0].source = &large;
    record_side_by_side(0, one, 7);
    record_run(&r, 0, 4);
    CHECK(3, 3, 1, -3, 1);
}

/* Strands go on together while they do the same, and stay apart once they have parted: then none
 * waits for what another one did in between. */
static void strands_that_parted_stay_apart(void **state)
{
    (void)state;
    begin_concurrent(&r);
    for (int i = 0; i < 4; i++) {
        begin_ordered(&r);
        record_launch(&r, 0, two);
        record_launch(&r, i / 2, two);
        record_launch(&r, 0, two);
        end_ordered(&r);
    }
    end_concurrent(&r);
    CHECK(4, 2, 2, 2, 2);
    assert_int_equal(fold.units[1].before, 0);
    assert_int_equal(fold.units[2].before, 0);
    assert_int_equal(fold.units[3].before, 1);
    assert_int_equal(fold.units[4].before, 2);
}

/* ---- Down a chain --------------------------------------------------------------------------- */

static void dependent_single_blocks_make_a_chain(void **state)
{
    (void)state;
    record_run(&r, 0, 7);
    CHECK(-7);
    assert_ptr_equal(fold.units[0].entry, &kernels[0].chained);
    assert_int_equal(fold.folded, 7);
    assert_int_equal(fold.chained, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(fold.members[i], i);
}

/* Whatever records them: commands outside sections, and sections with a single group. */
static void sections_of_one_strand_are_no_end(void **state)
{
    (void)state;
    record_run(&r, 0, 2);
    record_runs(0, 1, 3);
    record_side_by_side(0, one, 1);
    record_run(&r, 0, 1);
    CHECK(-7);
}

static void other_commands_end_a_chain(void **state)
{
    (void)state;
    record_run(&r, 0, 3);
    record_run(&r, 1, 2);
    record_launch(&r, 1, two);
    record_run(&r, 1, 1);
    record_fill(&r);
    record_run(&r, 1, 2);
    CHECK(-3, -2, 1, 1, 1, -2);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(fold.units[i].round, i);
}

static void a_chain_ends_where_its_time_is_over(void **state)
{
    (void)state;
    input.limits.most_steps = 3;
    record_run(&r, 0, 8);
    CHECK(-3, -3, -2);
}

/* A single step needs no table, and no time is left for two. */
static void no_time_means_no_chain(void **state)
{
    (void)state;
    input.limits.most_steps = 1;
    record_run(&r, 0, 3);
    CHECK(1, 1, 1);
    assert_int_equal(fold.unchained, 0);
}

static void kernels_that_return_early_make_no_chain(void **state)
{
    (void)state;
    record_run(&r, 2, 5);
    record_fill(&r);
    record_run(&r, 2, 4);
    CHECK(1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    assert_null(fold.units[0].entry);
    assert_int_equal(fold.unchained, 2);
    assert_int_equal(entries_asked, 2);
}

static void patchable_launches_may_be_steps(void **state)
{
    (void)state;
    record_patchable(&r, 0, (struct gantry_size){0, 0, 0}, one);
    record_patchable(&r, 0, one, one);
    record_patchable(&r, 0, one, two);
    CHECK(-2, 1);
    assert_ptr_equal(fold.units[1].entry, &kernels[0].folded);
}

/* ---- Either --------------------------------------------------------------------------------- */

static void few_long_runs_become_chains(void **state)
{
    (void)state;
    record_runs(0, 4, 2);
    CHECK(-2, -2, -2, -2);
}

static void many_short_runs_are_folded_side_by_side(void **state)
{
    (void)state;
    record_runs(0, 5, 2);
    CHECK(5, 5);
    assert_int_equal(fold.units[1].before, 0);
    assert_int_equal(fold.chained, 0);
}

static void a_long_run_among_single_launches_becomes_a_chain(void **state)
{
    (void)state;
    begin_concurrent(&r);
    for (int i = 0; i < 10; i++)
        record_launch(&r, 0, one);
    begin_ordered(&r);
    record_run(&r, 0, 20);
    end_ordered(&r);
    end_concurrent(&r);
    CHECK(-20, 10);
}

static void without_the_chained_entry_runs_are_folded_side_by_side(void **state)
{
    (void)state;
    entry_rules[0][CHAINED].missing = true;
    record_runs(0, 3, 4);
    CHECK(3, 3, 3, 3);
    assert_int_equal(fold.unchained, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(small_launches_of_one_kernel_share_a_unit),
        TEST(kernels_do_not_mix),
        TEST(without_chains_runs_stay_single),
        TEST(off_means_off),
        TEST(large_launches_stay_alone),
        TEST(without_occupancy_threads_tell_the_wave),
        TEST(without_units_only_chains_are_folded),
        TEST(a_single_launch_is_not_folded),
        TEST(a_kernel_without_the_entry_is_not_folded),
        TEST(patchable_launches_count_their_largest_grid),
        TEST(a_fold_ends_where_its_time_is_over),
        TEST(a_fold_ends_where_the_grid_is_full),
        TEST(a_fold_ends_where_the_table_is_full),
        TEST(strands_that_parted_stay_apart),
        TEST(dependent_single_blocks_make_a_chain),
        TEST(sections_of_one_strand_are_no_end),
        TEST(other_commands_end_a_chain),
        TEST(a_chain_ends_where_its_time_is_over),
        TEST(no_time_means_no_chain),
        TEST(kernels_that_return_early_make_no_chain),
        TEST(patchable_launches_may_be_steps),
        TEST(few_long_runs_become_chains),
        TEST(many_short_runs_are_folded_side_by_side),
        TEST(a_long_run_among_single_launches_becomes_a_chain),
        TEST(without_the_chained_entry_runs_are_folded_side_by_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
