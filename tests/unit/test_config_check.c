/* core/config_check.c: files that are checked without being in force. */
#include "unit.h"

#include <stdlib.h>

#include "core/utf8.h"
#include "gpk_builder.h"
#include "scratch.h"

enum { REMARKS = 64 };

static struct {
    char file[64];
    uint32_t line;
    bool mistake;
    char text[512];
} remarks[REMARKS];
static uint32_t remark_count;

static void keep(void *user, const struct gantry_config_remark *remark)
{
    assert_ptr_equal(user, remarks);
    assert_true(remark_count < REMARKS);
    assert_true(utf8_valid(remark->text));
    snprintf(remarks[remark_count].file, sizeof(remarks->file), "%s", remark->file);
    snprintf(remarks[remark_count].text, sizeof(remarks->text), "%s", remark->text);
    remarks[remark_count].line = remark->line;
    remarks[remark_count++].mistake = remark->mistake;
}

static struct gantry_config_check_params params_of(const char *text)
{
    return (struct gantry_config_check_params){
        .file = "f.ini",
        .text = text,
        .size = strlen(text),
        .remark = keep,
        .user = remarks,
    };
}

static enum gantry_status check(const struct gantry_config_check_params *params)
{
    remark_count = 0;
    return gantry_config_check(params);
}

static void check_remark(uint32_t i, uint32_t line, bool mistake, const char *part)
{
    assert_true(i < remark_count);
    assert_string_equal(remarks[i].file, "f.ini");
    assert_int_equal(remarks[i].line, line);
    assert_int_equal(remarks[i].mistake, mistake);
    assert_contains(remarks[i].text, part);
    assert_null(strstr(remarks[i].text, "f.ini")); /* the place is said beside the text */
}

/* ---- Texts and files ------------------------------------------------------------------------ */

static void remarks_come_in_the_order_of_lines(void **state)
{
    const struct gantry_config_check_params params =
        params_of("[policy]\nchains = 65\nchains = 2\nchains = 3\nblok = 1\n[gpu\n");

    (void)state;
    assert_int_equal(check(&params), GANTRY_E_CONFIG);
    assert_string_equal(gantry_last_error(),
                        "f.ini:2: chains: \"65\" is out of range: write 1 to 64 (and 2 more "
                        "mistakes)");
    assert_int_equal(remark_count, 4);
    check_remark(0, 2, true, "out of range");
    check_remark(1, 4, false, "already set in line 3");
    check_remark(2, 5, true, "is it \"block_size\"?");
    check_remark(3, 6, true, "no ']'");
}

static void doubts_are_no_failure(void **state)
{
    struct gantry_config_check_params params = params_of("[policy]\nchains = 2\nchains = 3\n");

    (void)state;
    assert_int_equal(check(&params), GANTRY_OK);
    assert_int_equal(remark_count, 1);
    params.remark = NULL;
    assert_int_equal(gantry_config_check(&params), GANTRY_OK);
    params = params_of("");
    assert_int_equal(check(&params), GANTRY_OK);
    assert_int_equal(remark_count, 0);
}

static void a_text_may_have_no_name(void **state)
{
    struct gantry_config_check_params params = params_of("x");

    (void)state;
    params.file = NULL;
    assert_int_equal(check(&params), GANTRY_E_CONFIG);
    assert_string_equal(remarks[0].file, "text");
}

