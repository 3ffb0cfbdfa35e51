/* What gantry tune writes, into which files. */
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

#include "../../tools/tune/section.h"
#include "../../tools/tune/userfile.h"
#include "../unit/scratch.h"

#define TUNED "; tuned: cuda 13.0, vulkan 580.159.04, 2026-11-30, gantry 0.1.0\n"

static void add_line(struct section_key *key, const char *name, const char *value)
{
    snprintf(key->lines[key->count].name, sizeof key->lines[0].name, "%s", name);
    snprintf(key->lines[key->count++].value, sizeof key->lines[0].value, "%s", value);
}

static struct section_key *add_key(struct section *section, const char *name)
{
    struct section_key *key = &section->keys[section->count++];
    static const char *const backends[] = {"cuda", "vulkan"};

    snprintf(key->key, sizeof key->key, "%s", name);
    for (unsigned i = 0; i < 2; i++) {
        key->backends[i] = backends[i];
        snprintf(key->comments[i], sizeof key->comments[i], "tuned %s through %s: new", name,
                 backends[i]);
    }
    key->backend_count = 2;
    return key;
}

/* chains = 4 for both backends, a block for CUDA, and spin_us as it was. */
static struct section example(void)
{
    struct section section = {.model = "h200"};
    struct section_key *key = add_key(&section, "chains");

    tuned_set(&section.tuned, "cuda", "13.0");
    tuned_set(&section.tuned, "vulkan", "580.159.04");
    strcpy(section.tuned.date, "2026-11-30");
    strcpy(section.tuned.gantry, "0.1.0");
    add_line(key, "chains", "4");
    key->complete = true;
    add_line(add_key(&section, "block_size.edge/sobel"), "cuda.block_size.edge/sobel", "32x8");
    add_key(&section, "spin_us");
    return section;
}

#define COMMENTS                                                \
    TUNED "; tuned chains through cuda: new\n"                  \
          "; tuned chains through vulkan: new\n"                \
          "; tuned block_size.edge/sobel through cuda: new\n"   \
          "; tuned block_size.edge/sobel through vulkan: new\n" \
          "; tuned spin_us through cuda: new\n"                 \
          "; tuned spin_us through vulkan: new\n"

static void check_put(const struct section *section, const char *before, const char *after)
{
    size_t size = strlen(before);
    char *text = section_put(section, before, &size);

    assert_non_null(text);
    assert_string_equal(text, after);
    assert_int_equal(size, strlen(after));
    free(text);
}

static void put(const char *before, const char *after)
{
    const struct section section = example();

    check_put(&section, before, after);
    check_put(&section, after, after); /* a second time nothing is left to change */
}

/* ---- Files as they may be ------------------------------------------------------------------- */

static void test_an_empty_file(void **state)
{
    (void)state;
    put("", "[gpu h200]\n" COMMENTS "chains = 4\ncuda.block_size.edge/sobel = 32x8\n");
}

static void test_another_section_without_a_final_newline(void **state)
{
    (void)state;
    put("; mine\n[policy]\nspin_us = 5 ; five",
        "; mine\n[policy]\nspin_us = 5 ; five\n\n"
        "[gpu h200]\n" COMMENTS "chains = 4\ncuda.block_size.edge/sobel = 32x8\n");
}

static void test_the_section_is_there(void **state)
{
    (void)state;
    put("[gpu NVIDIA  H200 (driver)] ; the big one\n"
        "; a remark\n"
        "\n"
        "  chains=16   ; was best once\n"
        "batch_size = 32\n"
        "\n"
        "[policy]\n"
        "chains = 2\n",
        "[gpu NVIDIA  H200 (driver)] ; the big one\n" COMMENTS "; a remark\n"
        "\n"
        "  chains=4   ; was best once\n"
        "batch_size = 32\n"
        "cuda.block_size.edge/sobel = 32x8\n"
        "\n"
        "[policy]\n"
        "chains = 2\n");
}

static void test_other_models_are_left_alone(void **state)
{
    static const char before[] = "[gpu H200*]\nchains = 1\n[gpu H200 NVL]\nchains = 2\n"
                                 "[gpu uuid:GPU-0]\nchains = 3\n[gpu\n[]\n[GPU x]\n";
    char after[2048];

    (void)state;
    snprintf(after, sizeof after,
             "%s\n[gpu h200]\n%schains = 4\ncuda.block_size.edge/sobel = "
             "32x8\n",
             before, COMMENTS);
    put(before, after);
}

