/* Folded and chained launches: their tables in replays and in one-shot submissions, and patches. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

enum {
    COUNT = 1024, /* words in x and in y */
    SIZE = COUNT * sizeof(uint32_t),
};

static struct bench {
    struct gantry_drv_memory memory[2]; /* readback: the host sees them */
    struct gantry_drv_kernel *folded;
    struct line line;
} bench;

static int setup(void **state)
{
    if (rig_setup_device(state) != 0)
        return -1;
    bench.memory[0] = rig_memory(GANTRY_MEMORY_READBACK, SIZE);
    bench.memory[1] = rig_memory(GANTRY_MEMORY_READBACK, SIZE);
    bench.folded = rig_kernel(GANTRY_ENTRY_FOLDED);
    line_open(&bench.line, GANTRY_QUEUE_COMPUTE);
    return 0;
}

static int teardown(void **state)
{
    line_close(&bench.line);
    rig.ops->kernel_destroy(rig.device, bench.folded);
    rig_free(&bench.memory[0]);
    rig_free(&bench.memory[1]);
    return rig_teardown_device(state);
}

static void fill(uint32_t *words)
{
    for (uint32_t i = 0; i < COUNT; i++)
        words[i] = ((uint32_t *)bench.memory[0].host)[i] = i;
}

static void step_on_host(uint32_t *words, uint32_t first, const struct step_args *args)
{
    for (uint32_t i = 0; i < args->n; i++)
        words[first + i] = args->a * words[first + i] + args->b;
}

/* ---- Folded --------------------------------------------------------------------------------- */

enum { LAUNCHES = 3 };

/* Launch i multiplies counts[i] words in place, from `first[i]` on. */
static void open_fold(struct fold *fold, const uint32_t counts[LAUNCHES], uint32_t first[LAUNCHES],
                      bool equal)
{
    uint32_t word = 0;

    fold_open(fold, LAUNCHES);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        gantry_ptr words = bench.memory[0].address + word * sizeof(uint32_t);
        struct step_args args = {words, words, i + 2, i, counts[i], 0};
        first[i] = word;
        word += counts[i];
        fold_add(fold, &args, (counts[i] + STEP_BLOCK - 1) / STEP_BLOCK);
    }
    if (equal)
        fold->inline_args.equal = fold->blocks / LAUNCHES;
}

static void check_folded(const uint32_t counts[LAUNCHES], bool equal)
{
    uint32_t words[COUNT], first[LAUNCHES];
    struct gantry_drv_plan *built;
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold fold;

    open_fold(&fold, counts, first, equal);
    op = fold_op(&fold, bench.folded, fold.blocks);
    op.launch.blocks.y = 2; /* more than needed: the excess leaves at once */
    plan = fold_plan(&fold, &op);
    fill(words);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        for (int run = 0; run < 2; run++)
            step_on_host(words, first[i], fold_args(&fold, i));
    assert_ok(rig.ops->plan_build(rig.device, &plan, &built));
    line_once(&bench.line, &plan);
    memset(fold.table, 0xff, fold.size); /* both have copied it */
    line_submit(&bench.line, built);
    line_wait(&bench.line);
    assert_memory_equal(bench.memory[0].host, words, SIZE);
    rig.ops->plan_destroy(built);
    fold_close(&fold);
}

static void folded_launches_find_their_arguments(void **state)
{
    static const uint32_t same[LAUNCHES] = {128, 100, 128};
    static const uint32_t different[LAUNCHES] = {1, 300, 65};

    (void)state;
    check_folded(same, true);
    check_folded(same, false);
    check_folded(different, false);
}

/* ---- Chained -------------------------------------------------------------------------------- */

enum { STEPS = 300 };

/* One block, STEPS launches; each reads other words than it writes, from the other array. Every
 * seventh has no blocks. */
