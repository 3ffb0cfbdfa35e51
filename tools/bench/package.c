#include "package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../output.h"

/* ---- The file ------------------------------------------------------------------------------- */

/* "FOLDER/TAIL" when such a file can be read, else NULL. */
static char *readable(const char *folder, size_t length, const char *tail)
{
    size_t size = length + strlen(tail) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%.*s/%s", (int)length, folder, tail);
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Beside the program first, so that a build uses its own. libtool keeps programs that are not
 * installed in a folder .libs. */
static char *find(void)
{
    static const char *const tails[] = {"../kernels/bench.gpk", "../../kernels/bench.gpk",
                                        "../share/gantry/kernels/bench.gpk"};
    char *own = realpath("/proc/self/exe", NULL), *found = NULL;
    const char *slash = own ? strrchr(own, '/') : NULL;

    for (size_t i = 0; slash && !found && i < sizeof tails / sizeof *tails; i++)
        found = readable(own, (size_t)(slash - own), tails[i]);
    free(own);
    return found ? found : readable(GANTRY_KERNELSDIR, strlen(GANTRY_KERNELSDIR), "bench.gpk");
}

bool package_open(struct package *package, const char *file)
{
    struct gantry_package_params params = {0};

    *package = (struct package){.file = file ? strdup(file) : find()};
    if (!package->file) {
        output_error("bench: the kernels, bench.gpk, are neither beside this program nor in %s "
                     "(name them with --package)",
                     GANTRY_KERNELSDIR);
        return false;
    }
    params.file = package->file;
    if (gantry_package_open(&params, &package->open) == GANTRY_OK)
        return true;
    output_failure("bench");
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
