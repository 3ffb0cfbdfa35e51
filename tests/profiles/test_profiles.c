/* gantry config on machines that are described: which policy they get, and which profiles are
 * refused. Tests named cNN are failures that have been seen in other programs. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../tools/run.h"
#include "../unit/scratch.h"

enum { ARGUMENTS = 8, SETTING_SIZE = 600 };

/* Runs `gantry config --json` and more under one configuration file: "none:FILE". */
static struct outcome config(const char *files, const char *const *more)
{
    const char *argv[4 + ARGUMENTS] = {gantry_path(), "config", "--json"};
    char setting[SETTING_SIZE];
    const char *const environment[] = {setting,
                                       "GANTRY_BACKEND",
                                       "GANTRY_DEVICE",
                                       "GANTRY_LOG",
                                       "VK_DRIVER_FILES=/nonexistent.json", /* only to be quick */
                                       "VK_ICD_FILENAMES=/nonexistent.json",
                                       NULL};

    for (size_t i = 0; more[i]; i++)
        argv[3 + i] = more[i];
    snprintf(setting, sizeof setting, "GANTRY_CONFIG=%s", files);
    return run(argv, environment);
}

/* A file of this folder; valid until the next but one call. */
static const char *here(const char *name, const char *suffix)
{
    static char paths[2][512];
    static int next;
    char *path = paths[next ^= 1];

    snprintf(path, sizeof paths[0], "%s/%s%s", getenv("GANTRY_TEST_PROFILES"), name, suffix);
    return path;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);

    if (!file)
        fail_msg("%s can't be read", path);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static const char *text_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value) ? json_string_value(value) : NULL;
}

/* ---- The expected policies ------------------------------------------------------------------ */

static void add_value(const json_t *value, char *text, size_t size)
{
    const char *section = text_of(value, "section"), *clamped = text_of(value, "clamped");
    size_t length = strlen(text);

    if (section && strcmp(section, "[gantry]") != 0)
        snprintf(text + length, size - length, "%s = %s %s%s%s\n", text_of(value, "key"),
                 text_of(value, "value"), section, clamped ? "; here " : "",
                 clamped ? clamped : "");
}

/* As NAME.expected has it. */
static void write_down(const json_t *object, char *text, size_t size)
{
    const json_t *device = json_object_get(object, "device"), *value;
    size_t i;

    snprintf(text, size, "%s through %s\n", text_of(device, "name"), text_of(device, "backend"));
    json_array_foreach(json_object_get(object, "values"), i, value)
    {
        add_value(value, text, size);
    }
}

static void check_policy(const char *rules, const char *name, const char *backend)
{
    const char *const arguments[] = {"--profile", here(name, ".json"), backend ? "--backend" : NULL,
                                     backend, NULL};
    struct outcome outcome = config(rules, arguments);
    char expectation[64], found[8192];
    json_t *object;
    char *expected;

    if (outcome.status != 0)
        fail_msg("%s: %s", name, outcome.err);
    snprintf(expectation, sizeof expectation, "%s%s%s.expected", name, backend ? "." : "",
             backend ? backend : "");
    expected = read_file(here(expectation, ""));
    object = outcome_json(&outcome);
    write_down(object, found, sizeof found);
    assert_string_equal(found, expected);
    json_decref(object);
    free(expected);
    outcome_free(&outcome);
}

