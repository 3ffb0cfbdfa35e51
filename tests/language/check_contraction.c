/* That no SPIR-V makes one rounding of two operations: every float operation forbids it to drivers,
 * and the instruction that has one rounding is only where the source calls fma().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/gantry.h>

/* From the SPIR-V specification, under its names. */
enum {
    OpExtInst = 12,
    OpDecorate = 71,
    OpFNegate = 127,
    OpFAdd = 129,
    OpFSub = 131,
    OpFMul = 133,
    OpFDiv = 136,
    OpFRem = 140,
    OpFMod = 141,
    OpVectorTimesScalar = 142,
    OpDot = 148,

    DecorationNoContraction = 42,
    GLSLstd450Fma = 50,

    HeaderWords = 5,
};

/* Kernels that call fma(), of every package in the tree. Two packages have the name "types". */
static const struct {
    const char *file, *kernel;
} fused[] = {
    {"language/maths.gpk", "maths"},
    {"language/types.gpk", "doubles"},
    {"kernels/gantry-kernels.gpk", "convolution"},
    {"kernels/gantry-kernels.gpk", "layer_norm"},
    {"kernels/gantry-kernels.gpk", "linear"},
    {"kernels/gantry-kernels.gpk", "linear_relu_dropout"},
    {"kernels/gantry-kernels.gpk", "matmul"},
    {"kernels/gantry-kernels.gpk", "matmul_half"},
    {"kernels/gantry-kernels.gpk", "matmul_small"},
};

static char **packages;
static int package_count;

struct findings {
    uint32_t operations, undecorated, fused;
};

static bool is_float_operation(uint32_t opcode)
{
    return opcode == OpFNegate || opcode == OpFAdd || opcode == OpFSub || opcode == OpFMul ||
           opcode == OpFDiv || opcode == OpFRem || opcode == OpFMod ||
           opcode == OpVectorTimesScalar || opcode == OpDot;
}

/* Decorations stand before code. */
static void read_instruction(bool *decorated, const uint32_t *i, struct findings *found)
{
    uint32_t opcode = i[0] & 0xffff;
    if (opcode == OpDecorate && i[2] == DecorationNoContraction)
        decorated[i[1]] = true;
    /* GLSL's functions are the only extended ones. */
    found->fused += opcode == OpExtInst && i[4] == GLSLstd450Fma;
    if (is_float_operation(opcode)) {
        found->operations++;
        found->undecorated += !decorated[i[2]];
    }
}

static struct findings read_spirv(const void *data, size_t size)
{
    struct findings found = {0};
    uint32_t *words = malloc(size);
    assert_non_null(words);
    memcpy(words, data, size);
    bool *decorated = calloc(words[3], sizeof(*decorated));
    assert_non_null(decorated);
    for (size_t at = HeaderWords; at < size / 4; at += words[at] >> 16)
        read_instruction(decorated, words + at, &found);
    free(decorated);
    free(words);
    return found;
}

static bool calls_fma(const char *path, const char *kernel)
{
    for (size_t i = 0; i < sizeof(fused) / sizeof(fused[0]); i++)
        if (strstr(path, fused[i].file) && !strcmp(fused[i].kernel, kernel))
            return true;
    return false;
}

/* Returns the number of float operations in the package's SPIR-V. */
static uint32_t check_package(struct gantry_package *package, const char *path)
{
    const char *name = gantry_package_name(package);
    uint32_t operations = 0;
    for (uint32_t i = 0; i < gantry_package_image_count(package); i++) {
        struct gantry_image_info image;
        const void *data;
        assert_int_equal(gantry_package_image(package, i, &image, &data), GANTRY_OK);
        if (image.kind != GANTRY_IMAGE_SPIRV)
            continue;
        struct findings found = read_spirv(data, image.size);
        if (found.undecorated > 0)
            fail_msg("%s: %s, entry %d: %u of %u float operations may be contracted", name,
                     image.kernel, image.entry, found.undecorated, found.operations);
        if (calls_fma(path, image.kernel) != (found.fused > 0))
            fail_msg("%s: %s, entry %d: %u Fma, which is not what the list of kernels that call "
                     "fma() says",
                     name, image.kernel, image.entry, found.fused);
        operations += found.operations;
    }
    return operations;
}

static void test_packages(void **state)
{
    (void)state;
    uint32_t operations = 0;
    for (int i = 0; i < package_count; i++) {
        struct gantry_package_params params = {.file = packages[i]};
        struct gantry_package *package;
        if (gantry_package_open(&params, &package))
            fail_msg("%s", gantry_last_error());
        operations += check_package(package, packages[i]);
        gantry_package_close(&package);
    }
    assert_true(operations > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_packages)};
    packages = argv + 1;
    package_count = argc - 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
