/* The policy: sources, sections and which value wins. Tests named cNN are failures that have been
 * seen in other programs. */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/options.h"
#include "core/policy.h"
#include "scratch.h"

static struct policy *policy;
static struct policy_params params;
static char logged[8192];

static const struct policy_subject h200 = {
    .name = "NVIDIA H200",
    .uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef",
    .pci = "0000:01:00.0",
    .arch = "sm_90",
    .vendor_id = 0x10de,
    .type = GANTRY_DEVICE_DISCRETE,
    .backend = "cuda",
};

/* ---- Sources of a test ---------------------------------------------------------------------- */

static void keep(void *user, enum gantry_log_level level, const char *text)
{
    size_t length = strlen(logged);

    (void)user;
    snprintf(logged + length, sizeof(logged) - length, "%s: %s\n", log_level_name(level), text);
}

static const struct log test_log = {.callback = keep, .level = GANTRY_LOG_WARNING};

static void clear_environment(void)
{
    for (char **variable = environ; *variable;) {
        char name[128];

        if (strncmp(*variable, "GANTRY_", 7) != 0) {
            variable++;
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*variable, "="), *variable);
        unsetenv(name);
    }
}

/* No variables, and empty folders for the shipped, the system's and the user's files. */
static int set_up(void **state)
{
    static char shipped[512], system_dir[512];

    scratch_open(state);
    clear_environment();
    snprintf(shipped, sizeof(shipped), "%s", scratch_path("shipped"));
    snprintf(system_dir, sizeof(system_dir), "%s", scratch_path("system"));
    setenv("XDG_CONFIG_HOME", scratch_path("user"), 1);
    setenv("HOME", scratch_path("home"), 1);
    params =
        (struct policy_params){.shipped_dir = shipped, .system_dir = system_dir, .log = &test_log};
    logged[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    policy_close(&policy);
    return scratch_close(state);
}

static enum gantry_status open_status(void)
{
    policy_close(&policy);
    logged[0] = '\0';
    return policy_open(&params, &policy);
}

static void open_policy(void)
{
    if (open_status() != GANTRY_OK) {
        print_error("policy_open: %s\n", gantry_last_error());
        _fail(__FILE__, __LINE__);
    }
}

static void open_text(const char *text)
{
    params.config_text = text;
    open_policy();
}

static void check_fails(const char *part)
{
    assert_int_equal(open_status(), GANTRY_E_CONFIG);
    assert_null(policy);
    assert_contains(gantry_last_error(), part);
}

static void check_text_fails(const char *text, const char *part)
{
    params.config_text = text;
    check_fails(part);
}

static uint32_t chains_of(const struct policy_subject *subject)
{
    struct policy_device values;

    policy_for_device(policy, subject, &values);
    return values.chains;
}

static uint32_t chains(void)
{
    return chains_of(&h200);
}

static struct gantry_config_value value_of(const struct policy_subject *subject, const char *key)
{
    struct gantry_config_value value = {0};
    uint32_t count = policy_value_count(policy, subject);

    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(policy_value(policy, subject, i, &value), GANTRY_OK);
        if (strcmp(value.key, key) == 0)
            return value;
    }
    print_error("there is no value \"%s\"\n", key);
    _fail(__FILE__, __LINE__);
    return value;
}

/* ---- Built-in values ------------------------------------------------------------------------ */

static void without_files_built_in_values_hold(void **state)
{
    struct policy_device values;
    const char *origin;

    (void)state;
    open_policy();
    assert_string_equal(logged, "");
    assert_null(policy_file(policy, 0));
    assert_string_equal(policy_section(policy, &h200), "built-in");
    assert_string_equal(policy_global(policy, "backend", &origin), "cuda, vulkan");
    assert_string_equal(origin, "built-in");
    assert_string_equal(policy_global(policy, "device", NULL), "auto");
    assert_string_equal(policy_global(policy, "plugin_path", NULL), "");
    policy_for_device(policy, &h200, &values);
    assert_int_equal(values.chains, 8);
    assert_int_equal(values.batch_size, 16);
    assert_int_equal(values.spin_us, 50);
    assert_true(values.batch_max_ms == 10.0);
    assert_true(values.fold && values.programmatic && !values.validate);
    assert_int_equal(values.submit, GANTRY_SUBMIT_AUTO);
    assert_int_equal(values.blocks_per_cu, 0);
    assert_int_equal(values.queue_family, GANTRY_FAMILY_AUTO);
    assert_int_equal(values.transfer_family, GANTRY_FAMILY_AUTO);
    assert_int_equal(policy_value_count(policy, &h200), OPTION_COUNT);
    assert_int_equal(policy_value_count(policy, NULL), OPTION_COUNT);
}

