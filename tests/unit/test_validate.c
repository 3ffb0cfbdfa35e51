/* The key validate: every pointer that a submission could follow is looked at, and nothing is
 * submitted when one is bad. */
#include "unit.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/list.h"
#include "core/queue.h"

#include "fake_device.h"

struct add_args {
    gantry_ptr x, y, mask;
    uint32_t n, m;
};

/* x is read, y written, mask may be null and its reach is not stated. */
static const struct gantry_field_info fields[] = {
    {.name = "x",
     .type = GANTRY_SCALAR_POINTER,
     .size = 8,
     .count = 1,
     .pointee = "float",
     .pointee_size = 4,
     .reach_count = 1,
     .reach = {{.field = 3}}},
    {.name = "y",
     .type = GANTRY_SCALAR_POINTER,
     .offset = 8,
     .size = 8,
     .count = 1,
     .pointee = "float4",
     .pointee_size = 16,
     .written = true,
     .reach_count = 3,
     .reach = {{.field = 3}, {.field = -1, .number = 2}, {.field = 4}}},
    {.name = "mask",
     .type = GANTRY_SCALAR_POINTER,
     .offset = 16,
     .size = 8,
     .count = 1,
     .pointee = "uint64",
     .pointee_size = 8,
     .may_be_null = true},
    {.name = "n", .type = GANTRY_SCALAR_UINT32, .offset = 24, .size = 4, .count = 1, .pointee = ""},
    {.name = "m", .type = GANTRY_SCALAR_INT32, .offset = 28, .size = 4, .count = 1, .pointee = ""},
};

static struct fake_device *fake;
static struct gantry_queue *queue;
static struct gantry_list *list;
static struct gantry_buffer *x, *y;
static char warnings[8][800];
static uint32_t warning_count;

static void hear(void *user, enum gantry_log_level level, const char *text)
{
    (void)user;
    if (level == GANTRY_LOG_WARNING && warning_count < 8)
        snprintf(warnings[warning_count++], sizeof(warnings[0]), "%s", text);
}

static struct gantry_buffer *make(uint64_t size, const char *label)
{
    const struct gantry_buffer_params params = {.size = size, .label = label};
    struct gantry_buffer *buffer;

    assert_int_equal(gantry_buffer_create(&fake->device, &params, &buffer), GANTRY_OK);
    return buffer;
}

static int setup(void **state)
{
    fake_open(state);
    fake = *state;
    fake->device.policy.validate = true;
    fake->complete_in_submit = true;
    fake->g.log = (struct log){.callback = hear, .level = GANTRY_LOG_WARNING};
    pthread_mutex_init(&fake->g.lock, NULL);
    warning_count = 0;
    fake->source = (struct gantry_kernel_source){.name = "add",
                                                 .args_name = "add_args",
                                                 .args_size = sizeof(struct add_args),
                                                 .field_count = 5,
                                                 .fields = fields,
                                                 .dimensions = 1};
    x = make(4096, "ex");
    y = make(4096, "why");
    queue = fake_queue(fake);
    list = fake_list(fake);
    return 0;
}

static int teardown(void **state)
{
    gantry_list_destroy(&list);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&x);
    gantry_buffer_destroy(&y);
    pthread_mutex_destroy(&fake->g.lock);
    return fake_close(state);
}

/* ---- One launch ------------------------------------------------------------------------------ */

static gantry_ptr ex(int offset)
{
    return gantry_buffer_address(x) + (gantry_ptr)(int64_t)offset;
}

static gantry_ptr why(int offset)
{
    return gantry_buffer_address(y) + (gantry_ptr)(int64_t)offset;
}

static struct add_args of(gantry_ptr x_address, gantry_ptr y_address, gantry_ptr mask, uint32_t n,
                          int m)
{
    return (struct add_args){x_address, y_address, mask, n, (uint32_t)m};
}

/* 16 floats of x, 32 float4 of y. */
static struct add_args good(void)
{
    return of(ex(0), why(0), 0, 16, 1);
}