static void check_all(const char *file)
{
    static const char *const names[] = {"h200",     "a100",     "rtx-4060-laptop",
                                        "arc-a770", "apple-m2", "rtx-4060-ti",
                                        "llvmpipe", "made-up",  "rx-7900-xtx"};
    char rules[SETTING_SIZE];

    snprintf(rules, sizeof rules, "none:%s", file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_policy(rules, names[i], NULL);
    check_policy(rules, "h200", "vulkan");
    check_policy(rules, "rtx-4060-laptop", "vulkan");
}

static void every_profile_gets_its_policy(void **state)
{
    (void)state;
    check_all(here("rules", ".ini"));
}

/* Where the last section of a text begins; NULL when it has none. */
static char *last_section(char *text)
{
    char *section = strrchr(text, '[');

    while (section && section > text && section[-1] != '\n')
        section = memrchr(text, '[', (size_t)(section - text));
    return section;
}

/* C49: the most specific wins whatever the order of the sections. */
static void c49_the_order_of_sections_does_not_matter(void **state)
{
    char *rules = read_file(here("rules", ".ini")), *section;
    char *turned = calloc(1, strlen(rules) + 1);

    (void)state;
    assert_non_null(turned);
    while ((section = last_section(rules))) {
        strcat(turned, section);
        *section = '\0';
    }
    scratch_write("turned.ini", turned);
    free(turned);
    free(rules);
    check_all(scratch_path("turned.ini"));
}

/* ---- Names (C49) ---------------------------------------------------------------------------- */

static void check_chains(const char *rules, const char *name, const char *chains)
{
    char profile[400], files[SETTING_SIZE];
    const char *const arguments[] = {"--profile", scratch_path("named.json"), NULL};
    struct outcome outcome;
    const json_t *value;
    json_t *object;
    size_t i;

    snprintf(profile, sizeof profile,
             "{\"devices\": [{\"name\": \"%s\", \"type\": \"discrete\", "
             "\"views\": [{\"backend\": \"vulkan\"}]}]}",
             name);
    scratch_write("named.json", profile);
    scratch_write("named.ini", rules);
    snprintf(files, sizeof files, "none:%s", scratch_path("named.ini"));
    outcome = config(files, arguments);
    object = outcome_json(&outcome);
    json_array_foreach(json_object_get(object, "values"), i, value)
    {
        if (strcmp(text_of(value, "key"), "chains") == 0 &&
            strcmp(text_of(value, "value"), chains) != 0)
            fail_msg("\"%s\" gets chains = %s, not %s", name, text_of(value, "value"), chains);
    }
    json_decref(object);
    outcome_free(&outcome);
}

static void c49_one_model_under_many_names(void **state)
{
    static const char *const rules[] = {
        "[gpu RTX 4060]\nchains = 1\n[gpu RTX 4060 Ti]\nchains = 2\n[gpu Radeon 8060S]\nchains = "
        "3\n",
        "[gpu Radeon 8060S]\nchains = 3\n[gpu RTX 4060 Ti]\nchains = 2\n[gpu RTX 4060]\nchains = "
        "1\n",
    };
    static const struct {
        const char *name, *chains;
    } cases[] = {
        {"NVIDIA GeForce RTX 4060", "1"},
        {"NVIDIA GeForce RTX 4060 Ti", "2"},
        {"NVIDIA GeForce RTX 4060 Laptop GPU", "8"},
        {"AMD Radeon(TM) 8060S Graphics (RADV GFX1151)", "3"},
        {"Radeon 8060S Graphics (RADV GFX1151)", "3"},
        {"AMD Radeon 8060S", "3"},
        {"NVIDIA  GeForce   RTX  4060", "1"},
        {"nvidia geforce rtx 4060 ti", "2"},
        {"NVIDIA GEFORCE RTX 4060", "1"},
        {"AMD Radeon 8060S Pro", "8"},
        {"NVIDIA GeForce RTX 40600", "8"},
    };

    (void)state;
    for (size_t r = 0; r < 2; r++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            check_chains(rules[r], cases[i].name, cases[i].chains);
    }
}

/* ---- Which device of a machine -------------------------------------------------------------- */

static void check_device(const char *const *arguments, const char *name, const char *backend)
{
    struct outcome outcome = config("none", arguments);
    json_t *object;

    if (outcome.status != 0)
        fail_msg("%s: %s", name, outcome.err);
    object = outcome_json(&outcome);
    assert_string_equal(text_of(json_object_get(object, "device"), "name"), name);
    if (backend)
        assert_string_equal(text_of(json_object_get(object, "device"), "backend"), backend);
    else
        assert_true(json_is_null(json_object_get(json_object_get(object, "device"), "backend")));
    json_decref(object);
    outcome_free(&outcome);
}

static void a_device_is_chosen_as_on_that_machine(void **state)
{
    const char *profile = here("made-up", ".json");
    const char *const chosen[] = {"--profile", profile, NULL};
    const char *const named[] = {"--profile", profile, "--device", "Made-Up Processor", NULL};
    const char *const view[] = {"--profile", profile, "--device", "vulkan:2", NULL};
    const char *const number[] = {"--profile", profile, "--device", "2", NULL};
    const char *const third[] = {"--profile", profile, "--index", "2", NULL};
    const char *const skipped[] = {"--profile", profile, "--index", "0", "--backend", "cuda", NULL};

    (void)state;
    check_device(chosen, "Made-Up Card", "vulkan");
    check_device(named, "Made-Up Processor", "vulkan");
    check_device(view, "Made-Up Processor", "vulkan");
    check_device(number, "Made-Up Processor", "vulkan");
    check_device(third, "Made-Up Processor", "vulkan");
    check_device(skipped, "Made-Up Card", NULL);
}

static void check_refused(const char *const *arguments, int status, const char *part)
{
    struct outcome outcome = config("none", arguments);

    assert_int_equal(outcome.status, status);
    assert_string_equal(outcome.out, "");
    assert_true(one_line(&outcome, "gantry: config: ", part));
    outcome_free(&outcome);
}

static void what_no_device_of_the_machine_is(void **state)
{
    const char *profile = here("made-up", ".json");
    const char *const nobody[] = {"--profile", profile, "--device", "Nobody", NULL};
    const char *const backend[] = {"--profile", profile, "--backend", "cuda", NULL};
    const char *const unknown[] = {"--profile", profile, "--backend", "metal", NULL};
    const char *const large[] = {"--profile", profile, "--index", "3", NULL};
    const char *const junk[] = {"--profile", profile, "--index", "-1", NULL};
    const char *const alone[] = {"--index", "0", NULL};
    const char *const both[] = {"--profile", profile, "--index", "0", "--device", "0", NULL};

    (void)state;
    check_refused(nobody, 1, "0 \"Made-Up Card\" (discrete;");
    check_refused(backend, 1, "compute mode prohibits");
    check_refused(unknown, 1, "\"metal\" is not among those");
    check_refused(large, 1, "0 to 2");
    check_refused(junk, 1, "'-1'");
    check_refused(alone, 2, "--profile");
    check_refused(both, 2, "leave one out");
}

/* ---- What is no profile --------------------------------------------------------------------- */

static void junk_is_refused_with_its_place(void **state)
{
#define DEVICE(more) "{\"devices\": [{\"name\": \"x\", \"type\": \"cpu\", " more "}]}"
#define VIEWS        "\"views\": [{\"backend\": \"vulkan\"}]"
#define LIMITS(text) DEVICE(VIEWS ", \"limits\": " text)
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "junk.json:1: "},
        {"no JSON", "junk.json:1: "},
        {"{\"devices\": [\n{\"name\": \"x\" \"y\"}]}", "junk.json:2: "},
        {"[1]", "it must be an object with devices"},
        {"{}", "devices is missing"},
        {"{\"devices\": {}}", "devices is an object (write a list)"},
        {"{\"devices\": []}", "devices has no items"},
        {"{\"devices\": [], \"devices\": []}", "duplicate object key"},
        {"{\"devices\": [7]}", "is a number"},
        {"{\"devices\": [{}]}", "devices[0].name is missing"},
        {"{\"devices\": [{\"name\": 7}]}", "devices[0].name is a number"},
        {"{\"devices\": [{\"name\": \"x\"}]}", "devices[0].type is missing"},
        {"{\"devices\": [{\"name\": \"x\", \"type\": \"gpu\"}]}", "discrete, integrated"},
        {"{\"devices\": [{\"name\": \"\", \"type\": \"cpu\", " VIEWS "}]}", "1 to 255"},
        {DEVICE("\"uuid\": null"), "devices[0].views is missing"},
        {DEVICE("\"views\": []"), "1 to 8 backends"},
        {DEVICE("\"views\": [1]"), "is a number"},
        {DEVICE("\"views\": [{}]"), "devices[0].views[0].backend is missing"},
        {DEVICE("\"views\": [{\"backend\": \"../x\"}]"), "is no name of a backend"},
        {DEVICE("\"views\": [{\"backend\": \"cuda\", \"index\": -1}]"), "index is negative"},
        {DEVICE(VIEWS ", \"uuid\": \"GPU-1\""), "uuid \"GPU-1\" is not like"},
        {DEVICE(VIEWS ", \"pci\": \"01:00\""), "pci \"01:00\" is not like"},
        {DEVICE(VIEWS ", \"vendor_id\": 4294967296"), "vendor_id is too large"},
        {DEVICE(VIEWS ", \"vendor_id\": \"0x10de\""), "vendor_id is a text"},
        {LIMITS("[]"), "limits is a list"},
        {LIMITS("{\"max_shared_bytes\": 1.5}"), "limits.max_shared_bytes is a number"},
        {LIMITS("{\"max_shared_bytes\": -1}"), "limits.max_shared_bytes is negative"},
        {LIMITS("{\"max_shared_bytes\": 4294967296}"), "from 0 to 4294967295"},
        {LIMITS("{\"memory_size\": 99999999999999999999999}"), "too big"},
        {LIMITS("{\"max_block\": [1, 2]}"), "limits.max_block is no list of three"},
        {LIMITS("{\"max_block\": [1, 2, \"3\"]}"), "limits.max_block is a text"},
    };
    const char *const arguments[] = {"--profile", scratch_path("junk.json"), NULL};
    const char *const missing[] = {"--profile", "/nonexistent/profile.json", NULL};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_write("junk.json", cases[i].text);
        check_refused(arguments, 1, cases[i].part);
    }
    check_refused(missing, 1, "/nonexistent/profile.json");
}

