/* Folded entries as gantry compile makes them, driven through a plugin's table: several launches of
 * one kernel in one grid, which is laid out in two dimensions and larger than needed. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/backend.h>

#include "grid.h"

enum { SKIPPED = 77, LAUNCHES = 3, MAX_IMAGES = 32, STRIDE = 48, AREA = 1 << 16 };

static const struct gantry_backend_ops *ops;
static struct gantry_drv_instance *instance;
static struct gantry_drv_device *device;
static struct gantry_package *package;
static char error[1024];

/* ---- What core would lend ------------------------------------------------------------------- */

static void service_log(void *context, enum gantry_log_level level, const char *format, ...)
{
    (void)context, (void)level, (void)format;
}

static enum gantry_status service_fail(void *context, enum gantry_status status, const char *format,
                                       ...)
{
    va_list list;
    (void)context;
    va_start(list, format);
    vsnprintf(error, sizeof(error), format, list);
    va_end(list);
    return status;
}

static void *service_allocate(void *context, size_t size)
{
    (void)context;
    return calloc(1, size);
}

static void service_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static const struct gantry_backend_services services = {
    .size = sizeof(services),
    .log = service_log,
    .fail = service_fail,
    .allocate = service_allocate,
    .release = service_release,
};

static void check(enum gantry_status status)
{
    if (status != GANTRY_OK)
        fail_msg("%s", error);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static struct gantry_drv_kernel *make_kernel(const char *name, struct gantry_size block)
{
    struct gantry_backend_image images[MAX_IMAGES];
    struct gantry_kernel_source source = {0};
    char symbol[64];
    uint32_t count = 0, kernels = 0;
    while (gantry_package_kernel(package, kernels++, &source) == GANTRY_OK)
        if (!strcmp(source.name, name))
            break;
    for (uint32_t i = 0; i < gantry_package_image_count(package); i++) {
        struct gantry_image_info image;
        const void *data;
        assert_int_equal(gantry_package_image(package, i, &image, &data), GANTRY_OK);
        if (image.entry == GANTRY_ENTRY_DIRECT || (image.kernel && strcmp(image.kernel, name)))
            continue;
        assert_true(count < MAX_IMAGES);
        images[count++] = (struct gantry_backend_image){
            image.kind, image.entry, image.arch, image.isa_version, image.features, image.name,
            data,       image.size,  true};
    }
    snprintf(symbol, sizeof(symbol), "%s%s", name, GANTRY_FOLDED_SUFFIX);
    struct gantry_backend_kernel_params params = {
        .source = &source,
        .entry = GANTRY_ENTRY_FOLDED,
        .symbol = symbol,
        .block = block,
        .images = images,
        .image_count = count,
    };
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;
    check(ops->kernel_create(device, &params, &kernel, &info));
    return kernel;
}

/* ---- A fold and what it must write ---------------------------------------------------------- */

struct table {
    struct gantry_fold_launch launches[LAUNCHES];
    _Alignas(16) unsigned char args[LAUNCHES][STRIDE];
};

struct fold {
    struct gantry_size block, threads[LAUNCHES];
    uint32_t dimensions;
    bool equal;
};

static struct gantry_size blocks_of(const struct fold *fold, int i)
{
    const struct gantry_size *threads = &fold->threads[i];
    return (struct gantry_size){
        (threads->x + fold->block.x - 1) / fold->block.x,
        (threads->y + fold->block.y - 1) / fold->block.y,
        (threads->z + fold->block.z - 1) / fold->block.z,
    };
}

static struct gantry_fold_args fill_table(const struct fold *fold, gantry_ptr found,
                                          struct table *table)
{
    uint64_t first = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        struct gantry_size blocks = blocks_of(fold, i), threads = fold->threads[i];
        struct grid_args args = {found + (uint64_t)i * AREA, threads.x, threads.y, threads.z};
        memcpy(table->args[i], &args, sizeof(args));
        table->launches[i] = (struct gantry_fold_launch){first, blocks.x, blocks.y, blocks.z, 0};
        first += (uint64_t)blocks.x * blocks.y * blocks.z;
    }
    return (struct gantry_fold_args){
        .launches = offsetof(struct table, launches),
        .args = offsetof(struct table, args),
        .blocks = first,
        .count = LAUNCHES,
        .stride = STRIDE,
        .equal = fold->equal ? (uint32_t)(first / LAUNCHES) : 0,
    };
}

static void run(const char *name, const struct fold *fold, struct gantry_drv_memory *memory)
{
    struct table table = {0};
    struct gantry_fold_args args = fill_table(fold, memory->address, &table);
    struct gantry_op op = {
        .kind = GANTRY_OP_LAUNCH,
        .folded = true,
        .launch = {.kernel = make_kernel(name, fold->block),
                   .blocks = {4, (uint32_t)args.blocks / 4 + 2, 1},
                   .block = fold->block,
                   .args = &args,
                   .args_size = sizeof(args)},
    };
    struct gantry_plan plan = {
        .ops = &op,
        .op_count = 1,
        .stage_count = 1,
        .table = &table,
        .table_size = sizeof(table),
        .host_writes = true,
    };
    struct gantry_queue_stats stats = {0};
    struct gantry_backend_queue_params queue_params = {.stats = &stats};
    struct gantry_backend_submission submission = {.value = 1};
    struct gantry_drv_queue *queue;
    check(ops->queue_create(device, &queue_params, &queue));
    check(ops->submit_once(queue, &plan, &submission));
    check(ops->queue_wait(queue, 1, GANTRY_FOREVER));
    ops->queue_destroy(queue);
    ops->kernel_destroy(device, op.launch.kernel);
}