static void open_chain(struct fold *fold)
{
    fold_open(fold, STEPS);
    for (uint32_t i = 0; i < STEPS; i++) {
        struct step_args args = {
            .x = bench.memory[i % 2].address,
            .y = bench.memory[(i + 1) % 2].address,
            .a = i + 3,
            .b = i * i + 1,
            .n = i % 7 == 6 ? 0 : STEP_BLOCK,
            .shift = i * 37 + 1,
        };
        fold_add(fold, &args, 0);
    }
    fold->inline_args.blocks = 1;
}

static void chain_on_host(const struct fold *fold, uint32_t arrays[2][STEP_BLOCK])
{
    for (uint32_t step = 0; step < STEPS; step++) {
        const struct step_args *args = fold_args(fold, step);
        uint32_t *x = arrays[step % 2], *y = arrays[(step + 1) % 2];
        for (uint32_t i = 0; i < args->n; i++)
            y[i] = args->a * x[(i + args->shift) % args->n] + args->b;
    }
}

static void chained_launches_are_in_order(void **state)
{
    uint32_t arrays[2][STEP_BLOCK] = {{1}};
    struct gantry_drv_kernel *chained;
    struct gantry_drv_plan *built;
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold chain;

    (void)state;
    if (!(rig.info.features & GANTRY_FEATURE_MEMORY_MODEL)) {
        print_message("skipped: %s lacks the Vulkan memory model\n", rig.info.name);
        skip();
    }
    chained = rig_kernel(GANTRY_ENTRY_CHAINED);
    open_chain(&chain);
    op = fold_op(&chain, chained, 1);
    plan = fold_plan(&chain, &op);
    memcpy(bench.memory[0].host, arrays[0], sizeof(arrays[0]));
    memcpy(bench.memory[1].host, arrays[1], sizeof(arrays[1]));
    for (int run = 0; run < 3; run++)
        chain_on_host(&chain, arrays);
    assert_ok(rig.ops->plan_build(rig.device, &plan, &built));
    line_submit(&bench.line, built);
    line_once(&bench.line, &plan);
    line_submit(&bench.line, built);
    line_wait(&bench.line);
    assert_memory_equal(bench.memory[0].host, arrays[0], sizeof(arrays[0]));
    assert_memory_equal(bench.memory[1].host, arrays[1], sizeof(arrays[1]));
    rig.ops->plan_destroy(built);
    rig.ops->kernel_destroy(rig.device, chained);
    fold_close(&chain);
}

/* ---- Patches -------------------------------------------------------------------------------- */

/* Submission i sees the values of its moment, although nobody waits: of all three launches, of one,
 * or of none. Two queues take turns. */
static void patches_hold_from_their_submission(void **state)
{
    enum { ROUNDS = 200 };
    static const uint32_t counts[LAUNCHES] = {100, 200, 64};
    uint32_t words[COUNT], first[LAUNCHES];
    struct line other, *lines[2] = {&bench.line, &other};
    struct gantry_drv_plan *built;
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold fold;

    (void)state;
    line_open(&other, GANTRY_QUEUE_COMPUTE);
    open_fold(&fold, counts, first, false);
    op = fold_op(&fold, bench.folded, fold.blocks);
    plan = fold_plan(&fold, &op);
    fill(words);
    assert_ok(rig.ops->plan_build(rig.device, &plan, &built));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct line *line = lines[round / 10 % 2], *before = lines[1 - round / 10 % 2];
        struct gantry_backend_wait wait = {before->queue, before->value};
        struct gantry_backend_submission submission = {
            .waits = &wait,
            .wait_count = round % 10 == 0 && before->value > 0,
            .value = ++line->value,
        };
        uint32_t launch = round % (LAUNCHES + 2);
        if (launch < LAUNCHES) {
            fold_args(&fold, launch)->b = round;
            submission.patch_offset = fold_offset(&fold, launch);
            submission.patch_size = sizeof(struct step_args);
        } else if (launch == LAUNCHES) {
            for (uint32_t i = 0; i < LAUNCHES; i++)
                fold_args(&fold, i)->a = 2 * round + 1;
            submission.patch_size = fold.size;
        }
        submission.patch = (char *)fold.table + submission.patch_offset;
        assert_ok(rig.ops->submit(line->queue, built, &submission));
        for (uint32_t i = 0; i < LAUNCHES; i++)
            step_on_host(words, first[i], fold_args(&fold, i));
    }
    line_wait(&bench.line);
    line_wait(&other);
    assert_memory_equal(bench.memory[0].host, words, SIZE);
    assert_int_equal(other.stats.driver_submits, other.value); /* one each, patch or not */
    rig.ops->plan_destroy(built);
    line_close(&other);
    fold_close(&fold);
}