static void every_device_value_is_handed_over(void **state)
{
    struct policy_device values;

    (void)state;
    open_text("[policy]\nchains = 3\nfold = off\nprogrammatic = off\nsubmit = stream\nspin_us = 0\n"
              "blocks_per_cu = 4\nqueue_family = compute\ntransfer_family = 2\nvalidate = on\n"
              "batch_size = 32\nbatch_max_ms = 2.5\npool_block_mib = 128\nstaging_mib = 8\n");
    policy_for_device(policy, &h200, &values);
    assert_int_equal(values.chains, 3);
    assert_false(values.fold);
    assert_false(values.programmatic);
    assert_int_equal(values.submit, GANTRY_SUBMIT_STREAM);
    assert_int_equal(values.spin_us, 0);
    assert_int_equal(values.blocks_per_cu, 4);
    assert_int_equal(values.queue_family, GANTRY_FAMILY_COMPUTE);
    assert_int_equal(values.transfer_family, 2);
    assert_true(values.validate);
    assert_int_equal(values.batch_size, 32);
    assert_true(values.batch_max_ms == 2.5);
    assert_int_equal(values.pool_block_mib, 128);
    assert_int_equal(values.staging_mib, 8);
    open_text("[policy]\nqueue_family = graphics\nsubmit = graph\n");
    policy_for_device(policy, &h200, &values);
    assert_int_equal(values.queue_family, GANTRY_FAMILY_GRAPHICS);
    assert_int_equal(values.submit, GANTRY_SUBMIT_GRAPH);
}

static void validate_is_on_for_cpu_devices(void **state)
{
    const struct policy_subject cpu = {.name = "llvmpipe", .type = GANTRY_DEVICE_CPU};
    struct policy_device values;

    (void)state;
    open_policy();
    policy_for_device(policy, &cpu, &values);
    assert_true(values.validate);
    open_text("[policy]\nvalidate = off\n");
    policy_for_device(policy, &cpu, &values);
    assert_false(values.validate);
}

/* ---- Sources -------------------------------------------------------------------------------- */

static void each_source_beats_the_one_before(void **state)
{
    (void)state;
    open_policy();
    assert_int_equal(chains(), 8);
    scratch_write("shipped/gpu.d/a.ini", "[gpu H200]\nchains = 11\n");
    open_policy();
    assert_int_equal(chains(), 11);
    scratch_write("system/gpu.d/a.ini", "[policy]\nchains = 12\n");
    open_policy();
    assert_int_equal(chains(), 12);
    params.config_file = scratch_write("app.ini", "[policy]\nchains = 14\n");
    open_policy();
    assert_int_equal(chains(), 14);
    scratch_write("user/gantry/gpu.d/a.ini", "[policy]\nchains = 15\n");
    open_policy();
    assert_int_equal(chains(), 15);
    setenv("GANTRY_CONFIG", scratch_write("one.ini", "[policy]\nchains = 17\n"), 1);
    open_policy();
    assert_int_equal(chains(), 17);
    setenv("GANTRY_CHAINS", "19", 1);
    open_policy();
    assert_int_equal(chains(), 19);
    assert_string_equal(value_of(&h200, "chains").origin, "environment GANTRY_CHAINS");
    assert_string_equal(logged, "");
}

static void files_are_listed_weakest_first(void **state)
{
    static const char *const names[] = {
        "shipped/gpu.d/A.ini",
        "shipped/gpu.d/a.ini",
        "system/gantry.ini",
        "system/gpu.d/x.ini",
        "app.ini",
        "user/gantry/gantry.ini",
        "user/gantry/gpu.d/10-b.ini",
        "user/gantry/gpu.d/9-a.ini",
        "first.ini",
        "second.ini",
    };
    char list[1200];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        scratch_write(names[i], "; nothing\n");
    scratch_write("user/gantry/gpu.d/.hidden.ini", "nonsense");
    scratch_write("user/gantry/gpu.d/backup.ini~", "nonsense");
    params.config_file = scratch_path("app.ini");
    snprintf(list, sizeof(list), "%s:%s", scratch_path("first.ini"), scratch_path("second.ini"));
    setenv("GANTRY_CONFIG", list, 1);
    open_policy();
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_string_equal(policy_file(policy, i), scratch_path(names[i]));
    assert_null(policy_file(policy, sizeof(names) / sizeof(names[0])));
}

