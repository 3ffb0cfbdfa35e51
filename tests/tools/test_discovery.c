/* Which devices there are and which is taken, through the real plugins: on Mesa's lavapipe, and on
 * the stand-in for NVIDIA's driver. Tests named cNN are failures that have been seen in other
 * programs. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../unit/scratch.h"
#include "run.h"

#define UUID_A "00112233-4455-6677-8899-aabbccddeeff"
#define UUID_B "ffeeddcc-bbaa-9988-7766-554433221100"
#define GPU_A  "GPU A,sm_90,uuid=" UUID_A ",pci=0000:01:00.0"
#define GPU_B  "GPU B,sm_89,uuid=" UUID_B ",pci=0000:02:00.0"

enum { SETTINGS = 24, SETTING_SIZE = 1024 };

/* What a program finds in its environment. */
struct machine {
    char texts[SETTINGS][SETTING_SIZE];
    const char *list[SETTINGS + 1];
    size_t count;
};

/* "NAME=VALUE", or "NAME" to remove it. */
static void set(struct machine *machine, const char *format, ...)
{
    va_list arguments;

    assert_true(machine->count < SETTINGS);
    va_start(arguments, format);
    vsnprintf(machine->texts[machine->count], SETTING_SIZE, format, arguments);
    va_end(arguments);
    machine->list[machine->count] = machine->texts[machine->count];
    machine->count++;
}

/* A machine without any driver. */
static struct machine *machine_make(void)
{
    static const char *const clean[] = {"GANTRY_DEVICE",        "GANTRY_LOG",
                                        "GANTRY_PLUGIN_PATH",   "STANDIN_DEVICES",
                                        "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"};
    struct machine *machine = calloc(1, sizeof *machine);

    assert_non_null(machine);
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
        set(machine, "%s", clean[i]);
    set(machine, "GANTRY_CONFIG=none");
    set(machine, "GANTRY_BACKEND=cuda, vulkan");
    set(machine, "VK_DRIVER_FILES=/nonexistent.json");
    set(machine, "VK_ICD_FILENAMES=/nonexistent.json");
    return machine;
}