static void test_the_same_section_twice(void **state)
{
    (void)state;
    put("[gpu h200]\nchains = 1\nchains = 2\n; one\n[gpu x]\nchains = 9\n[gpu H200]\n"
        "CHAINS = 3\nfold = off\n",
        "[gpu h200]\n; one\n[gpu x]\nchains = 9\n[gpu H200]\n" COMMENTS
        "CHAINS = 4\nfold = off\ncuda.block_size.edge/sobel = 32x8\n");
}

static void test_lines_that_would_beat_the_new_one(void **state)
{
    (void)state;
    put("[gpu h200]\ncuda.chains = 1\nvulkan.chains = 2\nother.chains = 3\n",
        "[gpu h200]\n" COMMENTS "other.chains = 3\nchains = 4\ncuda.block_size.edge/sobel = "
        "32x8\n");
}

static void test_a_plain_line_that_other_backends_need(void **state)
{
    (void)state;
    put("[gpu h200]\nchains = 4\nblock_size.edge/sobel = 8x8\nblock_size.edge/Sobel = 1\n"
        "spin_us = 7\n",
        "[gpu h200]\n" COMMENTS "chains = 4\nblock_size.edge/sobel = 8x8\n"
        "block_size.edge/Sobel = 1\nspin_us = 7\ncuda.block_size.edge/sobel = 32x8\n");
}

static void test_old_comments(void **state)
{
    (void)state;
    put("[gpu h200]\n; tuned: cuda 12.8, host 1.0, 2025-01-01, gantry 0.0.9\n"
        "; tuned chains through cuda: old\n; tuned batch_size through cuda: old\nchains = 9\n"
        "; tuned with love\n",
        "[gpu h200]\n; tuned: cuda 13.0, host 1.0, vulkan 580.159.04, 2026-11-30, gantry 0.1.0\n"
        "; tuned chains through cuda: new\n; tuned chains through vulkan: new\n"
        "; tuned block_size.edge/sobel through cuda: new\n"
        "; tuned block_size.edge/sobel through vulkan: new\n"
        "; tuned spin_us through cuda: new\n; tuned spin_us through vulkan: new\n"
        "; tuned batch_size through cuda: old\nchains = 4\n; tuned with love\n"
        "cuda.block_size.edge/sobel = 32x8\n");
}

static void test_lines_that_end_as_on_windows(void **state)
{
    struct section section = {.model = "h200"};

    (void)state;
    section.tuned = example().tuned;
    add_line(add_key(&section, "chains"), "chains", "4");
    section.keys[0].backend_count = 0;
    check_put(&section, "\xef\xbb\xbf[gpu h200]\r\nfold = on",
              "\xef\xbb\xbf[gpu h200]\r\n; tuned: cuda 13.0, vulkan 580.159.04, 2026-11-30, gantry "
              "0.1.0\r\nfold = on\r\nchains = 4\r\n");
    check_put(&section, "[policy]\r\n",
              "[policy]\r\n\r\n[gpu h200]\r\n; tuned: cuda 13.0, vulkan 580.159.04, 2026-11-30, "
              "gantry 0.1.0\r\nchains = 4\r\n");
    check_put(&section, "[gpu h200]",
              "[gpu h200]\n; tuned: cuda 13.0, vulkan 580.159.04, 2026-11-30, gantry 0.1.0\n"
              "chains = 4\n");
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void test_names_of_models(void **state)
{
    static const struct {
        const char *device, *model, *file;
    } names[] = {
        {"NVIDIA H200", "h200", "h200.ini"},
        {"NVIDIA GeForce RTX 4060 Laptop GPU", "rtx 4060 laptop gpu", "rtx-4060-laptop-gpu.ini"},
        {"AMD Radeon(TM) 8060S Graphics (RADV GFX1151)", "radeon 8060s", "radeon-8060s.ini"},
        {"llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe", "llvmpipe.ini"},
        {"a[b]c/../d", "a?b?c/../d", "a-b-c-d.ini"},
    };
    char model[MODEL_SIZE], file[MODEL_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ini_model(names[i].device, model);
        assert_string_equal(model, names[i].model);
        section_file_name(model, file);
        assert_string_equal(file, names[i].file);
    }
}

static void test_the_tuned_comment(void **state)
{
    static const char *const others[] = {"tuned", "tuned:", "tuned: cuda 1.0", "tuned chains: 4",
                                         "tuned: 2026-11-30, gantry 0.1.0"};
    struct tuned tuned = {0}, again;
    char text[TUNED_SIZE];

    (void)state;
    tuned_set(&tuned, "vulkan", "Mesa 22.3.6, a, b");
    strcpy(tuned.date, "2026-11-30");
    strcpy(tuned.gantry, "0.1.0");
    tuned_print(&tuned, text);
    assert_string_equal(text, "tuned: vulkan Mesa 22.3.6  a  b, 2026-11-30, gantry 0.1.0");
    assert_true(tuned_read(text, strlen(text), &again));
    assert_true(tuned_same_driver(tuned_driver(&again, "vulkan"), "Mesa 22.3.6, a, b"));
    assert_false(tuned_same_driver(tuned_driver(&again, "vulkan"), "Mesa 22.3.5, a, b"));
    assert_null(tuned_driver(&again, "cuda"));
    assert_string_equal(again.date, "2026-11-30");
    assert_string_equal(again.gantry, "0.1.0");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tuned_read(others[i], strlen(others[i]), &again));
}

