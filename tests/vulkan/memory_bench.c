/* What device memory costs by its type, on the driver itself: whether kernels run as fast from
 * memory that the host sees, what mapping it takes, how fast the host writes it; and what chained
 * launches cost by where their table lies.
 *
 *     vulkan_plugin PLUGIN bench case_memory
 *     vulkan_plugin PLUGIN bench case_tables
 *
 * Bandwidths count both directions. Medians; the types take turns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "raw.h"

enum {
    MOST_TYPES = 8,
    ROUNDS = 31,
    LAUNCHES = 16,         /* of a round, one after the other */
    MOST_BLOCKS = 1 << 21, /* 512 MiB an array */
    HEAP_PART = 8,         /* at most this part of the heap for an array */
};

/* Two arrays in memory of one type, and what was measured on them. */
struct type {
    uint32_t index;
    VkMemoryPropertyFlags flags;
    struct raw_memory arrays[2];
    void *host; /* of the second one */
    struct raw kernel, copy;
    double allocated, mapped, written; /* ns */
    double launches[ROUNDS], copies[ROUNDS];
};

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static bool open_arrays(struct type *type, uint64_t size)
{
    double start;

    if (!raw_memory_open(&type->kernel, type->index, size, &type->arrays[0]))
        return false;
    start = now_ns();
    if (!raw_memory_open(&type->kernel, type->index, size, &type->arrays[1])) {
        raw_memory_close(&type->kernel, &type->arrays[0]);
        return false;
    }
    type->allocated = now_ns() - start;
    return true;
}

/* The second write: the first one also makes the pages of the mapping. */
static void write_array(struct type *type, uint64_t size)
{
    void *bytes = test_malloc(size);
    double start;

    memset(bytes, 1, size);
    start = now_ns();
    assert_ok(type->kernel.vkMapMemory(type->kernel.device, type->arrays[1].memory, 0,
                                       VK_WHOLE_SIZE, 0, &type->host));
    type->mapped = now_ns() - start;
    memcpy(type->host, bytes, size);
    start = now_ns();
    memcpy(type->host, bytes, size);
    type->written = now_ns() - start;
    test_free(bytes);
}

