/* The policy: sections, keys and which value wins. Tests named cNN are failures that have been seen
 * in other programs. */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/options.h"
#include "policy_rig.h"
#include "scratch.h"

/* ---- Built-in values ------------------------------------------------------------------------ */

static void without_files_built_in_values_hold(void **state)
{
    struct policy_device values;
    const char *origin;

    (void)state;
    rig_read();
    assert_string_equal(rig.logged, "");
    assert_null(policy_file(rig.policy, 0));
    assert_string_equal(policy_section(rig.policy, &h200), "built-in");
    assert_string_equal(policy_global(rig.policy, "backend", &origin), "cuda, vulkan");
    assert_string_equal(origin, "built-in");
    assert_string_equal(policy_global(rig.policy, "device", NULL), "auto");
    assert_string_equal(policy_global(rig.policy, "plugin_path", NULL), "");
    policy_for_device(rig.policy, &h200, &values);
    assert_int_equal(values.chains, 8);
    assert_int_equal(values.batch_size, 16);
    assert_int_equal(values.spin_us, 1000);
    assert_true(values.batch_max_ms == 10.0);
    assert_true(values.fold && values.programmatic && !values.validate);
    assert_int_equal(values.submit, GANTRY_SUBMIT_AUTO);
    assert_int_equal(values.blocks_per_cu, 0);
    assert_int_equal(values.queue_family, GANTRY_FAMILY_AUTO);
    assert_int_equal(values.transfer_family, GANTRY_FAMILY_AUTO);
    assert_int_equal(policy_value_count(rig.policy, &h200), OPTION_COUNT);
    assert_int_equal(policy_value_count(rig.policy, NULL), OPTION_COUNT);
}

static void every_device_value_is_handed_over(void **state)
{
    struct policy_device values;

    (void)state;
    rig_read_text(
        "[policy]\nchains = 3\nfold = off\nprogrammatic = off\nsubmit = stream\nspin_us = 0\n"
        "blocks_per_cu = 4\nqueue_family = compute\ntransfer_family = 2\nvalidate = on\n"
        "batch_size = 32\nbatch_max_ms = 2.5\npool_block_mib = 128\nstaging_mib = 8\n");
    policy_for_device(rig.policy, &h200, &values);
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
    rig_read_text("[policy]\nqueue_family = graphics\nsubmit = graph\n");
    policy_for_device(rig.policy, &h200, &values);
    assert_int_equal(values.queue_family, GANTRY_FAMILY_GRAPHICS);
    assert_int_equal(values.submit, GANTRY_SUBMIT_GRAPH);
}

static void validate_is_on_for_cpu_devices(void **state)
{
    const struct policy_subject cpu = {.name = "llvmpipe", .type = GANTRY_DEVICE_CPU};
    struct policy_device values;

    (void)state;
    rig_read();
    policy_for_device(rig.policy, &cpu, &values);
    assert_true(values.validate);
    rig_read_text("[policy]\nvalidate = off\n");
    policy_for_device(rig.policy, &cpu, &values);
    assert_false(values.validate);
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
            rig_read_text(text);
            assert_int_equal(chains(), 2);
            snprintf(text, sizeof(text), "[%s]\nchains = 2\n[%s]\nchains = 1\n", sections[stronger],
                     sections[weaker]);
            rig_read_text(text);
            assert_int_equal(chains(), 2);
        }
    }
}

static void a_vendor_alone_is_doubted(void **state)
{
    (void)state;
    rig_read_text("[gpu NVIDIA]\nchains = 2\n");
    assert_int_equal(chains(), 8);
    assert_string_equal(rig.logged,
                        "warning: config_text:1: [gpu NVIDIA] takes a device of that name "
                        "alone: is it [gpu vendor:nvidia]?\n");
    rig_read_text("[gpu vendor:nvidia]\nchains = 2\n");
    assert_int_equal(chains(), 2);
    assert_string_equal(rig.logged, "");
}

