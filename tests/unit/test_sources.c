/* Where the policy comes from: folders, files, texts and variables. Tests named cNN are failures
 * that have been seen in other programs. */
#include "unit.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/config_file.h"
#include "core/options.h"
#include "policy_rig.h"
#include "scratch.h"

static void each_source_beats_the_one_before(void **state)
{
    (void)state;
    rig_read();
    assert_int_equal(chains(), 8);
    scratch_write("shipped/gpu.d/a.ini", "[gpu H200]\nchains = 11\n");
    rig_read();
    assert_int_equal(chains(), 11);
    scratch_write("system/gpu.d/a.ini", "[policy]\nchains = 12\n");
    rig_read();
    assert_int_equal(chains(), 12);
    rig.params.config_file = scratch_write("app.ini", "[policy]\nchains = 14\n");
    rig_read();
    assert_int_equal(chains(), 14);
    scratch_write("user/gantry/gpu.d/a.ini", "[policy]\nchains = 15\n");
    rig_read();
    assert_int_equal(chains(), 15);
    setenv("GANTRY_CONFIG", scratch_write("one.ini", "[policy]\nchains = 17\n"), 1);
    rig_read();
    assert_int_equal(chains(), 17);
    setenv("GANTRY_CHAINS", "19", 1);
    rig_read();
    assert_int_equal(chains(), 19);
    assert_string_equal(value_of(&h200, "chains").origin, "environment GANTRY_CHAINS");
    rig.params.override_text = "[policy]\nchains = 21\n";
    rig_read();
    assert_int_equal(chains(), 21);
    assert_string_equal(value_of(&h200, "chains").origin, "override_text:2");
    assert_string_equal(value_of(&h200, "chains").overrides[0], "19 (environment GANTRY_CHAINS)");
    assert_string_equal(rig.logged, "");
}

static void the_override_is_a_source_like_the_others(void **state)
{
    (void)state;
    setenv("GANTRY_CONFIG", "none", 1);
    setenv("GANTRY_CHAINS", "19", 1);
    rig.params.config_text = "[gpu H200]\nchains = 3\nspin_us = 3\n";
    rig.params.override_text = "[policy]\nchains = 2\nblock_size.edge = 16x16\n[gpu L4]\nspin_us "
                               "= 4\n[gantry]\nbackend = vulkan\n";
    rig_read();
    assert_int_equal(chains(), 2);
    assert_string_equal(value_of(&h200, "spin_us").origin, "built-in");
    assert_string_equal(value_of(&h200, "block_size.edge").value, "16x16");
    assert_string_equal(policy_global(rig.policy, "backend", NULL), "vulkan");
    assert_null(policy_file(rig.policy, 0));

    unsetenv("GANTRY_CONFIG");
    rig_read();
    assert_int_equal(chains(), 2);
    assert_string_equal(value_of(&h200, "spin_us").origin, "config_text:3");
    rig.params.override_text = "[policy]\nchain = 2\n";
    rig_fails("override_text:2: [policy] has no key \"chain\": is it \"chains\"?");
    rig.params.override_text = "";
    rig_read();
    assert_int_equal(chains(), 19);
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
    rig.params.config_file = scratch_path("app.ini");
    snprintf(list, sizeof(list), "%s:%s", scratch_path("first.ini"), scratch_path("second.ini"));
    setenv("GANTRY_CONFIG", list, 1);
    rig_read();
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_string_equal(policy_file(rig.policy, i), scratch_path(names[i]));
    assert_null(policy_file(rig.policy, sizeof(names) / sizeof(names[0])));
}

static void folders_are_one_source_in_the_order_of_bytes(void **state)
{
    (void)state;
    scratch_write("user/gantry/gantry.ini", "[gpu H200]\nchains = 2\n");
    scratch_write("user/gantry/gpu.d/Z.ini", "[policy]\nchains = 3\nspin_us = 1\n");
    scratch_write("user/gantry/gpu.d/a.ini", "[policy]\nchains = 4\n");
    rig_read();
    assert_int_equal(chains(), 2); /* the more specific section, though in an earlier file */
    scratch_write("user/gantry/gpu.d/b.ini", "[gpu H200]\nchains = 5\n");
    rig_read();
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
    rig_read();
    assert_int_equal(chains(), 3);
}