static uint32_t launch(const struct add_args *args)
{
    uint32_t id =
        gantry_list_launch(list, &fake->kernel, (struct gantry_size){.x = 64}, args, sizeof(*args));

    assert_int_not_equal(id, 0);
    return id;
}

static enum gantry_status submit(void)
{
    return gantry_queue_submit(queue, list, NULL, 0, NULL);
}

/* The launch as a list of its own: once, and streamed. */
static void check_good(struct add_args args)
{
    launch(&args);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){.x = 64}, &args,
                                         sizeof(args), NULL),
                     GANTRY_OK);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
}

static void check_refused(const char *call, enum gantry_status status, const char *argument,
                          const char *part)
{
    assert_int_equal(status, GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), call);
    assert_contains(gantry_last_error(), "of kernel add: argument ");
    assert_contains(gantry_last_error(), argument);
    assert_contains(gantry_last_error(), part);
}

static void check_bad(struct add_args args, const char *argument, const char *part)
{
    uint64_t submissions = fake->submissions;
    struct gantry_point point = {queue, 7};

    launch(&args);
    check_refused("gantry_queue_submit: list \"list\": launch ", submit(), argument, part);
    gantry_list_destroy(&list);
    list = fake_list(fake);
    check_refused("gantry_queue_launch",
                  gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){.x = 64}, &args,
                                      sizeof(args), &point),
                  argument, part);
    assert_null(point.queue);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(fake->submissions, submissions);
}

static void good_pointers(void **state)
{
    (void)state;
    check_good(good());
    check_good(of(ex(0), why(0), 0, 1024, 0));
    check_good(of(ex(0), why(0), 0, 128, 1)); /* 128 * 2 * 1 * 16 bytes: all of y */
    check_good(of(ex(4096 - 64), why(0), 0, 16, 1));
    check_good(of(ex(0), why(4096 - 512), 0, 16, 1));
    check_good(of(ex(0), why(0), ex(4096 - 8), 16, 1));
    assert_int_equal(fake->submissions, 12);
}

/* A kernel that reaches no element follows no pointer. */
static void nothing_to_reach(void **state)
{
    (void)state;
    check_good(of(0, 12345, 0, 0, 1));
    check_good(of(ex(0), 12345, 0, 16, -1));
    check_good(of(ex(0), 0, 0, 16, 0));
}

static void null(void **state)
{
    (void)state;
    check_bad(of(0, why(0), 0, 16, 1), "x, 0x0,", "is NULL, which kernels allow by MAY_BE_NULL(x)");
    check_bad(of(ex(0), 0, 0, 16, 1), "y, 0x0,", "is NULL");
    check_good(of(ex(0), why(0), 0, 16, 1));
}

static void past_the_end(void **state)
{
    (void)state;
    check_bad(of(ex(0), why(0), 0, 1025, 0), "argument x",
              "points to byte 0 of buffer \"ex\" (4096 bytes from 0x");
    assert_contains(gantry_last_error(),
                    "leaves 4096 bytes; the kernel reaches n = 1025 elements of 4 bytes");
    check_bad(of(ex(4033), why(0), 0, 16, 1), "argument x", "leaves 63 bytes");
    check_bad(of(ex(0), why(0), 0, 129, 1), "argument y",
              "the kernel reaches n * 2 * m = 258 elements of 16 bytes");
    check_bad(of(ex(0), why(3585), 0, 16, 1), "argument y",
              "points to byte 3585 of buffer \"why\"");
    check_bad(of(ex(0), why(0), ex(4089), 16, 1), "argument mask",
              "leaves 7 bytes; the kernel reaches at least 1 element of 8 bytes");
}

static void more_than_64_bits(void **state)
{
    struct gantry_field_info wide[] = {fields[1], fields[2]};

    (void)state;
    wide[0].reach_count = 2;
    wide[0].reach[0].field = wide[0].reach[1].field = 1;
    wide[1].type = GANTRY_SCALAR_UINT64;
    fake->source.fields = wide;
    fake->source.field_count = 2;
    check_bad(of(0, why(0), 1 << 30, 0, 0), "argument y", "mask * mask = 1152921504606846976 elem");
    check_bad(of(0, why(0), UINT64_MAX, 0, 0), "argument y", "= 18446744073709551615 elements");
    check_good(of(0, why(0), 16, 0, 0));
}

