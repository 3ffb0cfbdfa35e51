/* 64 bits throughout: far elements, grids at the end of what 32 bits count, sums that would wrap.
 */
#include <inttypes.h>

#include "conform.h"
#include "launch.h"
#include "types.h"

#define GIB (UINT64_C(1) << 30)

/* A large buffer of which only what is written counts. */
static struct gantry_buffer *make_far_buffer(struct conform *c, uint64_t size)
{
    struct gantry_buffer_params params = {.size = size};
    struct gantry_buffer *buffer;
    enum gantry_status status;

    if (!c->options->big)
        skip(c, "takes a buffer of %" PRIu64 " bytes; run with --big", size);
    if (size > c->info.limits.max_buffer_size)
        skip(c, "takes a buffer of %" PRIu64 " bytes, the device's largest has %" PRIu64, size,
             c->info.limits.max_buffer_size);
    status = gantry_buffer_create(c->device, &params, &buffer);
    if (status == GANTRY_E_OUT_OF_MEMORY)
        skip(c, "%s", gantry_last_error());
    OK(status);
    return buffer;
}

/* What a wrapped address would hit. */
static void check_bytes(struct conform *c, struct gantry_buffer *buffer, uint64_t offset,
                        const uint8_t *expected, uint64_t count)
{
    uint8_t found[16];

    read_buffer(c, buffer, offset, found, count);
    for (uint64_t i = 0; i < count; i++)
        CHECK(found[i] == expected[i], "byte %" PRIu64 " is %u instead of %u", offset + i, found[i],
              expected[i]);
}

static void run_far(struct conform *c, const char *name, uint32_t threads,
                    const struct far_args *args)
{
    struct gantry_list *list = make_list(c);

    LAUNCH(list, make_kernel(c, "types", name), threads, args);
    submit_and_wait(c, list);
}

static void bytes_past_4_gib(struct conform *c)
{
    static const uint8_t zeros[16], far[] = {0, 77, 78, 0}, back[] = {0, 99, 0};
    struct gantry_buffer *buffer = make_far_buffer(c, 4 * GIB + 65536);
    struct gantry_list *list = make_list(c);
    struct far_args args = {.bytes = gantry_buffer_address(buffer),
                            .far = 4 * GIB + 9,
                            .value = 77};

    RECORD(gantry_list_fill(list, buffer, 0, 65536, 0));
    RECORD(gantry_list_fill(list, buffer, 4 * GIB - 65536, 131072, 0));
    submit_and_wait(c, list);
    run_far(c, "far_bytes", 1, &args);
    check_bytes(c, buffer, 4 * GIB + 8, far, sizeof(far));
    check_bytes(c, buffer, 0, zeros, 16);
    /* Index -1 from a pointer that is itself past 4 GiB. */
    args.bytes += 4 * GIB + 1000;
    args.value = 99;
    run_far(c, "back_from_inside", 1, &args);
    check_bytes(c, buffer, 4 * GIB + 998, back, sizeof(back));
    check_bytes(c, buffer, 992, zeros, 16);
    gantry_buffer_destroy(&buffer);
}

static void transfers_past_4_gib(struct conform *c)
{
    static const uint8_t zeros[16];
    static const uint8_t marker[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct gantry_buffer *buffer = make_far_buffer(c, 6 * GIB);
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_fill(list, buffer, 0, 64, 0));
    RECORD(gantry_list_fill(list, buffer, 4 * GIB, 64, 0));
    RECORD(gantry_list_upload(list, buffer, 4 * GIB + 8, marker, 8));
    RECORD(gantry_list_copy(list, buffer, 5 * GIB + 1, buffer, 4 * GIB + 8, 8));
    submit_and_wait(c, list);
    check_bytes(c, buffer, 4 * GIB + 8, marker, 8);
    check_bytes(c, buffer, 5 * GIB + 1, marker, 8);
    check_bytes(c, buffer, 0, zeros, 16);
    gantry_buffer_destroy(&buffer);
}

static void floats_past_their_index(struct conform *c)
{
    const uint64_t first = UINT64_C(1500000000), wrapped = (4 * first) % (4 * GIB) / 4;
    struct gantry_buffer *buffer = make_far_buffer(c, UINT64_C(12000004096));
    struct gantry_list *list = make_list(c);
    struct far_args args = {.floats = gantry_buffer_address(buffer), .far = first, .value = 1000};
    float found[1000], others[1000];

    for (int index32 = 0; index32 < 2; index32++) {
        RECORD(gantry_list_fill(list, buffer, 4 * first, 4000, 0));
        RECORD(gantry_list_fill(list, buffer, 4 * wrapped, 4000, 0));
        submit_and_wait(c, list);
        run_far(c, index32 ? "far_index" : "far_floats", 1000, &args);
        read_buffer(c, buffer, 4 * first, found, sizeof(found));
        read_buffer(c, buffer, 4 * wrapped, others, sizeof(others));
        for (int i = 0; i < 1000; i++) {
            float expected = (float)i + (index32 ? 0.25f : 0.5f);

            CHECK(found[i] == expected, "element %" PRIu64 " is %g instead of %g",
                  first + (uint64_t)i, (double)found[i], (double)expected);
            CHECK(others[i] == 0, "element %" PRIu64 " was written instead", wrapped + (uint64_t)i);
        }
    }
    gantry_buffer_destroy(&buffer);
}

/* ---- Grids ---------------------------------------------------------------------------------- */

/* Split, laid out anew, or refused; never cut. */
static void grids_that_nobody_can_hold(struct conform *c)
{
    struct gantry_kernel *blocks = make_kernel(c, "launch", "blocks");
    struct grid_args args = {0};
    static const struct gantry_size sizes[] = {{UINT32_MAX, UINT32_MAX, 1},
                                               {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                               {UINT32_MAX, 6700417, 641}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct gantry_list *list = make_list(c);

        CHECK(gantry_list_launch_blocks(list, blocks, sizes[i], &args, sizeof(args)) == 0,
              "a grid of %u x %u x %u blocks was recorded", sizes[i].x, sizes[i].y, sizes[i].z);
        EXPECT(GANTRY_E_LIMIT, gantry_list_finish(list));
    }
}

/* The surplus threads of the last block would begin again at 0. */
static void threads_past_32_bits(struct conform *c)
{
    struct gantry_kernel_params params = {.block = {96, 1, 1}};
    struct gantry_list *list = make_list(c);
    struct grid_args args = {0};
    struct gantry_kernel *kernel;

    OK(gantry_kernel_create(load_module(c, "launch"), "grid_1", &params, &kernel));
    CHECK(gantry_list_launch(list, kernel, (struct gantry_size){.x = UINT32_MAX}, &args,
                             sizeof(args)) == 0,
          "2^32 - 1 threads in blocks of 96 were recorded");
    EXPECT(GANTRY_E_LIMIT, gantry_list_finish(list));
    gantry_kernel_destroy(&kernel);
}

const struct conform_case limit_cases[] = {
    {"limits/bytes-past-4-gib", "C20", bytes_past_4_gib},
    {"limits/transfers-past-4-gib", "C20", transfers_past_4_gib},
    {"limits/floats-past-their-index", "C20", floats_past_their_index},
    {"limits/grids-that-nobody-can-hold", "C15", grids_that_nobody_can_hold},
    {"limits/threads-past-32-bits", "C20", threads_past_32_bits},
    {0},
};