/* A launch with room for three blocks, patched to one and to none. */
static void patched_grids_leave_the_rest_alone(void **state)
{
    gantry_ptr address = bench.memory[0].address;
    struct step_args args = {address, address, 1, 1, 3 * STEP_BLOCK, 0};
    struct gantry_drv_plan *built;
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold fold;
    uint32_t *words = bench.memory[0].host;

    (void)state;
    memset(words, 0, SIZE);
    fold_open(&fold, 1);
    fold_add(&fold, &args, 3);
    op = fold_op(&fold, bench.folded, 3);
    plan = fold_plan(&fold, &op);
    assert_ok(rig.ops->plan_build(rig.device, &plan, &built));
    line_submit(&bench.line, built);
    for (uint32_t blocks = 2; blocks-- > 0;) {
        fold.table[0].x = blocks;
        line_patch(&bench.line, built, 0, fold.table, sizeof(fold.table[0]));
    }
    line_wait(&bench.line);
    assert_int_equal(words[0], 2);
    assert_int_equal(words[STEP_BLOCK - 1], 2);
    assert_int_equal(words[STEP_BLOCK], 1);
    assert_int_equal(words[3 * STEP_BLOCK - 1], 1);
    assert_int_equal(words[3 * STEP_BLOCK], 0);
    rig.ops->plan_destroy(built);
    fold_close(&fold);
}

/* A launch of many blocks adds b to each word. The next submission's b must not be there before the
 * last block has read its own. */
static void patches_wait_for_running_launches(void **state)
{
    enum { WORDS = 1 << 20, ROUNDS = 16 };
    struct gantry_drv_memory memory = rig_memory(GANTRY_MEMORY_READBACK, WORDS * 4);
    struct step_args args = {memory.address, memory.address, 1, 0, WORDS, 0};
    struct gantry_drv_plan *built;
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold fold;
    uint32_t expected = 0, wrong = 0;

    (void)state;
    memset(memory.host, 0, WORDS * 4);
    fold_open(&fold, 1);
    fold_add(&fold, &args, WORDS / STEP_BLOCK);
    op = fold_op(&fold, bench.folded, fold.blocks);
    plan = fold_plan(&fold, &op);
    assert_ok(rig.ops->plan_build(rig.device, &plan, &built));
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        fold_args(&fold, 0)->b = i * i;
        expected += i * i;
        line_patch(&bench.line, built, fold_offset(&fold, 0), fold_args(&fold, 0), sizeof(args));
    }
    line_wait(&bench.line);
    for (uint32_t i = 0; i < WORDS; i++)
        wrong += ((uint32_t *)memory.host)[i] != expected;
    assert_int_equal(wrong, 0);
    rig.ops->plan_destroy(built);
    fold_close(&fold);
    rig_free(&memory);
}

/* ---- Long runs ------------------------------------------------------------------------------ */

static uint64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint32_t open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint32_t count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* One-shot submissions with tables of many sizes, patched replays, plain replays; up to 64 of them
 * run at once. */
