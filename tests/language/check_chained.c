/* Which kernels have a chained entry, and that its SPIR-V leaves nothing to luck: every access
 * through a pointer takes part in the barriers, and every barrier makes what was written visible.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gantry/gantry.h>

/* From the SPIR-V specification, under its names. */
enum {
    OpMemoryModel = 14,
    OpTypePointer = 32,
    OpConstant = 43,
    OpLoad = 61,
    OpStore = 62,
    OpCopyMemory = 63,
    OpAccessChain = 65,
    OpInBoundsAccessChain = 66,
    OpConvertUToPtr = 120,
    OpBitcast = 124,
    OpControlBarrier = 224,
    OpPhi = 245,

    StorageClassPhysicalStorageBuffer = 5349,
    MemoryModelVulkan = 3,
    MemoryAccessNonPrivatePointer = 0x20,
    MemorySemanticsAcquireRelease = 0x8,
    MemorySemanticsUniformMemory = 0x40,
    MemorySemanticsWorkgroupMemory = 0x100,
    MemorySemanticsMakeAvailable = 0x2000,
    MemorySemanticsMakeVisible = 0x4000,

    HeaderWords = 5,
};

static char **packages;
static int package_count;

/* ---- Reading SPIR-V -------------------------------------------------------------------------- */

struct id {
    bool physical; /* a pointer into a buffer, or the type of one */
    uint32_t constant;
};

struct findings {
    uint32_t model, accesses, private_accesses, barriers, weak_barriers;
};

static void read_access(const struct id *ids, uint32_t pointer, const uint32_t *i,
                        uint32_t operands, struct findings *found)
{
    if (!ids[pointer].physical)
        return;
    found->accesses++;
    found->private_accesses +=
        i[0] >> 16 <= operands || !(i[operands] & MemoryAccessNonPrivatePointer);
}

static void read_barrier(uint32_t semantics, struct findings *found)
{
    const uint32_t all = MemorySemanticsAcquireRelease | MemorySemanticsUniformMemory |
                         MemorySemanticsWorkgroupMemory | MemorySemanticsMakeAvailable |
                         MemorySemanticsMakeVisible;
    found->barriers++;
    found->weak_barriers += semantics != all;
}

static void read_instruction(struct id *ids, const uint32_t *i, struct findings *found)
{
    switch (i[0] & 0xffff) {
    case OpMemoryModel:
        found->model = i[2];
        break;
    case OpTypePointer:
        ids[i[1]].physical = i[2] == StorageClassPhysicalStorageBuffer;
        break;
    case OpConstant:
        ids[i[2]].constant = i[3];
        break;
    case OpAccessChain:
    case OpInBoundsAccessChain:
    case OpConvertUToPtr:
    case OpBitcast:
    case OpPhi:
        ids[i[2]].physical = ids[i[1]].physical;
        break;
    case OpLoad:
        ids[i[2]].physical = ids[i[1]].physical;
        read_access(ids, i[3], i, 4, found);
        break;
    case OpStore:
        read_access(ids, i[1], i, 3, found);
        break;
    case OpCopyMemory:
        fail_msg("a copy of memory, which this test can't judge");
        break;
    case OpControlBarrier:
        read_barrier(ids[i[3]].constant, found);
        break;
    }
}

static struct findings read_spirv(const void *data, size_t size)
{
    struct findings found = {0};
    uint32_t *words = malloc(size);
    assert_non_null(words);
    memcpy(words, data, size);
    struct id *ids = calloc(words[3], sizeof(*ids));
    assert_non_null(ids);
    for (size_t at = HeaderWords; at < size / 4; at += words[at] >> 16)
        read_instruction(ids, words + at, &found);
    free(ids);
    free(words);
    return found;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void check_spirv(const char *kernel, const struct gantry_image_info *image, const void *data)
{
    struct findings found = read_spirv(data, image->size);
    assert_true(image->features & GANTRY_FEATURE_MEMORY_MODEL);
    assert_int_equal(found.model, MemoryModelVulkan);
    if (found.accesses == 0 || found.private_accesses > 0)
        fail_msg("%s: %u of %u accesses are private", kernel, found.private_accesses,
                 found.accesses);
    if (found.barriers == 0 || found.weak_barriers > 0)
        fail_msg("%s: %u of %u barriers are too weak", kernel, found.weak_barriers, found.barriers);
}

/* Whether an image of CUDA, as text or with its symbols' names, has the entry. */
static bool names(const void *data, size_t size, const char *kernel)
{
    char symbol[256];
    snprintf(symbol, sizeof(symbol), "%s_chained", kernel);
    return memmem(data, size, symbol, strlen(symbol)) != NULL;
}

/* Returns the number of chained SPIR-V images. */
static uint32_t check_images(struct gantry_package *package,
                             const struct gantry_kernel_source *kernel)
{
    uint32_t chained = 0;
    for (uint32_t i = 0; i < gantry_package_image_count(package); i++) {
        struct gantry_image_info image;
        const void *data;
        assert_int_equal(gantry_package_image(package, i, &image, &data), GANTRY_OK);
        if (image.kernel && strcmp(image.kernel, kernel->name))
            continue;
        if (image.entry == GANTRY_ENTRY_CHAINED) {
            assert_int_equal(image.kind, GANTRY_IMAGE_SPIRV);
            check_spirv(kernel->name, &image, data);
            chained++;
        } else if (image.kind == GANTRY_IMAGE_SPIRV) {
            assert_false(image.features & GANTRY_FEATURE_MEMORY_MODEL);
        } else if (image.kind == GANTRY_IMAGE_PTX || image.kind == GANTRY_IMAGE_CUBIN ||
                   image.kind == GANTRY_IMAGE_HOST) {
            assert_int_equal(names(data, image.size, kernel->name), !kernel->early_return);
        }
    }
    return chained;
}

static void test_kernels(void **state)
{
    (void)state;
    uint32_t with = 0, without = 0;
    for (int i = 0; i < package_count; i++) {
        struct gantry_package_params params = {.file = packages[i]};
        struct gantry_package *package;
        struct gantry_kernel_source kernel;
        assert_int_equal(gantry_package_open(&params, &package), GANTRY_OK);
        for (uint32_t k = 0; gantry_package_kernel(package, k, &kernel) == GANTRY_OK; k++) {
            bool chained = check_images(package, &kernel) > 0;
            if (chained == kernel.early_return)
                fail_msg("%s: chained %d, early return %d", kernel.name, chained,
                         kernel.early_return);
            with += chained;
            without += !chained;
        }
        gantry_package_close(&package);
    }
    assert_true(with > 0 && without > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
    packages = argv + 1;
    package_count = argc - 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