static void folders_are_one_source_in_the_order_of_bytes(void **state)
{
    (void)state;
    scratch_write("user/gantry/gantry.ini", "[gpu H200]\nchains = 2\n");
    scratch_write("user/gantry/gpu.d/Z.ini", "[policy]\nchains = 3\nspin_us = 1\n");
    scratch_write("user/gantry/gpu.d/a.ini", "[policy]\nchains = 4\n");
    open_policy();
    assert_int_equal(chains(), 2); /* the more specific section, though in an earlier file */
    scratch_write("user/gantry/gpu.d/b.ini", "[gpu H200]\nchains = 5\n");
    open_policy();
    assert_int_equal(chains(), 5);
}

static void listed_files_are_sources_of_their_own(void **state)
{
    char list[1200];

    (void)state;
    scratch_write("a.ini", "[gpu H200]\nchains = 2\n");
    scratch_write("b.ini", "[policy]\nchains = 3\n");
    snprintf(list, sizeof(list), "%s:%s", scratch_path("a.ini"), scratch_path("b.ini"));
    setenv("GANTRY_CONFIG", list, 1);
    open_policy();
    assert_int_equal(chains(), 3);
}

static void none_leaves_out_what_is_weaker(void **state)
{
    char list[1800];

    (void)state;
    scratch_write("shipped/gpu.d/a.ini", "nonsense\n");
    scratch_write("system/gantry.ini", "nonsense\n");
    scratch_write("user/gantry/gantry.ini", "nonsense\n");
    params.config_text = "nonsense\n";
    setenv("GANTRY_CONFIG", "none", 1);
    open_policy();
    assert_int_equal(chains(), 8);
    assert_null(policy_file(policy, 0));
    assert_string_equal(logged, "");

    scratch_write("a.ini", "[policy]\nchains = 2\nspin_us = 2\n");
    scratch_write("b.ini", "[policy]\nspin_us = 3\n");
    snprintf(list, sizeof(list), "%s:none:%s", scratch_path("a.ini"), scratch_path("b.ini"));
    setenv("GANTRY_CONFIG", list, 1);
    open_policy();
    assert_int_equal(chains(), 8);
    assert_string_equal(value_of(&h200, "spin_us").value, "3");
    setenv("GANTRY_CHAINS", "7", 1);
    open_policy();
    assert_int_equal(chains(), 7);
}

static void the_user_folder_is_xdg_or_home(void **state)
{
    (void)state;
    scratch_write("home/.config/gantry/gantry.ini", "[policy]\nchains = 2\n");
    open_policy();
    assert_int_equal(chains(), 8);
    setenv("XDG_CONFIG_HOME", "relative", 1);
    open_policy();
    assert_int_equal(chains(), 2);
    unsetenv("XDG_CONFIG_HOME");
    open_policy();
    assert_int_equal(chains(), 2);
    unsetenv("HOME");
    open_policy();
    assert_int_equal(chains(), 8);
}

static void variables_set_every_key(void **state)
{
    (void)state;
    for (int id = 0; id < OPTION_COUNT; id++) {
        char name[64] = "GANTRY_";
        const char *text = options[id].words[0] ? options[id].words[0] : options[id].fallback;

        if (!text[0])
            text = "/some/folder";
        for (const char *c = options[id].name; *c; c++)
            strncat(name, (char[]){(char)(*c == '_' ? '_' : *c - 32), '\0'}, 1);
        setenv(name, text, 1);
    }
    open_policy();
    for (int id = 0; id < OPTION_COUNT; id++) {
        struct gantry_config_value value = value_of(&h200, options[id].name);

        assert_int_equal(strncmp(value.origin, "environment GANTRY_", 19), 0);
        assert_null(value.section);
        assert_int_equal(value.override_count, 1);
    }
    assert_string_equal(logged, "");
}

