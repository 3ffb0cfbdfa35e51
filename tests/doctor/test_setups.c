/* gantry doctor on machines, installations and packages that are broken in the ways that people
 * meet: each time it must name the cause and what can be done. Tests named cNN are failures that
 * have been seen in other programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../unit/gpk_builder.h"
#include "../unit/scratch.h"
#include "setup.h"

/* ---- Nothing is wrong ----------------------------------------------------------------------- */

static void check_healthy(const struct setup *setup)
{
    struct outcome outcome = examine_as_text(setup);
    json_t *result = examine(setup);

    check_well(result);
    assert_int_equal(outcome.status, 0);
    if (!strstr(outcome.out, "\nNothing is wrong.\n"))
        fail_msg("%s", outcome.out);
    json_decref(result);
    outcome_free(&outcome);
}

static void a_good_machine_with_cuda_alone(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    check_healthy(setup);
    result = examine(setup);
    check_finding(result, "PLUGIN_LOADED", "ok", "gantry-cuda.so", "");
    check_finding(result, "CUDA_DRIVER", "ok", "CUDA 13.0, 1 GPU", "");
    check_finding(result, "DEVICE_CHOSEN", "ok", "through cuda", "");
    check_finding(result, "DEVICE_MEMORY", "ok", "MiB of memory are free", "");
    json_decref(result);
}

/* Nor are missing Vulkan drivers one where CUDA works. */
static void no_vulkan_driver_beside_cuda(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_no_vulkan();
    add_standin(setup);
    result = examine(setup);
    check_finding(result, "VULKAN_NO_DRIVER", "note", "no driver that has a device", "install");
    check_well(result);
    json_decref(result);
}

/* A missing CUDA driver is no fault where there is no GPU for it. */
static void a_good_machine_with_vulkan_alone(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_no_cuda();
    name_manifests(setup, lavapipe());
    check_healthy(setup);
    result = examine(setup);
    check_finding(result, "CUDA_NOT_NEEDED", "note", "no NVIDIA GPU", "");
    check_finding(result, "VULKAN_ICD", "ok", "can be loaded", "");
    check_finding(result, "DEVICE_SOFTWARE", "note", "a software device", "");
    check_finding(result, "DEVICE_CHOSEN", "ok", "through vulkan", "");
    json_decref(result);
}

static void a_good_package(void **state)
{
    struct setup *setup = setup_make();
    char package[600];
    json_t *result;

    (void)state;
    need_no_cuda();
    snprintf(package, sizeof package, "%s/saxpy.gpk", getenv("GANTRY_TEST_KERNELS"));
    if (access(package, R_OK) != 0) {
        print_message("%s is not built\n", package);
        skip();
    }
    name_manifests(setup, lavapipe());
    setup->arguments[0] = package;
    check_healthy(setup);
    result = examine(setup);
    check_finding(result, "PACKAGE_KERNEL", "ok", "uses spirv", "");
    json_decref(result);
}

/* ---- Plugins -------------------------------------------------------------------------------- */

/* The library where no plugin is: the program alone, with a copy of it. */
static void c38_no_plugins(void **state)
{
    struct setup *setup = setup_make();
    const char *copy = scratch_write("bare/libgantry.so.0", "");
    char library[600];
    const char *const argv[] = {"/bin/cp", library, copy, NULL};
    struct outcome outcome;
    json_t *result;

    (void)state;
    snprintf(library, sizeof library, "%s/libgantry.so.0", getenv("GANTRY_TEST_LIBRARIES"));
    outcome = run(argv, NULL);
    assert_int_equal(outcome.status, 0);
    outcome_free(&outcome);
    setup->tool = getenv("GANTRY_TEST_BARE_TOOL");
    set(setup, "LD_LIBRARY_PATH=%s", scratch_path("bare"));
    set(setup, "GANTRY_PLUGIN_PATH=%s", scratch_path("empty"));
    result = examine(setup);
    if (has_finding(result, "PLUGIN_LOADED")) {
        print_message("plugins are installed where the library looks last\n");
        skip();
    }
    check_finding(result, "PLUGIN_MISSING", "error", scratch_path("empty"), "install gantry's");
    check_finding(result, "PLUGIN_MISSING", "error", scratch_path("bare"), "GANTRY_PLUGIN_PATH");
    check_finding(result, "PLUGIN_MISSING", "error", "plugin vulkan", "");
    check_finding(result, "DEVICE_NONE", "error", "no device", "mend");
    json_decref(result);
}

