/* Memory that buffers share: nobody's bytes are another's, what work still uses is not handed out,
 * and it goes back. */
#include <string.h>

#include "conform.h"
#include "launch.h"

static struct gantry_memory_info memory_of(struct conform *c, struct gantry_device *device)
{
    struct gantry_memory_info info;

    OK(gantry_device_memory(device, &info));
    return info;
}

/* ---- Neighbours ----------------------------------------------------------------------------- */

static void check_bytes(struct conform *c, struct gantry_buffer *buffer, uint8_t expected)
{
    uint64_t size = gantry_buffer_size(buffer);
    uint8_t *found = make_words(c, size);

    read_buffer(c, buffer, 0, found, size);
    for (uint64_t i = 0; i < size; i++)
        CHECK(found[i] == expected, "byte %llu of %llu is 0x%x instead of 0x%x",
              (unsigned long long)i, (unsigned long long)size, found[i], expected);
}

/* Zeros, an upload, a fill and a copy into the middle one of three. */
static void work_in_the_middle(struct conform *c, enum gantry_memory kind, uint64_t size)
{
    struct gantry_buffer *trio[3];
    uint8_t *data = make_words(c, size);
    struct gantry_list *list = make_list(c);

    for (int i = 0; i < 3; i++) {
        trio[i] = make_memory(c, kind, size);
        memset(data, 0xa0 + i, size);
        write_buffer(c, trio[i], 0, data, size);
    }
    drop_buffer(c, trio[1]);
    trio[1] = make_memory(c, kind, size);
    check_bytes(c, trio[1], 0);
    RECORD(gantry_list_copy(list, trio[1], 0, trio[0], 0, size));
    RECORD(gantry_list_fill(list, trio[1], 0, size & ~UINT64_C(3), 0x55555555));
    submit_and_wait(c, list);
    memset(data, 0x77, size);
    write_buffer(c, trio[1], 0, data, size);
    check_bytes(c, trio[0], 0xa0);
    check_bytes(c, trio[1], 0x77);
    check_bytes(c, trio[2], 0xa2);
}

static void neighbours(struct conform *c)
{
    static const uint64_t sizes[] = {1, 3, 5, 255, 257, 4095, 70001};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int kind = GANTRY_MEMORY_DEVICE; kind <= GANTRY_MEMORY_READBACK; kind++)
            work_in_the_middle(c, (enum gantry_memory)kind, sizes[i]);
}

/* Buffers come and go; each holds its own word from end to end. */
static void a_crowd(struct conform *c)
{
    enum { MOST = 64, STEPS = 1500 };
    struct gantry_buffer *buffers[MOST] = {0};
    uint32_t seed = 5;

    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = next_random(&seed) % MOST;
        uint64_t size = 4 + next_random(&seed) % (step % 8 ? 9000 : 3000000);

        if (buffers[i]) {
            uint64_t last = gantry_buffer_size(buffers[i]) / 4 * 4 - 4;
            uint32_t found[2];

            read_buffer(c, buffers[i], 0, &found[0], 4);
            read_buffer(c, buffers[i], last, &found[1], 4);
            CHECK(found[0] == i + 1 && found[1] == i + 1, "buffer %u holds %u … %u", i, found[0],
                  found[1]);
            drop_buffer(c, buffers[i]);
            buffers[i] = NULL;
            continue;
        }
        buffers[i] = make_buffer(c, size);
        OK(gantry_queue_fill(c->queue, buffers[i], 0, size / 4 * 4, i + 1, NULL));
    }
}

/* ---- Memory that work still uses ------------------------------------------------------------ */

enum { SIZE = 4096, OTHERS = 32 };

/* Makes buffers of zeros that would fit into the place of one that was just destroyed, lets the
 * work that still writes there end, and looks whether anything has changed. */
static void check_not_reused(struct conform *c, struct gantry_point last)
{
    struct gantry_buffer *others[OTHERS];

    for (int i = 0; i < OTHERS; i++)
        others[i] = make_buffer(c, SIZE);
    OK(gantry_wait(last, GANTRY_FOREVER));
    for (int i = 0; i < OTHERS; i++)
        check_bytes(c, others[i], 0);
}

/* Work that takes a while, and then writes all over the buffer that `args` are about. */
static void record_slow_writes(struct conform *c, struct gantry_list *list, uint32_t rounds,
                               struct gantry_buffer *victim)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct spin_args spin = {.cell = gantry_buffer_address(cell), .rounds = rounds};
    struct step_args step = {.cells = gantry_buffer_address(victim),
                             .n = SIZE / 4,
                             .add = 0x1234567};

    LAUNCH(list, make_kernel(c, "launch", "spin"), 1, &spin);
    for (int i = 0; i < 4; i++)
        LAUNCH(list, make_kernel(c, "launch", "step"), SIZE / 4, &step);
}