static void of_equal_sections_the_later_wins(void **state)
{
    (void)state;
    rig_read_text("[gpu H?00]\nchains = 1\n[gpu ?200]\nchains = 2\n");
    assert_int_equal(chains(), 2);
    rig_read_text("[gpu ?200]\nchains = 2\n[gpu H?00]\nchains = 1\n");
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
        rig_read_text(orders[order]);
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
    rig_read_text("[policy]\ncuda.chains = 2\nchains = 3\nVulkan.Chains = 4\n");
    assert_int_equal(chains(), 2);
    assert_int_equal(chains_of(&vulkan), 4);
    vulkan.backend = "other";
    assert_int_equal(chains_of(&vulkan), 3);
    rig_read_text("[policy]\ncuda.chains = 2\n[gpu H200]\nchains = 3\n");
    assert_int_equal(chains(), 3);
    assert_string_equal(value_of(NULL, "chains").value, "8");
}

static void the_section_in_force_is_named(void **state)
{
    struct policy_subject other = h200;

    (void)state;
    other.name = "NVIDIA L4";
    rig_read_text("[gantry]\nlog = error\n[gpu H200]\nspin_us = 1\n[policy]\nchains = 3\n"
                  "[gpu NVIDIA L4]\nvulkan.chains = 2\n");
    assert_string_equal(policy_section(rig.policy, &h200), "[gpu H200] at config_text:3");
    assert_string_equal(policy_section(rig.policy, &other), "[policy] at config_text:5");
    other.backend = "vulkan";
    assert_string_equal(policy_section(rig.policy, &other), "[gpu NVIDIA L4] at config_text:7");
}

/* ---- Block sizes ---------------------------------------------------------------------------- */

static void check_block(const char *package, const char *kernel, uint32_t x, uint32_t y,
                        const char *expected_origin)
{
    struct gantry_size size;
    const char *origin;

    policy_block_size(rig.policy, &h200, package, kernel, &size, &origin);
    assert_int_equal(size.x, x);
    assert_int_equal(size.y, y);
    assert_string_equal(origin, expected_origin);
}

static void block_sizes_of_kernels(void **state)
{
    (void)state;
    rig_read();
    check_block("photo", "edge", 0, 0, "built-in");
    rig_read_text("[policy]\nblock_size.photo/edge = 32x8\nblock_size.edge = 16x16\n"
                  "[gpu H200]\nblock_size = 64\ncuda.block_size.blur = 128\n");
    check_block("photo", "edge", 32, 8, "config_text:2");
    check_block("other", "edge", 16, 16, "config_text:3");
    check_block(NULL, "edge", 16, 16, "config_text:3");
    check_block("photo", "Edge", 64, 0, "config_text:5");
    check_block("photo", "blur", 128, 0, "config_text:6");
    check_block("photo", NULL, 64, 0, "config_text:5");

    setenv("GANTRY_BLOCK_SIZE", "256", 1);
    rig_read();
    check_block("photo", "edge", 256, 0, "environment GANTRY_BLOCK_SIZE");
    setenv("GANTRY_BLOCK_SIZE", "auto", 1);
    rig_read();
    check_block("photo", "edge", 0, 0, "environment GANTRY_BLOCK_SIZE");
}

static void kernels_are_listed_with_what_they_beat(void **state)
{
    struct gantry_config_value value;

    (void)state;
    rig_read_text("[policy]\nblock_size = 64\nblock_size.edge = 16x16\nblock_size.edge = 8x8\n"
                  "vulkan.block_size.blur = 32\n");
    assert_int_equal(policy_value_count(rig.policy, &h200), OPTION_COUNT + 1);
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
    rig_read_text("[policy]\nchains = 3\n");
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
    assert_int_equal(policy_value(rig.policy, &h200, 1000, &again), GANTRY_E_INVALID_ARGUMENT);

    value = value_of(NULL, "chains");
    assert_int_equal(value.override_count, 2);
    unsetenv("GANTRY_CHAINS");
    rig_read();
    value = value_of(&h200, "chains");
    assert_string_equal(value.section, "[gpu H200]");
    snprintf(expected, sizeof(expected), "%s:2", path);
    assert_string_equal(value.origin, expected);
}

