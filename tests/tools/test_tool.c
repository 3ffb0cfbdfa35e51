/* The program gantry: what it prints as text and as JSON, and how it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/gantry.h>

#include "../unit/scratch.h"
#include "run.h"

/* Only what a test names counts as configuration. */
#define CLEAN \
    "GANTRY_BACKEND", "GANTRY_DEVICE", "GANTRY_LOG", "GANTRY_CONFIG=none", "GANTRY_PLUGIN_PATH"

static const char *const clean[] = {CLEAN, NULL};

/* The folder of the host plugin. */
static char *plugin_path(void)
{
    static char setting[512];

    snprintf(setting, sizeof setting, "GANTRY_PLUGIN_PATH=%s", getenv("GANTRY_TEST_PLUGINS"));
    return setting;
}

static struct outcome gantry(const char *const *environment, const char *first, const char *second,
                             const char *third, const char *fourth)
{
    const char *const argv[] = {gantry_path(), first, second, third, fourth, NULL};

    return run(argv, environment);
}

static const char *text_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_string(value))
        fail_msg("\"%s\" is missing or no text", key);
    return json_string_value(value);
}

static const json_t *list_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_array(value))
        fail_msg("\"%s\" is missing or no list", key);
    return value;
}

static const json_t *named(const json_t *list, const char *key, const char *name)
{
    const json_t *item;
    size_t i;

    json_array_foreach((json_t *)(uintptr_t)list, i, item)
    {
        if (strcmp(text_of(item, key), name) == 0)
            return item;
    }
    fail_msg("no item has \"%s\": \"%s\"", key, name);
    return NULL;
}

/* ---- Usage ---------------------------------------------------------------------------------- */

static void test_help(void **state)
{
    static const char *const subcommands[] = {"bench", "info", "config", "inspect", "compile"};
    const size_t count = sizeof subcommands / sizeof *subcommands;
    struct outcome outcome = gantry(clean, "--help", NULL, NULL, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.err, "");
    for (size_t i = 0; i < count; i++)
        assert_non_null(strstr(outcome.out, subcommands[i]));
    outcome_free(&outcome);
    for (size_t i = 0; i < count; i++) {
        outcome = gantry(clean, subcommands[i], "--help", NULL, NULL);
        assert_int_equal(outcome.status, 0);
        assert_int_equal(strncmp(outcome.out, "usage: gantry ", 14), 0);
        outcome_free(&outcome);
    }
}

static void test_version(void **state)
{
    struct outcome outcome = gantry(clean, "--version", NULL, NULL, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, "gantry 0.1.0\n");
    outcome_free(&outcome);
}

static void test_wrong_usage(void **state)
{
    static const struct {
        const char *arguments[4], *part;
    } cases[] = {
        {{"launch"}, "'launch'"},
        {{"info", "--jso"}, "'--jso'"},
        {{"info", "--json=1"}, "takes no value"},
        {{"info", "--json", "--json"}, "twice"},
        {{"info", "extra"}, "'extra'"},
        {{"config", "--device"}, "needs a value"},
        {{"config", "--device="}, "needs a value"},
        {{"config", "--device=0", "--device", "1"}, "twice"},
        {{"inspect"}, "PACKAGE is missing"},
        {{"inspect", "--", "a", "b"}, "'b'"},
    };
    struct outcome outcome;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *arguments = cases[i].arguments;

        outcome = gantry(clean, arguments[0], arguments[1], arguments[2], arguments[3]);
        assert_int_equal(outcome.status, 2);
        assert_string_equal(outcome.out, "");
        assert_true(one_line(&outcome, "gantry: ", cases[i].part));
        outcome_free(&outcome);
    }
    outcome = gantry(clean, NULL, NULL, NULL, NULL);
    assert_int_equal(outcome.status, 2);
    outcome_free(&outcome);
}

static void test_output_that_does_not_fit(void **state)
{
    const char *const argv[] = {"/bin/sh", "-c", "\"$GANTRY_TEST_TOOL\" info >/dev/full", NULL};
    struct outcome outcome = run(argv, clean);

    (void)state;
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: ", "No space left"));
    outcome_free(&outcome);
}

/* ---- info ----------------------------------------------------------------------------------- */

static void check_backend(const json_t *backend)
{
    bool loaded = json_is_true(json_object_get(backend, "loaded"));

    assert_true(strlen(text_of(backend, "name")) > 0);
    assert_true(json_is_boolean(json_object_get(backend, "loaded")));
    if (loaded)
        assert_true(text_of(backend, "path")[0] == '/');
    else
        assert_true(strlen(text_of(backend, "reason")) > 0);
}

