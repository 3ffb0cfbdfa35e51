/* core/configuration.c with core/asked.c, core/profile.c and core/clamp.c: asking for the values of
 * devices, of their views, and of devices that are only described. Tests named cNN are failures
 * that have been seen in other programs. */
#include "unit.h"

#include <stdlib.h>

#include "machine.h"
#include "scratch.h"

#define UUID "00112233-4455-6677-8899-aabbccddeeff"
#define CARD "name=Card,type=discrete,uuid=" UUID

static void configure(const char *text)
{
    char files[512];

    snprintf(files, sizeof(files), "none:%s", scratch_write("rules.ini", text));
    setenv("GANTRY_CONFIG", files, 1);
}

static struct gantry_config_value value_of(struct gantry *g, uint32_t index, const char *key)
{
    uint32_t count = gantry_config_count(g, index);
    struct gantry_config_value value;

    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(gantry_config_get(g, index, i, &value), GANTRY_OK);
        if (strcmp(value.key, key) == 0)
            return value;
    }
    print_error("device %u has no value \"%s\"\n", index, key);
    _fail(__FILE__, __LINE__);
    return value;
}

static uint32_t asked(struct gantry *g, const char *device, const char *backend)
{
    const struct gantry_device_params params = {.device = device, .backend = backend};
    uint32_t index;
    enum gantry_status status = gantry_config_device(g, &params, &index);

    if (status != GANTRY_OK)
        print_error("%s\n", gantry_last_error());
    assert_int_equal(status, GANTRY_OK);
    return index;
}

static struct gantry_device_info describe(struct gantry *g, uint32_t index)
{
    struct gantry_device_info info;

    assert_int_equal(gantry_device_describe(g, index, &info), GANTRY_OK);
    return info;
}

/* ---- Devices and views ---------------------------------------------------------------------- */

static void a_named_view_has_its_own_values(void **state)
{
    struct gantry *g;
    uint32_t view;

    (void)state;
    machine_set(CARD, CARD ";name=Other,type=integrated");
    setenv("GANTRY_HOST_FAIL", "device_open:1+", 1);
    configure("[policy]\nchains = 1\ncuda.chains = 2\nvulkan.chains = 3\n");
    g = machine_open();
    assert_int_equal(asked(g, NULL, NULL), 0);
    assert_int_equal(asked(g, "cuda:0", NULL), 0);
    assert_int_equal(asked(g, "Other", NULL), 1);
    assert_string_equal(value_of(g, 0, "chains").value, "2");
    assert_string_equal(value_of(g, 1, "chains").value, "3");
    assert_string_equal(value_of(g, UINT32_MAX, "chains").value, "1");
    view = asked(g, "vulkan:0", NULL);
    assert_true(view >= gantry_device_count(g));
    assert_int_equal(asked(g, "0", "vulkan"), view);
    assert_string_equal(value_of(g, view, "chains").value, "3");
    assert_string_equal(describe(g, view).chosen_backend, "vulkan");
    assert_int_equal(describe(g, view).index, 0);
    assert_string_equal(describe(g, 0).chosen_backend, "cuda");
    machine_close(&g, "vulkan");
}

