#include <dlfcn.h>
#include <glob.h>
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

#include "../unit/scratch.h"
#include "setup.h"

void set(struct setup *setup, const char *format, ...)
{
    va_list arguments;

    assert_true(setup->count < SETTINGS);
    va_start(arguments, format);
    vsnprintf(setup->texts[setup->count], SETTING_SIZE, format, arguments);
    va_end(arguments);
    setup->list[setup->count] = setup->texts[setup->count];
    setup->count++;
}

struct setup *setup_make(void)
{
    static const char *const clean[] = {"GANTRY_DEVICE",        "GANTRY_LOG",
                                        "GANTRY_BACKEND",       "STANDIN_DEVICES",
                                        "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH",
                                        "VK_DRIVER_FILES",      "VK_ICD_FILENAMES",
                                        "VK_ADD_DRIVER_FILES"};
    static struct setup setup;

    memset(&setup, 0, sizeof setup);
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
        set(&setup, "%s", clean[i]);
    set(&setup, "GANTRY_CONFIG=none");
    set(&setup, "GANTRY_PLUGIN_PATH=%s", getenv("GANTRY_TEST_PLUGINS"));
    set(&setup, "HOME=%s", scratch_path("home"));
    set(&setup, "XDG_CONFIG_DIRS=%s", scratch_path("nothing"));
    set(&setup, "XDG_DATA_DIRS=%s", scratch_path("nothing"));
    root_file("proc/sys/kernel/osrelease", "6.1.0-test\n");
    return &setup;
}

const char *root_file(const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof path, "root/%s", name);
    return scratch_write(path, text);
}

/* ---- Drivers -------------------------------------------------------------------------------- */

void add_standin(struct setup *setup)
{
    set(setup, "LD_LIBRARY_PATH=%s", getenv("GANTRY_TEST_STANDIN"));
    set(setup, "STANDIN_DEVICES=Card,sm_90");
}

const char *lavapipe(void)
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

void need_vulkan(void)
{
    const char *built = getenv("GANTRY_TEST_VULKAN");

    if (built && strcmp(built, "1") == 0)
        return;
    print_message("gantry was built without Vulkan\n");
    skip();
}

void need_no_cuda(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (!library)
        return;
    dlclose(library);
    print_message("this machine has a CUDA driver\n");
    skip();
}

void need_no_vulkan(void)
{
    glob_t found;

    need_vulkan();
    if (glob("/etc/vulkan/icd.d/*.json", 0, NULL, &found) == 0 ||
        glob("/usr/local/etc/vulkan/icd.d/*.json", 0, NULL, &found) == 0) {
        print_message("this machine has %s\n", found.gl_pathv[0]);
        globfree(&found);
        skip();
    }
}

void name_manifests(struct setup *setup, const char *list)
{
    need_vulkan();
    set(setup, "VK_DRIVER_FILES=%s", list);
    set(setup, "VK_ICD_FILENAMES=%s", list);
}

void add_pci_gpu(const char *address, const char *vendor)
{
    char name[256];

    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/vendor", address);
    root_file(name, vendor);
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/class", address);
    root_file(name, "0x030000\n");
}

/* ---- Another user --------------------------------------------------------------------------- */

/* The program and its libraries must be within the user's reach. */
void become_nobody(struct setup *setup)
{
    const char *const try[] = {"/usr/bin/setpriv",
                               "--reuid=65534",
                               "--regid=65534",
                               "--clear-groups",
                               "--",
                               "/bin/sh",
                               "-c",
                               "exec \"$0\" info >&2",
                               gantry_path(),
                               NULL};
    const char *const environment[] = {"GANTRY_CONFIG=none", NULL};
    struct outcome outcome;

    if (geteuid() != 0)
        return; /* a file's mode is enough */
    if (access(try[0], X_OK) != 0) {
        print_message("root may read everything, and there is no %s to be somebody else\n", try[0]);
        skip();
    }
    outcome = run(try, environment);
    if (outcome.status != 0) {
        print_message("another user can't run the program: %s\n", outcome.err);
        outcome_free(&outcome);
        skip();
    }
    outcome_free(&outcome);
    setup->nobody = true;
    assert_int_equal(chmod(scratch_path("."), 0755), 0);
    assert_int_equal(chmod(scratch_path("root"), 0755), 0);
}

/* ---- Running -------------------------------------------------------------------------------- */

static struct outcome run_doctor(const struct setup *setup, bool json)
{
    static const char *const nobody[] = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                         "--clear-groups", "--"};
    const char *argv[24];
    size_t count = 0;

    for (size_t i = 0; setup->nobody && i < sizeof nobody / sizeof *nobody; i++)
        argv[count++] = nobody[i];
    argv[count++] = setup->tool ? setup->tool : gantry_path();
    argv[count++] = "doctor";
    if (json)
        argv[count++] = "--json";
    argv[count++] = "--root";
    argv[count++] = scratch_path("root");
    for (size_t i = 0; i < ARGUMENTS && setup->arguments[i]; i++)
        argv[count++] = setup->arguments[i];
    argv[count] = NULL;
    return run(argv, setup->list);
}

struct outcome examine_as_text(const struct setup *setup)
{
    return run_doctor(setup, false);
}

json_t *examine(const struct setup *setup)
{
    struct outcome outcome = run_doctor(setup, true);
    json_t *result = outcome_json(&outcome);
    json_int_t errors = json_integer_value(json_object_get(result, "errors"));

    assert_string_equal(outcome.err, "");
    assert_int_equal(outcome.status, errors > 0);
    outcome_free(&outcome);
    return result;
}

/* ---- Looking -------------------------------------------------------------------------------- */

static const char *text_of(const json_t *finding, const char *key)
{
    const char *text = json_string_value(json_object_get(finding, key));

    if (!text)
        fail_msg("a finding has no %s", key);
    return text;
}

static bool says(const json_t *finding, const char *part)
{
    return strstr(text_of(finding, "what"), part) || strstr(text_of(finding, "why"), part) ||
           strstr(text_of(finding, "subject"), part);
}

void check_finding(const json_t *result, const char *code, const char *severity, const char *part,
                   const char *remedy)
{
    const json_t *finding;
    size_t i;

    json_array_foreach(json_object_get(result, "findings"), i, finding)
    {
        if (strcmp(text_of(finding, "code"), code) == 0 &&
            strcmp(text_of(finding, "severity"), severity) == 0 && says(finding, part) &&
            strstr(text_of(finding, "remedy"), remedy))
            return;
    }
    json_dumpf(result, stderr, JSON_INDENT(1));
    fail_msg("no %s %s says \"%s\" and to do \"%s\"", severity, code, part, remedy);
}

bool has_finding(const json_t *result, const char *code)
{
    const json_t *finding;
    size_t i;

    json_array_foreach(json_object_get(result, "findings"), i, finding)
    {
        if (strcmp(text_of(finding, "code"), code) == 0)
            return true;
    }
    return false;
}

void check_well(const json_t *result)
{
    if (json_integer_value(json_object_get(result, "errors")) == 0 &&
        json_integer_value(json_object_get(result, "warnings")) == 0)
        return;
    json_dumpf(result, stderr, JSON_INDENT(1));
    fail_msg("something is wrong where nothing is");
}