static void check_device(const json_t *device, size_t index)
{
    const json_t *limits = json_object_get(device, "limits");
    const json_t *chosen = json_object_get(device, "chosen");

    assert_int_equal(json_integer_value(json_object_get(device, "index")), index);
    assert_true(strlen(text_of(device, "name")) > 0);
    assert_non_null(strstr("discrete integrated virtual cpu other", text_of(device, "type")));
    assert_true(json_array_size(list_of(device, "backends")) > 0);
    assert_int_equal(json_array_size(list_of(device, "views")),
                     json_array_size(list_of(device, "backends")));
    assert_non_null(json_object_get(device, "uuid"));
    assert_non_null(json_object_get(device, "pci"));
    assert_true(json_is_object(chosen));
    if (json_is_string(json_object_get(chosen, "backend"))) {
        assert_true(strlen(text_of(chosen, "section")) > 0);
        assert_true(json_integer_value(json_object_get(limits, "max_threads_per_block")) >= 128);
        assert_true(json_integer_value(json_object_get(limits, "max_buffer_size")) > 0);
    }
}

static void test_info(void **state)
{
    struct outcome outcome = gantry(clean, "info", "--json", NULL, NULL);
    json_t *object = outcome_json(&outcome), *item;
    size_t i;

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(text_of(object, "version"), "0.1.0");
    assert_int_equal(json_array_size(list_of(object, "config")), 0);
    assert_int_equal(json_array_size(list_of(object, "backends")), 2);
    json_array_foreach(json_object_get(object, "backends"), i, item) check_backend(item);
    json_array_foreach((json_t *)(uintptr_t)list_of(object, "devices"), i, item)
        check_device(item, i);
    json_decref(object);
    outcome_free(&outcome);
}

static void test_info_of_the_host_plugin(void **state)
{
    const char *const environment[] = {
        CLEAN, plugin_path(), "GANTRY_BACKEND=host",
        "GANTRY_HOST_DEVICES=name=Big GPU,type=discrete,pci=0000:01:00.0;name=Small GPU", NULL};
    struct outcome outcome = gantry(environment, "info", "--json", NULL, NULL);
    json_t *object = outcome_json(&outcome);
    const json_t *devices = list_of(object, "devices"), *big;

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_int_equal(json_array_size(devices), 2);
    big = named(devices, "name", "Big GPU");
    assert_string_equal(text_of(big, "type"), "discrete");
    assert_string_equal(text_of(big, "pci"), "0000:01:00.0");
    assert_string_equal(json_string_value(json_array_get(list_of(big, "backends"), 0)), "host");
    assert_string_equal(text_of(json_object_get(big, "chosen"), "backend"), "host");
    json_decref(object);
    outcome_free(&outcome);

    outcome = gantry(environment, "info", NULL, NULL, NULL);
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "0  Big GPU (discrete)"));
    assert_non_null(strstr(outcome.out, "1  Small GPU"));
    assert_non_null(strstr(outcome.out, "opened through host"));
    outcome_free(&outcome);
}

/* The library alone in a folder: nothing of the build beside it. */
static void test_info_without_plugins(void **state)
{
    const char *copy = scratch_write("bare/libgantry.so.0", "");
    char library[600], libraries[600];
    const char *const copy_argv[] = {"/bin/cp", library, copy, NULL};
    const char *const argv[] = {getenv("GANTRY_TEST_BARE_TOOL"), "info", "--json", NULL};
    const char *const environment[] = {CLEAN, libraries, NULL};
    struct outcome outcome;
    json_t *object, *item;
    size_t i;

    (void)state;
    snprintf(library, sizeof library, "%s/libgantry.so.0", getenv("GANTRY_TEST_LIBRARIES"));
    snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", scratch_path("bare"));
    outcome = run(copy_argv, NULL);
    assert_int_equal(outcome.status, 0);
    outcome_free(&outcome);

    outcome = run(argv, environment);
    object = outcome_json(&outcome);
    assert_int_equal(outcome.status, 0);
    json_array_foreach((json_t *)(uintptr_t)list_of(object, "backends"), i, item)
    {
        if (json_is_true(json_object_get(item, "loaded"))) {
            print_message("a plugin is installed: %s\n", text_of(item, "path"));
            skip();
        }
        assert_non_null(strstr(text_of(item, "reason"), scratch_path("bare")));
    }
    assert_int_equal(json_array_size(list_of(object, "devices")), 0);
    json_decref(object);
    outcome_free(&outcome);
}

