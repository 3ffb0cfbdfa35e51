/* Folding: that it happens, and that nothing but time can tell. */
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "conform.h"
#include "launch.h"

/* ---- One machine, opened with folds and without ---------------------------------------------- */

/* The case's device, opened once more under another policy. Closing frees what was made there. */
struct twin {
    struct gantry *g;
    struct gantry_device *device;
    struct gantry_queue *queue;
    struct gantry_module *launch, *block;
};

/* The environment is the one source that is stronger than what a user's files say. */
static void open_with(struct conform *c, const char *fold, struct twin *t)
{
    struct gantry_device_params params = {.device = c->options->device};
    const char *set = getenv("GANTRY_FOLD");
    char before[64] = "";
    enum gantry_status status;

    if (set)
        strncat(before, set, sizeof(before) - 1);
    setenv("GANTRY_FOLD", fold, 1);
    status = gantry_open(NULL, &t->g);
    if (set)
        setenv("GANTRY_FOLD", before, 1);
    else
        unsetenv("GANTRY_FOLD");
    EXPECT(GANTRY_OK, status);
    OK(gantry_device_open(t->g, &params, &t->device));
    OK(gantry_queue_create(t->device, NULL, &t->queue));
}

static struct gantry_module *load(struct conform *c, struct twin *t, const char *package)
{
    struct gantry_module_params params = {0};
    struct gantry_module *module;
    char file[4096] = "";

    strncat(file, c->options->packages, 4000);
    strcat(strcat(strcat(file, "/"), package), ".gpk");
    params.file = file;
    OK(gantry_module_load(t->device, &params, &module));
    return module;
}

static void open_twin(struct conform *c, const char *fold, struct twin *t)
{
    open_with(c, fold, t);
    t->launch = load(c, t, "launch");
    t->block = load(c, t, "block");
}

static struct gantry_kernel *kernel(struct conform *c, struct gantry_module *module,
                                    const char *name)
{
    struct gantry_kernel *made;

    OK(gantry_kernel_create(module, name, NULL, &made));
    return made;
}

/* ---- Scenes: lists that fold, over WORDS words that begin as zeros --------------------------- */

enum { PIECES = 64, PIECE = 1024, WORDS = PIECES * PIECE };

typedef void scene(struct conform *c, struct twin *t, struct gantry_list *list, gantry_ptr words);

static gantry_ptr piece(gantry_ptr words, uint32_t i)
{
    return words + UINT64_C(4) * PIECE * i;
}

/* Independent launches of very different sizes, in turn with those of a second kernel. */
static void side_by_side(struct conform *c, struct twin *t, struct gantry_list *list,
                         gantry_ptr words)
{
    struct gantry_kernel *grid = kernel(c, t->launch, "grid_1");
    struct gantry_kernel *wave = kernel(c, t->launch, "wave");

    OK(gantry_list_begin_concurrent(list));
    for (uint32_t i = 0; i < PIECES; i++) {
        struct grid_args counted = {.cells = piece(words, i), .width = 1 + i * i % PIECE};
        struct wave_args waved = {.to = piece(words, i),
                                  .scale = 1.5f + (float)i,
                                  .rows = PIECE / 8};

        if (i % 2)
            LAUNCH(list, grid, counted.width, &counted);
        else
            LAUNCH_GRID(list, wave, 8, 1 + i, 1, &waved);
    }
    OK(gantry_list_end_concurrent(list));
}

/* The same steps on every piece, in few long and many short groups. */
static void groups(struct conform *c, struct twin *t, struct gantry_list *list, gantry_ptr words)
{
    struct gantry_kernel *step = kernel(c, t->launch, "step");

    for (uint32_t few = 0; few < 2; few++) {
        OK(gantry_list_begin_concurrent(list));
        for (uint32_t i = 0; i < (few ? 3 : PIECES); i++) {
            OK(gantry_list_begin_ordered(list));
            for (uint32_t s = 0; s < (few ? 20 : 1 + i % 4); s++) {
                struct step_args args = {.cells = piece(words, i), .n = 64, .add = i + 7 * s};

                LAUNCH(list, step, s == 9 ? PIECE : 64, &args);
            }
            OK(gantry_list_end_ordered(list));
        }
        OK(gantry_list_end_concurrent(list));
    }
}