static void what_is_not_there_can_not_be_asked_about(void **state)
{
    const struct gantry_device_params nobody = {.device = "Nobody"};
    struct gantry_config_value value;
    struct gantry_device_info info;
    struct gantry *g;
    uint32_t index;

    (void)state;
    machine_set(CARD, "none");
    g = machine_open();
    assert_int_equal(gantry_config_device(g, &nobody, &index), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(index, UINT32_MAX);
    assert_contains(gantry_last_error(), "gantry_config_device: device \"Nobody\"");
    assert_int_equal(gantry_config_device(g, NULL, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_config_device(NULL, NULL, &index), GANTRY_E_INVALID_ARGUMENT);
    for (index = 2; index < 40; index++) {
        assert_int_equal(gantry_config_count(g, index), 0);
        assert_int_equal(gantry_config_get(g, index, 0, &value), GANTRY_E_INVALID_ARGUMENT);
        assert_int_equal(gantry_device_describe(g, index, &info), GANTRY_E_INVALID_ARGUMENT);
    }
    gantry_close(&g);
}

/* C49: which section matched is logged, and that none did. */
static void c49_the_match_is_logged(void **state)
{
    const struct gantry_device_params plain = {.device = "Plain"};
    struct gantry_device *device;
    struct gantry *g;

    (void)state;
    machine_set(CARD ";name=Plain", "none");
    configure("[gpu Card]\nchains = 2\n");
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, &device), GANTRY_OK);
    gantry_device_close(&device);
    assert_int_equal(machine_logged(GANTRY_LOG_INFO, "policy [gpu Card] at "), 1);
    assert_int_equal(gantry_device_open(g, &plain, &device), GANTRY_OK);
    gantry_device_close(&device);
    assert_int_equal(machine_logged(GANTRY_LOG_INFO, "policy built-in"), 1);
    gantry_close(&g);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void check_clamped(struct gantry *g, uint32_t index, const char *key, const char *expected)
{
    const char *clamped = value_of(g, index, key).clamped;

    if (!expected) {
        assert_null(clamped);
    } else {
        assert_non_null(clamped);
        assert_string_equal(clamped, expected);
    }
    assert_ptr_equal(value_of(g, index, key).clamped, clamped); /* kept once */
}

static void limits_are_told(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("none", "name=Card,type=discrete,max_threads_per_block=256,max_block=256x256x8,"
                        "compute_units=4,max_blocks=100x100x100,families=3,memory_size=512M,"
                        "max_buffer_size=256M;"
                        "name=Soft,type=cpu,compute_units=0,families=0");
    configure("[policy]\nblock_size = 512\nblock_size.a = 16x16\nblock_size.b = 2x2x16\n"
              "blocks_per_cu = 26\nqueue_family = 3\ntransfer_family = 2\n"
              "pool_block_mib = 64\nstaging_mib = 300\n");
    g = machine_open();
    check_clamped(g, 0, "block_size",
                  "auto: it has 512 threads along x, more than the 256 that the device takes");
    check_clamped(g, 0, "block_size.a", NULL);
    check_clamped(g, 0, "block_size.b",
                  "auto: it has 16 threads along z, more than the 8 that the device takes");
    check_clamped(g, 0, "blocks_per_cu", "100 blocks in all: the device takes no more along x");
    check_clamped(g, 0, "queue_family",
                  "refused, so that the device can't be opened: its last queue family is 2");
    check_clamped(g, 0, "transfer_family", NULL);
    check_clamped(g, 0, "pool_block_mib", "32 MiB: no more for a device with 512 MiB of memory");
    check_clamped(g, 0, "staging_mib", "256 MiB: a buffer of the device has no more");
    check_clamped(g, 0, "fold", NULL);
    check_clamped(g, 0, "chains", NULL);
    check_clamped(g, 1, "blocks_per_cu",
                  "no limit: nobody tells how many compute units the device has");
    check_clamped(g, 1, "queue_family", "not used: vulkan has no queue families");
    check_clamped(g, 1, "fold",
                  "only side by side: drivers of CPU devices may end long chains early");
    check_clamped(g, UINT32_MAX, "block_size", NULL);
    gantry_close(&g);
}

/* ---- Described devices ---------------------------------------------------------------------- */

static const struct gantry_device_info described = {
    .name = "NVIDIA GeForce RTX 4060 Ti",
    .type = GANTRY_DEVICE_DISCRETE,
    .uuid = "GPU-" UUID,
    .pci = "0000:0A:00.0",
    .vendor_id = 0x10de,
    .backend_count = 2,
    .backends = {{.backend = "vulkan"}, {.backend = "cuda", .arch = "sm_89"}},
    .limits = {.max_threads_per_block = 64},
};

static uint32_t add(struct gantry *g, const struct gantry_device_info *info)
{
    uint32_t index;
    enum gantry_status status = gantry_config_profile(g, info, &index);

    if (status != GANTRY_OK)
        print_error("%s\n", gantry_last_error());
    assert_int_equal(status, GANTRY_OK);
    return index;
}

static void check_chains(struct gantry *g, const char *selector, const char *chains)
{
    struct gantry_device_info info = described;

    info.chosen_backend = selector;
    assert_string_equal(value_of(g, add(g, &info), "chains").value, chains);
}

static void a_described_device_gets_its_policy(void **state)
{
    struct gantry_device_info info;
    struct gantry *g;
    uint32_t index;

    (void)state;
    machine_set(CARD, "none");
    configure("[policy]\nchains = 1\n[gpu RTX 4060 Ti]\ncuda.chains = 2\nvulkan.chains = 3\n"
              "block_size = 128\n[gpu pci:0a:00.0]\nbatch_size = 4\n[gpu uuid:" UUID "]\n"
              "spin_us = 5\n[gpu arch:sm_89]\nbatch_max_ms = 6\n[gpu vendor:nvidia]\nfold = off\n");
    g = machine_open();
    index = add(g, &described);
    assert_true(index > gantry_device_count(g));
    info = describe(g, index);
    assert_string_equal(info.name, described.name);
    assert_string_equal(info.uuid, "GPU-" UUID);
    assert_string_equal(info.pci, "0000:0a:00.0");
    assert_int_equal(info.vendor_id, 0x10de);
    assert_string_equal(info.chosen_backend, "cuda");
    assert_contains(info.chosen_section, "[gpu uuid:" UUID "] at ");
    assert_string_equal(value_of(g, index, "chains").value, "2");
    assert_string_equal(value_of(g, index, "batch_size").value, "4");
    assert_string_equal(value_of(g, index, "spin_us").value, "5");
    assert_string_equal(value_of(g, index, "batch_max_ms").value, "6");
    assert_string_equal(value_of(g, index, "fold").value, "off");
    check_clamped(g, index, "block_size",
                  "auto: it has 128 threads, more than the 64 that the device takes");
    check_chains(g, "cuda", "2");
    check_chains(g, "vulkan", "3");
    assert_string_equal(value_of(g, 0, "chains").value, "1");
    gantry_close(&g);
}

/* What a profile does not tell is unknown: it limits nothing. */
static void unknown_limits_limit_nothing(void **state)
{
    const struct gantry_device_info bare = {.name = "x",
                                            .backend_count = 1,
                                            .backends = {{.backend = "vulkan"}}};
    struct gantry *g;
    uint32_t index;

    (void)state;
    configure("[policy]\nblock_size = 1024\nqueue_family = 7\npool_block_mib = 4096\nstaging_mib = "
              "4096\n");
    g = machine_open();
    index = add(g, &bare);
    check_clamped(g, index, "block_size", NULL);
    check_clamped(g, index, "queue_family", NULL);
    check_clamped(g, index, "programmatic", NULL);
    check_clamped(g, index, "pool_block_mib", NULL);
    check_clamped(g, index, "staging_mib", NULL);
    assert_null(describe(g, index).uuid);
    assert_null(describe(g, index).pci);
    gantry_close(&g);
}

static void the_configuration_chooses_among_described_devices(void **state)
{
    struct gantry_device_info soft = {.name = "Soft",
                                      .type = GANTRY_DEVICE_CPU,
                                      .backend_count = 1,
                                      .backends = {{.backend = "vulkan", .index = 1}}};
    struct gantry_device_info old = described;
    struct gantry *g;
    uint32_t indices[3];

    (void)state;
    machine_set(CARD, "none");
    old.backends[0].skipped = old.backends[1].skipped = "it is too old";
    g = machine_open();
    indices[0] = add(g, &soft);
    assert_int_equal(asked(g, NULL, NULL), indices[0]);
    indices[1] = add(g, &old);
    assert_int_equal(asked(g, NULL, NULL), indices[0]);
    assert_null(describe(g, indices[1]).chosen_backend);
    indices[2] = add(g, &described);
    assert_int_equal(asked(g, NULL, NULL), indices[2]);
    assert_int_equal(asked(g, "Soft", NULL), indices[0]);
    assert_int_equal(asked(g, "vulkan:1", NULL), indices[0]);
    assert_string_equal(describe(g, asked(g, NULL, "vulkan")).chosen_backend, "vulkan");
    assert_string_equal(describe(g, asked(g, NULL, "vulkan")).name, described.name);
    assert_string_equal(describe(g, 0).name, "Card");
    gantry_close(&g);
}

static void backends_that_are_not_configured_are_not_used(void **state)
{
    struct gantry_device_info info;
    struct gantry *g;
    uint32_t index;

    (void)state;
    setenv("GANTRY_BACKEND", "vulkan", 1);
    g = machine_open();
    index = add(g, &described);
    info = describe(g, index);
    assert_string_equal(info.chosen_backend, "vulkan");
    assert_int_equal(info.backend_count, 2);
    assert_string_equal(info.backends[1].backend, "cuda");
    assert_contains(info.backends[1].skipped, "environment GANTRY_BACKEND");
    info = described;
    info.chosen_backend = "cuda";
    assert_null(describe(g, add(g, &info)).chosen_backend);
    gantry_close(&g);
}

static void texts_stay_while_more_are_described(void **state)
{
    enum { COUNT = 100 };
    struct gantry *g;
    struct gantry_device_info first;
    uint32_t indices[COUNT];
    char name[32];

    (void)state;
    g = machine_open();
    for (uint32_t i = 0; i < COUNT; i++) {
        struct gantry_device_info info = described;

        snprintf(name, sizeof(name), "Card %u", i);
        info.name = name;
        info.type = i % 2 ? GANTRY_DEVICE_CPU : GANTRY_DEVICE_DISCRETE;
        indices[i] = add(g, &info);
        if (i == 0)
            first = describe(g, indices[0]);
    }
    assert_string_equal(first.name, "Card 0");
    assert_string_equal(first.uuid, "GPU-" UUID);
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "Card %u", i);
        assert_string_equal(describe(g, indices[i]).name, name);
    }
    gantry_close(&g);
}