/* ---- config --------------------------------------------------------------------------------- */

static void test_config_origins(void **state)
{
    char config[300], origin[300], beaten[300];
    const char *const environment[] = {CLEAN, config, "GANTRY_BACKEND=vulkan", NULL};
    struct outcome outcome;
    const json_t *values, *value;
    json_t *object;

    (void)state;
    scratch_write("a.ini", "[gantry]\nbackend = cuda\n\n[policy]\nchains = 3\n");
    snprintf(config, sizeof config, "GANTRY_CONFIG=none:%s", scratch_path("a.ini"));
    outcome = gantry(environment, "config", "--json", NULL, NULL);
    object = outcome_json(&outcome);
    assert_int_equal(outcome.status, 0);
    values = list_of(object, "values");

    value = named(values, "key", "chains");
    snprintf(origin, sizeof origin, "%s:5", scratch_path("a.ini"));
    assert_string_equal(text_of(value, "value"), "3");
    assert_string_equal(text_of(value, "origin"), origin);
    assert_string_equal(text_of(value, "section"), "[policy]");
    assert_int_equal(json_array_size(list_of(value, "overrides")), 1);

    value = named(values, "key", "backend");
    snprintf(beaten, sizeof beaten, "cuda (%s:2", scratch_path("a.ini"));
    assert_string_equal(text_of(value, "value"), "vulkan");
    assert_string_equal(text_of(value, "origin"), "environment GANTRY_BACKEND");
    assert_int_equal(strncmp(json_string_value(json_array_get(list_of(value, "overrides"), 0)),
                             beaten, strlen(beaten)),
                     0);

    value = named(values, "key", "spin_us");
    assert_string_equal(text_of(value, "origin"), "built-in");
    json_decref(object);
    outcome_free(&outcome);
}

static void test_config_text(void **state)
{
    struct outcome outcome = gantry(clean, "config", NULL, NULL, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "chains"));
    assert_non_null(strstr(outcome.out, "built-in"));
    outcome_free(&outcome);
}

static void test_config_of_a_device(void **state)
{
    char config[300];
    const char *const environment[] = {
        CLEAN,
        config,
        plugin_path(),
        "GANTRY_BACKEND=host",
        "GANTRY_HOST_DEVICES=name=Big GPU,type=discrete;name=Small GPU,type=integrated",
        NULL};
    struct outcome outcome;
    const json_t *value;
    json_t *object;

    (void)state;
    scratch_write("gpu.ini", "[policy]\nchains = 3\n[gpu Small GPU]\nchains = 5\n");
    snprintf(config, sizeof config, "GANTRY_CONFIG=none:%s", scratch_path("gpu.ini"));
    outcome = gantry(environment, "config", "--device", "Small GPU", "--json");
    object = outcome_json(&outcome);
    assert_int_equal(outcome.status, 0);
    assert_string_equal(text_of(json_object_get(object, "device"), "name"), "Small GPU");
    value = named(list_of(object, "values"), "key", "chains");
    assert_string_equal(text_of(value, "value"), "5");
    assert_int_equal(json_array_size(list_of(value, "overrides")), 2);
    json_decref(object);
    outcome_free(&outcome);

    outcome = gantry(environment, "config", "--device", "Nobody", NULL);
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: config: ", "Nobody"));
    assert_non_null(strstr(outcome.err, "Big GPU"));
    outcome_free(&outcome);
}

static void test_config_mistake(void **state)
{
    char config[300], place[300];
    const char *const environment[] = {CLEAN, config, NULL};
    struct outcome outcome;

    (void)state;
    scratch_write("bad.ini", "[policy]\nchains = many\n");
    snprintf(config, sizeof config, "GANTRY_CONFIG=none:%s", scratch_path("bad.ini"));
    snprintf(place, sizeof place, "%s:2", scratch_path("bad.ini"));
    outcome = gantry(environment, "config", NULL, NULL, NULL);
    assert_int_equal(outcome.status, 1);
    assert_string_equal(outcome.out, "");
    assert_true(one_line(&outcome, "gantry: config: ", place));
    outcome_free(&outcome);
}

/* ---- inspect -------------------------------------------------------------------------------- */

/* A package that is shipped. */
static const char *package(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", getenv("GANTRY_TEST_KERNELS"), name);
    return path;
}