static bool open_type(struct type *type, const struct line *line, uint32_t blocks)
{
    uint64_t size = (uint64_t)blocks * STEP_BLOCK * sizeof(uint32_t);
    struct step_args args = {.a = 1, .n = blocks * STEP_BLOCK};

    raw_open(&type->kernel, line);
    if (!open_arrays(type, size)) {
        raw_close(&type->kernel);
        return false;
    }
    raw_open(&type->copy, line);
    args.x = type->arrays[0].address;
    args.y = type->arrays[1].address;
    raw_record(&type->kernel, &args, blocks, LAUNCHES, 0);
    raw_record_copies(&type->copy, type->arrays[1].buffer, type->arrays[0].buffer, size, LAUNCHES);
    if (type->flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
        write_array(type, size);
    return true;
}

static void close_type(struct type *type)
{
    for (int i = 0; i < 2; i++)
        raw_memory_close(&type->kernel, &type->arrays[i]);
    raw_close(&type->copy);
    raw_close(&type->kernel);
}

static double run(struct raw *raw)
{
    double start = now_ns();

    raw_submit(raw);
    while (!raw_reached(raw))
        ;
    return (now_ns() - start) / LAUNCHES;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double rate(double *times, uint64_t size)
{
    qsort(times, ROUNDS, sizeof(*times), compare);
    return 2 * (double)size / times[ROUNDS / 2];
}

static void print_type(struct type *type, uint64_t size)
{
    printf("  type %" PRIu32
           ", %s: kernel %.1f GB/s, driver's copy %.1f GB/s, allocated in %.2f ms",
           type->index,
           type->flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT ? "host-visible" : "plain",
           rate(type->launches, size), rate(type->copies, size), type->allocated / 1e6);
    if (type->host)
        printf(", mapped in %.2f ms, written by the host at %.1f GB/s", type->mapped / 1e6,
               (double)size / type->written);
    printf("\n");
}

/* Opens what is device-local and has nothing that the plugin would never use. */
static uint32_t open_types(struct type *types, const struct line *line, uint32_t blocks)
{
    const VkMemoryPropertyFlags known =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t count = 0;

    raw_memory_types(&memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount && count < MOST_TYPES; i++) {
        types[count].index = i;
        types[count].flags = memory.memoryTypes[i].propertyFlags;
        if ((types[count].flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) &&
            !(types[count].flags & ~known))
            count += open_type(&types[count], line, blocks);
    }
    return count;
}

static uint32_t choose_blocks(void)
{
    uint64_t most = rig.info.limits.memory_size / HEAP_PART / (STEP_BLOCK * sizeof(uint32_t));

    if (most > rig.info.limits.max_blocks.x)
        most = rig.info.limits.max_blocks.x;
    return most < MOST_BLOCKS ? (uint32_t)most : MOST_BLOCKS;
}

static void case_memory(void **state)
{
    static struct type types[MOST_TYPES];
    uint32_t blocks = choose_blocks(), count;
    uint64_t size = (uint64_t)blocks * STEP_BLOCK * sizeof(uint32_t);
    struct line line;

    (void)state;
    memset(types, 0, sizeof(types));
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    count = open_types(types, &line, blocks);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < count; i++) {
            types[i].launches[round] = run(&types[i].kernel);
            types[i].copies[round] = run(&types[i].copy);
        }
    printf("memory, arrays of %" PRIu64 " bytes, %d rounds\n", size, ROUNDS);
    for (uint32_t i = 0; i < count; i++) {
        print_type(&types[i], size);
        close_type(&types[i]);
    }
    line_close(&line);
}

/* ---- Tables --------------------------------------------------------------------------------- */

enum {
    STEPS = 512,
    TABLE_ROUNDS = 201,
};

/* A chain whose table lies somewhere. */
struct chain {
    const char *where;
    struct gantry_fold_args args;
    struct gantry_drv_plan *built;
    double times[TABLE_ROUNDS];
};

static struct tables {
    struct type types[MOST_TYPES];
    struct chain chains[MOST_TYPES + 1];
    struct gantry_drv_kernel *direct, *chained;
    struct gantry_drv_memory words;
    struct fold fold;
    struct line line;
} tables;

/* Writes the table into the type's first array. By a kernel, so that any type will do. */
static void write_table(const struct type *type)
{
    struct gantry_drv_memory upload = rig_memory(GANTRY_MEMORY_UPLOAD, tables.fold.size);
    uint32_t words = (uint32_t)(tables.fold.size / 4);
    struct step_args args = {upload.address, type->arrays[0].address, 1, 0, words, 0};
    struct gantry_op op = op_step(0, tables.direct, &args);
    struct gantry_plan plan = plan_of(&op, 1);

    memcpy(upload.host, tables.fold.table, tables.fold.size);
    line_once(&tables.line, &plan);
    line_wait(&tables.line);
    rig_free(&upload);
}

/* The plan has no table, so nothing is relocated: the addresses are those of the type's array. */
static void build_in(const struct type *type, struct chain *chain)
{
    gantry_ptr table = type->arrays[0].address;
    struct gantry_op op = fold_op(&tables.fold, tables.chained, 1);

    write_table(type);
    chain->where = type->host ? "in host-visible device memory" : "in plain device memory";
    chain->args = tables.fold.inline_args;
    chain->args.launches += table;
    chain->args.args += table;
    op.folded = false;
    op.launch.args = &chain->args;
    chain->built = built_of(&op, 1);
}

static void build_own(struct chain *chain)
{
    struct gantry_op op = fold_op(&tables.fold, tables.chained, 1);
    struct gantry_plan plan = fold_plan(&tables.fold, &op);

    chain->where = "where the plugin puts it";
    assert_ok(rig.ops->plan_build(rig.device, &plan, &chain->built));
}

static void measure_chains(uint32_t count)
{
    for (uint32_t round = 0; round < TABLE_ROUNDS; round++)
        for (uint32_t i = 0; i < count; i++) {
            double start = now_ns();
            line_submit(&tables.line, tables.chains[i].built);
            line_spin(&tables.line);
            tables.chains[i].times[round] = (now_ns() - start) / STEPS;
        }
    printf("tables of %d chained launches, %d rounds\n", STEPS, TABLE_ROUNDS);
    for (uint32_t i = 0; i < count; i++) {
        double *times = tables.chains[i].times;
        qsort(times, TABLE_ROUNDS, sizeof(*times), compare);
        printf("  %-30s wall %9.1f ns a step\n", tables.chains[i].where, times[TABLE_ROUNDS / 2]);
    }
}

static void open_tables(void)
{
    struct step_args args = {.a = 3, .b = 1, .n = STEP_BLOCK};

    memset(&tables, 0, sizeof(tables));
    tables.direct = rig_kernel(GANTRY_ENTRY_DIRECT);
    tables.chained = rig_kernel(GANTRY_ENTRY_CHAINED);
    tables.words = rig_memory(GANTRY_MEMORY_DEVICE, STEP_BLOCK * sizeof(uint32_t));
    args.x = args.y = tables.words.address;
    line_open(&tables.line, GANTRY_QUEUE_COMPUTE);
    fold_open(&tables.fold, STEPS);
    for (uint32_t i = 0; i < STEPS; i++)
        fold_add(&tables.fold, &args, 1);
}

static void close_tables(void)
{
    fold_close(&tables.fold);
    line_close(&tables.line);
    rig_free(&tables.words);
    rig.ops->kernel_destroy(rig.device, tables.chained);
    rig.ops->kernel_destroy(rig.device, tables.direct);
}

static void case_tables(void **state)
{
    uint32_t blocks, count;

    (void)state;
    if (!(rig.info.features & GANTRY_FEATURE_MEMORY_MODEL)) {
        print_message("skipped: %s lacks the Vulkan memory model\n", rig.info.name);
        skip();
    }
    open_tables();
    blocks = (uint32_t)(tables.fold.size / 4 / STEP_BLOCK + 1);
    count = open_types(tables.types, &tables.line, blocks);
    build_own(&tables.chains[0]);
    for (uint32_t i = 0; i < count; i++)
        build_in(&tables.types[i], &tables.chains[i + 1]);
    measure_chains(count + 1);
    for (uint32_t i = 0; i <= count; i++)
        rig.ops->plan_destroy(tables.chains[i].built);
    for (uint32_t i = 0; i < count; i++)
        close_type(&tables.types[i]);
    close_tables();
}

int run_memory_bench(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_memory),
        cmocka_unit_test(case_tables),
    };

    return cmocka_run_group_tests(tests, rig_setup_device, rig_teardown_device);
}
