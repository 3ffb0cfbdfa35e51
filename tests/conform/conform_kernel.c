/* Kernels: which blocks they get, what is refused, what is told about them. */
#include <stdio.h>
#include <string.h>

#include "conform.h"
#include "launch.h"

static void descriptions(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "grid_3");
    struct gantry_kernel_info info;

    OK(gantry_kernel_describe(kernel, &info));
    CHECK(strcmp(info.name, "grid_3") == 0, "it is called %s", info.name);
    CHECK(info.block.x == 8 && info.block.y == 4 && info.block.z == 2,
          "BLOCK(8x4x2) is %u x %u x %u", info.block.x, info.block.y, info.block.z);
    CHECK(info.block_origin && info.block_origin[0], "the block's origin is not told");
    CHECK(info.image && info.image[0], "the image is not told");
    CHECK(info.max_threads >= 64, "%u threads at most, and the block has 64", info.max_threads);
}

static void unknown_names(struct conform *c)
{
    struct gantry_module *module = load_module(c, "launch");
    struct gantry_kernel *kernel = (struct gantry_kernel *)c;

    EXPECT(GANTRY_E_NOT_FOUND, gantry_kernel_create(module, "saxpie", NULL, &kernel));
    CHECK(!kernel, "a failed create left a handle");
    CHECK(strstr(gantry_last_error(), "saxpy"), "the kernels that exist are not listed: %s",
          gantry_last_error());
    EXPECT(GANTRY_E_NOT_FOUND, gantry_kernel_create(module, "", NULL, &kernel));
}

static void layout_hashes(struct conform *c)
{
    struct gantry_module *module = load_module(c, "launch");
    struct gantry_kernel_params params = {.layout_hash = 0x1234567890abcdef};
    struct gantry_kernel *kernel;

    EXPECT(GANTRY_E_LAYOUT, gantry_kernel_create(module, "saxpy", &params, &kernel));
}

/* ---- Blocks --------------------------------------------------------------------------------- */

/* The block that really runs. */
static void check_block(struct conform *c, struct gantry_size asked, struct gantry_size expected)
{
    struct gantry_kernel_params params = {.block = asked};
    struct gantry_buffer *to = make_buffer(c, 12);
    struct size_args args = {.to = gantry_buffer_address(to)};
    struct gantry_list *list = make_list(c);
    struct gantry_kernel *kernel;
    const uint32_t sizes[3] = {expected.x, expected.y, expected.z};
    uint32_t found[3];

    OK(gantry_kernel_create(load_module(c, "launch"), "size_of_block", &params, &kernel));
    LAUNCH_GRID(list, kernel, 1, 1, 1, &args);
    gantry_kernel_destroy(&kernel); /* the list holds it */
    RECORD(gantry_list_download(list, to, 0, found, 12));
    submit_and_wait(c, list);
    EQUAL(found, sizes, 3);
}

static void blocks_of_the_caller(struct conform *c)
{
    static const struct gantry_size sizes[] = {{1, 1, 1}, {7, 1, 1},  {128, 1, 1}, {16, 8, 1},
                                               {4, 4, 8}, {1, 1, 64}, {1, 128, 1}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].z <= c->info.limits.max_block.z && sizes[i].y <= c->info.limits.max_block.y)
            check_block(c, sizes[i], sizes[i]);
    check_block(c, (struct gantry_size){0, 16, 0}, (struct gantry_size){1, 16, 1});
}

static void refuse_block(struct conform *c, const char *name, struct gantry_size block,
                         enum gantry_status expected)
{
    struct gantry_kernel_params params = {.block = block};
    struct gantry_kernel *kernel;
    enum gantry_status status =
        gantry_kernel_create(load_module(c, "launch"), name, &params, &kernel);

    CHECK(status == expected, "%s with a block of %u x %u x %u: %s instead of %s: %s", name,
          block.x, block.y, block.z, gantry_status_name(status), gantry_status_name(expected),
          status < 0 ? gantry_last_error() : "");
    gantry_kernel_destroy(&kernel);
}

static void blocks_that_are_too_large(struct conform *c)
{
    const struct gantry_limits *l = &c->info.limits;

    refuse_block(c, "size_of_block", (struct gantry_size){l->max_threads_per_block + 1, 1, 1},
                 GANTRY_E_LIMIT);
    refuse_block(c, "size_of_block", (struct gantry_size){l->max_threads_per_block, 2, 1},
                 GANTRY_E_LIMIT);
    refuse_block(c, "size_of_block", (struct gantry_size){1, 1, l->max_block.z + 1},
                 GANTRY_E_LIMIT);
    refuse_block(c, "size_of_block", (struct gantry_size){UINT32_MAX, UINT32_MAX, UINT32_MAX},
                 GANTRY_E_LIMIT);
    refuse_block(c, "size_of_block", (struct gantry_size){65536, 65536, 1}, GANTRY_E_LIMIT);
}

