/* Launches: each thread of a grid runs once, with the arguments that were recorded. */
#include <inttypes.h>

#include "args.h"
#include "conform.h"
#include "launch.h"

static void saxpy(struct conform *c)
{
    static const uint32_t sizes[] = {1, 255, 256, 257, 100003};
    struct gantry_buffer *x = make_buffer(c, 4 * 100003), *y = make_buffer(c, 4 * 100003);
    struct gantry_kernel *kernel;
    float *a = make_words(c, 4 * 100003), *b = make_words(c, 4 * 100003);
    float *found = make_words(c, 4 * 100003);

    /* Through what the generated header offers, here and nowhere else in the suite. */
    OK(saxpy_create(load_module(c, "launch"), (struct gantry_size){0, 0, 0}, &kernel));
    for (uint32_t i = 0; i < 100003; i++) {
        a[i] = (float)(i % 1024);
        b[i] = (float)(i % 77) * 0.5f;
    }
    write_buffer(c, x, 0, a, 4 * 100003);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        struct saxpy_args args = {.x = gantry_buffer_address(x),
                                  .y = gantry_buffer_address(y),
                                  .a = 2.0f,
                                  .n = sizes[k]};
        struct gantry_list *list = make_list(c);

        RECORD(gantry_list_upload(list, y, 0, b, 4 * 100003));
        RECORD(saxpy_launch(list, kernel, (struct gantry_size){.x = sizes[k]}, &args));
        RECORD(gantry_list_download(list, y, 0, found, 4 * 100003));
        submit_and_wait(c, list);
        /* Exact: halves and whole numbers far below 2^24. */
        for (uint32_t i = 0; i < 100003; i++) {
            float expected = i < sizes[k] ? 2.0f * a[i] + b[i] : b[i];

            CHECK(found[i] == expected, "n = %u: y[%u] is %g instead of %g", sizes[k], i,
                  (double)found[i], (double)expected);
        }
    }
    gantry_kernel_destroy(&kernel);
}

/* ---- Grids ---------------------------------------------------------------------------------- */

/* Runs a kernel of grid_args; every cell must hold its number plus one, and nothing lie behind. */
static void run_grid(struct conform *c, const char *name, struct gantry_size size, bool in_blocks)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", name);
    uint64_t count = (uint64_t)size.x * size.y * size.z;
    struct gantry_buffer *cells = make_buffer(c, 4 * (count + 64));
    struct gantry_list *list = make_list(c);
    struct grid_args args = {.cells = gantry_buffer_address(cells),
                             .width = size.x,
                             .height = size.y,
                             .depth = size.z};
    uint32_t *found = make_words(c, 4 * (count + 64));

    if (in_blocks)
        RECORD(gantry_list_launch_blocks(list, kernel, size, &args, sizeof(args)));
    else
        RECORD(gantry_list_launch(list, kernel, size, &args, sizeof(args)));
    RECORD(gantry_list_download(list, cells, 0, found, 4 * (count + 64)));
    submit_and_wait(c, list);
    for (uint64_t i = 0; i < count + 64; i++)
        CHECK(found[i] == (i < count ? i + 1 : 0), "%s on %u x %u x %u: cell %" PRIu64 " is %u",
              name, size.x, size.y, size.z, i, found[i]);
}

static void one_dimension(struct conform *c)
{
    static const uint32_t sizes[] = {1, 31, 32, 33, 1000, 65536, 65537, 1000001};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        run_grid(c, "grid_1", (struct gantry_size){sizes[i], 1, 1}, false);
}

