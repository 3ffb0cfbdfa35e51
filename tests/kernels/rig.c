#include "rig.h"

#include <math.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa5, UNWRITTEN = 0xcd };

const uint32_t lengths[] = {0,   1,   2,    3,    4,    5,    7,    31,   32,    33,    63,
                            255, 256, 1023, 1024, 1025, 4095, 4096, 4097, 16384, 20011, 65539};
const size_t length_count = sizeof(lengths) / sizeof(lengths[0]);

struct gantry_kernel *make_library_kernel(struct conform *c, const char *name, uint64_t layout)
{
    struct gantry_kernel_params params = {.layout_hash = layout};

    return make_kernel_with(c, "gantry-kernels", name, &params);
}

const struct gantry_algorithms *make_algorithms(struct conform *c)
{
    struct gantry_algorithms *a = make_words(c, sizeof(*a));

    OK(gantry_algorithms_create(load_module(c, "gantry-kernels"), a));
    keep_kernel(c, a->fill);
    keep_kernel(c, a->sum);
    keep_kernel(c, a->sum_uint);
    keep_kernel(c, a->dot);
    keep_kernel(c, a->scan);
    keep_kernel(c, a->scan_uint);
    keep_kernel(c, a->histogram);
    keep_kernel(c, a->sort_count);
    keep_kernel(c, a->sort_scatter);
    return a;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

struct array make_array(struct conform *c, const void *contents, uint64_t size, unsigned skew)
{
    uint64_t offset = 256 + skew, whole = offset + size + GUARD;
    struct array array = {.buffer = make_buffer(c, whole), .offset = offset, .size = size};
    unsigned char *bytes = make_words(c, whole);

    array.address = gantry_buffer_address(array.buffer) + offset;
    memset(bytes, GUARD_BYTE, whole);
    if (contents)
        memcpy(bytes + offset, contents, size);
    else
        memset(bytes + offset, UNWRITTEN, size);
    write_buffer(c, array.buffer, 0, bytes, whole);
    return array;
}

static void check_guard(struct conform *c, const unsigned char *bytes, const char *where)
{
    for (int i = 0; i < GUARD; i++)
        CHECK(bytes[i] == GUARD_BYTE, "byte %d %s the array was overwritten with 0x%02x", i, where,
              bytes[i]);
}

void read_array(struct conform *c, const struct array *array, void *to)
{
    uint64_t first = array->offset - GUARD, whole = array->size + 2 * GUARD;
    unsigned char *bytes = make_words(c, whole);

    read_buffer(c, array->buffer, first, bytes, whole);
    check_guard(c, bytes, "of the 64 before");
    check_guard(c, bytes + GUARD + array->size, "of the 64 behind");
    memcpy(to, bytes + GUARD, array->size);
}

void drop_array(struct conform *c, struct array *array)
{
    drop_buffer(c, array->buffer);
    array->buffer = NULL;
}

/* ---- Launches ------------------------------------------------------------------------------- */

void run_kernel(struct conform *c, struct gantry_kernel *kernel, uint64_t threads, const void *args,
                size_t size)
{
    struct gantry_list *list = make_list(c);
    struct gantry_size grid = {.x = threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads};

    RECORD(gantry_list_launch(list, kernel, grid, args, size));
    submit_and_wait(c, list);
    drop_list(c, list);
}

void run_blocks(struct conform *c, struct gantry_kernel *kernel, struct gantry_size blocks,
                const void *args, size_t size)
{
    struct gantry_list *list = make_list(c);

    RECORD(gantry_list_launch_blocks(list, kernel, blocks, args, size));
    submit_and_wait(c, list);
    drop_list(c, list);
}

/* ---- Contents ------------------------------------------------------------------------------- */

uint32_t *make_randoms(struct conform *c, size_t n, uint32_t seed)
{
    uint32_t *words = make_words(c, (n ? n : 1) * sizeof(*words)), state = seed * 2654435761u | 1u;

    for (size_t i = 0; i < n; i++)
        words[i] = next_random(&state);
    return words;
}

float *make_floats(struct conform *c, size_t n, uint32_t seed)
{
    uint32_t *words = make_randoms(c, n, seed);
    float *floats = make_words(c, (n ? n : 1) * sizeof(*floats));

    for (size_t i = 0; i < n; i++)
        floats[i] = (float)(int32_t)words[i] * 0x1p-31f;
    return floats;
}

void close_at(struct conform *c, const char *file, int line, const char *what, const float *found,
              const double *expected, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(found[i] - expected[i]) <= tolerance * fmax(1.0, fabs(expected[i]))))
            fail_at(c, file, line, "%s[%zu] of %zu is %.9g, expected %.9g", what, i, n, found[i],
                    expected[i]);
}