static void variables_are_checked(void **state)
{
    (void)state;
    setenv("GANTRY_CHAINS", "8 chains", 1);
    check_fails("environment GANTRY_CHAINS: \"8 chains\" is no whole number");
    setenv("GANTRY_CHAINS", "", 1);
    open_policy();
    assert_int_equal(chains(), 8);
    setenv("GANTRY_CHAINS", "  4 ", 1);
    open_policy();
    assert_int_equal(chains(), 4);
    setenv("GANTRY_DEVICE", "-1", 1); /* C06 */
    check_fails("environment GANTRY_DEVICE: \"-1\" is no index of a device");
    unsetenv("GANTRY_DEVICE");
    setenv("GANTRY_CHAIN", "4", 1);
    open_policy();
    assert_contains(logged,
                    "environment GANTRY_CHAIN: means nothing to gantry: is it GANTRY_CHAINS?");
}

/* ---- Sections ------------------------------------------------------------------------------- */

static void the_more_specific_section_wins_in_any_order(void **state)
{
    static const char *const sections[] = {
        "policy",
        "gpu type:discrete",
        "gpu vendor:nvidia",
        "gpu arch:sm_90",
        "gpu H*",
        "gpu H2*",
        "gpu H200",
        "gpu pci:0000:01:00.0",
        "gpu uuid:01234567-89ab-cdef-0123-456789abcdef",
    };
    const int count = sizeof(sections) / sizeof(sections[0]);

    (void)state;
    for (int weaker = 0; weaker < count; weaker++) {
        for (int stronger = weaker + 1; stronger < count; stronger++) {
            char text[400];

            snprintf(text, sizeof(text), "[%s]\nchains = 1\n[%s]\nchains = 2\n", sections[weaker],
                     sections[stronger]);
            open_text(text);
            assert_int_equal(chains(), 2);
            snprintf(text, sizeof(text), "[%s]\nchains = 2\n[%s]\nchains = 1\n", sections[stronger],
                     sections[weaker]);
            open_text(text);
            assert_int_equal(chains(), 2);
        }
    }
}

static void of_equal_sections_the_later_wins(void **state)
{
    (void)state;
    open_text("[gpu H?00]\nchains = 1\n[gpu ?200]\nchains = 2\n");
    assert_int_equal(chains(), 2);
    open_text("[gpu ?200]\nchains = 2\n[gpu H?00]\nchains = 1\n");
    assert_int_equal(chains(), 1);
}

static void c49_most_specific_name_whatever_the_order(void **state)
{
    static const char *const orders[] = {
        "[gpu RTX 4060]\nchains = 1\n[gpu RTX 4060 Ti]\nchains = 2\n[gpu Radeon 8060S]\nchains = "
        "3\n",
        "[gpu Radeon 8060S]\nchains = 3\n[gpu RTX 4060 Ti]\nchains = 2\n[gpu RTX 4060]\nchains = "
        "1\n",
    };
    static const struct {
        const char *name;
        uint32_t chains;
    } devices[] = {
        {"NVIDIA GeForce RTX 4060", 1},
        {"NVIDIA GeForce RTX 4060 Ti", 2},
        {"NVIDIA GeForce RTX 4060 Laptop GPU", 8},
        {"AMD Radeon(TM) 8060S Graphics (RADV GFX1151)", 3},
        {"AMD Radeon 8060S", 3},
        {"nvidia  geforce rtx  4060", 1},
    };

    (void)state;
    for (size_t order = 0; order < 2; order++) {
        open_text(orders[order]);
        for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
            const struct policy_subject subject = {.name = devices[i].name};

            assert_int_equal(chains_of(&subject), devices[i].chains);
        }
    }
}

static void keys_of_a_backend_beat_plain_ones_of_their_section(void **state)
{
    struct policy_subject vulkan = h200;

    (void)state;
    vulkan.backend = "vulkan";
    open_text("[policy]\ncuda.chains = 2\nchains = 3\nVulkan.Chains = 4\n");
    assert_int_equal(chains(), 2);
    assert_int_equal(chains_of(&vulkan), 4);
    vulkan.backend = "other";
    assert_int_equal(chains_of(&vulkan), 3);
    open_text("[policy]\ncuda.chains = 2\n[gpu H200]\nchains = 3\n");
    assert_int_equal(chains(), 3);
    assert_string_equal(value_of(NULL, "chains").value, "8");
}

static void the_section_in_force_is_named(void **state)
{
    struct policy_subject other = h200;

    (void)state;
    other.name = "NVIDIA L4";
    open_text("[gantry]\nlog = error\n[gpu H200]\nspin_us = 1\n[policy]\nchains = 3\n"
              "[gpu NVIDIA L4]\nvulkan.chains = 2\n");
    assert_string_equal(policy_section(policy, &h200), "[gpu H200] at config_text:3");
    assert_string_equal(policy_section(policy, &other), "[policy] at config_text:5");
    other.backend = "vulkan";
    assert_string_equal(policy_section(policy, &other), "[gpu NVIDIA L4] at config_text:7");
}