static void what_is_unknown_is_left_out(void **state)
{
    const char *const arguments[] = {"--profile", scratch_path("bare.json"), NULL};

    (void)state;
    scratch_write("bare.json", DEVICE("\"uuid\": null, \"limits\": null, \"later\": 1, " VIEWS));
    check_device(arguments, "x", "vulkan");
}

/* ---- This machine --------------------------------------------------------------------------- */

/* A profile of what the host plugin shows gets the values that the devices themselves get. */
static void a_profile_of_this_machine_is_this_machine(void **state)
{
    char plugins[SETTING_SIZE];
    const char *const environment[] = {
        "GANTRY_CONFIG=none",
        "GANTRY_BACKEND=host",
        "GANTRY_CHAINS=5",
        plugins,
        "GANTRY_HOST_DEVICES=name=Big GPU,type=discrete,pci=0000:01:00.0,vendor=0x10de;name=Small",
        NULL};
    const char *const info[] = {gantry_path(), "info", "--json", NULL};
    const char *const real[] = {gantry_path(), "config", "--json", "--device", "auto", NULL};
    const char *const described[] = {
        gantry_path(), "config", "--json", "--profile", scratch_path("this.json"), NULL};
    struct outcome outcome;
    json_t *a, *b;

    (void)state;
    snprintf(plugins, sizeof plugins, "GANTRY_PLUGIN_PATH=%s", getenv("GANTRY_TEST_PLUGINS"));
    outcome = run(info, environment);
    assert_int_equal(outcome.status, 0);
    scratch_write("this.json", outcome.out);
    outcome_free(&outcome);
    outcome = run(real, environment);
    a = outcome_json(&outcome);
    outcome_free(&outcome);
    outcome = run(described, environment);
    b = outcome_json(&outcome);
    outcome_free(&outcome);
    assert_true(json_equal(json_object_get(a, "device"), json_object_get(b, "device")));
    assert_true(json_array_size(json_object_get(a, "values")) > 10);
    json_decref(a);
    json_decref(b);
}