static void check_saxpy_fields(const json_t *args)
{
    static const struct {
        const char *name, *type;
        int offset;
    } expected[] = {{"x", "pointer", 0},
                    {"y", "pointer", 8},
                    {"a", "float", 16},
                    {"n", "uint32", 20}};
    const json_t *fields = list_of(args, "fields");

    assert_string_equal(text_of(args, "name"), "saxpy_args");
    assert_int_equal(json_integer_value(json_object_get(args, "size")), 24);
    assert_int_equal(json_array_size(fields), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *field = json_array_get(fields, i);

        assert_string_equal(text_of(field, "name"), expected[i].name);
        assert_string_equal(text_of(field, "type"), expected[i].type);
        assert_int_equal(json_integer_value(json_object_get(field, "offset")), expected[i].offset);
    }
}

static void test_inspect(void **state)
{
    struct outcome outcome = gantry(clean, "inspect", package("saxpy.gpk"), "--json", NULL);
    json_t *object = outcome_json(&outcome);
    const json_t *kernel;

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(text_of(object, "name"), "saxpy");
    assert_true(json_is_null(json_object_get(object, "device")));
    kernel = named(list_of(object, "kernels"), "name", "saxpy");
    assert_true(json_is_true(json_object_get(kernel, "grid_stride")));
    assert_true(json_is_null(json_object_get(kernel, "block")));
    assert_true(json_is_null(json_object_get(kernel, "on_device")));
    check_saxpy_fields(json_object_get(kernel, "args"));
    named(list_of(object, "images"), "kind", "spirv");
    named(list_of(object, "images"), "kind", "source");
    json_decref(object);
    outcome_free(&outcome);

    outcome = gantry(clean, "inspect", package("edge.gpk"), NULL, NULL);
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "blur_rows, 2-dimensional"));
    assert_non_null(strstr(outcome.out, "64x4"));
    assert_non_null(strstr(outcome.out, "weights[5]"));
    outcome_free(&outcome);
}

static void test_inspect_on_a_device(void **state)
{
    const char *const environment[] = {CLEAN, plugin_path(), "GANTRY_BACKEND=host",
                                       "GANTRY_HOST_DEVICES", NULL};
    struct outcome outcome;
    const json_t *trial;
    json_t *object;

    (void)state;
    outcome =
        gantry(environment, "inspect", "--device=host:0", "--json", getenv("GANTRY_TEST_PACKAGE"));
    object = outcome_json(&outcome);
    assert_int_equal(outcome.status, 0);
    assert_string_equal(text_of(json_object_get(object, "device"), "backend"), "host");
    trial = json_object_get(named(list_of(object, "kernels"), "name", "levels"), "on_device");
    assert_true(json_is_null(json_object_get(trial, "failure")));
    assert_int_equal(json_integer_value(json_array_get(list_of(trial, "block"), 0)), 256);
    json_decref(object);
    outcome_free(&outcome);

    /* The shipped package has no image for the host: a finding for each kernel. */
    outcome = gantry(environment, "inspect", "--device=host:0", package("saxpy.gpk"), NULL);
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: inspect: ", "saxpy"));
    assert_non_null(strstr(outcome.out, "saxpy_args"));
    outcome_free(&outcome);
}

static void test_inspect_what_is_no_package(void **state)
{
    struct outcome outcome;

    (void)state;
    scratch_write("text.gpk", "This is no package.\n");
    outcome = gantry(clean, "inspect", scratch_path("text.gpk"), "--json", NULL);
    assert_int_equal(outcome.status, 1);
    assert_string_equal(outcome.out, "");
    assert_true(one_line(&outcome, "gantry: inspect: ", "text.gpk"));
    outcome_free(&outcome);
    outcome = gantry(clean, "inspect", scratch_path("missing.gpk"), NULL, NULL);
    assert_int_equal(outcome.status, 1);
    assert_true(one_line(&outcome, "gantry: inspect: ", "missing.gpk"));
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_wrong_usage),
        cmocka_unit_test(test_output_that_does_not_fit),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_info_of_the_host_plugin),
        cmocka_unit_test(test_info_without_plugins),
        cmocka_unit_test(test_config_origins),
        cmocka_unit_test(test_config_text),
        cmocka_unit_test(test_config_of_a_device),
        cmocka_unit_test(test_config_mistake),
        cmocka_unit_test(test_inspect),
        cmocka_unit_test(test_inspect_on_a_device),
        cmocka_unit_test(test_inspect_what_is_no_package),
    };

    return cmocka_run_group_tests_name("tools", tests, scratch_open, scratch_close);
}
