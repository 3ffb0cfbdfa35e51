/* Writes the packages that fuzz_package begins with to a folder: package_seeds FOLDER. To be run
 * anew when the format changes; corpus/package holds what it wrote. */
#include <stddef.h>
#include <string.h>

#include "core/package_format.h"
#include "tests/unit/gpk_builder.h"

#include "fuzz.h"

enum { ALL = UINT32_MAX };

static const uint32_t spirv[] = {0x07230203, 0x00010500, 0, 1, 0};
static const char elf[] = "\177ELF and no more";
static const char fatbin[] = "\x50\xed\x55\xba and no more";
static const char text[] = ".version 6.3";

static const struct gantry_field_info fields[] = {
    {.name = "x",
     .type = GANTRY_SCALAR_POINTER,
     .size = 8,
     .count = 1,
     .pointee = "float",
     .pointee_size = 4,
     .may_be_null = true,
     .written = true,
     .reach_count = 2,
     .reach = {{.field = 2}, {.field = -1, .number = 3}}},
    {.name = "w", .type = GANTRY_SCALAR_FLOAT, .offset = 8, .size = 20, .count = 5, .pointee = ""},
    {.name = "n", .type = GANTRY_SCALAR_UINT32, .offset = 28, .size = 4, .count = 1, .pointee = ""},
};

#define NAMED(text) \
    .name = text, .args_name = "a", .args_size = 32, .field_count = 3, .fields = fields

static const struct gantry_kernel_source kernels[] = {
    {NAMED("k"), .dimensions = 1, .grid_stride = true, .tolerance = 0.5},
    {NAMED("l"), .dimensions = 3, .block = {8, 4, 2}, .shared_bytes = 64, .early_return = true},
    {NAMED("m"), .dimensions = 2, .block_multiple = 32, .block_max = 512, .block_pow2 = true,
     .shared_per_thread = 16, .features = GANTRY_FEATURE_INT64},
};

static const struct gpk_build_image images[] = {
    {0, GANTRY_IMAGE_SPIRV, GANTRY_ENTRY_DIRECT, .isa_version = 15, .data = spirv,
     .size = sizeof(spirv)},
    {1, GANTRY_IMAGE_SPIRV, GANTRY_ENTRY_FOLDED, .features = GANTRY_FEATURE_DOUBLE, .data = spirv,
     .size = sizeof(spirv)},
    {ALL, GANTRY_IMAGE_CUBIN, GANTRY_ENTRY_ALL, .arch = 90, .data = elf, .size = sizeof(elf)},
    {ALL, GANTRY_IMAGE_FATBIN, GANTRY_ENTRY_ALL, .data = fatbin, .size = sizeof(fatbin)},
    {2, GANTRY_IMAGE_PTX, GANTRY_ENTRY_ALL, .arch = 75, .isa_version = 63, .data = text,
     .size = sizeof(text) - 1},
    {ALL, GANTRY_IMAGE_SOURCE, GANTRY_ENTRY_ALL, .name = "k.cu", .data = text,
     .size = sizeof(text) - 1},
};

static const struct seed {
    const char *file;
    uint32_t kernel_count, image_count;
} seeds[] = {{"one-kernel.gpk", 1, 1}, {"no-image.gpk", 2, 0}, {"every-kind.gpk", 3, 6}};

static void write_seed(const char *folder, const struct seed *seed)
{
    const struct gpk_build build = {.name = "seed",
                                    .toolchain = "none",
                                    .kernels = kernels,
                                    .kernel_count = seed->kernel_count,
                                    .images = images,
                                    .image_count = seed->image_count};
    size_t size;
    uint8_t *package = gpk_build(&build, &size);
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, seed->file);
    file = fopen(path, "wb");
    HOLDS(package && file && fwrite(package, 1, size, file) == size && fclose(file) == 0);
    free(package);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        write_seed(argv[1], &seeds[i]);
    return 0;
}