static void block_rules(struct conform *c)
{
    refuse_block(c, "ruled", (struct gantry_size){48, 1, 1}, GANTRY_E_LIMIT);
    refuse_block(c, "ruled", (struct gantry_size){96, 1, 1}, GANTRY_E_LIMIT);
    refuse_block(c, "ruled", (struct gantry_size){256, 1, 1}, GANTRY_E_LIMIT);
    refuse_block(c, "ruled", (struct gantry_size){16, 1, 1}, GANTRY_E_LIMIT);
    refuse_block(c, "ruled", (struct gantry_size){32, 1, 1}, GANTRY_OK);
    refuse_block(c, "ruled", (struct gantry_size){128, 1, 1}, GANTRY_OK);
    /* BLOCK() in the source says it already. */
    refuse_block(c, "grid_3", (struct gantry_size){4, 4, 4}, GANTRY_E_INVALID_ARGUMENT);
    refuse_block(c, "grid_3", (struct gantry_size){8, 4, 2}, GANTRY_OK);
}

static void default_blocks_obey_the_rules(struct conform *c)
{
    struct gantry_kernel_info info;

    OK(gantry_kernel_describe(make_kernel(c, "launch", "ruled"), &info));
    CHECK(info.block.x == 32 || info.block.x == 64 || info.block.x == 128,
          "a multiple of 32, a power of two and at most 128: %u", info.block.x);
    CHECK(info.block.y == 1 && info.block.z == 1, "one dimension, and a block of %u x %u x %u",
          info.block.x, info.block.y, info.block.z);
}

static void launches_in_blocks_need_a_block(struct conform *c)
{
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_list *list = make_list(c);
    struct step_args args = {0};

    CHECK(gantry_list_launch_blocks(list, kernel, (struct gantry_size){1, 1, 1}, &args,
                                    sizeof(args)) == 0,
          "blocks of a kernel without BLOCK() were launched");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(list));
}

static void dimensions(struct conform *c)
{
    struct gantry_kernel *one = make_kernel(c, "launch", "grid_1");
    struct gantry_kernel *two = make_kernel(c, "launch", "grid_2");
    struct grid_args args = {0};
    struct gantry_list *list = make_list(c);

    CHECK(gantry_list_launch(list, one, (struct gantry_size){4, 2, 1}, &args, sizeof(args)) == 0,
          "y = 2 was taken by a kernel of one dimension");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(list));
    list = make_list(c);
    CHECK(gantry_list_launch(list, two, (struct gantry_size){4, 2, 3}, &args, sizeof(args)) == 0,
          "z = 3 was taken by a kernel of two dimensions");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_list_finish(list));
    list = make_list(c);
    LAUNCH_GRID(list, one, 0, 1, 1, &args);
    RECORD(gantry_list_launch(list, one, (struct gantry_size){.x = 1}, &args, sizeof(args)));
}

/* ---- Modules -------------------------------------------------------------------------------- */

static void bad_packages(struct conform *c)
{
    static const char text[] = "GANTRYPK is how a package begins, and this is none";
    struct gantry_module_params params = {.file = "/nonexistent/folder/none.gpk"};
    struct gantry_module *module;

    EXPECT(GANTRY_E_IO, gantry_module_load(c->device, &params, &module));
    CHECK(strstr(gantry_last_error(), params.file), "the file is not named: %s",
          gantry_last_error());
    params = (struct gantry_module_params){.data = text, .size = sizeof(text)};
    EXPECT(GANTRY_E_PACKAGE, gantry_module_load(c->device, &params, &module));
    params.size = 3;
    EXPECT(GANTRY_E_PACKAGE, gantry_module_load(c->device, &params, &module));
    params = (struct gantry_module_params){0};
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_module_load(c->device, &params, &module));
    CHECK(!module, "a failed load left a handle");
}

/* A kernel keeps its module, a list its kernels. */
static void lifetimes(struct conform *c)
{
    struct gantry_buffer *cells = make_buffer(c, 4);
    struct step_args args = {.cells = gantry_buffer_address(cells), .n = 1, .add = 9};
    struct gantry_list *list = make_list(c);
    struct gantry_module *module;
    struct gantry_kernel *kernel;
    char file[4096];
    struct gantry_module_params params = {.file = file};
    uint32_t found, expected = 36;

    snprintf(file, sizeof(file), "%s/launch.gpk", c->options->packages);
    OK(gantry_module_load(c->device, &params, &module));
    OK(gantry_kernel_create(module, "step", NULL, &kernel));
    gantry_module_unload(&module);
    LAUNCH(list, kernel, 1, &args);
    LAUNCH(list, kernel, 1, &args);
    gantry_kernel_destroy(&kernel);
    CHECK(!module && !kernel, "destroying left a handle");
    finish(c, list);
    submit_and_wait(c, list);
    read_buffer(c, cells, 0, &found, 4);
    EQUAL(&found, &expected, 1);
}

const struct conform_case kernel_cases[] = {
    {"kernel/descriptions", NULL, descriptions},
    {"kernel/unknown-names", NULL, unknown_names},
    {"kernel/layout-hashes", NULL, layout_hashes},
    {"kernel/blocks-of-the-caller", NULL, blocks_of_the_caller},
    {"kernel/blocks-that-are-too-large", "C17", blocks_that_are_too_large},
    {"kernel/block-rules", "C17", block_rules},
    {"kernel/default-blocks-obey-the-rules", "C17", default_blocks_obey_the_rules},
    {"kernel/launches-in-blocks-need-a-block", NULL, launches_in_blocks_need_a_block},
    {"kernel/dimensions", NULL, dimensions},
    {"kernel/bad-packages", NULL, bad_packages},
    {"kernel/lifetimes", NULL, lifetimes},
    {0},
};
