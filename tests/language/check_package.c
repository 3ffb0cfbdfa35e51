/* What the packages of this folder's .gk files hold, read through the public API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/gantry.h>

#include "types.h"

static struct gantry_package *open_package(const char *name)
{
    char path[4096];
    struct gantry_package *package = NULL;
    snprintf(path, sizeof(path), "%s/%s.gpk", getenv("PACKAGES"), name);
    struct gantry_package_params params = {.file = path};
    if (gantry_package_open(&params, &package))
        fail_msg("%s", gantry_last_error());
    assert_string_equal(gantry_package_name(package), name);
    return package;
}

static struct gantry_kernel_source find_kernel(struct gantry_package *package, const char *name)
{
    struct gantry_kernel_source kernel;
    for (uint32_t i = 0; i < gantry_package_kernel_count(package); i++) {
        assert_int_equal(gantry_package_kernel(package, i, &kernel), GANTRY_OK);
        if (!strcmp(kernel.name, name))
            return kernel;
    }
    fail_msg("no kernel %s", name);
    return kernel;
}

/* The n-th image of a kernel that fits; data may be NULL. */
static bool find_image(struct gantry_package *package, const char *kernel,
                       enum gantry_image_kind kind, enum gantry_entry entry, uint32_t n,
                       struct gantry_image_info *image, const void **data)
{
    for (uint32_t i = 0; i < gantry_package_image_count(package); i++) {
        assert_int_equal(gantry_package_image(package, i, image, data), GANTRY_OK);
        bool ours = image->kernel ? !strcmp(image->kernel, kernel) : true;
        if (ours && image->kind == kind && image->entry == entry && n-- == 0)
            return true;
    }
    return false;
}

/* ---- Arguments and attributes
 * --------------------------------------------------------------------- */

static void check_field(const struct gantry_kernel_source *kernel, uint32_t i, const char *name,
                        enum gantry_scalar type, uint32_t offset, const char *pointee)
{
    assert_string_equal(kernel->fields[i].name, name);
    assert_int_equal(kernel->fields[i].type, type);
    assert_int_equal(kernel->fields[i].offset, offset);
    assert_string_equal(kernel->fields[i].pointee, pointee);
}

static void test_arguments(void **state)
{
    (void)state;
    struct gantry_package *package = open_package("types");
    struct gantry_kernel_source kernel = find_kernel(package, "doubles");
    assert_string_equal(kernel.args_name, "doubles_args");
    assert_int_equal(kernel.args_size, sizeof(struct doubles_args));
    assert_int_equal(kernel.field_count, 4);
    check_field(&kernel, 0, "a", GANTRY_SCALAR_POINTER, 0, "double");
    check_field(&kernel, 1, "third", GANTRY_SCALAR_DOUBLE, 8, "");
    check_field(&kernel, 2, "offset", GANTRY_SCALAR_INT64, 16, "");
    check_field(&kernel, 3, "n", GANTRY_SCALAR_UINT64, 24, "");
    assert_true(kernel.layout_hash == doubles_LAYOUT);
    gantry_package_close(&package);

    package = open_package("maths");
    kernel = find_kernel(package, "maths");
    check_field(&kernel, 4, "scale", GANTRY_SCALAR_FLOAT, 28, "");
    assert_int_equal(kernel.fields[4].count, 3);
    assert_int_equal(kernel.fields[4].size, 12);
    gantry_package_close(&package);
}

/* What must hold for the members x, y, counts, cells, index and sums. */
static void check_written(const char *name, const bool written[6])
{
    struct gantry_package *package = open_package("pointers");
    struct gantry_kernel_source kernel = find_kernel(package, name);
    for (uint32_t i = 0; i < 6; i++)
        if (kernel.fields[i].written != written[i])
            fail_msg("%s.%s is %swritten", name, kernel.fields[i].name, written[i] ? "" : "not ");
    assert_false(kernel.fields[6].written || kernel.fields[7].written);
    gantry_package_close(&package);
}

static void test_writes(void **state)
{
    (void)state;
    check_written("stated", (const bool[6]){false, true, true, false, false, false});
    check_written("chosen", (const bool[6]){true, false, false, true, false, true});
    check_written("moved", (const bool[6]){true, true, false, false, true, false});
    check_written("copied", (const bool[6]){false, true, false, false, false, false});
    check_written("hidden", (const bool[6]){true, false, false, false, false, true});
}

static void check_factor(const struct gantry_field_info *field, uint32_t i, int32_t member,
                         uint64_t number)
{
    assert_true(i < field->reach_count);
    assert_int_equal(field->reach[i].field, member);
    assert_int_equal(field->reach[i].number, number);
}