static void no_buffer(void **state)
{
    char nearest[100];

    (void)state;
    check_bad(of(0x10, why(0), 0, 16, 1), "x, 0x10,",
              "points into no buffer of device \"fake device\"; the nearest, \"");
    check_bad(of(UINT64_MAX, why(0), 0, 16, 1), "x, 0xffffffffffffffff,", "points into no buffer");
    snprintf(nearest, sizeof(nearest), "\"ex\" (4096 bytes from 0x%llx), ends 1 byte before it",
             (unsigned long long)gantry_buffer_address(x));
    gantry_buffer_destroy(&y);
    check_bad(of(ex(4096), ex(0), 0, 16, 1), "argument x", nearest);
    snprintf(nearest, sizeof(nearest), "\"ex\" (4096 bytes from 0x%llx), begins 4 bytes behind it",
             (unsigned long long)gantry_buffer_address(x));
    check_bad(of(ex(-4), ex(0), 0, 16, 1), "argument x", nearest);
}

static void no_buffer_at_all(void **state)
{
    struct add_args args = {.x = 0x1000, .n = 1, .m = 0};

    (void)state;
    gantry_buffer_destroy(&x);
    gantry_buffer_destroy(&y);
    check_bad(args, "x, 0x1000,", "points into no buffer; device \"fake device\" has none");
}

/* ---- Buffers come and go --------------------------------------------------------------------- */

static void a_destroyed_buffer_is_named(void **state)
{
    struct add_args args = good();

    (void)state;
    args.x += 100;
    check_good(args);
    gantry_buffer_destroy(&x);
    check_bad(args, "argument x", "points to byte 100 of buffer \"ex\" (4096 bytes from 0x");
    assert_contains(gantry_last_error(), "), which was destroyed");
}

/* The ring of the destroyed forgets the oldest. */
static void many_are_destroyed(void **state)
{
    struct add_args args = good();

    (void)state;
    gantry_buffer_destroy(&x);
    for (int i = 0; i < ADDRESSES_GHOSTS; i++) {
        struct gantry_buffer *other = make(1 << 20, "other");

        gantry_buffer_destroy(&other);
    }
    check_bad(args, "argument x", "points into no buffer of device");
}

static void random_buffers(void **state)
{
    enum { MOST = 200 };
    struct gantry_buffer *buffers[MOST] = {0};
    struct add_args args = good();
    uint32_t seed = 9;

    (void)state;
    args.m = 0;
    for (uint32_t step = 0; step < 4000; step++) {
        uint32_t i;

        seed = seed * 1664525u + 1013904223u;
        i = (seed >> 8) % MOST;
        if (buffers[i]) {
            args.n = (uint32_t)gantry_buffer_size(buffers[i]) / 4;
            args.x = gantry_buffer_address(buffers[i]);
            launch(&args);
            assert_int_equal(submit(), GANTRY_OK);
            gantry_buffer_destroy(&buffers[i]);
            launch(&args);
            assert_int_equal(submit(), GANTRY_E_INVALID_ARGUMENT);
            gantry_list_destroy(&list);
            list = fake_list(fake);
        } else {
            buffers[i] = make(4 * (1 + (seed >> 20)), "some");
        }
    }
    for (uint32_t i = 0; i < MOST; i++)
        gantry_buffer_destroy(&buffers[i]);
}

static void registered_memory(void **state)
{
    static uint32_t memory[1024];
    const struct gantry_host_params params = {memory, sizeof(memory), "mine"};
    struct gantry_buffer *mine;

    (void)state;
    assert_int_equal(gantry_host_register(&fake->device, &params, &mine), GANTRY_OK);
    check_good(of(gantry_buffer_address(mine) + 4032, why(0), 0, 16, 1));
    check_bad(of(gantry_buffer_address(mine) + 4036, why(0), 0, 16, 1), "argument x",
              "leaves 60 bytes");
    gantry_buffer_destroy(&mine);
    check_bad(of((uintptr_t)memory, why(0), 0, 16, 1), "argument x", "buffer \"mine\"");
}