static void two_dimensions(struct conform *c)
{
    static const struct gantry_size sizes[] = {{1, 1, 1},   {17, 3, 1},  {3, 17, 1},
                                               {641, 5, 1}, {5, 641, 1}, {300, 200, 1}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        run_grid(c, "grid_2", sizes[i], false);
}

static void three_dimensions(struct conform *c)
{
    static const struct gantry_size sizes[] = {
        {1, 1, 1}, {8, 4, 2}, {9, 5, 3}, {1, 1, 65}, {33, 21, 11}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        run_grid(c, "grid_3", sizes[i], false);
}

static void grids_in_blocks(struct conform *c)
{
    run_grid(c, "blocks", (struct gantry_size){7, 5, 3}, true);
    run_grid(c, "blocks", (struct gantry_size){1000, 1, 1}, true);
    run_grid(c, "blocks", (struct gantry_size){1, 1000, 2}, true);
}

/* Around the limit of a Vulkan device, and beyond it, where gantry lays the blocks out anew. */
static void many_blocks(struct conform *c)
{
    static const uint32_t sizes[] = {65535, 65536, 78000, 200000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        run_grid(c, "blocks", (struct gantry_size){sizes[i], 1, 1}, true);
}

/* Beyond any device's limit along y, and along z. */
static void laid_out_grids(struct conform *c)
{
    struct gantry_size most = c->info.limits.max_blocks;
    struct gantry_queue_stats before = stats_of(c, c->queue), after;

    if (most.y > 1000000 || most.z > 1000000)
        skip(c, "the device takes %u blocks along y and %u along z: nothing needs laying out",
             most.y, most.z);
    run_grid(c, "blocks", (struct gantry_size){3, most.y + 1, 1}, true);
    run_grid(c, "blocks", (struct gantry_size){1, 2, most.z + 1}, true);
    after = stats_of(c, c->queue);
    CHECK(after.fallbacks[GANTRY_FALLBACK_GRID_LAID_OUT] ==
              before.fallbacks[GANTRY_FALLBACK_GRID_LAID_OUT] + 2,
          "two grids over the limit were counted %" PRIu64 " times",
          after.fallbacks[GANTRY_FALLBACK_GRID_LAID_OUT] -
              before.fallbacks[GANTRY_FALLBACK_GRID_LAID_OUT]);
}

static void empty_launches(struct conform *c)
{
    static const struct gantry_size empty[] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}};
    struct gantry_kernel *grid = make_kernel(c, "launch", "grid_3");
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    struct gantry_buffer *cells = make_buffer(c, 4);
    struct gantry_list *list = make_list(c);
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = 1, .add = 1};
    struct grid_args none = {.cells = gantry_buffer_address(cells),
                             .width = 9,
                             .height = 9,
                             .depth = 9};
    struct gantry_list_info info;
    uint32_t found, expected = 4;

    LAUNCH(list, step, 1, &args);
    for (size_t i = 0; i < 4; i++)
        RECORD(gantry_list_launch(list, grid, empty[i], &none, sizeof(none)));
    LAUNCH(list, step, 0, &args);
    LAUNCH(list, step, 1, &args);
    finish(c, list);
    OK(gantry_list_describe(list, &info));
    CHECK(info.launches == 2, "%u launches were counted, 2 have threads", info.launches);
    CHECK(info.commands == 7, "%u commands were counted instead of 7", info.commands);
    submit_and_wait(c, list);
    read_buffer(c, cells, 0, &found, 4);
    EQUAL(&found, &expected, 1);
}

static void grid_stride(struct conform *c)
{
    static const uint32_t sizes[] = {1, 1000, 1000003};
    struct gantry_kernel *kernel = make_kernel(c, "launch", "stride");
    struct gantry_buffer *cells = make_buffer(c, 4 * 1000004);
    uint32_t *found = make_words(c, 4 * 1000004);

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        struct stride_args args = {.cells = gantry_buffer_address(cells), .n = sizes[k]};
        struct gantry_list *list = make_list(c);

        RECORD(gantry_list_fill(list, cells, 0, 4 * 1000004, 0));
        LAUNCH(list, kernel, sizes[k], &args);
        RECORD(gantry_list_download(list, cells, 0, found, 4 * 1000004));
        submit_and_wait(c, list);
        for (uint32_t i = 0; i < 1000004; i++)
            CHECK(found[i] == (i < sizes[k] ? i + 1 : 0), "n = %u: cell %u is %u", sizes[k], i,
                  found[i]);
    }
}

