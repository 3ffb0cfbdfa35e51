/* core/registry.c, core/choose.c, core/device.c: which devices there are and which one is opened.
 * Tests named cNN are failures that have been seen in other programs. */
#include "unit.h"

#include <stdlib.h>

#include "machine.h"

#define UUID_A "00112233-4455-6677-8899-aabbccddeeff"
#define UUID_B "ffeeddcc-bbaa-9988-7766-554433221100"

static struct gantry_device_info describe(struct gantry *g, uint32_t index)
{
    struct gantry_device_info info;

    assert_int_equal(gantry_device_describe(g, index, &info), GANTRY_OK);
    assert_int_equal(info.index, index);
    return info;
}

/* Opens a device and returns how it was opened. */
static struct gantry_device_info opened(struct gantry *g, const char *device, const char *backend)
{
    const struct gantry_device_params params = {.device = device, .backend = backend};
    struct gantry_device_info info;
    struct gantry_device *made;
    enum gantry_status status = gantry_device_open(g, &params, &made);

    if (status != GANTRY_OK)
        print_error("%s\n", gantry_last_error());
    assert_int_equal(status, GANTRY_OK);
    assert_int_equal(gantry_device_info(made, &info), GANTRY_OK);
    gantry_device_close(&made);
    assert_null(made);
    return info;
}

static void check_opened(struct gantry *g, const char *device, const char *backend,
                         const char *name, const char *through)
{
    struct gantry_device_info info = opened(g, device, backend);

    assert_string_equal(info.name, name);
    assert_string_equal(info.chosen_backend, through);
}

static void check_refused(struct gantry *g, const char *device, const char *backend,
                          enum gantry_status status, const char *part)
{
    const struct gantry_device_params params = {.device = device, .backend = backend};
    struct gantry_device *made = (void *)1;

    assert_int_equal(gantry_device_open(g, &params, &made), status);
    assert_null(made);
    assert_contains(gantry_last_error(), part);
}

/* ---- Which devices there are --------------------------------------------------------------- */

/* C03: one card through two backends is one device; an empty id is unknown, never equal. */
static void test_c03_two_backends(void **state)
{
    struct gantry_device_info info;
    struct gantry *g;

    (void)state;
    machine_set("name=Card,type=discrete,uuid=" UUID_A ",pci=0000:01:00.0,arch=sm_90",
                "name=Card,type=discrete,uuid=" UUID_A ",pci=0000:01:00.0");
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 1);
    info = describe(g, 0);
    assert_int_equal(info.backend_count, 2);
    assert_string_equal(info.backends[0].backend, "cuda");
    assert_string_equal(info.backends[0].arch, "sm_90");
    assert_string_equal(info.backends[1].backend, "vulkan");
    assert_string_equal(info.uuid, "GPU-" UUID_A);
    assert_string_equal(info.pci, "0000:01:00.0");
    assert_string_equal(info.chosen_backend, "cuda");
    check_opened(g, NULL, NULL, "Card", "cuda");
    check_opened(g, "vulkan:0", NULL, "Card", "vulkan");
    check_opened(g, "cuda:0", NULL, "Card", "cuda");
    check_opened(g, "0", "vulkan", "Card", "vulkan");
    gantry_close(&g);

    setenv("GANTRY_BACKEND", "vulkan, cuda", 1);
    g = machine_open();
    assert_string_equal(describe(g, 0).chosen_backend, "vulkan");
    check_opened(g, NULL, NULL, "Card", "vulkan");
    gantry_close(&g);
}

static void test_c03_empty_ids(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("name=Card,type=discrete", "name=Card,type=discrete");
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 2);
    assert_null(describe(g, 0).uuid);
    gantry_close(&g);
    machine_set("name=Card,type=discrete,uuid=" UUID_A, "name=Card,type=discrete");
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 2);
    gantry_close(&g);
    machine_set("name=A,uuid=00000000-0000-0000-0000-000000000000,pci=0000:00:00.0",
                "name=B,uuid=00000000-0000-0000-0000-000000000000,pci=0000:00:00.0");
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 2);
    gantry_close(&g);
}

