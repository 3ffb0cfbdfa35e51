/* The kernels of kernels.c for the processor, in the form in which a driver without a GPU takes
 * them. */
#include <stdlib.h>
#include <string.h>

#include <gantry/kernel_host.h>

#include "harness.h"

#define ENTRY(name)                                                                \
    gantry_host_entry gantry_host_##name;                                          \
    __attribute__((visibility("default")))                                         \
    const char *gantry_host_##name(const void *args, const uint32_t blocks[3],     \
                                   const uint32_t block[3], uint32_t shared_bytes, \
                                   uint32_t subgroup_size)
#define UNUSED (void)args, (void)blocks, (void)block, (void)shared_bytes, (void)subgroup_size

static uint32_t *words(uint64_t address)
{
    return (uint32_t *)(uintptr_t)address;
}

static void affine(const struct affine_args *args, uint32_t first, uint32_t threads)
{
    for (uint32_t i = first; i < first + threads && i < args->n; i++)
        words(args->y)[i] = words(args->y)[i] * args->a + args->b;
}

ENTRY(affine)
{
    UNUSED;
    affine(args, 0, blocks[0] * block[0]);
    return NULL;
}

ENTRY(affine_folded)
{
    struct gantry_fold_args fold;

    UNUSED;
    memcpy(&fold, args, sizeof(fold));
    for (uint32_t i = 0; i < blocks[0] && i < fold.blocks; i++) {
        uint32_t launch = i / fold.equal;
        struct affine_args row;

        memcpy(&row, (const char *)(uintptr_t)fold.args + launch * fold.stride, sizeof(row));
        affine(&row, (i - launch * fold.equal) * block[0], block[0]);
    }
    return NULL;
}

ENTRY(affine_chained)
{
    struct gantry_fold_args fold;

    UNUSED;
    memcpy(&fold, args, sizeof(fold));
    for (uint32_t i = 0; i < fold.count; i++) {
        struct gantry_fold_launch launch;
        struct affine_args row;

        memcpy(&launch, (const char *)(uintptr_t)fold.launches + i * sizeof(launch),
               sizeof(launch));
        memcpy(&row, (const char *)(uintptr_t)fold.args + i * fold.stride, sizeof(row));
        if (launch.x && launch.y && launch.z)
            affine(&row, 0, block[0]);
    }
    return NULL;
}

ENTRY(several)
{
    struct several_args values;

    UNUSED;
    memcpy(&values, args, sizeof(values));
    *words(values.y) = values.a + (uint32_t)values.b + values.n;
    return NULL;
}

ENTRY(nothing)
{
    UNUSED;
    return NULL;
}

ENTRY(reverse)
{
    uint32_t size = block[0];
    uint64_t y;

    UNUSED;
    memcpy(&y, args, sizeof(y));
    if (shared_bytes < size * 4)
        return "less than a word of shared memory per thread";
    for (uint32_t i = 0; i < size / 2; i++) {
        uint32_t other = words(y)[size - 1 - i];

        words(y)[size - 1 - i] = words(y)[i];
        words(y)[i] = other;
    }
    return NULL;
}
