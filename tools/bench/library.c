#include "library.h"

#include <stdlib.h>
#include <string.h>

#include "../kernels.h"
#include "../output.h"
#include "gantry_side.h"

/* Which kernels take which arguments. */
static const struct declared {
    const char *kernel;
    size_t size;
} declared[] = {
#define X(kernel, args)                       \
    {                                         \
#kernel, sizeof(struct gantry_##args) \
    }
    X(copy, copy_args),
    X(fill, fill_args),
    X(saxpy, saxpy_args),
    X(saxpy_stride, saxpy_args),
    X(saxpy_each, saxpy_args),
    X(sum, sum_args),
    X(sum_uint, sum_uint_args),
    X(dot, dot_args),
    X(scan, scan_args),
    X(scan_uint, scan_uint_args),
    X(histogram, histogram_args),
    X(sort_count, sort_count_args),
    X(sort_scatter, sort_scatter_args),
    X(transpose, transpose_args),
    X(softmax, softmax_args),
    X(layer_norm, layer_norm_args),
    X(matmul, matmul_args),
    X(matmul_half, matmul_half_args),
    X(linear, linear_args),
    X(relu, relu_args),
    X(dropout, dropout_args),
    X(linear_relu_dropout, linear_relu_dropout_args),
    X(convolution, convolution_args),
    X(particles_structs, particles_structs_args),
    X(particles_arrays, particles_arrays_args),
#undef X
};

static bool is_as_declared(const struct gantry_package *package, const struct declared *kernel)
{
    uint32_t count = gantry_package_kernel_count(package);
    struct gantry_kernel_source source;

    for (uint32_t i = 0; i < count; i++) {
        if (gantry_package_kernel(package, i, &source) == GANTRY_OK &&
            strcmp(source.name, kernel->kernel) == 0)
            return source.args_size == kernel->size;
    }
    return false;
}

static bool check(const char *file)
{
    const struct gantry_package_params params = {.file = file};
    struct gantry_package *package;
    bool right = true;

    if (gantry_package_open(&params, &package) != GANTRY_OK)
        return gantry_side_failed();
    for (size_t i = 0; i < sizeof declared / sizeof *declared && right; i++) {
        right = is_as_declared(package, &declared[i]);
        if (!right)
            output_error("bench: %s has no kernel '%s' with the arguments that this program knows "
                         "(it is of another version: name the right one with --package)",
                         file, declared[i].kernel);
    }
    gantry_package_close(&package);
    return right;
}

static bool load(struct library *library, struct gantry_device *device, const char *file)
{
    const struct gantry_module_params params = {.file = file};

    return check(file) &&
           ((gantry_module_load(device, &params, &library->module) == GANTRY_OK &&
             gantry_algorithms_create(library->module, &library->algorithms) == GANTRY_OK) ||
            gantry_side_failed());
}

bool library_open(struct library *library, struct gantry_device *device, const char *file)
{
    char *found = file ? NULL : kernels_find("gantry-kernels.gpk");
    bool opened;

    if (!file && !found) {
        output_error(
            "bench: the kernel library, gantry-kernels.gpk, is neither beside this program "
            "nor in %s (name it with --package)",
            kernels_installed());
        return false;
    }
    opened = load(library, device, file ? file : found);
    free(found);
    return opened;
}

void library_close(struct library *library)
{
    gantry_algorithms_destroy(&library->algorithms);
    gantry_module_unload(&library->module);
}
