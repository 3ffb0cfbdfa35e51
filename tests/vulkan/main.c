/* Drives the Vulkan plugin through its table of entries, on every usable device.
 *
 *     vulkan_plugin PLUGIN [MODE [PATTERN]]
 *
 * PATTERN chooses tests by name, with * and ?. The modes:
 * - groups: runs the tests; the default;
 * - provoke: makes a mistake on purpose, the validation layer must speak;
 * - no-driver: no driver is installed;
 * - broken-driver: one driver of several is broken;
 * - race: PLUGIN has no barriers between stages, results must go wrong;
 * - bench: times the plugin beside the driver itself.
 *
 * Under VK_INSTANCE_LAYERS every message of the layer appears on the output; ctest looks for them.
 * Exit status 77: skipped, for the reason printed. */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include "rig.h"

enum { SKIPPED = 77 };

/* ---- What this machine has ------------------------------------------------------------------ */

/* The loader ignores no layer in silence, but it says so by failing, like for many other reasons.
 */
static bool has_layer(const char *name)
{
    PFN_vkEnumerateInstanceLayerProperties enumerate;
    VkLayerProperties layers[64];
    uint32_t count = 64;
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = loader ? dlsym(loader, "vkEnumerateInstanceLayerProperties") : NULL;

    if (!symbol)
        return false;
    *(void **)&enumerate = symbol;
    if (enumerate(&count, layers) < VK_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(layers[i].layerName, name) == 0)
            return true;
    return false;
}

static bool use_device(uint32_t index)
{
    rig.device_index = index;
    if (rig.ops->device_describe(rig.instance, index, &rig.info) != GANTRY_OK)
        return false;
    if (rig.info.skipped[0])
        printf("%s is left out: %s\n", rig.info.name, rig.info.skipped);
    return !rig.info.skipped[0];
}

/* ---- The modes ------------------------------------------------------------------------------ */

static int run_on_all(int (*run)(void))
{
    uint32_t used = 0;
    int failed = 0;
    long live;

    if (!rig_open())
        return SKIPPED;
    for (uint32_t i = 0; i < rig.ops->device_count(rig.instance); i++) {
        if (!use_device(i))
            continue;
        printf("On %s, %s\n", rig.info.name, rig.info.driver_version);
        used++;
        failed += run();
    }
    rig_close();
    live = rig_live();
    if (live != 0)
        fprintf(stderr, "%ld blocks of host memory were not given back\n", live);
    if (used == 0)
        return SKIPPED;
    return failed == 0 && live == 0 ? 0 : 1;
}

static int run_all_groups(void)
{
    return run_device_tests() + run_memory_tests() + run_kernel_tests() + run_plan_tests() +
           run_fold_tests() + run_queue_tests();
}

static int run_groups(void)
{
    return run_on_all(run_all_groups);
}

static int run_all_benches(void)
{
    return run_bench() + run_memory_bench();
}

static int run_benches(void)
{
    return run_on_all(run_all_benches);
}

/* A fill at an odd offset, which core would have refused. */
static void odd_fill(void **state)
{
    struct gantry_drv_memory memory = rig_memory(GANTRY_MEMORY_DEVICE, 64);
    struct gantry_op op = op_fill(0, &memory, 2, 8, 0);
    struct gantry_plan plan = plan_of(&op, 1);
    struct line line;

    (void)state;
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    line_once(&line, &plan);
    line_close(&line);
    rig_free(&memory);
}

static int run_provoke(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(odd_fill)};
    int failed;

    if (!rig_open() || !use_device(0))
        return SKIPPED;
    failed = cmocka_run_group_tests(tests, rig_setup_device, rig_teardown_device);
    rig_close();
    return failed;
}

/* C07 */
static int run_no_driver(void)
{
    setenv("VK_DRIVER_FILES", "/nonexistent.json", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1);
    if (rig.ops->instance_open(&rig.services, "test", &rig.instance) != GANTRY_E_NO_DEVICE) {
        fprintf(stderr, "opening without a driver was not refused with GANTRY_E_NO_DEVICE\n");
        return 1;
    }
    printf("refused: %s\n", rig_error());
    return strstr(rig_error(), "driver") && rig_live() == 0 ? 0 : 1;
}