/* What is quoted may hold anything, cut anywhere. */
static void remarks_are_clean_text(void **state)
{
    const struct gantry_config_check_params params =
        params_of("[\xc3\xa4\033[2J\n[policy]\n"
                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xc3\xa4\xc3\xa4\n");

    (void)state;
    assert_int_equal(check(&params), GANTRY_E_CONFIG);
    assert_int_equal(remark_count, 2);
    check_remark(0, 1, true, "\"[\xc3\xa4?[2J\" has no ']'");
    check_remark(1, 3, true, "x?\" is no \"key = value\"");
}

static void files(void **state)
{
    struct gantry_config_check_params params = {.remark = keep, .user = remarks};

    (void)state;
    params.file = scratch_write("good.ini", "[policy]\nchains = 2");
    assert_int_equal(check(&params), GANTRY_OK);
    params.file = scratch_write("bad.ini", "\n[policy]\nchains = two\n");
    assert_int_equal(check(&params), GANTRY_E_CONFIG);
    assert_int_equal(remark_count, 1);
    assert_int_equal(remarks[0].line, 3);
    params.file = scratch_path("missing.ini");
    assert_int_equal(check(&params), GANTRY_E_IO);
    assert_contains(gantry_last_error(), "missing.ini: the file can't be read: No such file");
    params.file = scratch_path(".");
    assert_int_equal(check(&params), GANTRY_E_IO);
    assert_contains(gantry_last_error(), "this is a folder");
    assert_int_equal(remark_count, 0);
}

static void bad_params(void **state)
{
    const struct gantry_package *none = NULL;
    struct gantry_config_check_params params = {0};

    (void)state;
    assert_int_equal(gantry_config_check(NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_config_check(&params), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "neither a file nor a text");
    params = params_of("");
    params.package_count = 1;
    assert_int_equal(gantry_config_check(&params), GANTRY_E_INVALID_ARGUMENT);
    params.packages = &none;
    assert_int_equal(gantry_config_check(&params), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "package 0 of 1 is NULL");
}

/* ---- Packages ------------------------------------------------------------------------------- */

#define KERNEL(text, count) .name = text, .args_name = "no_args", .dimensions = count

static const struct gantry_kernel_source photo_kernels[] = {
    {KERNEL("edge", 2)},
    {KERNEL("sum", 1), .block_pow2 = true, .block_max = 256},
    {KERNEL("blur", 1), .block_multiple = 32},
    {KERNEL("step", 1), .block = {64, 1, 1}},
};

static const struct gantry_kernel_source other_kernels[] = {
    {KERNEL("edge", 1)},
    {KERNEL("blur", 1)},
};

static struct gantry_package *
make_package(const char *name, const struct gantry_kernel_source *kernels, uint32_t count)
{
    const struct gpk_build_image image = {.kernel = UINT32_MAX,
                                          .kind = GANTRY_IMAGE_SOURCE,
                                          .entry = GANTRY_ENTRY_ALL,
                                          .name = "photo.gk",
                                          .data = "",
                                          .size = 1};
    const struct gpk_build build = {.name = name,
                                    .kernels = kernels,
                                    .kernel_count = count,
                                    .images = &image,
                                    .image_count = 1};
    struct gantry_package_params params = {0};
    struct gantry_package *package = NULL;
    uint8_t *bytes = gpk_build(&build, &params.size);

    params.data = bytes;
    if (gantry_package_open(&params, &package) != GANTRY_OK)
        print_error("%s\n", gantry_last_error());
    assert_non_null(package);
    free(bytes);
    return package;
}

static struct gantry_package *packages[2];

static enum gantry_status check_with_packages(const char *text)
{
    struct gantry_config_check_params params = params_of(text);

    params.packages = (const struct gantry_package *const *)packages;
    params.package_count = 2;
    return check(&params);
}

static int open_packages(void **state)
{
    (void)state;
    packages[0] = make_package("photo", photo_kernels, 4);
    packages[1] = make_package("other", other_kernels, 2);
    return 0;
}

static int close_packages(void **state)
{
    (void)state;
    gantry_package_close(&packages[0]);
    gantry_package_close(&packages[1]);
    return 0;
}

static void right_blocks_are_silent(void **state)
{
    (void)state;
    assert_int_equal(check_with_packages("[policy]\nblock_size = 33\n"
                                         "block_size.photo/edge = 16x16\nblock_size.edge = 256\n"
                                         "block_size.sum = 128\nblock_size.blur = auto\n"
                                         "[gpu H200]\ncuda.block_size.photo/blur = 96\n"),
                     GANTRY_OK);
    assert_int_equal(remark_count, 0);
}

static void names_that_no_package_has(void **state)
{
    (void)state;
    assert_int_equal(check_with_packages("[policy]\nblock_size.egde = 256\n"
                                         "block_size.phot/edge = 16x16\n"
                                         "block_size.other/sum = 128\nblock_size.xyzzy = 1\n"
                                         "block_size.photo/Edge = 16x16\n"),
                     GANTRY_OK);
    assert_int_equal(remark_count, 5);
    check_remark(0, 2, false, "block_size.egde: no kernel is called \"egde\": is it \"edge\"?");
    check_remark(1, 3, false, "no package is called \"phot\": is it \"photo\"?");
    check_remark(2, 4, false, "block_size.other/sum: no kernel is called \"sum\"");
    check_remark(3, 5, false, "no kernel is called \"xyzzy\"");
    check_remark(4, 6, false, "no kernel is called \"Edge\": is it \"edge\"?");
}

static void blocks_that_the_kernel_cannot_take(void **state)
{
    (void)state;
    assert_int_equal(check_with_packages(
                         "[policy]\nblock_size.sum = 512\nblock_size.sum = 96\n"
                         "block_size.photo/blur = 48\nblock_size.step = 64\n"
                         "block_size.edge = 16x16\nblock_size.photo/edge = 8x8x8\n"),
                     GANTRY_E_CONFIG);
    assert_int_equal(remark_count, 7);
    check_remark(0, 2, true,
                 "block 512 is not for kernel sum of package photo: it has 512 threads, "
                 "more than the kernel's BLOCK_MAX 256");
    check_remark(1, 3, false, "already set in line 2");
    check_remark(2, 3, true, "96 threads, no power of two");
    check_remark(3, 4, true, "48 threads, no multiple of the kernel's BLOCK_MULTIPLE 32");
    check_remark(4, 5, true,
                 "block_size.step is never used: BLOCK() in the source of kernel step "
                 "of package photo fixes 64");
    check_remark(5, 6, true, "kernel edge of package other: it has 16 threads along y");
    check_remark(6, 7, true, "kernel edge of package photo: it has 8 threads along z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remarks_come_in_the_order_of_lines),
        cmocka_unit_test(doubts_are_no_failure),
        cmocka_unit_test(a_text_may_have_no_name),
        cmocka_unit_test(remarks_are_clean_text),
        cmocka_unit_test_setup_teardown(files, scratch_open, scratch_close),
        cmocka_unit_test(bad_params),
        cmocka_unit_test_setup_teardown(right_blocks_are_silent, open_packages, close_packages),
        cmocka_unit_test_setup_teardown(names_that_no_package_has, open_packages, close_packages),
        cmocka_unit_test_setup_teardown(blocks_that_the_kernel_cannot_take, open_packages,
                                        close_packages),
    };

    return cmocka_run_group_tests_name("config_check", tests, NULL, NULL);
}
