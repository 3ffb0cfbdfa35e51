/* gantry doctor: containers, WSL, device files, and devices of many kinds on the host plugin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../unit/gpk_builder.h"
#include "../unit/scratch.h"
#include "setup.h"

/* ---- Machines ------------------------------------------------------------------------------- */

/* The driver's library without its device, as containers have it that were given only the one. */
static void a_container_without_the_device(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    root_file(".dockerenv", "");
    add_pci_gpu("0000:01:00.0", "0x10de\n");
    add_standin(setup);
    set(setup, "GANTRY_BACKEND=cuda");
    set(setup, "STANDIN_DEVICES=");
    result = examine(setup);
    check_finding(result, "CONTAINER", "note", ".dockerenv", "");
    check_finding(result, "NVIDIA_DEVICES_MISSING", "error", "this is a container", "--gpus all");
    check_finding(result, "CUDA_NO_DEVICE", "error", "no /dev/nvidiactl", "--gpus all");
    check_finding(result, "MACHINE", "ok", "1 of NVIDIA, 0 of AMD", "");
    json_decref(result);
}

static void wsl_without_and_with_its_device(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_no_cuda();
    root_file("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
    root_file("usr/lib/wsl/lib/libcuda.so.1", "");
    root_file("usr/lib/x86_64-linux-gnu/libcuda.so.1", "");
    result = examine(setup);
    check_finding(result, "WSL", "note", "microsoft", "");
    check_finding(result, "WSL_DEVICE_MISSING", "error", "/dev/dxg", "wsl --update");
    check_finding(result, "WSL_LIBRARY_SHADOWED", "warning", "x86_64-linux-gnu", "remove");
    check_finding(result, "CUDA_LIBRARY_MISSING", "error", "libcuda.so.1", "");
    json_decref(result);
    root_file("dev/dxg", "");
    assert_int_equal(remove(scratch_path("root/usr/lib/x86_64-linux-gnu/libcuda.so.1")), 0);
    result = examine(setup);
    assert_false(has_finding(result, "WSL_DEVICE_MISSING"));
    assert_false(has_finding(result, "WSL_LIBRARY_SHADOWED"));
    json_decref(result);
}

/* Chips that only draw, and functions of a GPU that are none, do not count. */
static void gpus_on_the_bus(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    need_no_cuda();
    need_no_vulkan();
    add_pci_gpu("0000:01:00.0", "0x1002\n");
    add_pci_gpu("0000:02:00.0", "0x1a03\n");
    root_file("sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");
    root_file("sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");
    result = examine(setup);
    check_finding(result, "MACHINE", "ok", "0 of NVIDIA, 1 of AMD, 0 of Intel", "");
    check_finding(result, "RENDER_NODE_MISSING", "error", "a GPU of AMD", "--device /dev/dri");
    check_finding(result, "CUDA_NOT_NEEDED", "note", "no NVIDIA GPU", "");
    json_decref(result);
    name_manifests(setup, lavapipe());
    result = examine(setup);
    check_finding(result, "DEVICE_SOFTWARE_ONLY", "warning", "this machine has a GPU", "above");
    json_decref(result);
}

static void no_permission_on_nvidias_files(void **state)
{
    struct setup *setup = setup_make();
    json_t *result;

    (void)state;
    become_nobody(setup);
    assert_int_equal(chmod(root_file("dev/nvidia0", ""), 0), 0);
    assert_int_equal(chmod(root_file("dev/nvidiactl", ""), 0666), 0);
    assert_int_equal(chmod(scratch_path("root/dev"), 0755), 0);
    result = examine(setup);
    check_finding(result, "NVIDIA_PERMISSION", "error", "dev/nvidia0", "group (video)");
    json_decref(result);
}

/* ---- Devices -------------------------------------------------------------------------------- */

static struct setup *host_machine(const char *devices)
{
    struct setup *setup = setup_make();

    set(setup, "GANTRY_BACKEND=host");
    set(setup, "GANTRY_PLUGIN_PATH=%s", getenv("GANTRY_TEST_HOST_PLUGINS"));
    set(setup, "GANTRY_HOST_DEVICES=%s", devices);
    return setup;
}

static void devices_that_are_skipped(void **state)
{
    struct setup *setup = host_machine("name=Good,type=discrete;name=Bad,skipped=lacks a feature");
    json_t *result;

    (void)state;
    result = examine(setup);
    check_finding(result, "DEVICE", "ok", "Good", "");
    check_finding(result, "DEVICE_SKIPPED", "warning", "lacks a feature", "driver");
    assert_int_equal(json_integer_value(json_object_get(result, "errors")), 0);
    json_decref(result);
    setup->arguments[0] = "--device=Bad";
    result = examine(setup);
    check_finding(result, "DEVICE_SELECTION", "error", "lacks a feature", "gantry info");
    json_decref(result);
}

static void a_selection_that_matches_nothing(void **state)
{
    struct setup *setup = host_machine("name=Good,type=discrete");
    json_t *result;

    (void)state;
    setup->arguments[0] = "--device=Other";
    result = examine(setup);
    check_finding(result, "DEVICE_SELECTION", "error", "\"Other\"", "--device");
    json_decref(result);
    setup->arguments[0] = NULL;
    set(setup, "GANTRY_DEVICE=Third");
    result = examine(setup);
    check_finding(result, "DEVICE_SELECTION", "error", "environment GANTRY_DEVICE", "the key");
    json_decref(result);
}

static void twins(void **state)
{
    struct setup *setup = host_machine("name=A,type=discrete,pci=0000:01:00.0;"
                                       "name=B,type=discrete,pci=0000:01:00.0");
    json_t *result;

    (void)state;
    result = examine(setup);
    check_finding(result, "DEVICE_TWIN", "note", "is the same device as host:0", "name it");
    check_well(result);
    json_decref(result);
}

static void a_device_that_does_not_open(void **state)
{
    struct setup *setup = host_machine("name=Card,type=discrete");
    json_t *result;

    (void)state;
    set(setup, "GANTRY_HOST_FAIL=device_open:1+:E_DRIVER");
    result = examine(setup);
    check_finding(result, "DEVICE_OPEN_FAILED", "error", "can't be opened", "what the driver says");
    json_decref(result);
}

static void values_that_a_device_cant_take(void **state)
{
    struct setup *setup = host_machine("name=Small,type=discrete,max_threads_per_block=64,"
                                       "max_block=64x64x64");
    json_t *result;

    (void)state;
    set(setup, "GANTRY_BLOCK_SIZE=256");
    result = examine(setup);
    check_finding(result, "POLICY_CLAMPED", "warning", "block_size = 256 (environment", "section");
    check_finding(result, "POLICY_CLAMPED", "warning", "on \"Small\" it is", "");
    json_decref(result);
}

/* ---- Requirements of kernels ---------------------------------------------------------------- */

static void write_package(const struct gantry_kernel_source *kernel, const char *name)
{
    static const char image[64] = "\177ELF\2\1\1";
    const struct gpk_build_image only = {.kernel = UINT32_MAX,
                                         .kind = GANTRY_IMAGE_HOST,
                                         .entry = GANTRY_ENTRY_ALL,
                                         .data = image,
                                         .size = sizeof image};
    const struct gpk_build build = {
        .name = "made", .kernels = kernel, .kernel_count = 1, .images = &only, .image_count = 1};
    size_t size;
    uint8_t *bytes = gpk_build(&build, &size);

    assert_non_null(bytes);
    scratch_write_bytes(name, bytes, size);
    free(bytes);
}

static void what_kernels_require(void **state)
{
    const struct gantry_kernel_source needy = {.name = "needy",
                                               .args_name = "needy_args",
                                               .dimensions = 1,
                                               .features = GANTRY_FEATURE_DOUBLE};
    const struct gantry_kernel_source large = {.name = "large",
                                               .args_name = "large_args",
                                               .dimensions = 1,
                                               .block = {1024, 1, 1}};
    struct setup *setup = host_machine("name=Small,type=discrete,features=4,"
                                       "max_threads_per_block=64,max_block=64x64x64");
    json_t *result;

    (void)state;
    write_package(&needy, "needy.gpk");
    write_package(&large, "large.gpk");
    setup->arguments[0] = scratch_path("needy.gpk");
    setup->arguments[1] = scratch_path("large.gpk");
    result = examine(setup);
    check_finding(result, "PACKAGE_REQUIREMENT", "error", "64-bit float arithmetic", "another");
    check_finding(result, "PACKAGE_LIMIT", "error", "1024", "smaller block");
    check_finding(result, "PACKAGE", "ok", "1 kernel in 1 images", "");
    json_decref(result);
    set(setup, "GANTRY_HOST_DEVICES=none");
    result = examine(setup);
    check_finding(result, "PACKAGE_NO_DEVICE", "note", "needy.gpk", "devices");
    check_finding(result, "DEVICE_NONE", "error", "no device", "");
    json_decref(result);
}

/* ---- The command ---------------------------------------------------------------------------- */

static void wrong_usage(void **state)
{
    const char *const option[] = {gantry_path(), "doctor", "--nothing", NULL};
    const char *const root[] = {gantry_path(), "doctor", "--root", "/nonexistent", NULL};
    struct outcome outcome = run(option, NULL);

    (void)state;
    assert_int_equal(outcome.status, 2);
    assert_true(one_line(&outcome, "gantry: doctor: ", "--nothing"));
    outcome_free(&outcome);
    outcome = run(root, NULL);
    assert_int_equal(outcome.status, 2);
    assert_true(one_line(&outcome, "gantry: doctor: ", "/nonexistent is no folder"));
    outcome_free(&outcome);
}

/* People get the same as programs: each error with its code and what can be done. */
static void text_for_people(void **state)
{
    struct setup *setup = setup_make();
    struct outcome outcome;

    (void)state;
    add_standin(setup);
    set(setup, "STANDIN_FAIL=cuInit:1+:803");
    outcome = examine_as_text(setup);
    assert_int_equal(outcome.status, 1);
    assert_non_null(strstr(outcome.out, "\nCUDA driver\n  error "));
    assert_non_null(strstr(outcome.out, "[CUDA_INIT_FAILED]\n"));
    assert_non_null(strstr(outcome.out, "(803): "));
    assert_non_null(strstr(outcome.out, "to do: reboot"));
    assert_null(strstr(outcome.out, "Nothing is wrong"));
    assert_true(strstr(outcome.out, "Plugins\n") < strstr(outcome.out, "CUDA driver\n"));
    assert_true(strstr(outcome.out, "CUDA driver\n") < strstr(outcome.out, "Devices\n"));
    outcome_free(&outcome);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, scratch_open, scratch_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(a_container_without_the_device),
        WITH_FILES(wsl_without_and_with_its_device),
        WITH_FILES(gpus_on_the_bus),
        WITH_FILES(no_permission_on_nvidias_files),
        WITH_FILES(devices_that_are_skipped),
        WITH_FILES(a_selection_that_matches_nothing),
        WITH_FILES(twins),
        WITH_FILES(a_device_that_does_not_open),
        WITH_FILES(values_that_a_device_cant_take),
        WITH_FILES(what_kernels_require),
        WITH_FILES(wrong_usage),
        WITH_FILES(text_for_people),
    };

    return cmocka_run_group_tests_name("doctor machines", tests, NULL, NULL);
}