static void under_a_pending_list(struct conform *c)
{
    struct gantry_buffer *victim = make_buffer(c, SIZE);
    struct gantry_list *list = make_list(c);
    struct gantry_point point;

    record_slow_writes(c, list, 2000000, victim);
    finish(c, list);
    point = submit(c, list);
    drop_buffer(c, victim);
    drop_list(c, list);
    check_not_reused(c, point);
}

static void under_another_queue(struct conform *c)
{
    struct gantry_buffer *victim = make_buffer(c, SIZE);
    struct gantry_queue *slow = make_queue(c);
    struct gantry_list *list = make_list(c), *quick = make_list(c);
    struct gantry_point point;

    record_slow_writes(c, list, 2000000, victim);
    OK(gantry_queue_submit(slow, list, NULL, 0, &point));
    drop_buffer(c, victim);
    submit_and_wait(c, quick); /* the case's own queue has nothing to do */
    check_not_reused(c, point);
}

static void under_an_open_batch(struct conform *c)
{
    struct gantry_buffer *victim = make_buffer(c, SIZE), *cell = make_buffer(c, 4);
    struct gantry_kernel *spin = make_kernel(c, "launch", "spin");
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    struct spin_args spin_args = {.cell = gantry_buffer_address(cell), .rounds = 300000};
    struct step_args step_args = {.cells = gantry_buffer_address(victim),
                                  .n = SIZE / 4,
                                  .add = 0x1234567};
    struct gantry_point point;

    for (int i = 0; i < 4; i++)
        OK(gantry_queue_launch(c->queue, spin, (struct gantry_size){.x = 1}, &spin_args,
                               sizeof(spin_args), NULL));
    OK(gantry_queue_launch(c->queue, step, (struct gantry_size){.x = SIZE / 4}, &step_args,
                           sizeof(step_args), &point));
    drop_buffer(c, victim);
    check_not_reused(c, point);
}

/* ---- What there is -------------------------------------------------------------------------- */

static void figures(struct conform *c)
{
    struct gantry_memory_info before = memory_of(c, c->device), now;
    struct gantry_buffer *device = make_buffer(c, 1000003);
    struct gantry_buffer *host = make_memory(c, GANTRY_MEMORY_UPLOAD, 5000);

    now = memory_of(c, c->device);
    CHECK(now.used == before.used + 1000003, "%llu bytes are in use after 1000003 more than %llu",
          (unsigned long long)now.used, (unsigned long long)before.used);
    CHECK(now.host_used == before.host_used + 5000, "%llu bytes of host memory, before %llu",
          (unsigned long long)now.host_used, (unsigned long long)before.host_used);
    CHECK(now.buffers == before.buffers + 2, "%u buffers, before %u", now.buffers, before.buffers);
    CHECK(now.reserved >= now.used + now.cached, "%llu reserved, %llu used, %llu cached",
          (unsigned long long)now.reserved, (unsigned long long)now.used,
          (unsigned long long)now.cached);
    CHECK(now.largest_free <= now.cached && now.peak >= now.used && now.blocks > 0,
          "largest %llu, peak %llu, %u blocks", (unsigned long long)now.largest_free,
          (unsigned long long)now.peak, now.blocks);
    CHECK(now.budget == 0 || now.budget >= now.reserved, "budget %llu, reserved %llu",
          (unsigned long long)now.budget, (unsigned long long)now.reserved);
    drop_buffer(c, device);
    drop_buffer(c, host);
    now = memory_of(c, c->device);
    CHECK(now.used == before.used && now.host_used == before.host_used &&
              now.buffers == before.buffers,
          "%llu + %llu bytes are still in use", (unsigned long long)now.used,
          (unsigned long long)now.host_used);
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_memory(NULL, &now));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_memory(c->device, NULL));
}

static void trimming(struct conform *c)
{
    struct gantry_device *device = make_device_with(c, "[policy]\npool_block_mib = 16\n");
    struct gantry_buffer_params params = {.size = 1 << 20};
    struct gantry_buffer *buffers[20];
    struct gantry_memory_info info;

    for (int i = 0; i < 20; i++)
        OK(gantry_buffer_create(device, &params, &buffers[i]));
    for (int i = 0; i < 20; i++)
        gantry_buffer_destroy(&buffers[i]);
    info = memory_of(c, device);
    CHECK(info.used == 0 && info.cached > 0 && info.cached <= 32 << 20, "%llu bytes are cached",
          (unsigned long long)info.cached);
    OK(gantry_device_trim(device));
    info = memory_of(c, device);
    CHECK(info.cached == 0 && info.reserved == 0 && info.blocks == 0, "%llu bytes are left",
          (unsigned long long)info.reserved);
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_device_trim(NULL));
}

