/* Memory of the three kinds, copies and fills between them, and running out of it. */
#include "harness.h"

enum { SIZE = 1 << 20 };

static void test_kinds(struct bench *bench)
{
    struct gantry_drv_memory device = allocate(bench, GANTRY_MEMORY_DEVICE, SIZE + 1);
    struct gantry_drv_memory up = allocate(bench, GANTRY_MEMORY_UPLOAD, SIZE);
    struct gantry_drv_memory back = allocate(bench, GANTRY_MEMORY_READBACK, SIZE);
    struct gantry_op ops[] = {
        fill_op(&device, 0, SIZE + 4, 0x01020304),
        copy_op(&device, 3, &up, 5, SIZE / 2),
        copy_op(&back, 0, &device, 0, SIZE),
        fill_op(&back, SIZE - 4, 4, 0xdeadbeef),
    };
    const unsigned char pattern[] = {4, 3, 2, 1};
    const unsigned char *bytes = back.host;

    CHECK_EQUAL(device.size, SIZE + 4);
    for (uint32_t i = 0; i < SIZE; i++)
        ((unsigned char *)up.host)[i] = (unsigned char)(i * 7);
    run_ops(bench, ops, 4);
    for (uint32_t i = 0; i < SIZE - 4; i++) {
        bool copied = i >= 3 && i < 3 + SIZE / 2;

        CHECK_EQUAL(bytes[i], copied ? (unsigned char)((i + 2) * 7) : pattern[i % 4]);
    }
    CHECK_EQUAL(*(const uint32_t *)(bytes + SIZE - 4), 0xdeadbeef);
    bench->ops->memory_free(bench->device, &device);
    bench->ops->memory_free(bench->device, &up);
    bench->ops->memory_free(bench->device, &back);
}

/* Rows in one copy, between the kinds of memory; through the stream and through a graph. */
static void test_rows(struct bench *bench, bool built)
{
    enum { WIDTH = 1001, ROWS = 50, WIDE = 2000, NARROW = 1001 };
    struct gantry_drv_memory device = allocate(bench, GANTRY_MEMORY_DEVICE, SIZE);
    struct gantry_drv_memory up = allocate(bench, GANTRY_MEMORY_UPLOAD, SIZE);
    struct gantry_drv_memory back = allocate(bench, GANTRY_MEMORY_READBACK, SIZE);
    struct gantry_op ops[] = {
        fill_op(&device, 0, SIZE, 0),
        copy_op(&device, 3, &up, 5, WIDTH),
        copy_op(&back, 0, &device, 0, SIZE),
    };
    const struct gantry_edge edges[] = {{0, 1, false}, {1, 2, false}};
    struct gantry_plan plan = {
        .ops = ops, .op_count = 3, .edges = edges, .edge_count = 2, .stage_count = 3};
    const unsigned char *bytes = back.host;
    struct gantry_drv_plan *replay;

    ops[1].copy.rows = ROWS;
    ops[1].copy.to_pitch = WIDE;
    ops[1].copy.from_pitch = NARROW;
    for (uint32_t i = 0; i < 3; i++)
        ops[i].stage = i;
    for (uint32_t i = 0; i < SIZE; i++)
        ((unsigned char *)up.host)[i] = (unsigned char)(i * 7 >> 2);
    if (built) {
        CHECK_OK(bench->ops->plan_build(bench->device, &plan, &replay));
        run_built(bench, replay);
        bench->ops->plan_destroy(replay);
    } else {
        run_once(bench, &plan);
    }
    for (uint32_t i = 0; i < SIZE; i++) {
        uint32_t row = i < 3 ? ROWS : (i - 3) / WIDE, column = i < 3 ? 0 : (i - 3) % WIDE;
        bool copied = row < ROWS && column < WIDTH;

        CHECK_EQUAL(bytes[i], copied ? (unsigned char)((5 + row * NARROW + column) * 7 >> 2) : 0);
    }
    bench->ops->memory_free(bench->device, &device);
    bench->ops->memory_free(bench->device, &up);
    bench->ops->memory_free(bench->device, &back);
}