/* Where one side has no UUID, the PCI address tells. */
static void test_pci_is_the_second_key(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("name=Card,type=discrete,pci=0000:01:00.0",
                "name=Card,type=discrete,uuid=" UUID_A ",pci=0000:01:00.0");
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 1);
    assert_string_equal(describe(g, 0).uuid, "GPU-" UUID_A);
    gantry_close(&g);
    machine_set("name=Part 1,type=discrete,uuid=" UUID_A ",pci=0000:01:00.0;"
                "name=Part 2,type=discrete,uuid=" UUID_B ",pci=0000:01:00.0",
                "none");
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 2);
    gantry_close(&g);
}

/* C02: two drivers of one backend list the same card: one device, the twin is shown in it. */
static void test_c02_twins(void **state)
{
    struct gantry_device_info info;
    struct gantry *g;

    (void)state;
    machine_set("none", "name=Card,type=discrete,uuid=" UUID_A ",pci=0000:01:00.0,driver=first;"
                        "name=Card,type=discrete,uuid=" UUID_A ",pci=0000:01:00.0,driver=second");
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 1);
    info = describe(g, 0);
    assert_int_equal(info.backend_count, 2);
    assert_int_equal(info.backends[1].index, 1);
    assert_string_equal(info.backends[1].driver_version, "second");
    check_opened(g, "vulkan:1", NULL, "Card", "vulkan");
    gantry_close(&g);
}

/* C04: cards of one kind stay apart, also when they share a UUID, and keep their numbers when the
 * driver changes its order. */
static void test_c04_identical_cards(void **state)
{
    static const char *const orders[] = {
        "name=Card,type=discrete,pci=0000:01:00.0;name=Card,type=discrete,pci=0001:01:00.0;"
        "name=Card,type=discrete,pci=0000:0a:00.0;name=Card,type=discrete,pci=0000:0b:00.0",
        "name=Card,type=discrete,pci=0000:0b:00.0;name=Card,type=discrete,pci=0000:0a:00.0;"
        "name=Card,type=discrete,pci=0001:01:00.0;name=Card,type=discrete,pci=0000:01:00.0",
    };
    static const char *const sorted[] = {"0000:01:00.0", "0000:0a:00.0", "0000:0b:00.0",
                                         "0001:01:00.0"};

    (void)state;
    for (int order = 0; order < 2; order++) {
        struct gantry *g;

        machine_set(orders[order], "none");
        g = machine_open();
        assert_int_equal(gantry_device_count(g), 4);
        for (uint32_t i = 0; i < 4; i++)
            assert_string_equal(describe(g, i).pci, sorted[i]);
        assert_string_equal(opened(g, "pci:0000:0A:00.0", NULL).pci, "0000:0a:00.0");
        assert_string_equal(opened(g, "pci:00000000:0b:00.0", NULL).pci, "0000:0b:00.0");
        gantry_close(&g);
    }
    machine_set("name=Card,type=discrete,uuid=" UUID_A ",pci=0000:01:00.0;"
                "name=Card,type=discrete,uuid=" UUID_A ",pci=0000:02:00.0",
                "none");
    struct gantry *g = machine_open();

    assert_int_equal(gantry_device_count(g), 2);
    gantry_close(&g);
}

/* ---- Which one is opened ------------------------------------------------------------------- */

/* C01: a software device is taken only when there is no other, or when it is named; and that is
 * said. */
static void test_c01_software(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("name=Card,type=integrated", "name=Soft,type=cpu;name=Big,type=discrete");
    g = machine_open();
    assert_string_equal(describe(g, 0).name, "Big");
    assert_string_equal(describe(g, 1).name, "Card");
    assert_string_equal(describe(g, 2).name, "Soft");
    check_opened(g, NULL, NULL, "Big", "vulkan");
    check_opened(g, "Soft", NULL, "Soft", "vulkan");
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, "software"), 0);
    gantry_close(&g);

    machine_set("none", "name=Soft,type=cpu");
    g = machine_open();
    for (int i = 0; i < 100; i++)
        check_opened(g, NULL, NULL, "Soft", "vulkan");
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, "\"Soft\" is a software device"), 1);
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, ""), 1);
    gantry_close(&g);
}