/* ---- The shipped gpu.d ---------------------------------------------------------------------- */

static int is_ini(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');

    return end && strcmp(end, ".ini") == 0;
}

static void check_lint(const char *path)
{
    const char *const argv[] = {gantry_path(), "config", "--check", path, "--json", NULL};
    struct outcome outcome = run(argv, NULL);
    json_t *object = outcome_json(&outcome);

    assert_int_equal(outcome.status, 0);
    assert_true(json_is_integer(json_object_get(object, "doubtful")));
    if (json_integer_value(json_object_get(object, "doubtful")) != 0)
        fail_msg("%s", outcome.out);
    json_decref(object);
    outcome_free(&outcome);
}

/* A comment that says where a value comes from. */
static bool names_a_source(const char *comment)
{
    return comment && (strstr(comment, "measured") || strstr(comment, "documents") ||
                       strstr(comment, "report"));
}

/* Each assignment has its source behind it, or in the comment lines right above it. */
static void check_sources(const char *path)
{
    char *text = read_file(path), *rest = text, *line;
    bool above = false;

    while ((line = strsep(&rest, "\n"))) {
        if (line[0] == ';') {
            above |= names_a_source(line);
            continue;
        }
        if (strchr(line, '=') && !above && !names_a_source(strchr(line, ';')))
            fail_msg("%s: \"%s\" has no source", path, line);
        above &= line[0] != '\0' && line[0] != '[';
    }
    free(text);
}