/* The caller's memory, at an odd place, read and written where it is. */
static void test_registered(struct bench *bench)
{
    struct gantry_drv_memory device = allocate(bench, GANTRY_MEMORY_DEVICE, SIZE), host, none;
    unsigned char *mine = calloc(1, SIZE + 8);
    struct gantry_op ops[] = {copy_op(&device, 0, &host, 1, 1000),
                              copy_op(&host, 5001, &device, 0, 1000)};

    CHECK(mine);
    for (uint32_t i = 0; i < 1001; i++)
        mine[3 + i] = (unsigned char)(i * 11);
    CHECK_OK(bench->ops->memory_register(bench->device, mine + 3, SIZE, &host));
    CHECK(host.host == mine + 3 && host.size == SIZE && host.kind == GANTRY_MEMORY_REGISTERED);
    CHECK(bench->ops->memory_register(bench->device, mine + 3, SIZE, &none) ==
          GANTRY_E_INVALID_STATE);
    CHECK(strstr(last_error(), "are locked already"));
    run_ops(bench, ops, 2);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_EQUAL(mine[3 + 5001 + i], (unsigned char)((i + 1) * 11));
    CHECK_EQUAL(mine[3 + 5000] | mine[3 + 6001], 0);
    bench->ops->memory_free(bench->device, &host);
    CHECK_OK(bench->ops->memory_register(bench->device, mine + 3, SIZE, &host)); /* as it was */
    bench->ops->memory_free(bench->device, &host);
    bench->ops->memory_free(bench->device, &device);
    free(mine);
}

/* C24: a failed allocation leaves nothing behind. */
static void test_out_of_memory(struct bench *bench)
{
    struct gantry_drv_memory memory = allocate(bench, GANTRY_MEMORY_DEVICE, 4096), none;
    uint64_t before, after, total;
    struct gantry_op fill = fill_op(&memory, 0, 4096, 42);
    uint32_t value[1024];

    CHECK_OK(bench->ops->device_memory(bench->device, &before, &total));
    CHECK(before > 0 && before <= total);
    for (int i = 0; i < 100; i++) {
        CHECK(bench->ops->memory_allocate(bench->device, GANTRY_MEMORY_DEVICE, total * 2, &none) ==
              GANTRY_E_OUT_OF_MEMORY);
    }
    CHECK(strstr(last_error(), "are free"));
    CHECK_OK(bench->ops->device_memory(bench->device, &after, &total));
    CHECK(after + (64 << 20) >= before); /* others may use the device too */
    run_ops(bench, &fill, 1);
    download(bench, &memory, value, sizeof(value));
    CHECK_EQUAL(value[1023], 42);
    bench->ops->memory_free(bench->device, &memory);
}

/* A copy and a fill whose sizes don't fit 32 bits, through the stream and through a graph. */
static void test_past_4_gib(struct bench *bench, bool built)
{
    const uint64_t size = (4ull << 30) + 4096;
    struct gantry_drv_memory from, to, back = allocate(bench, GANTRY_MEMORY_READBACK, 8);
    struct gantry_op ops[5];
    struct gantry_edge edges[] = {{0, 1, false}, {1, 2, false}, {2, 3, false}, {2, 4, false}};
    struct gantry_plan plan = {
        .ops = ops, .op_count = 5, .edges = edges, .edge_count = 4, .stage_count = 4};
    struct gantry_drv_plan *replay;

    from = allocate(bench, GANTRY_MEMORY_DEVICE, size);
    to = allocate(bench, GANTRY_MEMORY_DEVICE, size);
    ops[0] = fill_op(&from, 0, size, 1);
    ops[1] = fill_op(&from, 4096 - 4, 4, 2);
    ops[2] = copy_op(&to, 0, &from, 0, size);
    ops[3] = copy_op(&back, 0, &to, size - 4, 4);
    ops[4] = copy_op(&back, 4, &to, 4096 - 4, 4);
    for (uint32_t i = 0; i < 5; i++)
        ops[i].stage = i < 3 ? i : 3;
    if (built) {
        CHECK_OK(bench->ops->plan_build(bench->device, &plan, &replay));
        run_built(bench, replay);
        bench->ops->plan_destroy(replay);
    } else {
        run_once(bench, &plan);
    }
    CHECK_EQUAL(((uint32_t *)back.host)[0], 1);
    CHECK_EQUAL(((uint32_t *)back.host)[1], 2);
    bench->ops->memory_free(bench->device, &from);
    bench->ops->memory_free(bench->device, &to);
    bench->ops->memory_free(bench->device, &back);
}

void test_memory(struct bench *bench)
{
    uint64_t available, total;

    test_kinds(bench);
    test_rows(bench, false);
    test_rows(bench, true);
    test_registered(bench);
    test_out_of_memory(bench);
    CHECK_OK(bench->ops->device_memory(bench->device, &available, &total));
    if (available < (10ull << 30)) {
        printf("  less than 10 GiB free: sizes past 4 GiB not tried\n");
        return;
    }
    test_past_4_gib(bench, false);
    test_past_4_gib(bench, true);
}