/* C06: junk selects nothing. The message holds the token and the devices. */
static void test_c06_junk(void **state)
{
    static const char *const junk[] = {"-1",  "7",    "0 1",         "abc",    "0x0",    "",
                                       "0,0", "0,,1", "99999999999", "cuda:1", "cuda:-1"};
    struct gantry *g;

    (void)state;
    machine_set("name=Card,type=discrete", "none");
    g = machine_open();
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
        char token[32];

        snprintf(token, sizeof(token), "device \"%s\" (", junk[i]);
        check_refused(g, junk[i], NULL, GANTRY_E_INVALID_ARGUMENT, token);
        assert_contains(gantry_last_error(), "0 \"Card\" (discrete; cuda:0)");
    }
    check_refused(g, "vulkan:0", "cuda", GANTRY_E_INVALID_ARGUMENT, "contradicts");
    check_opened(g, "0", NULL, "Card", "cuda");
    check_opened(g, "CUDA:0", NULL, "Card", "cuda");
    check_opened(g, "card", NULL, "Card", "cuda");
    check_opened(g, "C*", NULL, "Card", "cuda");
    gantry_close(&g);

    setenv("GANTRY_DEVICE", "7", 1);
    g = machine_open();
    check_refused(g, NULL, NULL, GANTRY_E_INVALID_ARGUMENT, "environment GANTRY_DEVICE");
    gantry_close(&g);
}

/* C07: without any driver gantry opens, lists nothing, and says why when a device is asked for. */
static void test_c07_no_driver(void **state)
{
    struct gantry *g;

    (void)state;
    setenv("GANTRY_HOST_FAIL", "instance_open:1+:E_NO_DEVICE", 1);
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 0);
    check_refused(g, NULL, NULL, GANTRY_E_NO_DEVICE, "cuda: ");
    assert_contains(gantry_last_error(), "vulkan: ");
    check_refused(g, "0", NULL, GANTRY_E_NO_DEVICE, "names no device");
    gantry_close(&g);
    gantry_close(&g);
    gantry_close(NULL);
}

/* C08: a device that can't be used, or opened, is passed over and named. */
static void test_c08_bad_devices(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("name=Old,type=discrete,skipped=its driver is too old", "name=New,type=integrated");
    g = machine_open();
    assert_null(describe(g, 0).chosen_backend);
    assert_string_equal(describe(g, 0).backends[0].skipped, "its driver is too old");
    check_opened(g, NULL, NULL, "New", "vulkan");
    check_refused(g, "Old", NULL, GANTRY_E_NO_DEVICE, "its driver is too old");
    check_refused(g, "cuda:0", NULL, GANTRY_E_NO_DEVICE, "its driver is too old");
    gantry_close(&g);

    machine_set("name=Bad,type=discrete;name=Good,type=discrete", "none");
    setenv("GANTRY_HOST_FAIL_CUDA", "device_open:1", 1);
    g = machine_open();
    check_opened(g, NULL, NULL, "Good", "cuda");
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, "\"Bad\" can't be opened"), 1);
    gantry_close(&g);
    setenv("GANTRY_HOST_FAIL_CUDA", "device_open:1+", 1);
    g = machine_open();
    check_refused(g, NULL, NULL, GANTRY_E_DRIVER, "cuda:1 \"Good\"");
    assert_contains(gantry_last_error(), "cuda:0 \"Bad\"");
    gantry_close(&g);
    setenv("GANTRY_HOST_FAIL_CUDA", "device_describe:1", 1);
    g = machine_open();
    assert_int_equal(gantry_device_count(g), 2);
    check_opened(g, NULL, NULL, "Good", "cuda");
    gantry_close(&g);
}

/* C09: what was asked for is used or refused with the cause; a fallback is said exactly once. */
static void test_c09_demands(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("none", "name=Card,type=discrete");
    g = machine_open();
    check_refused(g, NULL, "cuda", GANTRY_E_NO_DEVICE, "demanded backend cuda");
    assert_contains(gantry_last_error(), "cuda: GANTRY_HOST_DEVICES names no device");
    check_refused(g, NULL, "metal", GANTRY_E_NO_DEVICE, "\"metal\" is not among those");
    check_refused(g, "0", "cuda", GANTRY_E_NO_DEVICE, "demanded backend cuda");
    check_opened(g, NULL, "vulkan", "Card", "vulkan");
    assert_int_equal(machine_logged(GANTRY_LOG_INFO, "preferred backend"), 0);
    gantry_close(&g);

    setenv("GANTRY_BACKEND", "cuda", 1);
    g = machine_open();
    check_refused(g, NULL, NULL, GANTRY_E_NO_DEVICE, "cuda: GANTRY_HOST_DEVICES names no device");
    gantry_close(&g);
}