static void none_leaves_out_what_is_weaker(void **state)
{
    char list[1800];

    (void)state;
    scratch_write("shipped/gpu.d/a.ini", "nonsense\n");
    scratch_write("system/gantry.ini", "nonsense\n");
    scratch_write("user/gantry/gantry.ini", "nonsense\n");
    rig.params.config_text = "nonsense\n";
    setenv("GANTRY_CONFIG", "none", 1);
    rig_read();
    assert_int_equal(chains(), 8);
    assert_null(policy_file(rig.policy, 0));
    assert_string_equal(rig.logged, "");

    scratch_write("a.ini", "[policy]\nchains = 2\nspin_us = 2\n");
    scratch_write("b.ini", "[policy]\nspin_us = 3\n");
    snprintf(list, sizeof(list), "%s:none:%s", scratch_path("a.ini"), scratch_path("b.ini"));
    setenv("GANTRY_CONFIG", list, 1);
    rig_read();
    assert_int_equal(chains(), 8);
    assert_string_equal(value_of(&h200, "spin_us").value, "3");
    setenv("GANTRY_CHAINS", "7", 1);
    rig_read();
    assert_int_equal(chains(), 7);
}

static void the_user_folder_is_xdg_or_home(void **state)
{
    (void)state;
    scratch_write("home/.config/gantry/gantry.ini", "[policy]\nchains = 2\n");
    rig_read();
    assert_int_equal(chains(), 8);
    setenv("XDG_CONFIG_HOME", "relative", 1);
    rig_read();
    assert_int_equal(chains(), 2);
    unsetenv("XDG_CONFIG_HOME");
    rig_read();
    assert_int_equal(chains(), 2);
    unsetenv("HOME");
    rig_read();
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
    rig_read();
    for (int id = 0; id < OPTION_COUNT; id++) {
        struct gantry_config_value value = value_of(&h200, options[id].name);

        assert_int_equal(strncmp(value.origin, "environment GANTRY_", 19), 0);
        assert_null(value.section);
        assert_int_equal(value.override_count, 1);
    }
    assert_string_equal(rig.logged, "");
}

static void variables_are_checked(void **state)
{
    (void)state;
    setenv("GANTRY_CHAINS", "8 chains", 1);
    rig_fails("environment GANTRY_CHAINS: \"8 chains\" is no whole number");
    setenv("GANTRY_CHAINS", "", 1);
    rig_read();
    assert_int_equal(chains(), 8);
    setenv("GANTRY_CHAINS", "  4 ", 1);
    rig_read();
    assert_int_equal(chains(), 4);
    setenv("GANTRY_DEVICE", "-1", 1); /* C06 */
    rig_fails("environment GANTRY_DEVICE: \"-1\" is no index of a device");
    unsetenv("GANTRY_DEVICE");
    setenv("GANTRY_CHAIN", "4", 1);
    rig_read();
    assert_contains(rig.logged,
                    "environment GANTRY_CHAIN: means nothing to gantry: is it GANTRY_CHAINS?");
}

static void c48_named_files_must_be_there(void **state)
{
    (void)state;
    setenv("GANTRY_CONFIG", scratch_path("missing.ini"), 1);
    rig_fails("missing.ini: the file can't be read: No such file or directory");
    scratch_write("folder/file", "");
    setenv("GANTRY_CONFIG", scratch_path("folder"), 1);
    rig_fails("folder: this is a folder");
    setenv("GANTRY_CONFIG", "", 1);
    rig_read();
    setenv("GANTRY_CONFIG", "a.ini::b.ini", 1);
    rig_fails("No such file");
    setenv("GANTRY_CONFIG", ":", 1);
    rig_fails("environment GANTRY_CONFIG: an empty place");
    unsetenv("GANTRY_CONFIG");
    rig.params.config_file = scratch_path("missing.ini");
    rig_fails("missing.ini: the file can't be read");
    rig.params.config_file = NULL;
    rig.params.shipped_dir = rig.params.system_dir = NULL;
    rig_read();
}