/* The other one need not validate. */
static void another_device(void **state)
{
    struct gantry_device other = {.g = &fake->g, .label = (char *)"other device"};
    struct gantry_drv_memory block = {.address = 0x5000, .size = 4096};
    struct gantry_buffer theirs = {.size = 4096, .memory = {.block = &block}, .label = (char *)"b"};

    (void)state;
    pthread_mutex_init(&other.lock, NULL);
    object_link(&theirs.object, &other, OBJECT_BUFFER);
    fake->g.devices = &other;
    check_bad(of(0x5010, why(0), 0, 16, 1), "x, 0x5010,",
              "points into buffer \"b\" of another device, \"other device\"");
    check_bad(of(0x6000, why(0), 0, 16, 1), "x, 0x6000,",
              "points into no buffer of device \"fake device\"");
    fake->g.devices = NULL;
    pthread_mutex_destroy(&other.lock);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void the_launch_is_named(void **state)
{
    struct add_args args = good();

    (void)state;
    launch(&args);
    gantry_list_label(list, "step two");
    launch(&args);
    args.x = 0x44;
    assert_int_equal(launch(&args), 4);
    assert_int_equal(submit(), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(),
                    "list \"list\": launch 4 \"step two\" of kernel add: argument x, 0x44,");
    assert_int_equal(fake->submissions, 0);
}

static void replays(void **state)
{
    struct add_args args = good();

    (void)state;
    launch(&args);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    gantry_buffer_destroy(&x);
    assert_int_equal(submit(), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "which was destroyed");
    assert_int_equal(submit(), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(fake->submissions, 2);
}

/* Buffers that its launches don't name are nothing to a list. */
static void others_are_destroyed(void **state)
{
    struct gantry_buffer *other = make(64, "other");
    struct add_args args = good();

    (void)state;
    launch(&args);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    gantry_buffer_destroy(&other);
    assert_int_equal(submit(), GANTRY_OK);
}

static void patched_arguments(void **state)
{
    struct add_args args = good();
    const struct gantry_size threads = {.x = 64};
    const gantry_ptr wild = 0x123;
    uint32_t id;

    (void)state;
    id = gantry_list_launch_patchable(list, &fake->kernel, threads, threads, &args, sizeof(args));
    assert_int_not_equal(id, 0);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(gantry_list_set_arg(list, id, 8, &wild, sizeof(wild)), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "launch 1 of kernel add: argument y, 0x123,");
    /* It would not run, so it follows nothing. */
    assert_int_equal(gantry_list_set_threads(list, id, (struct gantry_size){0}), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(gantry_list_set_threads(list, id, threads), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_E_INVALID_ARGUMENT);
    args.n = 8;
    assert_int_equal(gantry_list_set_args(list, id, &args, sizeof(args)), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(fake->submissions, 3);
}

/* Arguments that are read from a table are no different. */
static void arguments_in_a_table(void **state)
{
    struct add_args args = good();

    (void)state;
    fake->device.info.limits.inline_args_bytes = 16;
    launch(&args);
    args.y = 0x77;
    launch(&args);
    assert_int_equal(submit(), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "launch 2 of kernel add: argument y, 0x77,");
}

static void empty_launches_pass(void **state)
{
    const struct add_args wild = {.x = 1, .y = 2, .mask = 3, .n = 4, .m = 5};

    (void)state;
    assert_int_not_equal(gantry_list_launch(list, &fake->kernel, (struct gantry_size){0}, &wild,
                                            sizeof(wild)),
                         0);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){0}, &wild,
                                         sizeof(wild), NULL),
                     GANTRY_OK);
}

/* A streamed launch that is refused leaves the batch as it was. */
static void the_batch_goes_on(void **state)
{
    const struct gantry_size threads = {.x = 64};
    struct add_args args = good();

    (void)state;
    fake->complete_in_submit = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(gantry_queue_launch(queue, &fake->kernel, threads, &args, sizeof(args),
                                             NULL),
                         GANTRY_OK);
    args.x = 5;
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, threads, &args, sizeof(args), NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    /* What the batch uses may go once the calls have returned. */
    gantry_buffer_destroy(&x);
    assert_int_equal(gantry_queue_flush(queue), GANTRY_OK);
    assert_int_equal(fake->kept[0].launches + fake->kept[1].launches, 3);
    fake_complete(queue, UINT64_MAX);
}

static void other_mistakes_come_first(void **state)
{
    struct add_args args = {.x = 1};

    (void)state;
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){.x = 1}, &args,
                                         8, NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "takes 32 bytes of arguments");
    assert_int_equal(gantry_queue_launch(queue, NULL, (struct gantry_size){.x = 1}, &args,
                                         sizeof(args), NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "the kernel is NULL");
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){1, 1, 2}, &args,
                                         sizeof(args), NULL),
                     GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "gantry_queue_launch: kernel add");
}