/* A probe that failed is made anew by the next gantry_open(). */
static void test_c09_retry(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("name=Card,type=discrete", "none");
    setenv("GANTRY_HOST_FAIL_CUDA", "instance_open:1+:E_DRIVER", 1);
    g = machine_open();
    check_refused(g, NULL, NULL, GANTRY_E_NO_DEVICE, "cuda: ");
    gantry_close(&g);
    unsetenv("GANTRY_HOST_FAIL_CUDA");
    g = machine_open();
    check_opened(g, NULL, NULL, "Card", "cuda");
    gantry_close(&g);
}

static void test_c09_fallback(void **state)
{
    struct gantry *g;

    (void)state;
    machine_set("none", "name=Card,type=discrete");
    g = machine_open();
    for (int i = 0; i < 100; i++)
        check_opened(g, NULL, NULL, "Card", "vulkan");
    assert_int_equal(machine_logged(GANTRY_LOG_INFO, "the preferred backend cuda can't be"), 1);
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, ""), 0);
    gantry_close(&g);

    machine_reset(NULL);
    machine_set("none", "name=Card,type=discrete");
    setenv("GANTRY_BACKEND", "cuda, vulkan", 1);
    g = machine_open();
    for (int i = 0; i < 10; i++)
        check_opened(g, NULL, NULL, "Card", "vulkan");
    assert_int_equal(machine_logged(GANTRY_LOG_WARNING, "the preferred backend cuda can't be"), 1);
    assert_int_equal(machine_logged(GANTRY_LOG_INFO, "opened as vulkan:0"), 10);
    gantry_close(&g);
}

/* ---- Bad calls ----------------------------------------------------------------------------- */

static void test_bad_calls(void **state)
{
    struct gantry_params params = {.config_file = "/x", .config_text = ""};
    struct gantry_device_info info;
    struct gantry_device *device;
    struct gantry *g;

    (void)state;
    assert_int_equal(gantry_open(&params, &g), GANTRY_E_INVALID_ARGUMENT);
    params = (struct gantry_params){.log_level = (enum gantry_log_level)9};
    assert_int_equal(gantry_open(&params, &g), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_device_count(NULL), 0);
    assert_int_equal(gantry_backend_count(NULL), 0);
    assert_int_equal(gantry_config_count(NULL, 0), 0);
    assert_null(gantry_config_file(NULL, 0));
    assert_int_equal(gantry_device_open(NULL, NULL, &device), GANTRY_E_INVALID_ARGUMENT);
    gantry_device_close(NULL);
    gantry_device_close(&device);
    g = machine_open();
    assert_int_equal(gantry_device_open(g, NULL, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_device_describe(g, 99, &info), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_device_describe(g, 0, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_backend_describe(g, 99, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_device_info(NULL, &info), GANTRY_E_INVALID_ARGUMENT);
    gantry_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_c03_two_backends, machine_reset),
        cmocka_unit_test_setup(test_c03_empty_ids, machine_reset),
        cmocka_unit_test_setup(test_pci_is_the_second_key, machine_reset),
        cmocka_unit_test_setup(test_c02_twins, machine_reset),
        cmocka_unit_test_setup(test_c04_identical_cards, machine_reset),
        cmocka_unit_test_setup(test_c01_software, machine_reset),
        cmocka_unit_test_setup(test_c06_junk, machine_reset),
        cmocka_unit_test_setup(test_c07_no_driver, machine_reset),
        cmocka_unit_test_setup(test_c08_bad_devices, machine_reset),
        cmocka_unit_test_setup(test_c09_demands, machine_reset),
        cmocka_unit_test_setup(test_c09_retry, machine_reset),
        cmocka_unit_test_setup(test_c09_fallback, machine_reset),
        cmocka_unit_test_setup(test_bad_calls, machine_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