/* One block strides over everything, up to the last element that 32 bits can count. */
static void grid_stride_ends(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "count");
    struct gantry_buffer *cells = make_buffer(c, 12);
    struct gantry_list *list = make_list(c);
    struct stride_args args = {.cells = gantry_buffer_address(cells), .n = UINT32_MAX};
    /* The sum of 0 … 2^32 - 2, modulo 2^32. */
    const uint32_t sum = (uint32_t)(UINT64_C(0xffffffff) * UINT64_C(0x7fffffff));
    uint32_t found[3], expected[3] = {UINT32_MAX, sum, UINT32_MAX - 1};

    if (!c->options->big)
        skip(c, "runs through 2^32 - 1 elements; run with --big");
    LAUNCH(list, kernel, UINT32_MAX, &args);
    submit_and_wait(c, list);
    read_buffer(c, cells, 0, found, 12);
    EQUAL(found, expected, 3);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

#define MAX_WORDS 1023

/* The arguments as the host would lay them: the pointer, then the words. */
struct words {
    gantry_ptr to;
    uint32_t v[MAX_WORDS + 1];
};

static uint32_t fill_words(struct words *args, uint32_t count, uint32_t seed)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        args->v[i] = next_random(&seed);
        sum = sum * 31 + args->v[i];
    }
    return sum;
}

static void run_words(struct conform *c, const char *name, uint32_t count, size_t size)
{
    struct gantry_kernel *kernel = make_kernel(c, "args", name);
    struct gantry_buffer *to = make_buffer(c, 8);
    struct gantry_list *list = make_list(c);
    struct words *args = make_words(c, sizeof(*args));
    struct gantry_queue_stats before = stats_of(c, c->queue), after;
    bool in_table = size > c->info.limits.inline_args_bytes;
    uint32_t found[2], expected[2];

    /* Two launches with different arguments: neither may see the other's. */
    for (int i = 0; i < 2; i++) {
        args->to = gantry_buffer_address(to) + 4u * (uint32_t)i;
        expected[i] = fill_words(args, count, 77u + (uint32_t)i);
        RECORD(gantry_list_launch(list, kernel, (struct gantry_size){.x = 1}, args, size));
    }
    args->v[0]++; /* was copied */
    submit_and_wait(c, list);
    read_buffer(c, to, 0, found, 8);
    EQUAL(found, expected, 2);
    after = stats_of(c, c->queue);
    CHECK(after.fallbacks[GANTRY_FALLBACK_ARGS_IN_TABLE] -
                  before.fallbacks[GANTRY_FALLBACK_ARGS_IN_TABLE] ==
              (in_table ? 2 : 0),
          "%zu bytes of arguments, %u go inline, and the table was used %" PRIu64 " times", size,
          c->info.limits.inline_args_bytes,
          after.fallbacks[GANTRY_FALLBACK_ARGS_IN_TABLE] -
              before.fallbacks[GANTRY_FALLBACK_ARGS_IN_TABLE]);
}

static void argument_blocks(struct conform *c)
{
    run_words(c, "sum_12", 1, sizeof(struct sum_12_args));
    run_words(c, "sum_128", 30, sizeof(struct sum_128_args));
    run_words(c, "sum_132", 31, sizeof(struct sum_132_args));
    run_words(c, "sum_256", 62, sizeof(struct sum_256_args));
    run_words(c, "sum_260", 63, sizeof(struct sum_260_args));
    run_words(c, "sum_4096", 1022, sizeof(struct sum_4096_args));
}

/* One documented limit: refused with a sentence, or right. */
static void arguments_over_4096_bytes(struct conform *c)
{
    struct gantry_kernel *kernel;

    if (sizeof(struct sum_4100_args) <= c->info.limits.max_args_bytes) {
        run_words(c, "sum_4100", 1023, sizeof(struct sum_4100_args));
        return;
    }
    EXPECT(GANTRY_E_LIMIT, gantry_kernel_create(load_module(c, "args"), "sum_4100", NULL, &kernel));
}

