#include "package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernels.h"
#include "../output.h"

bool package_open(struct package *package, const char *file)
{
    struct gantry_package_params params = {0};

    *package = (struct package){.file = file ? strdup(file) : kernels_find("bench.gpk")};
    if (!package->file) {
        output_error("%s: the kernels, bench.gpk, are neither beside this program nor in %s "
                     "(name them with --package)",
                     output_subcommand(), kernels_installed());
        return false;
    }
    params.file = package->file;
    if (gantry_package_open(&params, &package->open) == GANTRY_OK)
        return true;
    output_failure(output_subcommand());
    return false;
}

void package_close(struct package *package)
{
    gantry_package_close(&package->open);
    free(package->file);
    package->file = NULL;
}

/* ---- The code in it ------------------------------------------------------------------------- */

static bool holds(const struct gantry_image_info *info, const char *kernel)
{
    return (!info->kernel || strcmp(info->kernel, kernel) == 0) &&
           (info->entry == GANTRY_ENTRY_DIRECT || info->entry == GANTRY_ENTRY_ALL) &&
           info->kind != GANTRY_IMAGE_SOURCE;
}

/* "spirv 1.5 with INT64 ATOMIC_FLOAT_ADD". */
static void name_spirv(const struct gantry_image_info *info, FILE *stream)
{
    fprintf(stream, "spirv %u.%u", info->isa_version / 10, info->isa_version % 10);
    if (info->features)
        fputs(" with", stream);
#define X(name, bit, text)                      \
    if (info->features & GANTRY_FEATURE_##name) \
        fputs(" " #name, stream);
    GANTRY_FEATURE_MAP(X)
#undef X
}

/* As the backends name the image that they took. */
static void name_image(const struct gantry_image_info *info, char *name, size_t size)
{
    FILE *stream = fmemopen(name, size, "w");

    name[0] = '\0';
    if (!stream)
        return;
    if (info->kind == GANTRY_IMAGE_SPIRV)
        name_spirv(info, stream);
    else if (info->kind == GANTRY_IMAGE_CUBIN)
        fprintf(stream, "cubin sm_%u", info->arch);
    else if (info->kind == GANTRY_IMAGE_PTX)
        fprintf(stream, "ptx compute_%u (.version %u.%u)", info->arch, info->isa_version / 10,
                info->isa_version % 10);
    else
        fputs(gantry_image_kind_name(info->kind), stream);
    fclose(stream);
}

bool package_code(const struct package *package, const char *kernel, const char *taken,
                  struct gantry_image_info *info, const void **code)
{
    uint32_t count = gantry_package_image_count(package->open);
    char name[64]; /* cut off at the same length as gantry_backend_kernel_info's */

    for (uint32_t i = 0; i < count; i++) {
        if (gantry_package_image(package->open, i, info, code) != GANTRY_OK || !holds(info, kernel))
            continue;
        name_image(info, name, sizeof name);
        if (strcmp(name, taken) == 0)
            return true;
    }
    return false;
}