static void submit_mixture(struct line *line, struct gantry_drv_plan *built,
                           const struct fold *fold, const struct gantry_plan *plan, uint32_t count)
{
    struct gantry_plan longer = *plan;

    for (uint32_t i = 0; i < count; i++) {
        longer.table_size = fold->size - (i * 7919 % 64) * FOLD_STRIDE;
        if (i % 3 == 0)
            line_once(line, &longer);
        else if (i % 3 == 1)
            line_patch(line, built, 0, fold->table, fold->size - i % 100 * 16);
        else
            line_submit(line, built);
        if (i % 64 == 63) {
            if (i % 128 == 63)
                line_wait(line);
            else
                line_spin(line);
        }
    }
    line_wait(line);
}

/* Freed memory that a sanitizer keeps is not gantry's growth. */
#if defined(__SANITIZE_ADDRESS__)
enum { RESIDENT_SLACK = 300 << 20 };
#else
enum { RESIDENT_SLACK = 4 << 20 };
#endif

/* C25, C36: nothing grows, however a completion is seen. The first launch is the only one that
 * does something; the others make the table long. */
static void many_submissions_leave_nothing(void **state)
{
    enum { ENTRIES = 200, MANY = 20000 };
    struct step_args args = {.x = bench.memory[0].address, .y = bench.memory[0].address, .a = 1};
    struct gantry_drv_plan *built;
    struct gantry_plan plan;
    struct gantry_op op;
    struct fold fold;
    struct line line;
    uint64_t resident;
    uint32_t files;
    long live;

    (void)state;
    fold_open(&fold, ENTRIES);
    for (uint32_t i = 0; i < ENTRIES; i++)
        fold_add(&fold, &args, 1);
    fold.inline_args.count = 1;
    op = fold_op(&fold, bench.folded, 1);
    plan = fold_plan(&fold, &op);
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    assert_ok(rig.ops->plan_build(rig.device, &plan, &built));
    submit_mixture(&line, built, &fold, &plan, MANY / 10);
    resident = resident_bytes();
    files = open_files();
    live = rig_live();
    submit_mixture(&line, built, &fold, &plan, MANY);
    /* How many submissions are in flight at once is the device's business: a few more need a few
     * more command buffers. Growth with the number of submissions would be thousands. 64 tables
     * fit a ring of 2 MiB, the sixth from 64 KiB. */
    assert_in_range(line.stats.allocations, 1, 6);
    assert_true(rig_live() < live + MANY / 100);
    assert_int_equal(open_files(), files);
    assert_true(resident_bytes() < resident + RESIDENT_SLACK);
    rig.ops->plan_destroy(built);
    line_close(&line);
    fold_close(&fold);
}

/* Nobody waits: the ring grows instead of giving bytes out twice. */
static void the_ring_grows_while_it_is_used(void **state)
{
    enum { SUBMISSIONS = 300, ENTRIES = 600 };
    gantry_ptr word = bench.memory[0].address;
    struct line line;
    struct fold fold;
    uint32_t expected = 0;

    (void)state;
    *(uint32_t *)bench.memory[0].host = 0;
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    for (uint32_t i = 0; i < SUBMISSIONS; i++) {
        struct step_args args = {word, word, 3, i, 1, 0};
        struct gantry_plan plan;
        struct gantry_op op;
        fold_open(&fold, ENTRIES);
        fold_add(&fold, &args, 1);
        op = fold_op(&fold, bench.folded, 1);
        plan = fold_plan(&fold, &op);
        line_once(&line, &plan);
        fold_close(&fold);
        expected = 3 * expected + i;
    }
    line_wait(&line);
    assert_int_equal(*(uint32_t *)bench.memory[0].host, expected);
    assert_in_range(line.stats.allocations, 1, 10);
    line_close(&line);
}

int run_fold_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_launches_find_their_arguments),
        cmocka_unit_test(chained_launches_are_in_order),
        cmocka_unit_test(patches_hold_from_their_submission),
        cmocka_unit_test(patched_grids_leave_the_rest_alone),
        cmocka_unit_test(patches_wait_for_running_launches),
        cmocka_unit_test(many_submissions_leave_nothing),
        cmocka_unit_test(the_ring_grows_while_it_is_used),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