/* ---- Block sizes ---------------------------------------------------------------------------- */

static void check_block(const char *package, const char *kernel, uint32_t x, uint32_t y,
                        const char *expected_origin)
{
    struct gantry_size size;
    const char *origin;

    policy_block_size(policy, &h200, package, kernel, &size, &origin);
    assert_int_equal(size.x, x);
    assert_int_equal(size.y, y);
    assert_string_equal(origin, expected_origin);
}

static void block_sizes_of_kernels(void **state)
{
    (void)state;
    open_policy();
    check_block("photo", "edge", 0, 0, "built-in");
    open_text("[policy]\nblock_size.photo/edge = 32x8\nblock_size.edge = 16x16\n"
              "[gpu H200]\nblock_size = 64\ncuda.block_size.blur = 128\n");
    check_block("photo", "edge", 32, 8, "config_text:2");
    check_block("other", "edge", 16, 16, "config_text:3");
    check_block(NULL, "edge", 16, 16, "config_text:3");
    check_block("photo", "Edge", 64, 0, "config_text:5");
    check_block("photo", "blur", 128, 0, "config_text:6");
    check_block("photo", NULL, 64, 0, "config_text:5");

    setenv("GANTRY_BLOCK_SIZE", "256", 1);
    open_policy();
    check_block("photo", "edge", 256, 0, "environment GANTRY_BLOCK_SIZE");
    setenv("GANTRY_BLOCK_SIZE", "auto", 1);
    open_policy();
    check_block("photo", "edge", 0, 0, "environment GANTRY_BLOCK_SIZE");
}

static void kernels_are_listed_with_what_they_beat(void **state)
{
    struct gantry_config_value value;

    (void)state;
    open_text("[policy]\nblock_size = 64\nblock_size.edge = 16x16\nblock_size.edge = 8x8\n"
              "vulkan.block_size.blur = 32\n");
    assert_int_equal(policy_value_count(policy, &h200), OPTION_COUNT + 1);
    value = value_of(&h200, "block_size.edge");
    assert_string_equal(value.value, "8x8");
    assert_string_equal(value.origin, "config_text:4");
    assert_int_equal(value.override_count, 3);
    assert_string_equal(value.overrides[0], "16x16 (config_text:3, [policy])");
    assert_string_equal(value.overrides[1], "64 (config_text:2, [policy])");
    assert_string_equal(value.overrides[2], "auto (built-in)");
}

/* ---- Listing -------------------------------------------------------------------------------- */

static void values_say_what_they_beat(void **state)
{
    struct gantry_config_value value, again;
    char expected[600], path[512];

    (void)state;
    snprintf(path, sizeof(path), "%s",
             scratch_write("user/gantry/gantry.ini", "[gpu H200]\nchains=4\n"));
    setenv("GANTRY_CHAINS", "2", 1);
    open_text("[policy]\nchains = 3\n");
    value = value_of(&h200, "chains");
    assert_string_equal(value.value, "2");
    assert_string_equal(value.origin, "environment GANTRY_CHAINS");
    assert_null(value.section);
    assert_int_equal(value.override_count, 3);
    snprintf(expected, sizeof(expected), "4 (%s:2, [gpu H200])", path);
    assert_string_equal(value.overrides[0], expected);
    assert_string_equal(value.overrides[1], "3 (config_text:2, [policy])");
    assert_string_equal(value.overrides[2], "8 (built-in)");
    again = value_of(&h200, "chains");
    assert_ptr_equal(again.overrides, value.overrides);
    assert_int_equal(policy_value(policy, &h200, 1000, &again), GANTRY_E_INVALID_ARGUMENT);

    value = value_of(NULL, "chains");
    assert_int_equal(value.override_count, 2);
    unsetenv("GANTRY_CHAINS");
    open_policy();
    value = value_of(&h200, "chains");
    assert_string_equal(value.section, "[gpu H200]");
    snprintf(expected, sizeof(expected), "%s:2", path);
    assert_string_equal(value.origin, expected);
}