static void test_pointers(void **state)
{
    (void)state;
    struct gantry_package *package = open_package("pointers");
    struct gantry_kernel_source kernel = find_kernel(package, "stated");
    const struct gantry_field_info *fields = kernel.fields;
    static const uint32_t counts[8] = {1, 2, 1, 3, 0, 0, 0, 0}, sizes[8] = {4, 4, 4, 8, 4, 4, 0, 0};
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(fields[i].reach_count, counts[i]);
        assert_int_equal(fields[i].pointee_size, sizes[i]);
        assert_int_equal(fields[i].may_be_null, i == 4);
    }
    check_factor(&fields[0], 0, 6, 0);
    check_factor(&fields[1], 0, 6, 0);
    check_factor(&fields[1], 1, 7, 0);
    check_factor(&fields[2], 0, -1, 256);
    check_factor(&fields[3], 1, -1, 2);
    check_factor(&fields[3], 2, 7, 0);
    kernel = find_kernel(package, "chosen");
    assert_int_equal(kernel.fields[0].reach_count, 0);
    assert_false(kernel.fields[4].may_be_null);
    gantry_package_close(&package);
}

static void test_attributes(void **state)
{
    (void)state;
    struct gantry_package *package = open_package("grid");
    struct gantry_kernel_source kernel = find_kernel(package, "grid_1d");
    assert_int_equal(kernel.dimensions, 1);
    assert_int_equal(kernel.block.x, 0);
    assert_int_equal(kernel.block_multiple, 2);
    assert_int_equal(kernel.block_max, 128);
    assert_false(kernel.block_pow2 || kernel.grid_stride);
    kernel = find_kernel(package, "grid_3d");
    assert_int_equal(kernel.dimensions, 3);
    assert_int_equal(kernel.block.x, 4);
    assert_int_equal(kernel.block.y, 2);
    assert_int_equal(kernel.block.z, 4);
    gantry_package_close(&package);

    package = open_package("shared");
    kernel = find_kernel(package, "reduce");
    assert_true(kernel.block_pow2 && kernel.grid_stride);
    assert_true(kernel.tolerance == 1e-5);
    gantry_package_close(&package);
}

static void test_shared_memory(void **state)
{
    (void)state;
    struct gantry_package *package = open_package("shared");
    struct gantry_kernel_source kernel = find_kernel(package, "reduce");
    assert_int_equal(kernel.shared_bytes, 0);
    assert_int_equal(kernel.shared_per_thread, 4);
    kernel = find_kernel(package, "reverse");
    assert_int_equal(kernel.shared_bytes, 256);
    assert_int_equal(kernel.shared_per_thread, 0);
    gantry_package_close(&package);
}

static void test_early_return(void **state)
{
    (void)state;
    static const struct {
        const char *package, *kernel;
        bool early;
    } cases[] = {
        {"shared", "reduce", false},
        {"shared", "reverse", false},
        {"shared", "early", true},
        {"grid", "grid_3d", false}, /* returns, but has no BARRIER */
        {"flow", "after_last", false},
        {"flow", "in_loop", true},
        {"flow", "in_unrolled_loop", true},
        {"flow", "before_call", true},
        {"flow", "in_function", true},
        {"flow", "loop_without", false},
        {"flow", "before_vote", true},
        {"flow", "after_vote", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gantry_package *package = open_package(cases[i].package);
        struct gantry_kernel_source kernel = find_kernel(package, cases[i].kernel);
        if (kernel.early_return != cases[i].early)
            fail_msg("%s: early_return is %d", cases[i].kernel, kernel.early_return);
        gantry_package_close(&package);
    }
}

static void test_features(void **state)
{
    (void)state;
    static const struct {
        const char *package, *kernel;
        uint32_t features;
    } cases[] = {
        {"saxpy", "saxpy", 0},
        {"types", "bytes", GANTRY_FEATURE_INT8 | GANTRY_FEATURE_INT16},
        {"types", "halves", GANTRY_FEATURE_HALF},
        {"types", "doubles", GANTRY_FEATURE_DOUBLE},
        {"atomics", "atomics", 0},
        {"atomics", "atomics_wide", GANTRY_FEATURE_ATOMIC_INT64},
        {"subgroups", "subgroups",
         GANTRY_FEATURE_SUBGROUP_BALLOT | GANTRY_FEATURE_SUBGROUP_SHUFFLE |
             GANTRY_FEATURE_SUBGROUP_ARITHMETIC},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gantry_package *package = open_package(cases[i].package);
        /* Addresses are 64-bit integers: every kernel needs those. */
        assert_int_equal(find_kernel(package, cases[i].kernel).features,
                         cases[i].features | GANTRY_FEATURE_INT64);
        gantry_package_close(&package);
    }
}

/* ---- Images
 * --------------------------------------------------------------------------------------- */

static void test_spirv(void **state)
{
    (void)state;
    struct gantry_package *package = open_package("saxpy");
    const enum gantry_entry entries[] = {GANTRY_ENTRY_DIRECT, GANTRY_ENTRY_FOLDED};
    for (int i = 0; i < 2; i++) {
        struct gantry_image_info image;
        const void *data;
        uint32_t words[2];
        assert_true(find_image(package, "saxpy", GANTRY_IMAGE_SPIRV, entries[i], 0, &image, &data));
        memcpy(words, data, sizeof(words));
        assert_int_equal(words[0], 0x07230203);
        assert_int_equal(words[1], 0x00010500);
        assert_int_equal(image.isa_version, 15);
        assert_int_equal(image.size % 4, 0);
        assert_false(
            find_image(package, "saxpy", GANTRY_IMAGE_SPIRV, entries[i], 1, &image, &data));
    }
    gantry_package_close(&package);
}

/* Where float atomics are used there is a variant with the instruction, and it comes first. */
static void test_float_atomics(void **state)
{
    (void)state;
    struct gantry_package *package = open_package("atomics");
    struct gantry_image_info image;
    const void *data;
    assert_true(
        find_image(package, "atomics", GANTRY_IMAGE_SPIRV, GANTRY_ENTRY_FOLDED, 0, &image, &data));
    assert_true(image.features & GANTRY_FEATURE_ATOMIC_FLOAT_ADD);
    assert_true(
        find_image(package, "atomics", GANTRY_IMAGE_SPIRV, GANTRY_ENTRY_FOLDED, 1, &image, &data));
    assert_false(image.features & GANTRY_FEATURE_ATOMIC_FLOAT_ADD);
    gantry_package_close(&package);
}

static void test_source(void **state)
{
    (void)state;
    static const char *const names[] = {"saxpy.cu", "saxpy.gk", "gantry/kernel.h",
                                        "gantry/kernel_cuda.h"};
    struct gantry_package *package = open_package("saxpy");
    struct gantry_image_info image;
    const void *data;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(
            find_image(package, "saxpy", GANTRY_IMAGE_SOURCE, GANTRY_ENTRY_ALL, i, &image, &data));
        assert_string_equal(image.name, names[i]);
    }
    assert_false(
        find_image(package, "saxpy", GANTRY_IMAGE_SOURCE, GANTRY_ENTRY_ALL, 4, &image, &data));
    gantry_package_close(&package);
}