static void c39_plugins_that_cant_be_used(void **state)
{
    static const struct {
        const char *name, *code, *part, *remedy;
    } cases[] = {
        {"text", "PLUGIN_NOT_A_LIBRARY", "no ELF header", "for this processor"},
        {"newer", "PLUGIN_WRONG_ABI", "needs 2.x", "same version"},
        {"dependency", "PLUGIN_DEPENDENCY_MISSING", "libgantry-not-there.so.9", "install"},
        {"undefined", "PLUGIN_DEPENDENCY_MISSING", "symbol_that_nobody_defines", "rebuild"},
        {"descriptor", "PLUGIN_NO_DESCRIPTOR", "no descriptor", "remove the file"},
        {"magic", "PLUGIN_REFUSED", "0x12345678", "rebuild"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup *setup = setup_make();
        json_t *result;

        set(setup, "GANTRY_BACKEND=%s", cases[i].name);
        set(setup, "GANTRY_PLUGIN_PATH=%s", getenv("GANTRY_TEST_BAD_PLUGINS"));
        result = examine(setup);
        check_finding(result, cases[i].code, "error", cases[i].part, cases[i].remedy);
        check_finding(result, "DEVICE_NONE", "error", cases[i].part, "");
        json_decref(result);
    }
}

/* A bad file in front of a good one is no error. */
static void a_plugin_that_is_passed_over(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    scratch_write("first/gantry-cuda.so", "not a library");
    add_standin(setup);
    set(setup, "GANTRY_PLUGIN_PATH=%s:%s", scratch_path("first"), getenv("GANTRY_TEST_PLUGINS"));
    result = examine(setup);
    check_finding(result, "PLUGIN_PASSED_OVER", "warning", "first/gantry-cuda.so", "remove");
    check_finding(result, "PLUGIN_LOADED", "ok", "gantry-cuda.so", "");
    assert_int_equal(json_integer_value(json_object_get(result, "errors")), 0);
    json_decref(result);
}

/* ---- The CUDA driver ------------------------------------------------------------------------ */

static void a_stub_in_the_place_of_the_driver(void **state)
{
    struct setup *setup = setup_make();
    char driver[600];
    json_t *result;

    (void)state;
    add_standin(setup);
    set(setup, "STANDIN_FAIL=cuInit:1+:34");
    result = examine(setup);
    check_finding(result, "CUDA_STUB", "error", "STUB_LIBRARY (34)", "LD_LIBRARY_PATH");
    json_decref(result);

    snprintf(driver, sizeof driver, "%s/libcuda.so.1", getenv("GANTRY_TEST_STANDIN"));
    assert_int_equal(mkdir(scratch_path("stubs"), 0755), 0);
    assert_int_equal(symlink(driver, scratch_path("stubs/libcuda.so.1")), 0);
    set(setup, "LD_LIBRARY_PATH=%s", scratch_path("stubs"));
    result = examine(setup);
    check_finding(result, "CUDA_STUB", "error", "stubs/libcuda.so.1", "for linking only");
    json_decref(result);
}

static void c10_a_driver_that_does_not_start(void **state)
{
    static const struct {
        int code;
        const char *name, *remedy;
    } cases[] = {
        {802, "SYSTEM_NOT_READY (802)", "nvidia-fabricmanager"},
        {803, "SYSTEM_DRIVER_MISMATCH (803)", "reboot"},
        {804, "COMPAT_NOT_SUPPORTED_ON_DEVICE (804)", "LD_LIBRARY_PATH"},
        {999, "UNKNOWN (999)", "nvidia_uvm"},
        {46, "DEVICE_UNAVAILABLE (46)", "nvidia-smi -c DEFAULT"},
        {777, "CUDA error (777)", "nvidia-smi"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup *setup = setup_make();
        json_t *result;

        add_standin(setup);
        set(setup, "STANDIN_FAIL=cuInit:1+:%d", cases[i].code);
        result = examine(setup);
        check_finding(result, "CUDA_INIT_FAILED", "error", cases[i].name, cases[i].remedy);
        check_finding(result, "CUDA_INIT_FAILED", "error", "CUDA 13.0", "");
        json_decref(result);
    }
}

static void a_driver_that_is_too_old(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    set(setup, "GANTRY_BACKEND=cuda"); /* a GPU that Vulkan has would make it matter less */
    set(setup, "STANDIN_DRIVER=11020");
    result = examine(setup);
    check_finding(result, "CUDA_DRIVER_OLD", "error", "needs 11.4", "update");
    json_decref(result);
    set(setup, "STANDIN_DRIVER=12000");
    result = examine(setup);
    check_finding(result, "CUDA_DRIVER_LACKS", "note", "programmatic edges) (CUDA 12.3)", "update");
    check_well(result);
    json_decref(result);
}

static void a_driver_that_is_missing(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_no_cuda();
    add_pci_gpu("0000:01:00.0", "0x10de\n");
    result = examine(setup);
    check_finding(result, "CUDA_LIBRARY_MISSING", "error", "libcuda.so.1", "install NVIDIA's");
    check_finding(result, "NVIDIA_DEVICES_MISSING", "error", "/dev/nvidia0", "--gpus all");
    json_decref(result);
}

/* A driver that takes its process with it does not take the doctor. */
static void a_driver_that_crashes(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    set(setup, "LD_LIBRARY_PATH=%s", getenv("GANTRY_TEST_CRASHING_DRIVER"));
    result = examine(setup);
    check_finding(result, "CUDA_CRASHED", "error", "Segmentation fault", "reinstall");
    assert_false(has_finding(result, "DEVICES_CRASHED"));
    json_decref(result);
}

/* C05 */
static void c05_hidden_devices(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    set(setup, "CUDA_VISIBLE_DEVICES=0");
    result = examine(setup);
    check_finding(result, "CUDA_DEVICES_HIDDEN", "note", "it is \"0\"", "unset");
    check_well(result);
    json_decref(result);
    set(setup, "GANTRY_BACKEND=cuda");
    add_pci_gpu("0000:01:00.0", "0x10de\n");
    root_file("dev/nvidia0", "");
    set(setup, "CUDA_VISIBLE_DEVICES=");
    result = examine(setup);
    check_finding(result, "CUDA_DEVICES_HIDDEN", "note", "hides every GPU", "unset");
    check_finding(result, "DEVICE_NONE", "error", "CUDA_VISIBLE_DEVICES", "");
    json_decref(result);
}

/* ---- Vulkan's drivers ----------------------------------------------------------------------- */

static void c08_a_broken_driver_beside_a_good_one(void **state)
{
    struct setup *setup = setup_make();
    char list[SETTING_SIZE];
    json_t *result;

    (void)state;
    need_no_cuda();
    snprintf(list, sizeof list, "%s:%s",
             scratch_write("icd/broken.json",
                           "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": "
                           "\"/nowhere/lib.so\", \"api_version\": \"1.3.0\"}}"),
             lavapipe());
    name_manifests(setup, list);
    result = examine(setup);
    check_finding(result, "VULKAN_ICD_LIBRARY_MISSING", "warning", "icd/broken.json", "reinstall");
    check_finding(result, "VULKAN_ICD", "ok", "lvp_icd", "");
    check_finding(result, "DEVICE_CHOSEN", "ok", "llvmpipe", "");
    assert_int_equal(json_integer_value(json_object_get(result, "errors")), 0);
    json_decref(result);
}

/* Some loaders take this one for want of memory, and find no driver at all. */
static void c08_a_broken_manifest_beside_a_good_one(void **state)
{
    struct setup *setup = setup_make();
    char list[SETTING_SIZE];
    json_t *result;

    (void)state;
    snprintf(list, sizeof list, "%s:%s", scratch_write("icd/broken.json", "{\"ICD\": {"),
             lavapipe());
    name_manifests(setup, list);
    result = examine(setup);
    check_finding(result, "VULKAN_ICD_BROKEN", "warning", "icd/broken.json", "reinstall");
    check_finding(result, "VULKAN_ICD_BROKEN", "warning", "no JSON: line 1", "remove");
    check_finding(result, "VULKAN_ICD", "ok", "lvp_icd", "");
    json_decref(result);
}

static void manifests_that_cant_be_used(void **state)
{
    static const char foreign[64] = "\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\3\0\3";
    static const struct {
        const char *library, *code, *severity, *part, *remedy;
    } cases[] = {
        {"libvulkan_nowhere.so", "VULKAN_ICD_LIBRARY_MISSING", "warning", "libvulkan_nowhere.so",
         "reinstall"},
        {"/nowhere/lib.so", "VULKAN_ICD_LIBRARY_MISSING", "warning", "No such file", "reinstall"},
        {"./foreign.so", "VULKAN_ICD_WRONG_ARCH", "note", "another processor", "nothing"},
        {"./one.json", "VULKAN_ICD_BROKEN", "warning", "no shared library", "reinstall"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup *setup = setup_make();
        char text[256];
        json_t *result;

        snprintf(text, sizeof text,
                 "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"%s\", "
                 "\"api_version\": \"1.3.0\"}}",
                 cases[i].library);
        scratch_write_bytes("icd/foreign.so", foreign, sizeof foreign);
        name_manifests(setup, scratch_write("icd/one.json", text));
        result = examine(setup);
        check_finding(result, cases[i].code, cases[i].severity, cases[i].part, cases[i].remedy);
        assert_true(has_finding(result, "VULKAN_NO_DRIVER"));
        json_decref(result);
    }
}

/* Found where the loader looks by itself, and hidden by a variable. */
static void manifests_that_are_shadowed(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_vulkan();
    scratch_write("share/vulkan/icd.d/mine.json", "{\"ICD\": {}}");
    set(setup, "XDG_DATA_DIRS=%s", scratch_path("share"));
    result = examine(setup);
    check_finding(result, "VULKAN_ICD_BROKEN", "warning", "no ICD.library_path", "reinstall");
    json_decref(result);
    name_manifests(setup, "/nonexistent/driver.json");
    result = examine(setup);
    check_finding(result, "VULKAN_ICD_NOT_THERE", "warning", "VK_DRIVER_FILES names it", "unset");
    check_finding(result, "VULKAN_ICD_SHADOWED", "note", "icd.d/mine.json", "unset the variable");
    json_decref(result);
}

static void c07_no_driver_at_all(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_no_cuda();
    need_no_vulkan();
    result = examine(setup);
    check_finding(result, "VULKAN_NO_DRIVER", "error", "no driver that has a device",
                  "install the GPU's Vulkan driver");
    check_finding(result, "DEVICE_NONE", "error", "vulkan: ", "mend");
    check_finding(result, "CUDA_NOT_NEEDED", "note", "no CUDA driver", "");
    json_decref(result);
}

static void no_permission_on_the_render_node(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_no_cuda();
    become_nobody(setup);
    assert_int_equal(chmod(root_file("dev/dri/renderD128", ""), 0), 0);
    assert_int_equal(chmod(scratch_path("root/dev"), 0755), 0);
    assert_int_equal(chmod(scratch_path("root/dev/dri"), 0755), 0);
    result = examine(setup);
    check_finding(result, "RENDER_PERMISSION", "error", "dev/dri/renderD128", "usermod -aG render");
    check_finding(result, "RENDER_PERMISSION", "error", "Permission denied", "log in again");
    json_decref(result);
    assert_int_equal(chmod(scratch_path("root/dev/dri/renderD128"), 0666), 0);
    result = examine(setup);
    assert_false(has_finding(result, "RENDER_PERMISSION"));
    json_decref(result);
}

/* ---- The configuration ---------------------------------------------------------------------- */

static void c48_a_configuration_that_cant_be_read(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    set(setup, "GANTRY_CONFIG=none:%s", scratch_path("missing.ini"));
    result = examine(setup);
    check_finding(result, "CONFIG_UNREADABLE", "error", "missing.ini", "GANTRY_CONFIG");
    check_finding(result, "CONFIG_LEFT_OUT", "note", "without the configuration", "again");
    check_finding(result, "DEVICE", "ok", "Card", "");
    json_decref(result);
}

static void a_configuration_of_somebody_else(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    become_nobody(setup);
    assert_int_equal(chmod(scratch_write("secret.ini", "[policy]\n"), 0), 0);
    set(setup, "GANTRY_CONFIG=none:%s", scratch_path("secret.ini"));
    result = examine(setup);
    check_finding(result, "CONFIG_UNREADABLE", "error", "Permission denied", "readable");
    json_decref(result);
}

static void c48_mistakes_in_the_configuration(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    scratch_write("wrong.ini", "[policy]\nblok_size = 256\nchains = 2\n");
    set(setup, "GANTRY_CONFIG=none:%s", scratch_path("wrong.ini"));
    set(setup, "GANTRY_BATCH_SIZE=many");
    set(setup, "GANTRY_CHAIN=4");
    set(setup, "GANTRY_TEST_SOMETHING=1");
    result = examine(setup);
    check_finding(result, "CONFIG_MISTAKE", "error", "wrong.ini:2", "gantry config --check");
    check_finding(result, "CONFIG_VARIABLE", "error", "environment GANTRY_BATCH_SIZE", "correct");
    check_finding(result, "CONFIG_VARIABLE_DOUBTFUL", "warning", "GANTRY_CHAIN", "name");
    check_finding(result, "DEVICE", "ok", "Card", "");
    json_decref(result);
    set(setup, "GANTRY_CONFIG=none");
    set(setup, "GANTRY_BATCH_SIZE=16");
    set(setup, "GANTRY_CHAIN");
    result = examine(setup);
    check_finding(result, "CONFIG_VARIABLE_UNKNOWN", "note", "GANTRY_TEST_SOMETHING", "unset");
    check_well(result);
    json_decref(result);
    set(setup, "GANTRY_TEST_SOMETHING");
    set(setup, "GANTRY_BACKEND=../evil");
    set(setup, "GANTRY_PLUGIN_PATH=relative");
    result = examine(setup);
    check_finding(result, "CONFIG_VARIABLE", "error", "\"relative\" is not absolute", "correct");
    check_finding(result, "CONFIG_VARIABLE", "error", "\"../evil\" is no list", "correct");
    check_finding(result, "DEVICE", "ok", "Card", "");
    json_decref(result);
}

static void a_stale_tuning(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    scratch_write("tuned.ini", "[gpu Card]\n"
                               "; tuned: cuda 12.2, 2026-01-02, gantry 0.1.0\n"
                               "chains = 2\n");
    set(setup, "GANTRY_CONFIG=none:%s", scratch_path("tuned.ini"));
    result = examine(setup);
    check_finding(result, "TUNING_STALE", "warning", "tuned.ini:2", "gantry tune --write");
    check_finding(result, "TUNING_STALE", "warning", "cuda driver 12.2, but 13.0 runs now", "");
    json_decref(result);
}

/* ---- Packages ------------------------------------------------------------------------------- */

static const struct gantry_kernel_source kernel = {.name = "add",
                                                   .args_name = "add_args",
                                                   .dimensions = 1};

static const char ptx_text[] = ".version 9.9\n.target sm_75\n.address_size 64\n"
                               ".visible .entry add() { ret; }\n";

/* A cubin's head, as far as anybody looks before the driver does. */
static const char cubin[64] = "\177ELF\2\1\1";

static void write_package(const struct gpk_build_image *images, uint32_t count, const char *name)
{
    const struct gpk_build build = {.name = "adders",
                                    .kernels = &kernel,
                                    .kernel_count = 1,
                                    .images = images,
                                    .image_count = count};
    size_t size;
    uint8_t *bytes = gpk_build(&build, &size);

    assert_non_null(bytes);
    scratch_write_bytes(name, bytes, size);
    free(bytes);
}

static json_t *examine_package(struct setup *setup, const char *name)
{
    setup->arguments[0] = scratch_path(name);
    return examine(setup);
}

static void c11_a_package_for_other_architectures(void **state)
{
    const struct gpk_build_image images[] = {
        {.kernel = UINT32_MAX,
         .kind = GANTRY_IMAGE_CUBIN,
         .entry = GANTRY_ENTRY_ALL,
         .arch = 80,
         .data = cubin,
         .size = sizeof cubin},
        {.kernel = UINT32_MAX,
         .kind = GANTRY_IMAGE_CUBIN,
         .entry = GANTRY_ENTRY_ALL,
         .arch = 100,
         .data = cubin,
         .size = sizeof cubin},
    };
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    write_package(images, 2, "other.gpk");
    result = examine_package(setup, "other.gpk");
    check_finding(result, "PACKAGE_NO_IMAGE", "error", "cubin sm_80: ", "for this architecture");
    check_finding(result, "PACKAGE_NO_IMAGE", "error", "cubin sm_100: ", "PTX");
    check_finding(result, "PACKAGE_NO_IMAGE", "error", "is for another architecture", "");
    check_finding(result, "PACKAGE_NO_IMAGE", "error", "kernel add on \"Card\" through cuda", "");
    json_decref(result);
}

static void c12_ptx_that_is_too_new(void **state)
{
    const struct gpk_build_image image = {.kernel = 0,
                                          .kind = GANTRY_IMAGE_PTX,
                                          .entry = GANTRY_ENTRY_ALL,
                                          .arch = 75,
                                          .isa_version = 99,
                                          .data = ptx_text,
                                          .size = sizeof ptx_text - 1};
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    write_package(&image, 1, "new.gpk");
    result = examine_package(setup, "new.gpk");
    check_finding(result, "PACKAGE_NO_IMAGE", "error", "ptx compute_75 .version 9.9", "");
    check_finding(result, "PACKAGE_NO_IMAGE", "error",
                  "the driver of CUDA 13.0 reads PTX up to 9.0", "update the driver");
    json_decref(result);
}

static void packages_that_are_none(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    add_standin(setup);
    scratch_write("text.gpk", "this is no package");
    result = examine_package(setup, "text.gpk");
    check_finding(result, "PACKAGE_BAD", "error", "text.gpk", "compile the package again");
    json_decref(result);
    result = examine_package(setup, "missing.gpk");
    check_finding(result, "PACKAGE_BAD", "error", "No such file", "");
    json_decref(result);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, scratch_open, scratch_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(a_good_machine_with_cuda_alone),
        WITH_FILES(no_vulkan_driver_beside_cuda),
        WITH_FILES(a_good_machine_with_vulkan_alone),
        WITH_FILES(a_good_package),
        WITH_FILES(c38_no_plugins),
        WITH_FILES(c39_plugins_that_cant_be_used),
        WITH_FILES(a_plugin_that_is_passed_over),
        WITH_FILES(a_stub_in_the_place_of_the_driver),
        WITH_FILES(c10_a_driver_that_does_not_start),
        WITH_FILES(a_driver_that_is_too_old),
        WITH_FILES(a_driver_that_is_missing),
        WITH_FILES(a_driver_that_crashes),
        WITH_FILES(c05_hidden_devices),
        WITH_FILES(c08_a_broken_driver_beside_a_good_one),
        WITH_FILES(c08_a_broken_manifest_beside_a_good_one),
        WITH_FILES(manifests_that_cant_be_used),
        WITH_FILES(manifests_that_are_shadowed),
        WITH_FILES(c07_no_driver_at_all),
        WITH_FILES(no_permission_on_the_render_node),
        WITH_FILES(c48_a_configuration_that_cant_be_read),
        WITH_FILES(a_configuration_of_somebody_else),
        WITH_FILES(c48_mistakes_in_the_configuration),
        WITH_FILES(a_stale_tuning),
        WITH_FILES(c11_a_package_for_other_architectures),
        WITH_FILES(c12_ptx_that_is_too_new),
        WITH_FILES(packages_that_are_none),
    };

    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