static void off(void **state)
{
    const struct add_args wild = {.x = 1, .y = 2, .mask = 3, .n = 4, .m = 5};

    (void)state;
    fake->device.policy.validate = false;
    gantry_buffer_destroy(&x);
    x = make(64, "not followed");
    assert_int_equal(fake->device.addresses.destroyed, 0);
    launch(&wild);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(gantry_queue_launch(queue, &fake->kernel, (struct gantry_size){.x = 64}, &wild,
                                         sizeof(wild), NULL),
                     GANTRY_OK);
}

/* ---- Races ----------------------------------------------------------------------------------- */

static void submit_concurrent(void (*record)(void))
{
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    record();
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
}

/* 512 bytes of y. */
static void launch_at(uint64_t y_offset, uint64_t x_offset)
{
    struct add_args args = good();

    args.x += x_offset;
    args.y += y_offset;
    launch(&args);
}

static void two_halves(void)
{
    launch_at(0, 0);
    launch_at(512, 0);
}

static void overlapping(void)
{
    launch_at(0, 0);
    launch_at(511, 0);
    launch_at(1022, 0); /* the same pair of arguments */
}

static void disjoint_halves_are_no_race(void **state)
{
    (void)state;
    submit_concurrent(two_halves);
    assert_int_equal(warning_count, 0);
}

static void two_writes(void **state)
{
    (void)state;
    submit_concurrent(overlapping);
    assert_int_equal(warning_count, 1);
    assert_contains(
        warnings[0],
        "list \"list\": launch 1 of kernel add, argument y (writes) and launch 2 of "
        "kernel add, argument y (writes) run at the same time, and both can touch bytes "
        "511 to 511 of buffer \"why\"");
    submit_concurrent(overlapping); /* told already */
    assert_int_equal(warning_count, 1);
}

static void one_after_the_other(void **state)
{
    (void)state;
    overlapping();
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    assert_int_equal(gantry_list_begin_ordered(list), GANTRY_OK);
    overlapping();
    assert_int_equal(gantry_list_end_ordered(list), GANTRY_OK);
    launch_at(2048, 0);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    launch_at(0, 0); /* behind the section */
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(warning_count, 0);
}

/* Of the three in an ordered group the first goes furthest, and only the launch beside them races.
 */
static void a_group_and_one_beside(void **state)
{
    struct add_args wide = good();

    (void)state;
    wide.n = 64;
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    assert_int_equal(gantry_list_begin_ordered(list), GANTRY_OK);
    launch(&wide);
    launch_at(0, 0);
    launch_at(16, 0);
    assert_int_equal(gantry_list_end_ordered(list), GANTRY_OK);
    launch_at(1024, 0);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(warning_count, 1);
    assert_contains(warnings[0], "launch 1 of");
    assert_contains(warnings[0], "launch 4 of");
}

static void reading_what_another_writes(void **state)
{
    struct add_args args = good();

    (void)state;
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    launch_at(0, 0);
    launch_at(1024, 0); /* both read x */
    args.x = args.y + 1024;
    args.y += 2048;
    launch(&args);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(warning_count, 1);
    assert_contains(warnings[0], "launch 2 of kernel add, argument y (writes)");
    assert_contains(warnings[0], "launch 3 of kernel add, argument x (reads)");
    assert_contains(warnings[0], "bytes 1024 to 1087 of buffer \"why\"");
}