/* ---- Replacing files ------------------------------------------------------------------------ */

static void check_file(const char *path, const char *text)
{
    size_t size;
    char *found = userfile_read(path, &size);

    assert_non_null(found);
    assert_string_equal(found, text);
    assert_int_equal(size, strlen(text));
    free(found);
}

static mode_t mode_of(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void test_folders_are_made(void **state)
{
    const char *path = scratch_path("new/of/all.ini");
    mode_t mask = umask(027);

    (void)state;
    check_file(path, "");
    assert_true(userfile_replace(path, "text\n", 5));
    umask(mask);
    check_file(path, "text\n");
    assert_int_equal(mode_of(path), 0640);
}

static void test_permissions_are_kept(void **state)
{
    const char *path = scratch_write("kept.ini", "old");

    (void)state;
    assert_int_equal(chmod(path, 0604), 0);
    assert_true(userfile_replace(path, "new", 3));
    check_file(path, "new");
    assert_int_equal(mode_of(path), 0604);
}

static void test_links_are_followed(void **state)
{
    const char *target = scratch_write("behind/target.ini", "old");
    const char *link = scratch_path("link.ini"), *dangling = scratch_path("dangling.ini");
    const char *missing = scratch_path("behind/missing.ini");
    struct stat info;

    (void)state;
    assert_int_equal(symlink("behind/target.ini", link), 0);
    assert_true(userfile_replace(link, "new", 3));
    check_file(target, "new");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(symlink("behind/missing.ini", dangling), 0);
    assert_true(userfile_replace(dangling, "new", 3));
    check_file(missing, "new");
}

static void test_folders_that_can_not_be_written(void **state)
{
    const char *file = scratch_write("file.ini", "old"), *beneath = scratch_path("file.ini/x.ini");
    const char *path = scratch_write("locked/x.ini", "old"), *folder = scratch_path("locked");

    (void)state;
    assert_false(userfile_replace(beneath, "new", 3));
    check_file(file, "old");
    if (geteuid() == 0) {
        print_message("a read-only folder: left out, because root may write everywhere\n");
        return;
    }
    assert_int_equal(chmod(folder, 0500), 0);
    assert_false(userfile_replace(path, "new", 3));
    assert_int_equal(chmod(folder, 0700), 0);
    check_file(path, "old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_file),
        cmocka_unit_test(test_another_section_without_a_final_newline),
        cmocka_unit_test(test_the_section_is_there),
        cmocka_unit_test(test_other_models_are_left_alone),
        cmocka_unit_test(test_the_same_section_twice),
        cmocka_unit_test(test_lines_that_would_beat_the_new_one),
        cmocka_unit_test(test_a_plain_line_that_other_backends_need),
        cmocka_unit_test(test_old_comments),
        cmocka_unit_test(test_lines_that_end_as_on_windows),
        cmocka_unit_test(test_names_of_models),
        cmocka_unit_test(test_the_tuned_comment),
        cmocka_unit_test(test_folders_are_made),
        cmocka_unit_test(test_permissions_are_kept),
        cmocka_unit_test(test_links_are_followed),
        cmocka_unit_test(test_folders_that_can_not_be_written),
    };

    return cmocka_run_group_tests_name("section", tests, scratch_open, scratch_close);
}
