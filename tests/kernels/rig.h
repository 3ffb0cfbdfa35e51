/* What the tests of the kernel library share, on top of the conformance suite's rig: a case is a
 * struct conform_case and uses everything of conform.h. */
#ifndef GANTRY_TESTS_KERNELS_RIG_H
#define GANTRY_TESTS_KERNELS_RIG_H

#include <algorithms.h>
#include <gantry-kernels.h>

#include "../conform/conform.h"

/* One table a file, ended by a case without a name. */
extern const struct conform_case copy_kernel_cases[], sum_kernel_cases[], scan_kernel_cases[],
    sort_kernel_cases[], big_kernel_cases[];

/* The library's kernel of that name, its arguments checked against the header. Skips the case where
 * the device lacks a feature. */
#define LIBRARY_KERNEL(name) make_library_kernel(c, #name, gantry_##name##_LAYOUT)
struct gantry_kernel *make_library_kernel(struct conform *c, const char *name, uint64_t layout);

/* The kernels of algorithms.h. */
const struct gantry_algorithms *make_algorithms(struct conform *c);

/* Memory of the device for a kernel's argument. It begins `skew` bytes behind a multiple of 256,
 * and lies between bytes that nobody may write. */
struct array {
    struct gantry_buffer *buffer;
    uint64_t offset; /* of its first byte in the buffer */
    uint64_t size;
    gantry_ptr address;
};

/* `contents` NULL: bytes that no kernel of the tests writes by chance. A size of 0 is right. */
struct array make_array(struct conform *c, const void *contents, uint64_t size, unsigned skew);

/* Reads it all, and checks the bytes before and behind it. */
void read_array(struct conform *c, const struct array *array, void *to);
void drop_array(struct conform *c, struct array *array);

/* One launch of so many threads, waited for. */
#define RUN(kernel, threads, args) run_kernel(c, kernel, threads, args, sizeof(*(args)))
void run_kernel(struct conform *c, struct gantry_kernel *kernel, uint64_t threads, const void *args,
                size_t size);

/* The same on blocks, for kernels with a fixed BLOCK. */
#define RUN_BLOCKS(kernel, x, y, z, args) \
    run_blocks(c, kernel, (struct gantry_size){x, y, z}, args, sizeof(*(args)))
void run_blocks(struct conform *c, struct gantry_kernel *kernel, struct gantry_size blocks,
                const void *args, size_t size);

/* Lengths at which kernels that take several elements a thread go wrong. */
extern const uint32_t lengths[];
extern const size_t length_count;

/* Random contents; host memory that lives as long as the case. */
float *make_floats(struct conform *c, size_t n, uint32_t seed); /* -1 to 1 */
uint32_t *make_randoms(struct conform *c, size_t n, uint32_t seed);

/* Every float within tolerance * max(1, |expected|) of the expected value. */
#define CLOSE(found, expected, n, tolerance) \
    close_at(c, __FILE__, __LINE__, #found, found, expected, n, tolerance)
void close_at(struct conform *c, const char *file, int line, const char *what, const float *found,
              const double *expected, size_t n, double tolerance);

#endif