/* Runs of two kernels, one of them with barriers of its own, and what ends a run. */
static void runs(struct conform *c, struct twin *t, struct gantry_list *list, gantry_ptr words)
{
    struct gantry_kernel *step = kernel(c, t->launch, "step");
    struct gantry_kernel *pass_on = kernel(c, t->block, "pass_on");

    for (uint32_t s = 0; s < 100; s++) {
        struct step_args stepped = {.cells = words, .n = 128, .add = s};
        struct fold_args passed = {.x = words, .n = 128};

        if (s % 20 < 9)
            LAUNCH(list, step, s % 20 == 4 ? PIECE : 128, &stepped);
        else
            LAUNCH(list, pass_on, 128, &passed);
    }
}

static void run_scene(struct conform *c, struct twin *t, scene *record, uint32_t *words,
                      struct gantry_list_info *info)
{
    struct gantry_buffer_params params = {.size = 4 * WORDS, .zero = true};
    struct gantry_buffer *buffer;
    struct gantry_list *list;
    struct gantry_point point;

    OK(gantry_buffer_create(t->device, &params, &buffer));
    OK(gantry_list_create(t->device, NULL, &list));
    record(c, t, list, gantry_buffer_address(buffer));
    RECORD(gantry_list_download(list, buffer, 0, words, 4 * WORDS));
    OK(gantry_list_finish(list));
    OK(gantry_list_describe(list, info));
    for (int i = 0; i < 2; i++)
        OK(gantry_queue_submit(t->queue, list, NULL, 0, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
}

/* Whether launches are folded side by side depends on how many the device holds at once, which not
 * every device tells; CPU devices fold no chains. */
static void check_scene(struct conform *c, struct twin *folds, struct twin *plain, scene *record,
                        const char *name)
{
    uint32_t *expected = make_words(c, 4 * WORDS), *found = make_words(c, 4 * WORDS);
    struct gantry_list_info info;

    run_scene(c, plain, record, expected, &info);
    CHECK(info.folded == 0, "%s: %u of %u launches are folded in spite of fold = off", name,
          info.folded, info.launches);
    run_scene(c, folds, record, found, &info);
    CHECK(c->info.limits.compute_units == 0 || c->info.type == GANTRY_DEVICE_CPU ||
              (info.folded > 0 && info.operations < info.launches),
          "%s: none of %u launches is folded", name, info.launches);
    EQUAL(found, expected, WORDS);
}

static void same_results(struct conform *c)
{
    struct twin folds, plain;

    open_twin(c, "on", &folds);
    open_twin(c, "off", &plain);
    check_scene(c, &folds, &plain, side_by_side, "side by side");
    check_scene(c, &folds, &plain, groups, "groups");
    check_scene(c, &folds, &plain, runs, "runs");
    gantry_close(&plain.g);
    gantry_close(&folds.g);
}

/* ---- Chains, beside a model on the host ------------------------------------------------------ */

enum { STEPS = 1000, SOME = 64 };

/* Dependent launches of one block are a chain, unless the device lacks what it takes, which it
 * says. */
static void check_chained(struct conform *c, struct gantry_list *list,
                          const struct gantry_queue_stats *before)
{
    struct gantry_queue_stats after = stats_of(c, c->queue);
    struct gantry_list_info info;

    OK(gantry_list_describe(list, &info));
    CHECK(info.chained == STEPS || after.fallbacks[GANTRY_FALLBACK_NO_CHAIN] >
                                       before->fallbacks[GANTRY_FALLBACK_NO_CHAIN],
          "%u of %u launches are chained, and no reason is counted", info.chained, info.launches);
}

/* Each step reads what other threads of the step before have written, and writes what they have
 * read. */
static void chain_between_two_buffers(struct conform *c)
{
    struct gantry_kernel *hop = make_kernel(c, "launch", "hop");
    struct gantry_buffer *cells[2] = {make_buffer(c, 4 * SOME), make_buffer(c, 4 * SOME)};
    struct gantry_queue_stats before = stats_of(c, c->queue);
    struct gantry_list *list = make_list(c);
    uint32_t model[2][SOME] = {{0}}, found[SOME];

    for (uint32_t s = 0; s < STEPS; s++) {
        struct hop_args args = {.from = gantry_buffer_address(cells[s % 2]),
                                .to = gantry_buffer_address(cells[(s + 1) % 2]),
                                .mask = SOME - 1,
                                .add = s};

        LAUNCH(list, hop, SOME, &args);
        for (uint32_t i = 0; i < SOME; i++)
            model[(s + 1) % 2][i] = model[s % 2][(i * 5 + 12345) % SOME] * 3 + s;
    }
    finish(c, list);
    submit_and_wait(c, list);
    check_chained(c, list, &before);
    for (int i = 0; i < 2; i++) {
        read_buffer(c, cells[i], 0, found, sizeof(found));
        EQUAL(found, model[i], SOME);
    }
}

/* Each step overwrites what the one before has written. */
static void chain_of_overwrites(struct conform *c)
{
    struct gantry_kernel *mark = make_kernel(c, "launch", "mark");
    struct gantry_buffer *cells = make_buffer(c, 4 * SOME);
    struct gantry_queue_stats before = stats_of(c, c->queue);
    struct gantry_list *list = make_list(c);
    uint32_t model[SOME] = {0}, found[SOME], seed = 11;

    for (uint32_t s = 0; s < STEPS; s++) {
        struct mark_args args = {.to = gantry_buffer_address(cells),
                                 .index = next_random(&seed) % 8,
                                 .value = s};

        LAUNCH(list, mark, 1, &args);
        model[args.index] = s;
    }
    finish(c, list);
    submit_and_wait(c, list);
    check_chained(c, list, &before);
    read_buffer(c, cells, 0, found, sizeof(found));
    EQUAL(found, model, SOME);
}

/* A kernel whose block can leave before a barrier is never a chain's: the barrier between two steps
 * would pair up with the one that was left out. */
static void early_returns(struct conform *c)
{
    struct gantry_kernel *leave = make_kernel(c, "block", "leave_early");
    struct gantry_buffer *cells = make_buffer(c, 3 * 4 * SOME);
    struct gantry_queue_stats before = stats_of(c, c->queue), after;
    struct gantry_list *list = make_list(c);
    uint32_t model[3][SOME] = {{0}}, found[3][SOME], one = 1;
    struct gantry_list_info info;

    for (uint32_t s = 0; s < 300; s++) {
        /* From the third part on, which stays zero, nothing is passed on. */
        uint32_t from = s % 5 == 4 ? 2 : s % 2, to = (s + 1) % 2;
        struct fold_args args = {.x = gantry_buffer_address(cells) + from * 4 * SOME,
                                 .sums = gantry_buffer_address(cells) + to * 4 * SOME};

        LAUNCH(list, leave, SOME, &args);
    }
    finish(c, list);
    OK(gantry_list_describe(list, &info));
    CHECK(info.chained == 0, "%u launches of a kernel that returns early are chained",
          info.chained);
    write_buffer(c, cells, 0, &one, 4);
    model[0][0] = 1;
    submit_and_wait(c, list);
    for (uint32_t s = 0; s < 300; s++) {
        uint32_t flag = model[s % 5 == 4 ? 2 : s % 2][0];

        for (uint32_t i = 0; flag && i < SOME; i++)
            model[(s + 1) % 2][i] = SOME - 1 - i + flag;
    }
    after = stats_of(c, c->queue);
    CHECK(after.fallbacks[GANTRY_FALLBACK_NO_CHAIN] > before.fallbacks[GANTRY_FALLBACK_NO_CHAIN],
          "no reason is counted why 300 dependent blocks are not chained");
    read_buffer(c, cells, 0, found, sizeof(found));
    EQUAL(found[0], model[0], 3 * SOME);
}

const struct conform_case fold_cases[] = {
    {"fold/same-results", NULL, same_results},
    {"fold/chain-between-two-buffers", NULL, chain_between_two_buffers},
    {"fold/chain-of-overwrites", NULL, chain_of_overwrites},
    {"fold/early-returns", NULL, early_returns},
    {0},
};