/* A link to itself: even those who may read every file can't read this one. */
static void c48_unreadable_files(void **state)
{
    const char *path = scratch_path("loop.ini");

    (void)state;
    assert_int_equal(symlink("loop.ini", path), 0);
    setenv("GANTRY_CONFIG", path, 1);
    rig_fails("loop.ini: the file can't be read: ");
}

static void c48_default_files_are_only_warned_about(void **state)
{
    (void)state;
    scratch_write("system/gantry.ini/in the way", "");
    scratch_write("system/gpu.d", "a file");
    scratch_write("user/gantry/gantry.ini", "[policy]\nblok = 3\nchains = 99\nspin_us = 7\n");
    rig_read();
    assert_contains(rig.logged, "system/gantry.ini: this is a folder");
    assert_contains(rig.logged, "gantry.ini:2: [policy] has no key \"blok\"");
    assert_contains(rig.logged, "gantry.ini:3: chains: \"99\" is out of range: write 1 to 64");
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
    rig_read();
    setenv("GANTRY_CONFIG", scratch_write_bytes("over.ini", text, SIZE + 1), 1);
    rig_fails("larger than 256 KiB");
    free(text);
}

/* ---- The shipped files ---------------------------------------------------------------------- */

static void no_remark(void *user, const struct gantry_config_remark *remark)
{
    (void)user;
    print_error("%s:%u: %s\n", remark->file, remark->line, remark->text);
    _fail(__FILE__, __LINE__);
}

static void check_shipped(const char *path)
{
    struct gantry_config_check_params params = {.file = path, .remark = no_remark};
    struct config_file file;
    char *text, *line;

    assert_int_equal(gantry_config_check(&params), GANTRY_OK);
    /* The examples in its comments are right too. */
    assert_true(config_file_read(path, &file));
    text = calloc(1, file.size + 1);
    memcpy(text, file.text, file.size);
    for (line = text; (line = strstr(line, "\n;")); line += 2) {
        if (line[2] != ' ' && line[2] != '\n')
            line[1] = ' ';
    }
    params.text = text;
    params.size = file.size;
    assert_int_equal(gantry_config_check(&params), GANTRY_OK);
    free(text);
    free(file.text);
}

static void the_shipped_files_are_right(void **state)
{
    static const char *const patterns[] = {"conf/gantry.ini", "conf/gpu.d/*.ini"};
    const char *source = getenv("TEST_SOURCE_DIR");

    (void)state;
    if (!source) {
        print_message("skipped: TEST_SOURCE_DIR is not set, so conf/ can't be found\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        char pattern[512];
        glob_t found;

        snprintf(pattern, sizeof(pattern), "%s/%s", source, patterns[i]);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t j = 0; j < found.gl_pathc; j++)
            check_shipped(found.gl_pathv[j]);
        globfree(&found);
    }
}

#define with_rig(test) cmocka_unit_test_setup_teardown(test, rig_open, rig_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_rig(each_source_beats_the_one_before),
        with_rig(the_override_is_a_source_like_the_others),
        with_rig(files_are_listed_weakest_first),
        with_rig(folders_are_one_source_in_the_order_of_bytes),
        with_rig(listed_files_are_sources_of_their_own),
        with_rig(none_leaves_out_what_is_weaker),
        with_rig(the_user_folder_is_xdg_or_home),
        with_rig(variables_set_every_key),
        with_rig(variables_are_checked),
        with_rig(c48_named_files_must_be_there),
        with_rig(c48_unreadable_files),
        with_rig(c48_default_files_are_only_warned_about),
        with_rig(huge_files_are_refused),
        cmocka_unit_test(the_shipped_files_are_right),
    };

    return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