static void what_no_device_is_like_is_refused(void **state)
{
    char name[300];
    struct gantry_device_info bad[10];
    static const char *const parts[] = {"name \"\"",      "name \"nnnn", "type 9",
                                        "uuid \"GPU-1\"", "pci \"1\"",   "is 0",
                                        "is 9; a device", "\"../evil\"", "\"metal\" is not",
                                        "31 characters"};
    struct gantry *g;
    uint32_t index;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i < 10; i++)
        bad[i] = described;
    bad[0].name = NULL;
    bad[1].name = name;
    bad[2].type = (enum gantry_device_type)9;
    bad[3].uuid = "GPU-1";
    bad[4].pci = "1";
    bad[5].backend_count = 0;
    bad[6].backend_count = GANTRY_MAX_DEVICE_BACKENDS + 1;
    bad[7].backends[0].backend = "../evil";
    bad[8].chosen_backend = "metal";
    bad[9].backends[0].arch = name;
    g = machine_open();
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(gantry_config_profile(g, &bad[i], &index), GANTRY_E_INVALID_ARGUMENT);
        assert_int_equal(index, UINT32_MAX);
        assert_contains(gantry_last_error(), parts[i]);
    }
    assert_int_equal(gantry_config_profile(g, NULL, &index), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_config_profile(g, &described, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_config_profile(NULL, &described, &index), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(asked(g, NULL, NULL), 0); /* no half-made ones are left to choose from */
    gantry_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_named_view_has_its_own_values, machine_reset),
        cmocka_unit_test_setup(what_is_not_there_can_not_be_asked_about, machine_reset),
        cmocka_unit_test_setup(c49_the_match_is_logged, machine_reset),
        cmocka_unit_test_setup(limits_are_told, machine_reset),
        cmocka_unit_test_setup(a_described_device_gets_its_policy, machine_reset),
        cmocka_unit_test_setup(unknown_limits_limit_nothing, machine_reset),
        cmocka_unit_test_setup(the_configuration_chooses_among_described_devices, machine_reset),
        cmocka_unit_test_setup(backends_that_are_not_configured_are_not_used, machine_reset),
        cmocka_unit_test_setup(texts_stay_while_more_are_described, machine_reset),
        cmocka_unit_test_setup(what_no_device_is_like_is_refused, machine_reset),
    };

    return cmocka_run_group_tests_name("configuration", tests, scratch_open, scratch_close);
}