static void *ask_everything(void *failed)
{
    for (int round = 0; round < 200; round++) {
        struct gantry_config_value value;
        uint32_t count = policy_value_count(policy, &h200);

        for (uint32_t i = 0; i < count; i++) {
            if (policy_value(policy, &h200, i, &value) != GANTRY_OK || !value.overrides)
                return failed;
        }
    }
    return NULL;
}

static void any_thread_may_ask(void **state)
{
    pthread_t threads[4];
    void *result;

    (void)state;
    open_text("[policy]\nchains = 3\nblock_size.edge = 4\n[gpu H200]\nchains = 4\n");
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_everything, policy), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
}

/* ---- C44: repeated keys and sections -------------------------------------------------------- */

static void c44_repeated_keys(void **state)
{
    (void)state;
    open_text("[policy]\nchains = 3\nspin_us = 1\nChains = 4\n");
    assert_int_equal(chains(), 4);
    assert_string_equal(value_of(&h200, "chains").value, "4");
    assert_string_equal(logged,
                        "warning: config_text:4: chains = 4 is already set in line 2, to 3: "
                        "the later line wins\n");
}

static void c44_repeated_sections(void **state)
{
    (void)state;
    open_text("[gpu NVIDIA H200]\nchains = 3\nspin_us = 1\n[GPU  h200]\nchains = 4\nfold = off\n");
    assert_int_equal(chains(), 4);
    assert_string_equal(value_of(&h200, "spin_us").value, "1");
    assert_string_equal(value_of(&h200, "fold").value, "off");
    assert_contains(logged, "config_text:4: [GPU  h200] is already in line 1");
    assert_contains(logged, "config_text:5: chains = 4 is already set in line 2");
    open_text("[gpu H200]\n[gpu H20]\n[policy]\n[gpu L4]\n");
    assert_string_equal(logged, "");
}

/* ---- C46: numbers --------------------------------------------------------------------------- */

static void c46_values_are_named_with_file_line_and_key(void **state)
{
    static const char *const junk[] = {
        "64k", "0x40", "-1", "0", "1e3", "4294967296", "99999999999999999999", "+64", "6 4"};
    char text[100], expected[100];

    (void)state;
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
        snprintf(text, sizeof(text), "[policy]\n\nbatch_size = %s\n", junk[i]);
        snprintf(expected, sizeof(expected), "config_text:3: batch_size: \"%s\" is ", junk[i]);
        check_text_fails(text, expected);
        assert_contains(gantry_last_error(), "write 1 to 65536");
    }
    check_text_fails("[policy]\nbatch_size =\n", "config_text:2: \"batch_size =\" has no value");
    open_text("[policy]\nbatch_size = 64 \n");
    assert_string_equal(value_of(&h200, "batch_size").value, "64");
}

/* ---- C48: unknown keys, wrong places, missing files ----------------------------------------- */

static void c48_unknown_keys_and_wrong_places(void **state)
{
    (void)state;
    check_text_fails("[policy]\nblok = 256\n",
                     "config_text:2: [policy] has no key \"blok\": is it \"block_size\"?");
    check_text_fails("[policy]\nbackend = cuda\n",
                     "config_text:2: backend is a key of [gantry], not of [policy]");
    check_text_fails("[gantry]\nchains = 2\n",
                     "config_text:2: chains is a key of [policy] and [gpu NAME], not of [gantry]");
    check_text_fails("[gantry]\ncuda.log = off\n", "leave the prefix out");
    check_text_fails("[policy]\nxyzzy = 2\n", "[policy] has no key \"xyzzy\": gantry config");
    check_text_fails("[policy]\nchains.edge = 2\n", "chains can't be set for one kernel");
    check_text_fails("[policy]\nblock_size. = 2\n",
                     "block_size.KERNEL or block_size.PACKAGE/KERNEL");
    check_text_fails("[policy]\nblock_size.a/ = 2\n", "block_size.KERNEL or block_size.PACKAGE");
    check_text_fails("[policy]\nblock_size./a = 2\n", "block_size.KERNEL or block_size.PACKAGE");
    check_text_fails("[policy]\ncuda.chains.x = 2\n", "block_size.KERNEL or block_size.PACKAGE");
    check_text_fails("[policy]\ncuda. = 2\n", "has no key \"\"");
    check_text_fails("chains = 2\nfold = on\n[policy]\n", "config_text:1: keys up to line 2 are "
                                                          "ignored: they stand above the first");
    open_text("[policy]\ncud.chains = 2\nmygpu.chains = 3\n");
    assert_string_equal(logged, "warning: config_text:2: the key counts for a backend called "
                                "\"cud\": is it \"cuda\"?\n");
}