static void arguments_of_every_type(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "args", "mixed");
    struct gantry_buffer *to = make_buffer(c, 40);
    struct gantry_list *list = make_list(c);
    struct mixed_args args = {.first = 11,
                              .to = gantry_buffer_address(to),
                              .weights = {1.0f, -2.0f, 0.5f},
                              .far = -2,
                              .low = -3,
                              .high = UINT64_C(0x123456789abcdef0),
                              .last = 4.0f};
    uint32_t found[10];
    const uint32_t expected[10] = {11,         0x3f800000, 0xc0000000, 0x3f000000, 0xffffffff,
                                   0xfffffffe, 0xfffffffd, 0x12345678, 0x9abcdef0, 0x40800000};

    LAUNCH(list, kernel, 1, &args);
    submit_and_wait(c, list);
    read_buffer(c, to, 0, found, sizeof(found));
    EQUAL(found, expected, 10);
}

static void wrong_argument_sizes(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct step_args args = {0};
    static const size_t sizes[] = {0, 1, sizeof(args) - 1, sizeof(args) + 1, 1 << 20};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct gantry_list *list = make_list(c);

        CHECK(gantry_list_launch(list, kernel, (struct gantry_size){.x = 1}, &args, sizes[i]) == 0,
              "%zu bytes were taken for %zu", sizes[i], sizeof(args));
        EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(list));
    }
}

/* ---- Entries -------------------------------------------------------------------------------- */

/* The same rows once in pieces that fit the device, once in a launch that does not. */
static void direct_and_folded(struct conform *c)
{
    uint32_t limit = c->info.limits.max_blocks.y, rows = limit + 4465;
    struct gantry_kernel *kernel = make_kernel(c, "launch", "wave");
    struct gantry_buffer *direct, *folded;
    struct gantry_list *list = make_list(c);
    uint32_t *found, *expected;
    struct wave_args args = {.scale = 1.7f, .rows = rows};

    if (limit > 1000000)
        skip(c, "the device takes %u blocks along y: nothing needs folding", limit);
    direct = make_buffer(c, 32 * (uint64_t)rows);
    folded = make_buffer(c, 32 * (uint64_t)rows);
    args.to = gantry_buffer_address(direct);
    for (; args.first < rows; args.first += 40000)
        LAUNCH_GRID(list, kernel, 8, 40000, 1, &args);
    args.to = gantry_buffer_address(folded);
    args.first = 0;
    LAUNCH_GRID(list, kernel, 8, rows, 1, &args);
    found = make_words(c, 32 * (size_t)rows);
    expected = make_words(c, 32 * (size_t)rows);
    RECORD(gantry_list_download(list, direct, 0, expected, 32 * (uint64_t)rows));
    RECORD(gantry_list_download(list, folded, 0, found, 32 * (uint64_t)rows));
    finish(c, list);
    submit_and_wait(c, list);
    CHECK(expected[8] != 0 && expected[8] != expected[9], "the direct entry wrote nothing");
    EQUAL(found, expected, 8 * (size_t)rows);
}

const struct conform_case launch_cases[] = {
    {"launch/saxpy", NULL, saxpy},
    {"launch/one-dimension", NULL, one_dimension},
    {"launch/two-dimensions", NULL, two_dimensions},
    {"launch/three-dimensions", NULL, three_dimensions},
    {"launch/grids-in-blocks", NULL, grids_in_blocks},
    {"launch/many-blocks", "C15", many_blocks},
    {"launch/laid-out-grids", "C15", laid_out_grids},
    {"launch/empty", "C16", empty_launches},
    {"launch/grid-stride", NULL, grid_stride},
    {"launch/grid-stride-ends", NULL, grid_stride_ends},
    {"launch/argument-blocks", "C19", argument_blocks},
    {"launch/arguments-over-4096-bytes", "C19", arguments_over_4096_bytes},
    {"launch/arguments-of-every-type", NULL, arguments_of_every_type},
    {"launch/wrong-argument-sizes", "C19", wrong_argument_sizes},
    {"launch/direct-and-folded", NULL, direct_and_folded},
    {0},
};