static void shipped_files_are_right_and_have_sources(void **state)
{
    const char *folder = getenv("GANTRY_TEST_GPU_D");
    struct dirent **entries;
    int count = scandir(folder, &entries, is_ini, alphasort);
    char path[SETTING_SIZE];

    (void)state;
    assert_true(count > 1);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        check_lint(path);
        check_sources(path);
        free(entries[i]);
    }
    free(entries);
}

static void an_uninstalled_library_finds_them(void **state)
{
    const char *const argv[] = {
        gantry_path(), "config", "--json", "--profile", here("rtx-4060-laptop", ".json"), NULL};
    const char *const environment[] = {"GANTRY_CONFIG", "GANTRY_BACKEND", "GANTRY_BATCH_SIZE",
                                       "XDG_CONFIG_HOME=/nonexistent", NULL};
    struct outcome outcome = run(argv, environment);
    json_t *object = outcome_json(&outcome);
    const json_t *value;
    size_t i, found = 0;

    (void)state;
    json_array_foreach(json_object_get(object, "values"), i, value)
    {
        if (strcmp(text_of(value, "key"), "batch_size") != 0)
            continue;
        found++;
        assert_string_equal(text_of(value, "value"), "8");
        assert_string_equal(text_of(value, "section"), "[gpu RTX 4060 Laptop GPU]");
        assert_non_null(strstr(text_of(value, "origin"),
                               "share/gantry/gpu.d/nvidia-geforce-rtx-4060-laptop.ini:"));
    }
    assert_int_equal(found, 1);
    json_decref(object);
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_profile_gets_its_policy),
        cmocka_unit_test(c49_the_order_of_sections_does_not_matter),
        cmocka_unit_test(c49_one_model_under_many_names),
        cmocka_unit_test(a_device_is_chosen_as_on_that_machine),
        cmocka_unit_test(what_no_device_of_the_machine_is),
        cmocka_unit_test(junk_is_refused_with_its_place),
        cmocka_unit_test(what_is_unknown_is_left_out),
        cmocka_unit_test(a_profile_of_this_machine_is_this_machine),
        cmocka_unit_test(shipped_files_are_right_and_have_sources),
        cmocka_unit_test(an_uninstalled_library_finds_them),
    };

    return cmocka_run_group_tests_name("profiles", tests, scratch_open, scratch_close);
}