/* mask does not say how far it is read: to the end. */
static void reach_that_is_not_stated(void **state)
{
    struct add_args args = good();

    (void)state;
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    args.mask = args.y + 1024;
    launch(&args);
    launch_at(3072, 0);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(warning_count, 1);
    assert_contains(warnings[0], "argument mask (reads, how far is not stated)");
    assert_contains(warnings[0], "bytes 3072 to 3583");
    assert_contains(warnings[0], "in the kernel's source how far it reaches (REACH)");
}

static uint32_t words[64];

static void transfers(void)
{
    const struct gantry_rect rect = {.width = 4, .rows = 8, .to_pitch = 64, .from_pitch = 8};

    gantry_list_label(list, "moves");
    gantry_list_fill(list, y, 0, 256, 0);
    gantry_list_copy(list, y, 128, x, 0, 64);
    gantry_list_upload(list, x, 32, words, 64);
    gantry_list_download(list, y, 252, words, 8);
    gantry_list_copy_rect(list, y, 1024, x, 2048, &rect);
    launch_at(1440, 512);
}

static bool warned(const char *one, const char *other)
{
    for (uint32_t i = 0; i < warning_count; i++)
        if (strstr(warnings[i], one) && strstr(warnings[i], other))
            return true;
    return false;
}

static void other_commands(void **state)
{
    (void)state;
    submit_concurrent(transfers);
    assert_true(warned("fill 2 \"moves\" (writes)", "copy 3 \"moves\" (writes)"));
    assert_true(warned("copy 3 \"moves\" (reads)", "upload 4 \"moves\" (writes)"));
    assert_true(warned("fill 2 \"moves\" (writes)", "download 5 \"moves\" (reads)"));
    assert_true(warned("copy 6 \"moves\" (writes)", "launch 7 \"moves\" of kernel add"));
    assert_int_equal(warning_count, 4);
}

static void a_finished_list_warns_once(void **state)
{
    (void)state;
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    overlapping();
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    assert_int_equal(gantry_list_finish(list), GANTRY_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(warning_count, 1);
}

/* Many readers of one buffer, among them a writer of its last bytes. */
static void a_writer_among_readers(void **state)
{
    struct add_args args = good();

    (void)state;
    args.m = 0;
    args.n = 1024;
    assert_int_equal(gantry_list_begin_concurrent(list), GANTRY_OK);
    for (int i = 0; i < 300; i++)
        launch(&args);
    gantry_list_fill(list, x, 4092, 4, 0);
    for (int i = 0; i < 300; i++)
        launch(&args);
    assert_int_equal(gantry_list_end_concurrent(list), GANTRY_OK);
    assert_int_equal(submit(), GANTRY_OK);
    assert_int_equal(warning_count, 1);
    assert_contains(warnings[0], "fill 301 (writes)");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(good_pointers),
        TEST(nothing_to_reach),
        TEST(null),
        TEST(past_the_end),
        TEST(more_than_64_bits),
        TEST(no_buffer),
        TEST(no_buffer_at_all),
        TEST(a_destroyed_buffer_is_named),
        TEST(many_are_destroyed),
        TEST(random_buffers),
        TEST(registered_memory),
        TEST(another_device),
        TEST(the_launch_is_named),
        TEST(replays),
        TEST(others_are_destroyed),
        TEST(patched_arguments),
        TEST(arguments_in_a_table),
        TEST(empty_launches_pass),
        TEST(the_batch_goes_on),
        TEST(other_mistakes_come_first),
        TEST(off),
        TEST(disjoint_halves_are_no_race),
        TEST(two_writes),
        TEST(one_after_the_other),
        TEST(a_group_and_one_beside),
        TEST(reading_what_another_writes),
        TEST(reach_that_is_not_stated),
        TEST(other_commands),
        TEST(a_finished_list_warns_once),
        TEST(a_writer_among_readers),
    };

    return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