static void c48_refused_sections_take_their_keys_along(void **state)
{
    check_text_fails("[gpux H200]\nchains = 2\nfold = off\n[policy]\nspin_us = 5\n",
                     "config_text:1: no section is called [gpux H200]: use [gantry], [policy]");
    assert_contains(gantry_last_error(), "(and 1 more mistake)");
    assert_contains(logged, "config_text:2: keys up to line 3 are ignored, because the section of "
                            "line 1 is");
    check_text_fails("[gpu]\n", "config_text:1: [gpu] names no device");
    check_text_fails("[gpu *]\n", "can never match a device: it has nothing but wildcards");
    check_text_fails("[gpu type:gpu]\n", "can never match a device: types are discrete");
    check_text_fails("[gpu (R)]\n", "can never match a device");

    tear_down(state);
    set_up(state);
    scratch_write("user/gantry/gantry.ini", "[gpu pci:1]\nchains = 2\n[policy]\nspin_us = 5\n");
    open_policy();
    assert_int_equal(chains(), 8);
    assert_string_equal(value_of(&h200, "spin_us").value, "5");
    assert_contains(logged, ":1: [gpu pci:1] can never match a device");
    assert_contains(logged, ":2: keys up to line 2 are ignored");
}

static void c48_named_files_must_be_there(void **state)
{
    (void)state;
    setenv("GANTRY_CONFIG", scratch_path("missing.ini"), 1);
    check_fails("missing.ini: the file can't be read: No such file or directory");
    scratch_write("folder/file", "");
    setenv("GANTRY_CONFIG", scratch_path("folder"), 1);
    check_fails("folder: this is a folder");
    setenv("GANTRY_CONFIG", "", 1);
    open_policy();
    setenv("GANTRY_CONFIG", "a.ini::b.ini", 1);
    check_fails("No such file");
    setenv("GANTRY_CONFIG", ":", 1);
    check_fails("environment GANTRY_CONFIG: an empty place");
    unsetenv("GANTRY_CONFIG");
    params.config_file = scratch_path("missing.ini");
    check_fails("missing.ini: the file can't be read");
    params.config_file = NULL;
    params.shipped_dir = params.system_dir = NULL;
    open_policy();
}

/* A link to itself: even those who may read every file can't read this one. */
static void c48_unreadable_files(void **state)
{
    const char *path = scratch_path("loop.ini");

    (void)state;
    assert_int_equal(symlink("loop.ini", path), 0);
    setenv("GANTRY_CONFIG", path, 1);
    check_fails("loop.ini: the file can't be read: ");
}

static void c48_default_files_are_only_warned_about(void **state)
{
    (void)state;
    scratch_write("system/gantry.ini/in the way", "");
    scratch_write("system/gpu.d", "a file");
    scratch_write("user/gantry/gantry.ini", "[policy]\nblok = 3\nchains = 99\nspin_us = 7\n");
    open_policy();
    assert_contains(logged, "system/gantry.ini: this is a folder");
    assert_contains(logged, "gantry.ini:2: [policy] has no key \"blok\"");
    assert_contains(logged, "gantry.ini:3: chains: \"99\" is out of range: write 1 to 64");
    assert_int_equal(chains(), 8);
    assert_string_equal(value_of(&h200, "spin_us").value, "7");
}

static void huge_files_are_refused(void **state)
{
    enum { SIZE = 256 * 1024 };
    char *text = malloc(SIZE + 1);

    (void)state;
    memset(text, '\n', SIZE + 1);
    setenv("GANTRY_CONFIG", scratch_write_bytes("full.ini", text, SIZE), 1);
    open_policy();
    setenv("GANTRY_CONFIG", scratch_write_bytes("over.ini", text, SIZE + 1), 1);
    check_fails("larger than 256 KiB");
    free(text);
}

/* ---- All mistakes --------------------------------------------------------------------------- */

static void the_first_mistake_fails_and_all_are_logged(void **state)
{
    (void)state;
    check_text_fails("[policy]\nblok = 1\nchains = x\n[gpu\n",
                     "config_text:4: \"[gpu\" has no ']' at its end (and 2 more mistakes)");
    assert_contains(logged, "error: config_text:2: ");
    assert_contains(logged, "error: config_text:3: ");
    assert_contains(logged, "error: config_text:4: ");
}