/* What grid.gk writes for the thread at (x, y, z) of launch i. */
static void expected(const struct fold *fold, int i, const uint32_t at[3], uint32_t want[4])
{
    struct gantry_size blocks = blocks_of(fold, i), block = fold->block;
    uint32_t thread = at[0] % block.x + block.x * (at[1] % block.y + block.y * (at[2] % block.z));
    memcpy(want, at, 3 * sizeof(*at));
    want[3] = thread + 1000 * blocks.x + (fold->dimensions > 1 ? 100000 * blocks.y : 0) +
              (fold->dimensions > 2 ? 10000000 * blocks.z : 0);
    if (fold->dimensions == 1)
        want[1] = at[0] / block.x;
}

static void check_launch(const struct fold *fold, int i, const uint32_t *found)
{
    struct gantry_size threads = fold->threads[i];
    uint32_t at[3], want[4];
    for (at[2] = 0; at[2] < threads.z; at[2]++)
        for (at[1] = 0; at[1] < threads.y; at[1]++)
            for (at[0] = 0; at[0] < threads.x; at[0]++, found += 4) {
                expected(fold, i, at, want);
                assert_memory_equal(found, want, sizeof(want));
            }
    /* Nothing behind the last one. */
    assert_int_equal(found[0] | found[1] | found[2] | found[3], 0);
}

static void check_fold(const char *name, const struct fold *fold)
{
    struct gantry_drv_memory memory;
    check(ops->memory_allocate(device, GANTRY_MEMORY_READBACK, LAUNCHES * AREA, &memory));
    memset(memory.host, 0, LAUNCHES * AREA);
    run(name, fold, &memory);
    for (int i = 0; i < LAUNCHES; i++)
        check_launch(fold, i, (uint32_t *)((unsigned char *)memory.host + i * AREA));
    ops->memory_free(device, &memory);
}

static void test_one_dimension(void **state)
{
    (void)state;
    check_fold("grid_1d",
               &(struct fold){{64, 1, 1}, {{1, 1, 1}, {1000, 1, 1}, {129, 1, 1}}, 1, false});
    check_fold("grid_1d",
               &(struct fold){{32, 1, 1}, {{96, 1, 1}, {70, 1, 1}, {65, 1, 1}}, 1, true});
}

static void test_two_dimensions(void **state)
{
    (void)state;
    check_fold("grid_2d", &(struct fold){{8, 4, 1}, {{33, 9, 1}, {8, 4, 1}, {1, 50, 1}}, 2, false});
    check_fold("grid_2d", &(struct fold){{8, 4, 1}, {{24, 8, 1}, {17, 5, 1}, {24, 8, 1}}, 2, true});
}

static void test_three_dimensions(void **state)
{
    (void)state;
    check_fold("grid_3d", &(struct fold){{4, 2, 4}, {{9, 5, 6}, {4, 2, 4}, {3, 7, 20}}, 3, false});
    check_fold("grid_3d", &(struct fold){{4, 2, 4}, {{8, 6, 8}, {5, 5, 5}, {8, 6, 8}}, 3, true});
}

/* ---- The device ----------------------------------------------------------------------------- */

/* The first device that can be used. 0, or the exit status after saying why there is none. */
static int open_device(const char *plugin)
{
    void *library = dlopen(plugin, RTLD_NOW);
    const struct gantry_backend *backend = library ? dlsym(library, GANTRY_BACKEND_SYMBOL) : NULL;
    struct gantry_backend_device_params params = {sizeof(params), GANTRY_FAMILY_AUTO,
                                                  GANTRY_FAMILY_AUTO, GANTRY_SUBMIT_AUTO};
    if (!backend) {
        printf("skipped: %s was not built\n", plugin);
        return SKIPPED;
    }
    ops = backend->ops;
    if (ops->instance_open(&services, "fold", &instance)) {
        printf("skipped: %s\n", error);
        return SKIPPED;
    }
    for (uint32_t i = 0; i < ops->device_count(instance); i++) {
        struct gantry_backend_device_info info = {0};
        if (!ops->device_describe(instance, i, &info) && !info.skipped[0] &&
            !ops->device_open(instance, i, &params, &device))
            return 0;
    }
    printf("skipped: %s has no device that can be used\n", backend->name);
    ops->instance_close(instance);
    return SKIPPED;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_dimension),
        cmocka_unit_test(test_two_dimensions),
        cmocka_unit_test(test_three_dimensions),
    };
    if (argc != 3) {
        printf("usage: fold PLUGIN PACKAGE\n");
        return 2;
    }
    struct gantry_package_params params = {.file = argv[2]};
    if (gantry_package_open(&params, &package)) {
        printf("%s\n", gantry_last_error());
        return 1;
    }
    int status = open_device(argv[1]);
    if (status == 0) {
        status = cmocka_run_group_tests(tests, NULL, NULL);
        ops->device_close(device);
        ops->instance_close(instance);
    }
    gantry_package_close(&package);
    return status;
}