static void *ask_everything(void *failed)
{
    for (int round = 0; round < 200; round++) {
        struct gantry_config_value value;
        uint32_t count = policy_value_count(rig.policy, &h200);

        for (uint32_t i = 0; i < count; i++) {
            if (policy_value(rig.policy, &h200, i, &value) != GANTRY_OK || !value.overrides)
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
    rig_read_text("[policy]\nchains = 3\nblock_size.edge = 4\n[gpu H200]\nchains = 4\n");
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_everything, rig.policy), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
}

/* ---- C44: repeated keys and sections -------------------------------------------------------- */

static void c44_repeated_keys(void **state)
{
    (void)state;
    rig_read_text("[policy]\nchains = 3\nspin_us = 1\nChains = 4\n");
    assert_int_equal(chains(), 4);
    assert_string_equal(value_of(&h200, "chains").value, "4");
    assert_string_equal(rig.logged,
                        "warning: config_text:4: chains = 4 is already set in line 2, to 3: "
                        "the later line wins\n");
}

static void c44_repeated_sections(void **state)
{
    (void)state;
    rig_read_text(
        "[gpu NVIDIA H200]\nchains = 3\nspin_us = 1\n[GPU  h200]\nchains = 4\nfold = off\n");
    assert_int_equal(chains(), 4);
    assert_string_equal(value_of(&h200, "spin_us").value, "1");
    assert_string_equal(value_of(&h200, "fold").value, "off");
    assert_contains(rig.logged, "config_text:4: [GPU  h200] is already in line 1");
    assert_contains(rig.logged, "config_text:5: chains = 4 is already set in line 2");
    rig_read_text("[gpu H200]\n[gpu H20]\n[policy]\n[gpu L4]\n");
    assert_string_equal(rig.logged, "");
}

static void equally_specific_sections_are_doubted(void **state)
{
    (void)state;
    rig_read_text("[gpu ?200]\nchains = 2\n[gpu L*]\nchains = 3\n[gpu H?00]\nchains = 1\n");
    assert_int_equal(chains(), 1);
    assert_string_equal(rig.logged,
                        "warning: config_text:5: [gpu H?00] is as specific as [gpu ?200] in line "
                        "1, and some devices are both: where they differ the later line wins\n");
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
        rig_text_fails(text, expected);
        assert_contains(gantry_last_error(), "write 1 to 65536");
    }
    rig_text_fails("[policy]\nbatch_size =\n", "config_text:2: \"batch_size =\" has no value");
    rig_read_text("[policy]\nbatch_size = 64 \n");
    assert_string_equal(value_of(&h200, "batch_size").value, "64");
}

/* ---- C48: unknown keys and wrong places ----------------------------------------------------- */

static void c48_unknown_keys_and_wrong_places(void **state)
{
    (void)state;
    rig_text_fails("[policy]\nblok = 256\n",
                   "config_text:2: [policy] has no key \"blok\": is it \"block_size\"?");
    rig_text_fails("[policy]\nbackend = cuda\n",
                   "config_text:2: backend is a key of [gantry], not of [policy]");
    rig_text_fails("[gantry]\nchains = 2\n",
                   "config_text:2: chains is a key of [policy] and [gpu NAME], not of [gantry]");
    rig_text_fails("[gantry]\ncuda.log = off\n", "leave the prefix out");
    rig_text_fails("[policy]\nxyzzy = 2\n", "[policy] has no key \"xyzzy\": gantry config");
    rig_text_fails("[policy]\nchains.edge = 2\n", "chains can't be set for one kernel");
    rig_text_fails("[policy]\nblock_size. = 2\n", "block_size.KERNEL or block_size.PACKAGE/KERNEL");
    rig_text_fails("[policy]\nblock_size.a/ = 2\n", "block_size.KERNEL or block_size.PACKAGE");
    rig_text_fails("[policy]\nblock_size./a = 2\n", "block_size.KERNEL or block_size.PACKAGE");
    rig_text_fails("[policy]\ncuda.chains.x = 2\n", "block_size.KERNEL or block_size.PACKAGE");
    rig_text_fails("[policy]\ncuda. = 2\n", "has no key \"\"");
    rig_text_fails("chains = 2\nfold = on\n[policy]\n", "config_text:1: keys up to line 2 are "
                                                        "ignored: they stand above the first");
    rig_read_text("[policy]\ncud.chains = 2\nmygpu.chains = 3\n");
    assert_string_equal(rig.logged, "warning: config_text:2: the key counts for a backend called "
                                    "\"cud\": is it \"cuda\"?\n");
}