static void warnings_leave_the_last_error_alone(void **state)
{
    (void)state;
    check_text_fails("nonsense", "config_text:1: ");
    params.config_text = NULL;
    scratch_write("user/gantry/gantry.ini", "nonsense");
    open_policy();
    assert_contains(gantry_last_error(), "config_text:1: ");
}

static void lint_finds_everything_in_a_text(void **state)
{
    static const char text[] = "[policy]\nchains = 65\nchains = 2\nchains = 3\nblok = 1\n[gpu\n";
    static const struct {
        enum remark_kind kind;
        uint32_t line;
    } expected[] = {{REMARK_MISTAKE, 6},
                    {REMARK_MISTAKE, 2},
                    {REMARK_DOUBT, 4},
                    {REMARK_MISTAKE, 5}};
    struct arena arena = {0};
    struct remarks remarks = {.arena = &arena};

    (void)state;
    policy_lint("some.ini", text, strlen(text), &remarks);
    assert_int_equal(remarks.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(remarks.items[i].kind, expected[i].kind);
        assert_int_equal(remarks.items[i].line, expected[i].line);
        assert_string_equal(remarks.items[i].file, "some.ini");
        assert_int_equal(strncmp(remarks.items[i].text, "some.ini:", 9), 0);
    }
    arena_release(&arena);
}

/* The file that is installed sets nothing, and its examples are right. */
static void the_shipped_files_are_right(void **state)
{
    static const char *const names[] = {"conf/gantry.ini", "conf/gpu.d/00-about.ini"};
    const char *source = getenv("TEST_SOURCE_DIR");
    char path[512], text[16384], *line;
    FILE *file;

    (void)state;
    if (!source) {
        print_message("skipped: TEST_SOURCE_DIR is not set, so conf/ can't be found\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        struct arena arena = {0};
        struct remarks remarks = {.arena = &arena};

        snprintf(path, sizeof(path), "%s/%s", source, names[i]);
        file = fopen(path, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        policy_lint(names[i], text, strlen(text), &remarks);
        assert_int_equal(remarks.count, 0);
        for (line = text; (line = strstr(line, "\n;")); line += 2) {
            if (line[2] != ' ' && line[2] != '\n')
                line[1] = ' ';
        }
        policy_lint(names[i], text, strlen(text), &remarks);
        for (uint32_t j = 0; j < remarks.count; j++)
            print_error("%s\n", remarks.items[j].text);
        assert_int_equal(remarks.count, 0);
        arena_release(&arena);
    }
}

#define with_sources(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_files_are_right),
        with_sources(without_files_built_in_values_hold),
        with_sources(every_device_value_is_handed_over),
        with_sources(validate_is_on_for_cpu_devices),
        with_sources(each_source_beats_the_one_before),
        with_sources(files_are_listed_weakest_first),
        with_sources(folders_are_one_source_in_the_order_of_bytes),
        with_sources(listed_files_are_sources_of_their_own),
        with_sources(none_leaves_out_what_is_weaker),
        with_sources(the_user_folder_is_xdg_or_home),
        with_sources(variables_set_every_key),
        with_sources(variables_are_checked),
        with_sources(the_more_specific_section_wins_in_any_order),
        with_sources(of_equal_sections_the_later_wins),
        with_sources(c49_most_specific_name_whatever_the_order),
        with_sources(keys_of_a_backend_beat_plain_ones_of_their_section),
        with_sources(the_section_in_force_is_named),
        with_sources(block_sizes_of_kernels),
        with_sources(kernels_are_listed_with_what_they_beat),
        with_sources(values_say_what_they_beat),
        with_sources(any_thread_may_ask),
        with_sources(c44_repeated_keys),
        with_sources(c44_repeated_sections),
        with_sources(c46_values_are_named_with_file_line_and_key),
        with_sources(c48_unknown_keys_and_wrong_places),
        with_sources(c48_refused_sections_take_their_keys_along),
        with_sources(c48_named_files_must_be_there),
        with_sources(c48_unreadable_files),
        with_sources(c48_default_files_are_only_warned_about),
        with_sources(huge_files_are_refused),
        with_sources(the_first_mistake_fails_and_all_are_logged),
        with_sources(warnings_leave_the_last_error_alone),
        with_sources(lint_finds_everything_in_a_text),
    };

    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