/* C23, and the key's effect: blocks from the driver for the same buffers. */
static uint32_t blocks_for(struct conform *c, const char *policy, uint32_t count, uint64_t size)
{
    struct gantry_device *device = make_device_with(c, policy);
    struct gantry_buffer_params params = {.size = size};
    struct gantry_buffer *buffer;

    for (uint32_t i = 0; i < count; i++)
        OK(gantry_buffer_create(device, &params, &buffer)); /* the device frees them */
    return memory_of(c, device).blocks;
}

static void blocks_by_policy(struct conform *c)
{
    uint32_t apart = blocks_for(c, "[policy]\npool_block_mib = 0\n", 200, 100000);
    uint32_t small = blocks_for(c, "[policy]\npool_block_mib = 1\n", 200, 100000);
    uint32_t usual = blocks_for(c, "[policy]\npool_block_mib = 64\n", 200, 100000);
    uint32_t many = blocks_for(c, "[policy]\npool_block_mib = 64\n", 10000, 1024);

    CHECK(apart >= 200, "%u blocks for 200 buffers that share none", apart);
    CHECK(usual < small && small < apart, "%u, %u and %u blocks", usual, small, apart);
    CHECK(many < 20, "%u blocks for 10000 buffers of 1 KiB", many);
}

/* ---- No memory left ------------------------------------------------------------------------- */

static void thousand_refusals(struct conform *c)
{
    const struct gantry_limits *l = &c->info.limits;
    struct gantry_buffer_params params = {.size = l->memory_size + (l->memory_size >> 3)};
    struct gantry_memory_info before, after;
    struct gantry_buffer *cell = make_buffer(c, 4), *none;
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 7};
    struct gantry_list *list = make_list(c);
    uint32_t found = 0;

    if (params.size > l->max_buffer_size)
        skip(c, "larger buffers than max_buffer_size, %llu, never reach the driver",
             (unsigned long long)l->max_buffer_size);
    LAUNCH(list, make_kernel(c, "launch", "step"), 1, &args);
    OK(gantry_device_trim(c->device));
    before = memory_of(c, c->device);
    for (int i = 0; i < 1000; i++)
        EXPECT(GANTRY_E_OUT_OF_MEMORY, gantry_buffer_create(c->device, &params, &none));
    CHECK(strstr(gantry_last_error(), "gantry_buffer_create") &&
              (strstr(gantry_last_error(), "free of") ||
               strstr(gantry_last_error(), "does not tell")),
          "the sentence lacks what is free: %s", gantry_last_error());
    after = memory_of(c, c->device);
    CHECK(after.used == before.used && after.reserved == before.reserved &&
              after.blocks == before.blocks,
          "refusals have changed what is in use: %llu of %llu, before %llu of %llu",
          (unsigned long long)after.used, (unsigned long long)after.reserved,
          (unsigned long long)before.used, (unsigned long long)before.reserved);
    submit_and_wait(c, list);
    read_buffer(c, cell, 0, &found, 4);
    CHECK(found == 7, "a launch after refusals left %u", found);
}

/* C25: nothing grows while buffers come and go under work. */
static void steady(struct conform *c)
{
    struct gantry_buffer *cell = make_buffer(c, 4);
    struct step_args args = {.cells = gantry_buffer_address(cell), .n = 1, .add = 0};
    struct gantry_kernel *kernel = make_kernel(c, "launch", "step");
    struct gantry_memory_info warm = {0}, now;
    struct gantry_point point;

    for (int i = 0; i < 4000; i++) {
        struct gantry_buffer_params params = {.size = 1 + (uint64_t)i * 37 % 300000};
        struct gantry_buffer *buffer;

        OK(gantry_buffer_create(c->device, &params, &buffer));
        OK(gantry_queue_launch(c->queue, kernel, (struct gantry_size){.x = 1}, &args, sizeof(args),
                               &point));
        gantry_buffer_destroy(&buffer);
        if (i % 100 == 99)
            OK(gantry_wait(point, GANTRY_FOREVER));
        if (i == 1999)
            warm = memory_of(c, c->device);
    }
    now = memory_of(c, c->device);
    CHECK(now.used == warm.used && now.reserved <= warm.reserved + (64 << 20),
          "%llu used of %llu reserved, half-way %llu of %llu", (unsigned long long)now.used,
          (unsigned long long)now.reserved, (unsigned long long)warm.used,
          (unsigned long long)warm.reserved);
}

const struct conform_case pool_cases[] = {
    {"pool/neighbours", "C27", neighbours},
    {"pool/a-crowd", "C23", a_crowd},
    {"pool/under-a-pending-list", "C27", under_a_pending_list},
    {"pool/under-another-queue", "C27", under_another_queue},
    {"pool/under-an-open-batch", "C27", under_an_open_batch},
    {"pool/figures", NULL, figures},
    {"pool/trimming", NULL, trimming},
    {"pool/blocks-by-policy", "C23", blocks_by_policy},
    {"pool/thousand-refusals", "C24", thousand_refusals},
    {"pool/steady", "C25", steady},
    {0},
};