static void c48_refused_sections_take_their_keys_along(void **state)
{
    rig_text_fails("[gpux H200]\nchains = 2\nfold = off\n[policy]\nspin_us = 5\n",
                   "config_text:1: no section is called [gpux H200]: use [gantry], [policy]");
    assert_contains(gantry_last_error(), "(and 1 more mistake)");
    assert_contains(rig.logged,
                    "config_text:2: keys up to line 3 are ignored, because the section of "
                    "line 1 is");
    rig_text_fails("[gpu]\n", "config_text:1: [gpu] names no device");
    rig_text_fails("[gpu *]\n", "can never match a device: it has nothing but wildcards");
    rig_text_fails("[gpu type:gpu]\n", "can never match a device: types are discrete");
    rig_text_fails("[gpu (R)]\n", "can never match a device");

    rig_close(state);
    rig_open(state);
    scratch_write("user/gantry/gantry.ini", "[gpu pci:1]\nchains = 2\n[policy]\nspin_us = 5\n");
    rig_read();
    assert_int_equal(chains(), 8);
    assert_string_equal(value_of(&h200, "spin_us").value, "5");
    assert_contains(rig.logged, ":1: [gpu pci:1] can never match a device");
    assert_contains(rig.logged, ":2: keys up to line 2 are ignored");
}

/* ---- All mistakes --------------------------------------------------------------------------- */

static void the_first_mistake_fails_and_all_are_logged(void **state)
{
    (void)state;
    rig_text_fails("[policy]\nblok = 1\nchains = x\n[gpu\n",
                   "config_text:4: \"[gpu\" has no ']' at its end (and 2 more mistakes)");
    assert_contains(rig.logged, "error: config_text:2: ");
    assert_contains(rig.logged, "error: config_text:3: ");
    assert_contains(rig.logged, "error: config_text:4: ");
}

static void warnings_leave_the_last_error_alone(void **state)
{
    (void)state;
    rig_text_fails("nonsense", "config_text:1: ");
    rig.params.config_text = NULL;
    scratch_write("user/gantry/gantry.ini", "nonsense");
    rig_read();
    assert_contains(gantry_last_error(), "config_text:1: ");
}

#define with_rig(test) cmocka_unit_test_setup_teardown(test, rig_open, rig_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_rig(without_files_built_in_values_hold),
        with_rig(every_device_value_is_handed_over),
        with_rig(validate_is_on_for_cpu_devices),
        with_rig(the_more_specific_section_wins_in_any_order),
        with_rig(a_vendor_alone_is_doubted),
        with_rig(of_equal_sections_the_later_wins),
        with_rig(c49_most_specific_name_whatever_the_order),
        with_rig(keys_of_a_backend_beat_plain_ones_of_their_section),
        with_rig(the_section_in_force_is_named),
        with_rig(block_sizes_of_kernels),
        with_rig(kernels_are_listed_with_what_they_beat),
        with_rig(values_say_what_they_beat),
        with_rig(any_thread_may_ask),
        with_rig(c44_repeated_keys),
        with_rig(c44_repeated_sections),
        with_rig(equally_specific_sections_are_doubted),
        with_rig(c46_values_are_named_with_file_line_and_key),
        with_rig(c48_unknown_keys_and_wrong_places),
        with_rig(c48_refused_sections_take_their_keys_along),
        with_rig(the_first_mistake_fails_and_all_are_logged),
        with_rig(warnings_leave_the_last_error_alone),
    };

    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
