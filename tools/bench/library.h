/* The kernels of gantry-kernels.gpk that the bench runs, declared as in the header that comes with
 * the package. That header is made by this very program, which therefore can't include it:
 * library_open() compares what is stated here with the package. */
#ifndef GANTRY_BENCH_LIBRARY_H
#define GANTRY_BENCH_LIBRARY_H

#include <assert.h>

#include <gantry/gantry.h>

/* For algorithms.h. */
#define GANTRY_PACKAGE_gantry_kernels

/* ---- Arguments ------------------------------------------------------------------------------ */

struct gantry_copy_args {
    gantry_ptr to;
    gantry_ptr from;
    uint64_t n;
};

struct gantry_fill_args {
    gantry_ptr to;
    uint64_t n;
    uint32_t value;
};

struct gantry_saxpy_args {
    gantry_ptr x;
    gantry_ptr y;
    uint64_t n;
    float a;
};

struct gantry_sum_args {
    gantry_ptr x;
    gantry_ptr to;
    uint64_t n;
    uint64_t chunk;
};

struct gantry_sum_uint_args {
    gantry_ptr x;
    gantry_ptr to;
    uint64_t n;
    uint64_t chunk;
};

struct gantry_dot_args {
    gantry_ptr x;
    gantry_ptr y;
    gantry_ptr to;
    uint64_t n;
    uint64_t chunk;
};

struct gantry_scan_args {
    gantry_ptr from;
    gantry_ptr to;
    gantry_ptr offsets;
    uint64_t n;
    uint32_t exclusive;
};

struct gantry_scan_uint_args {
    gantry_ptr from;
    gantry_ptr to;
    gantry_ptr offsets;
    uint64_t n;
    uint32_t exclusive;
};

struct gantry_histogram_args {
    gantry_ptr x;
    gantry_ptr bins;
    uint64_t n;
    uint32_t shift;
};

struct gantry_sort_count_args {
    gantry_ptr keys;
    gantry_ptr counts;
    uint32_t n;
    uint32_t tiles;
    uint32_t shift;
};

struct gantry_sort_scatter_args {
    gantry_ptr keys;
    gantry_ptr values;
    gantry_ptr to_keys;
    gantry_ptr to_values;
    gantry_ptr offsets;
    uint32_t n;
    uint32_t tiles;
    uint32_t shift;
};

struct gantry_transpose_args {
    gantry_ptr to;
    gantry_ptr from;
    uint32_t rows;
    uint32_t columns;
    uint32_t to_pitch;
    uint32_t from_pitch;
};

struct gantry_softmax_args {
    gantry_ptr to;
    gantry_ptr from;
    uint32_t rows;
    uint32_t columns;
    uint32_t to_pitch;
    uint32_t from_pitch;
};

struct gantry_layer_norm_args {
    gantry_ptr to;
    gantry_ptr from;
    gantry_ptr gamma;
    gantry_ptr beta;
    uint32_t rows;
    uint32_t columns;
    uint32_t to_pitch;
    uint32_t from_pitch;
    float epsilon;
};

struct gantry_matmul_args {
    gantry_ptr c;
    gantry_ptr a;
    gantry_ptr b;
    uint32_t rows;
    uint32_t columns;
    uint32_t inner;
    uint32_t c_pitch;
    uint32_t a_pitch;
    uint32_t b_pitch;
};

struct gantry_matmul_half_args {
    gantry_ptr c;
    gantry_ptr a;
    gantry_ptr b;
    uint32_t rows;
    uint32_t columns;
    uint32_t inner;
    uint32_t c_pitch;
    uint32_t a_pitch;
    uint32_t b_pitch;
};

struct gantry_linear_args {
    gantry_ptr y;
    gantry_ptr x;
    gantry_ptr weights;
    gantry_ptr bias;
    uint32_t rows;
    uint32_t inputs;
    uint32_t outputs;
};

struct gantry_relu_args {
    gantry_ptr to;
    gantry_ptr from;
    uint64_t n;
};

struct gantry_dropout_args {
    gantry_ptr to;
    gantry_ptr from;
    uint64_t seed;
    uint32_t rows;
    uint32_t columns;
    float rate;
};

struct gantry_linear_relu_dropout_args {
    gantry_ptr y;
    gantry_ptr x;
    gantry_ptr weights;
    gantry_ptr bias;
    uint64_t seed;
    uint32_t rows;
    uint32_t inputs;
    uint32_t outputs;
    float rate;
};

struct gantry_convolution_args {
    gantry_ptr to;
    gantry_ptr from;
    gantry_ptr weights;
    gantry_ptr bias;
    uint32_t pictures;
    uint32_t inputs;
    uint32_t outputs;
    uint32_t height;
    uint32_t width;
};

struct gantry_particles_structs_args {
    gantry_ptr particles;
    float gravity;
    float bounce;
    float time;
    uint32_t n;
};

struct gantry_particles_arrays_args {
    gantry_ptr x;
    gantry_ptr y;
    gantry_ptr z;
    gantry_ptr speed_x;
    gantry_ptr speed_y;
    gantry_ptr speed_z;
    float gravity;
    float bounce;
    float time;
    uint32_t n;
};

/* ---- What algorithms.h calls ----------------------------------------------------------------- */

#define LIBRARY_CREATE(name)                                                               \
    static inline enum gantry_status gantry_##name##_create(struct gantry_module *module,  \
                                                            struct gantry_size block,      \
                                                            struct gantry_kernel **kernel) \
    {                                                                                      \
        const struct gantry_kernel_params params = {.block = block};                       \
                                                                                           \
        return gantry_kernel_create(module, #name, &params, kernel);                       \
    }
#define LIBRARY_LAUNCH(name)                                                               \
    static inline uint32_t gantry_##name##_launch(struct gantry_list *list,                \
                                                  struct gantry_kernel *kernel,            \
                                                  struct gantry_size threads,              \
                                                  const struct gantry_##name##_args *args) \
    {                                                                                      \
        return gantry_list_launch(list, kernel, threads, args, sizeof *args);              \
    }

LIBRARY_CREATE(fill)
LIBRARY_CREATE(sum)
LIBRARY_CREATE(sum_uint)
LIBRARY_CREATE(dot)
LIBRARY_CREATE(scan)
LIBRARY_CREATE(scan_uint)
LIBRARY_CREATE(histogram)
LIBRARY_CREATE(sort_count)
LIBRARY_CREATE(sort_scatter)
LIBRARY_LAUNCH(fill)
LIBRARY_LAUNCH(histogram)

#include "../../kernels/algorithms.h"

/* ---- The package ---------------------------------------------------------------------------- */

struct library {
    struct gantry_module *module;
    struct gantry_algorithms algorithms;
};

/* Loads the package for the device: `file`, or NULL for the one that was built or installed with
 * this program. False, and why was said; close it all the same. */
bool library_open(struct library *library, struct gantry_device *device, const char *file);
void library_close(struct library *library);

#endif