/* Lavapipe's manifest; skips the test where it is not installed. */
static const char *lavapipe(void)
{
    static char path[512];
    glob_t found;

    if (!path[0] && glob("/usr/share/vulkan/icd.d/lvp_icd*.json", 0, NULL, &found) == 0) {
        snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    if (!path[0]) {
        print_message("lavapipe is not installed (Debian: mesa-vulkan-drivers)\n");
        skip();
    }
    return path;
}

static void add_vulkan(struct machine *machine, const char *manifests)
{
    set(machine, "VK_DRIVER_FILES=%s", manifests);
    set(machine, "VK_ICD_FILENAMES=%s", manifests);
}

static void add_cuda(struct machine *machine, const char *devices)
{
    set(machine, "LD_LIBRARY_PATH=%s", getenv("GANTRY_TEST_STANDIN"));
    set(machine, "STANDIN_DEVICES=%s", devices);
}

/* ---- Asking the tool ------------------------------------------------------------------------ */

static struct outcome gantry(const struct machine *machine, const char *first, const char *second,
                             const char *third, const char *fourth)
{
    const char *const argv[] = {gantry_path(), first, second, third, fourth, NULL};

    return run(argv, machine->list);
}

static json_t *info(const struct machine *machine)
{
    struct outcome outcome = gantry(machine, "info", "--json", NULL, NULL);
    json_t *object;

    if (outcome.status != 0)
        fail_msg("gantry info: %s", outcome.err);
    object = outcome_json(&outcome);
    outcome_free(&outcome);
    return object;
}

static size_t device_count(const json_t *info)
{
    return json_array_size(json_object_get(info, "devices"));
}

static const json_t *device(const json_t *info, size_t i)
{
    return json_array_get(json_object_get(info, "devices"), i);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* "cuda:1 vulkan:0": the device as its backends number it. */
static void check_views(const json_t *device, const char *expected)
{
    const json_t *view;
    char found[256] = "";
    size_t i;

    json_array_foreach(json_object_get(device, "views"), i, view)
    {
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s:%d", i ? " " : "",
                 text_of(view, "backend"), (int)json_integer_value(json_object_get(view, "index")));
    }
    assert_string_equal(found, expected);
}

/* Why a backend has no device; fails when it gives no reason. */
static void check_reason(const json_t *info, size_t backend, const char *part)
{
    const json_t *found = json_array_get(json_object_get(info, "backends"), backend);

    if (!strstr(text_of(found, "reason"), part))
        fail_msg("%s: \"%s\" does not say \"%s\"", text_of(found, "name"), text_of(found, "reason"),
                 part);
}

/* The device that a selector takes, or that is taken when it is NULL, "NAME through BACKEND". */
static void check_taken(const struct machine *machine, const char *selector, const char *name,
                        const char *backend)
{
    struct outcome outcome =
        gantry(machine, "config", "--json", "--device", selector ? selector : "auto");
    const json_t *taken;
    json_t *object;

    if (outcome.status != 0)
        fail_msg("%s", outcome.err);
    object = outcome_json(&outcome);
    taken = json_object_get(object, "device");
    assert_int_equal(strncmp(text_of(taken, "name"), name, strlen(name)), 0);
    assert_string_equal(text_of(taken, "backend"), backend);
    json_decref(object);
    outcome_free(&outcome);
}

static void check_refused(const struct machine *machine, const char *selector, const char *part)
{
    struct outcome outcome = gantry(machine, "config", "--device", selector, NULL);

    assert_int_equal(outcome.status, 1);
    assert_string_equal(outcome.out, "");
    assert_true(one_line(&outcome, "gantry: config: ", part));
    outcome_free(&outcome);
}

/* How many lines of what is logged hold the text when a device is opened. */
static int count_logged(struct machine *machine, const char *part)
{
    char package[SETTING_SIZE];
    struct outcome outcome;
    int count = 0;

    set(machine, "GANTRY_LOG=info");
    snprintf(package, sizeof package, "%s/saxpy.gpk", getenv("GANTRY_TEST_KERNELS"));
    outcome = gantry(machine, "inspect", "--device", "auto", package);
    for (const char *line = outcome.err; (line = strstr(line, part)); line += strlen(part))
        count++;
    if (count == 0)
        print_error("%s\n", outcome.err);
    outcome_free(&outcome);
    return count;
}

/* ---- C01 ------------------------------------------------------------------------------------ */

/* A software device alone is taken, its type is shown, and that it was taken is said. */
static void c01_software_device_alone(void **state)
{
    struct machine *machine = machine_make();
    struct outcome outcome;
    json_t *found;

    (void)state;
    add_vulkan(machine, lavapipe());
    found = info(machine);
    assert_int_equal(device_count(found), 1);
    assert_string_equal(text_of(device(found, 0), "type"), "cpu");
    json_decref(found);
    outcome = gantry(machine, "info", NULL, NULL, NULL);
    assert_non_null(strstr(outcome.out, "(cpu)"));
    outcome_free(&outcome);
    check_taken(machine, NULL, "llvmpipe", "vulkan");
    check_taken(machine, "type:cpu", "llvmpipe", "vulkan");
    check_taken(machine, "vendor:mesa", "llvmpipe", "vulkan");
    assert_int_equal(count_logged(machine, "is a software device, taken because no other can"), 1);
    free(machine);
}

static void c01_software_device_beside_a_gpu(void **state)
{
    struct machine *machine = machine_make();
    json_t *found;

    (void)state;
    add_vulkan(machine, lavapipe());
    add_cuda(machine, GPU_A);
    set(machine, "GANTRY_BACKEND=vulkan, cuda");
    found = info(machine);
    assert_int_equal(device_count(found), 2);
    assert_string_equal(text_of(device(found, 0), "name"), "GPU A");
    json_decref(found);
    check_taken(machine, NULL, "GPU A", "cuda");
    check_taken(machine, "llvmpipe", "llvmpipe", "vulkan");
    free(machine);
}

/* ---- C02 ------------------------------------------------------------------------------------ */

/* One driver found through two manifests: one device; the second view is shown, and taken only by
 * its own name. */
static void c02_one_driver_found_twice(void **state)
{
    struct machine *machine = machine_make();
    char *manifest = NULL, both[SETTING_SIZE];
    size_t size = 0;
    FILE *file = fopen(lavapipe(), "r");
    json_t *found;

    (void)state;
    assert_non_null(file);
    assert_true(getdelim(&manifest, &size, '\0', file) > 0);
    fclose(file);
    snprintf(both, sizeof both, "%s:%s", scratch_write("a.json", manifest),
             scratch_write("b.json", manifest));
    free(manifest);
    add_vulkan(machine, both);
    found = info(machine);
    assert_int_equal(device_count(found), 1);
    check_views(device(found, 0), "vulkan:0 vulkan:1");
    json_decref(found);
    check_taken(machine, NULL, "llvmpipe", "vulkan");
    check_taken(machine, "vulkan:1", "llvmpipe", "vulkan");
    check_refused(machine, "1", "names no device");
    free(machine);
}

/* ---- C03 ------------------------------------------------------------------------------------ */

static void check_chains(const struct machine *machine, const char *selector, const char *chains)
{
    struct outcome outcome = gantry(machine, "config", "--json", "--device", selector);
    json_t *object = outcome_json(&outcome);
    const json_t *value;
    size_t i;

    json_array_foreach(json_object_get(object, "values"), i, value)
    {
        if (strcmp(text_of(value, "key"), "chains") == 0)
            assert_string_equal(text_of(value, "value"), chains);
    }
    json_decref(object);
    outcome_free(&outcome);
}

/* One card through two backends is one device; each view can be named, and has its own keys. */
static void c03_one_card_through_two_backends(void **state)
{
    struct machine *machine = machine_make();
    char uuid[64];
    json_t *found;

    (void)state;
    add_vulkan(machine, lavapipe());
    found = info(machine);
    snprintf(uuid, sizeof uuid, "%s", text_of(device(found, 0), "uuid") + strlen("GPU-"));
    json_decref(found);
    add_cuda(machine, "");
    set(machine, "STANDIN_DEVICES=Card,sm_90,uuid=%s", uuid);
    found = info(machine);
    assert_int_equal(device_count(found), 1);
    check_views(device(found, 0), "cuda:0 vulkan:0");
    json_decref(found);
    scratch_write("views.ini", "[policy]\nchains = 1\ncuda.chains = 2\nvulkan.chains = 3\n");
    set(machine, "GANTRY_CONFIG=none:%s", scratch_path("views.ini"));
    check_taken(machine, NULL, "Card", "cuda");
    check_taken(machine, "vulkan:0", "llvmpipe", "vulkan");
    check_chains(machine, "auto", "2");
    check_chains(machine, "cuda:0", "2");
    check_chains(machine, "vulkan:0", "3");
    set(machine, "GANTRY_BACKEND=vulkan, cuda");
    check_chains(machine, "0", "3");
    check_chains(machine, "cuda:0", "2");
    set(machine, "STANDIN_DEVICES=Card,sm_90,uuid=00000000-0000-0000-0000-000000000000");
    found = info(machine);
    assert_int_equal(device_count(found), 2);
    json_decref(found);
    free(machine);
}

/* ---- C05 ------------------------------------------------------------------------------------ */

/* The driver alone reads CUDA_VISIBLE_DEVICES; its answer stands. */
static void c05_visible_devices(void **state)
{
    static const struct {
        const char *visible;
        size_t count;
        const char *a, *b; /* what the GPUs are called then; "": hidden */
    } cases[] = {
        {"0,1", 2, "cuda:0", "cuda:1"},
        {"1,0", 2, "cuda:1", "cuda:0"},
        {"1", 1, "", "cuda:0"},
        {"GPU-" UUID_B, 1, "", "cuda:0"},
        {"0,0", 1, "cuda:0", ""},
        {"0,9,1", 1, "cuda:0", ""},
        {"", 0, "", ""},
        {"-1", 0, "", ""},
        {"9", 0, "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine *machine = machine_make();
        size_t at = 0;
        json_t *found;

        add_cuda(machine, GPU_A ";" GPU_B);
        set(machine, "CUDA_VISIBLE_DEVICES=%s", cases[i].visible);
        found = info(machine);
        assert_int_equal(device_count(found), cases[i].count);
        if (cases[i].a[0]) {
            assert_string_equal(text_of(device(found, at), "uuid"), "GPU-" UUID_A);
            check_views(device(found, at++), cases[i].a);
        }
        if (cases[i].b[0]) {
            assert_string_equal(text_of(device(found, at), "uuid"), "GPU-" UUID_B);
            check_views(device(found, at), cases[i].b);
        }
        if (cases[i].count == 0)
            check_reason(found, 0, "sees no device");
        json_decref(found);
        free(machine);
    }
}

/* A card that is hidden from CUDA is used through Vulkan, and that is said. */
static void c05_hidden_from_cuda_only(void **state)
{
    struct machine *machine = machine_make();

    (void)state;
    add_vulkan(machine, lavapipe());
    add_cuda(machine, GPU_A);
    set(machine, "CUDA_VISIBLE_DEVICES=");
    check_taken(machine, NULL, "llvmpipe", "vulkan");
    assert_int_equal(count_logged(machine, "the preferred backend cuda can't be: the CUDA driver"),
                     1);
    free(machine);
}

/* ---- C06 ------------------------------------------------------------------------------------ */

static void c06_junk_selects_nothing(void **state)
{
    static const char *const junk[] = {"-1",  "7",   "0,,1",        "0 1",    "0,0",
                                       "abc", "0x0", "99999999999", "cuda:1", "cuda:"};
    struct machine *machine = machine_make();

    (void)state;
    add_cuda(machine, GPU_A);
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        struct machine *asked = machine_make();
        struct outcome outcome;

        check_refused(machine, junk[i], junk[i]);
        check_refused(machine, junk[i], "0 \"GPU A\" (discrete; cuda:0)");
        *asked = *machine;
        for (size_t s = 0; s < asked->count; s++)
            asked->list[s] = asked->texts[s];
        set(asked, "GANTRY_DEVICE=%s", junk[i]);
        outcome = gantry(asked, "config", "--backend", "cuda", NULL);
        assert_int_equal(outcome.status, 1);
        assert_true(one_line(&outcome, "gantry: config: ", junk[i]));
        assert_non_null(strstr(outcome.err, "environment GANTRY_DEVICE"));
        outcome_free(&outcome);
        free(asked);
    }
    set(machine, "GANTRY_DEVICE=");
    check_taken(machine, NULL, "GPU A", "cuda");
    free(machine);
}

/* ---- C07, C08, C09, C10 --------------------------------------------------------------------- */

static void c07_no_driver(void **state)
{
    struct machine *machine = machine_make();
    json_t *found = info(machine);

    (void)state;
    assert_int_equal(device_count(found), 0);
    check_reason(found, 0, "libcuda.so.1");
    check_reason(found, 1, "Vulkan");
    json_decref(found);
    check_refused(machine, "auto", "cuda: ");
    check_refused(machine, "0", "vulkan: ");
    free(machine);
}

static void c08_a_broken_driver_beside_a_good_one(void **state)
{
    struct machine *machine = machine_make();
    char both[SETTING_SIZE];
    json_t *found;

    (void)state;
    snprintf(both, sizeof both, "%s:%s", getenv("GANTRY_TEST_BROKEN_ICD"), lavapipe());
    add_vulkan(machine, both);
    found = info(machine);
    assert_int_equal(device_count(found), 1);
    assert_string_equal(text_of(json_object_get(device(found, 0), "chosen"), "backend"), "vulkan");
    json_decref(found);
    add_cuda(machine, "Old GPU,sm_61;" GPU_A);
    found = info(machine);
    assert_int_equal(device_count(found), 3);
    json_decref(found);
    check_taken(machine, NULL, "GPU A", "cuda");
    check_refused(machine, "Old GPU", "compute capability 6.1 is below 7.5");
    free(machine);
}

static void c09_the_backend_that_was_asked_for(void **state)
{
    struct machine *machine = machine_make();
    json_t *found;

    (void)state;
    add_vulkan(machine, lavapipe());
    set(machine, "GANTRY_BACKEND=cuda");
    found = info(machine);
    assert_int_equal(device_count(found), 0);
    check_reason(found, 0, "libcuda.so.1");
    json_decref(found);
    check_refused(machine, "auto", "libcuda.so.1");
    set(machine, "GANTRY_BACKEND=auto");
    check_taken(machine, NULL, "llvmpipe", "vulkan");
    assert_int_equal(count_logged(machine, "the preferred backend cuda can't be"), 1);
    free(machine);
}

/* The driver's own code and name, its version, and what to do; the other backend works. */
static void c10_driver_and_library_disagree(void **state)
{
    static const struct {
        int code;
        const char *name, *advice;
    } cases[] = {
        {802, "SYSTEM_NOT_READY (802)", "fabricmanager"},
        {803, "SYSTEM_DRIVER_MISMATCH (803)", "reboot"},
        {804, "COMPAT_NOT_SUPPORTED_ON_DEVICE (804)", "LD_LIBRARY_PATH"},
        {999, "UNKNOWN (999)", "kernel log"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine *machine = machine_make();
        json_t *found;

        add_vulkan(machine, lavapipe());
        add_cuda(machine, GPU_A);
        set(machine, "STANDIN_FAIL=cuInit:1+:%d", cases[i].code);
        found = info(machine);
        check_reason(found, 0, cases[i].name);
        check_reason(found, 0, "CUDA 13.0");
        check_reason(found, 0, cases[i].advice);
        assert_int_equal(device_count(found), 1);
        json_decref(found);
        check_taken(machine, NULL, "llvmpipe", "vulkan");
        free(machine);
    }
}

/* What a driver answers in a child of a process that had started it. */
static void c41_a_driver_that_was_forked(void **state)
{
    struct machine *machine = machine_make();
    json_t *found;

    (void)state;
    add_cuda(machine, GPU_A);
    set(machine, "STANDIN_FAIL=cuInit:1+:3");
    found = info(machine);
    check_reason(found, 0, "NOT_INITIALIZED (3)");
    check_reason(found, 0, "fork before gantry_open()");
    json_decref(found);
    free(machine);
}

/* Vendor, and where block and grid sizes come from, as JSON and as text. */
static void info_tells_vendor_and_occupancy(void **state)
{
    struct machine *machine = machine_make();
    struct outcome outcome;
    json_t *found;

    (void)state;
    add_vulkan(machine, lavapipe());
    add_cuda(machine, GPU_A);
    found = info(machine);
    assert_int_equal(json_integer_value(json_object_get(device(found, 0), "vendor_id")), 0x10de);
    assert_int_equal(json_integer_value(json_object_get(device(found, 1), "vendor_id")), 0x10005);
    assert_non_null(strstr(text_of(device(found, 0), "occupancy_source"), "cuOccupancy"));
    assert_non_null(strstr(text_of(device(found, 1), "occupancy_source"), "from its limits"));
    json_decref(found);
    outcome = gantry(machine, "info", NULL, NULL, NULL);
    assert_non_null(strstr(outcome.out, "vendor             0x10de\n"));
    assert_non_null(strstr(outcome.out, "blocks and grids   cuOccupancy"));
    outcome_free(&outcome);
    free(machine);
}

/* A device that a file keeps from being opened: which line does. */
static void a_refused_value_names_its_line(void **state)
{
    struct machine *machine = machine_make();

    (void)state;
    add_vulkan(machine, lavapipe());
    scratch_write("family.ini", "[policy]\nchains = 2\nvulkan.queue_family = 60\n");
    set(machine, "GANTRY_CONFIG=none:%s", scratch_path("family.ini"));
    assert_int_equal(count_logged(machine, "family.ini:3): queue family 60 does not exist"), 1);
    free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c01_software_device_alone),
        cmocka_unit_test(c01_software_device_beside_a_gpu),
        cmocka_unit_test(c02_one_driver_found_twice),
        cmocka_unit_test(c03_one_card_through_two_backends),
        cmocka_unit_test(c05_visible_devices),
        cmocka_unit_test(c05_hidden_from_cuda_only),
        cmocka_unit_test(c06_junk_selects_nothing),
        cmocka_unit_test(c07_no_driver),
        cmocka_unit_test(c08_a_broken_driver_beside_a_good_one),
        cmocka_unit_test(c09_the_backend_that_was_asked_for),
        cmocka_unit_test(c10_driver_and_library_disagree),
        cmocka_unit_test(c41_a_driver_that_was_forked),
        cmocka_unit_test(info_tells_vendor_and_occupancy),
        cmocka_unit_test(a_refused_value_names_its_line),
    };

    return cmocka_run_group_tests_name("discovery", tests, scratch_open, scratch_close);
}