static void test_host(void **state)
{
    (void)state;
    struct gantry_package *package = open_package("saxpy");
    struct gantry_image_info image;
    const void *data;
    assert_true(
        find_image(package, "saxpy", GANTRY_IMAGE_HOST, GANTRY_ENTRY_ALL, 0, &image, &data));
    assert_memory_equal(data, "\177ELF", 4);
    gantry_package_close(&package);
}

/* ---- CUDA
 * ----------------------------------------------------------------------------------------- */

static bool holds(const void *data, size_t size, const char *text)
{
    return memmem(data, size, text, strlen(text)) != NULL;
}

static uint32_t check_ptx(const struct gantry_image_info *image, const void *data)
{
    char version[32], target[32], entry[64];
    snprintf(version, sizeof(version), ".version %u.%u", image->isa_version / 10,
             image->isa_version % 10);
    snprintf(target, sizeof(target), ".target sm_%u", image->arch);
    snprintf(entry, sizeof(entry), ".entry %s_folded(", image->kernel);
    assert_true(holds(data, image->size, version));
    assert_true(holds(data, image->size, target));
    assert_true(holds(data, image->size, entry));
    entry[strlen(".entry ") + strlen(image->kernel)] = '(';
    entry[strlen(".entry ") + strlen(image->kernel) + 1] = 0;
    assert_true(holds(data, image->size, entry));
    /* Older drivers take the text: its version is that which brought the target. */
    assert_true(image->arch != 75 || image->isa_version == 63);
    assert_true(image->arch != 90 || image->isa_version == 78);
    assert_true(image->arch < 90 || holds(data, image->size, "griddepcontrol.wait"));
    return 1;
}

static void test_cuda(void **state)
{
    (void)state;
    if (!strcmp(getenv("HAVE_CUDA"), "0")) {
        print_message("skipped: no CUDA toolkit, so packages have no CUDA images\n");
        skip();
    }
    struct gantry_package *package = open_package("types");
    uint32_t cubins = 0, ptx = 0;
    for (uint32_t i = 0; i < gantry_package_image_count(package); i++) {
        struct gantry_image_info image;
        const void *data;
        assert_int_equal(gantry_package_image(package, i, &image, &data), GANTRY_OK);
        if (image.kind == GANTRY_IMAGE_PTX) {
            assert_non_null(image.kernel);
            ptx += check_ptx(&image, data);
        } else if (image.kind == GANTRY_IMAGE_CUBIN) {
            assert_null(image.kernel);
            assert_memory_equal(data, "\177ELF", 4);
            assert_true(holds(data, image.size, "halves_folded"));
            cubins++;
        }
    }
    assert_true(cubins + ptx > 0);
    gantry_package_close(&package);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),     cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_shared_memory), cmocka_unit_test(test_early_return),
        cmocka_unit_test(test_features),      cmocka_unit_test(test_spirv),
        cmocka_unit_test(test_float_atomics), cmocka_unit_test(test_source),
        cmocka_unit_test(test_host),          cmocka_unit_test(test_cuda),
        cmocka_unit_test(test_pointers),      cmocka_unit_test(test_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