/* C08: the manifest of a driver whose library is missing, in front of lavapipe's. */
static int run_broken_driver(void)
{
    glob_t found;
    char files[1024];
    uint32_t count;

    if (glob("/usr/share/vulkan/icd.d/lvp_icd*.json", 0, NULL, &found) != 0) {
        printf("skipped: lavapipe is not installed (Debian: mesa-vulkan-drivers)\n");
        return SKIPPED;
    }
    snprintf(files, sizeof(files), "%s/tests/vulkan/broken_icd.json:%s", SOURCE_DIR,
             found.gl_pathv[0]);
    globfree(&found);
    setenv("VK_DRIVER_FILES", files, 1);
    setenv("VK_ICD_FILENAMES", files, 1);
    if (!rig_open())
        return 1;
    count = rig.ops->device_count(rig.instance);
    printf("devices beside the broken driver: %u\n", count);
    rig_close();
    return count == 1 && rig_live() == 0 ? 0 : 1;
}

/* ---- Races ---------------------------------------------------------------------------------- */

enum {
    RACE_WORDS = 1 << 20,
    RACE_STEPS = 64,
};

/* Step i reads what step i - 1 wrote far away. Returns how many words are wrong. */
static uint32_t race_errors(struct gantry_drv_kernel *kernel, struct gantry_drv_memory memory[2])
{
    struct step_args args[RACE_STEPS];
    struct gantry_op ops[RACE_STEPS];
    struct gantry_plan plan;
    struct line line;
    uint32_t wrong = 0;

    memset(memory[0].host, 0, RACE_WORDS * 4);
    memset(memory[1].host, 0, RACE_WORDS * 4);
    for (uint32_t i = 0; i < RACE_STEPS; i++) {
        args[i] =
            (struct step_args){memory[i % 2].address, memory[(i + 1) % 2].address, 1, 1, RACE_WORDS,
                               RACE_WORDS / 2 + 4099};
        ops[i] = op_step(i, kernel, &args[i]);
    }
    plan = plan_of(ops, RACE_STEPS);
    line_open(&line, GANTRY_QUEUE_COMPUTE);
    line_once(&line, &plan);
    line_wait(&line);
    for (uint32_t i = 0; i < RACE_WORDS; i++)
        wrong += ((uint32_t *)memory[0].host)[i] != RACE_STEPS;
    line_close(&line);
    return wrong;
}

static void dropped_barriers_show(void **state)
{
    struct gantry_drv_kernel *kernel = rig_kernel(GANTRY_ENTRY_DIRECT);
    struct gantry_drv_memory memory[2] = {
        rig_memory(GANTRY_MEMORY_READBACK, RACE_WORDS * 4),
        rig_memory(GANTRY_MEMORY_READBACK, RACE_WORDS * 4),
    };
    uint32_t wrong = 0;

    (void)state;
    for (int i = 0; i < 20 && wrong == 0; i++)
        wrong = race_errors(kernel, memory);
    print_message("wrong words without barriers: %u of %u\n", wrong, RACE_WORDS);
    assert_true(wrong > 0);
    rig.ops->kernel_destroy(rig.device, kernel);
    rig_free(&memory[0]);
    rig_free(&memory[1]);
}

static int run_race(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dropped_barriers_show)};
    int failed = 0;
    uint32_t used = 0;

    if (!rig_open())
        return SKIPPED;
    for (uint32_t i = 0; i < rig.ops->device_count(rig.instance); i++) {
        if (!use_device(i) || rig.info.type == GANTRY_DEVICE_CPU)
            continue;
        failed += cmocka_run_group_tests(tests, rig_setup_device, rig_teardown_device);
        used++;
    }
    rig_close();
    if (used == 0)
        printf("skipped: there is no GPU, and CPU devices run dispatches one after the other\n");
    return used == 0 ? SKIPPED : failed;
}

/* ---- Choosing ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(void);
} modes[] = {
    {"groups", run_groups},       {"provoke", run_provoke},
    {"no-driver", run_no_driver}, {"broken-driver", run_broken_driver},
    {"race", run_race},           {"bench", run_benches},
};

int main(int argc, char **argv)
{
    const char *layer = getenv("VK_INSTANCE_LAYERS");
    const char *mode = argc > 2 ? argv[2] : "groups";

    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: vulkan_plugin PLUGIN [MODE [PATTERN]]\n");
        return 2;
    }
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    if (layer && !has_layer(layer)) {
        printf("skipped: the layer %s is not installed (Debian: vulkan-validationlayers)\n", layer);
        return SKIPPED;
    }
    if (!rig_load(argv[1]))
        return 1;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(mode, modes[i].name) == 0)
            return modes[i].run();
    fprintf(stderr, "there is no mode %s\n", mode);
    return 2;
}
