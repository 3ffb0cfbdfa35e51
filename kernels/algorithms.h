/* Algorithms of several launches over the kernels of gantry-kernels.gpk: sums, prefix sums,
 * histograms, sorting. Installed as <gantry/kernels/algorithms.h>; C11 and C++.
 *
 *     struct gantry_algorithms algorithms;
 *     gantry_algorithms_create(module, &algorithms);
 *     gantry_list_scan(list, &algorithms, from, to, n, GANTRY_SCAN_EXCLUSIVE, temporary);
 *
 * Each function records its launches into a list, as gantry_list_launch() does, and returns the id
 * of the last one, 0 on failure; the failure stays in the list. In a concurrent section it must
 * stand in an ordered group of its own, for each launch reads what the one before it wrote.
 *
 * Pointers are device addresses of 32-bit words, multiples of 4; multiples of 16 are faster.
 * `temporary` is memory of the device, a multiple of 16, of at least as many bytes as the
 * function's gantry_…_temporary() says; its contents before and after don't matter. It may be
 * shared by algorithms that run one after the other. Arrays must not overlap unless a comment says
 * so.
 *
 * Results depend on the contents and on n alone: not on the device, the grid or the addresses.
 * (Floats below 1.2e-38 may be flushed to zero on some devices.) */
#ifndef GANTRY_KERNELS_ALGORITHMS_H
#define GANTRY_KERNELS_ALGORITHMS_H

#include <gantry/gantry.h>

/* A program that can't include the package's header declares the same by itself. */
#ifndef GANTRY_PACKAGE_gantry_kernels
#include "gantry-kernels.h"
#endif

struct gantry_algorithms {
    struct gantry_kernel *fill, *sum, *sum_uint, *dot, *scan, *scan_uint, *histogram, *sort_count,
        *sort_scatter;
};

/* Destroys what there is of them. */
static inline void gantry_algorithms_destroy(struct gantry_algorithms *a)
{
    gantry_kernel_destroy(&a->fill);
    gantry_kernel_destroy(&a->sum);
    gantry_kernel_destroy(&a->sum_uint);
    gantry_kernel_destroy(&a->dot);
    gantry_kernel_destroy(&a->scan);
    gantry_kernel_destroy(&a->scan_uint);
    gantry_kernel_destroy(&a->histogram);
    gantry_kernel_destroy(&a->sort_count);
    gantry_kernel_destroy(&a->sort_scatter);
}

/* Makes the kernels of a module that was loaded from gantry-kernels.gpk. On failure all of them are
 * NULL. */
static inline enum gantry_status gantry_algorithms_create(struct gantry_module *module,
                                                          struct gantry_algorithms *a)
{
    const struct gantry_size any = {0, 0, 0};
    enum gantry_status status;

    a->fill = a->sum = a->sum_uint = a->dot = a->scan = a->scan_uint = NULL;
    a->histogram = a->sort_count = a->sort_scatter = NULL;
    if ((status = gantry_fill_create(module, any, &a->fill)) ||
        (status = gantry_sum_create(module, any, &a->sum)) ||
        (status = gantry_sum_uint_create(module, any, &a->sum_uint)) ||
        (status = gantry_dot_create(module, any, &a->dot)) ||
        (status = gantry_scan_create(module, any, &a->scan)) ||
        (status = gantry_scan_uint_create(module, any, &a->scan_uint)) ||
        (status = gantry_histogram_create(module, any, &a->histogram)) ||
        (status = gantry_sort_count_create(module, any, &a->sort_count)) ||
        (status = gantry_sort_scatter_create(module, any, &a->sort_scatter)))
        gantry_algorithms_destroy(a);
    return status;
}

/* ---- What they have in common --------------------------------------------------------------- */

#define GANTRY_TILE_ 4096u /* elements that one block takes at a time */

static inline uint64_t gantry_tiles_(uint64_t n)
{
    return n / GANTRY_TILE_ + (n % GANTRY_TILE_ != 0);
}

/* Bytes of so many words, up to the next multiple of 16. */
static inline uint64_t gantry_words_(uint64_t count)
{
    return (4 * count + 15) / 16 * 16;
}

static inline struct gantry_size gantry_along_x_(uint64_t count)
{
    struct gantry_size size = {count > UINT32_MAX ? UINT32_MAX : (uint32_t)count, 1, 1};

    return size;
}

/* The threads to state for copy, fill and saxpy, of which one takes 16 elements at a time. */
static inline struct gantry_size gantry_threads_by_16(uint64_t n)
{
    return gantry_along_x_(n / 16 + (n % 16 != 0));
}

/* ---- Sums ----------------------------------------------------------------------------------- */

/* At most 4096 chunks, so that one block can add up their sums, of whole tiles. */
static inline uint64_t gantry_sum_chunk_(uint64_t n)
{
    uint64_t tiles = gantry_tiles_(gantry_tiles_(n));

    return GANTRY_TILE_ * (tiles ? tiles : 1);
}

static inline uint64_t gantry_sum_chunks_(uint64_t n)
{
    uint64_t chunk = gantry_sum_chunk_(n), chunks = n / chunk + (n % chunk != 0);

    return chunks ? chunks : 1;
}

/* Also for gantry_list_sum_uint() and gantry_list_dot(). At most 16 KiB. */
static inline uint64_t gantry_sum_temporary(uint64_t n)
{
    return gantry_words_(gantry_sum_chunks_(n));
}

/* Both kinds of sum have the same arguments but for the type behind the pointers. */
static_assert(sizeof(struct gantry_sum_args) == sizeof(struct gantry_sum_uint_args),
              "sums of floats and of integers");

static inline uint32_t gantry_record_sum_(struct gantry_list *list, struct gantry_kernel *kernel,
                                          gantry_ptr x, gantry_ptr to, uint64_t n, uint64_t chunk,
                                          uint64_t chunks)
{
    struct gantry_sum_args args = {x, to, n, chunk};

    return gantry_list_launch_blocks(list, kernel, gantry_along_x_(chunks), &args, sizeof(args));
}

static inline uint32_t gantry_record_whole_sum_(struct gantry_list *list,
                                                struct gantry_kernel *kernel, gantry_ptr x,
                                                gantry_ptr to, uint64_t n, gantry_ptr temporary)
{
    uint64_t chunks = gantry_sum_chunks_(n), chunk = gantry_sum_chunk_(n);

    if (chunks == 1)
        return gantry_record_sum_(list, kernel, x, to, n, chunk, 1);
    gantry_record_sum_(list, kernel, x, temporary, n, chunk, chunks);
    return gantry_record_sum_(list, kernel, temporary, to, chunks, GANTRY_TILE_, 1);
}

/* to[0] = the sum of n floats, 0 for none. */
static inline uint32_t gantry_list_sum(struct gantry_list *list, const struct gantry_algorithms *a,
                                       gantry_ptr x, gantry_ptr to, uint64_t n,
                                       gantry_ptr temporary)
{
    return gantry_record_whole_sum_(list, a->sum, x, to, n, temporary);
}

/* The same for 32-bit integers; wraps. */
static inline uint32_t gantry_list_sum_uint(struct gantry_list *list,
                                            const struct gantry_algorithms *a, gantry_ptr x,
                                            gantry_ptr to, uint64_t n, gantry_ptr temporary)
{
    return gantry_record_whole_sum_(list, a->sum_uint, x, to, n, temporary);
}

/* to[0] = the sum of n products x[i] * y[i]. x may be y. */
static inline uint32_t gantry_list_dot(struct gantry_list *list, const struct gantry_algorithms *a,
                                       gantry_ptr x, gantry_ptr y, gantry_ptr to, uint64_t n,
                                       gantry_ptr temporary)
{
    uint64_t chunks = gantry_sum_chunks_(n);
    struct gantry_dot_args args = {x, y, chunks == 1 ? to : temporary, n, gantry_sum_chunk_(n)};
    uint32_t id =
        gantry_list_launch_blocks(list, a->dot, gantry_along_x_(chunks), &args, sizeof(args));

    if (chunks == 1)
        return id;
    return gantry_record_sum_(list, a->sum, temporary, to, chunks, GANTRY_TILE_, 1);
}

/* ---- Prefix sums ---------------------------------------------------------------------------- */

enum gantry_scan_kind {
    GANTRY_SCAN_INCLUSIVE = 0, /* to[i] = from[0] + … + from[i] */
    GANTRY_SCAN_EXCLUSIVE = 1, /* to[i] = from[0] + … + from[i - 1]; to[0] = 0 */
};

/* About n / 1024 bytes; also for gantry_list_scan_uint(). */
static inline uint64_t gantry_scan_temporary(uint64_t n)
{
    uint64_t bytes = 0;

    for (uint64_t tiles = gantry_tiles_(n); tiles > 1; tiles = gantry_tiles_(tiles))
        bytes += gantry_words_(tiles);
    return bytes;
}

static_assert(sizeof(struct gantry_scan_args) == sizeof(struct gantry_scan_uint_args),
              "prefix sums of floats and of integers");

/* Sums of tiles, sums of tiles of those, and so on until one tile has them all; then back, each
 * level's prefix sums being the offsets of the tiles below. */
static inline uint32_t gantry_record_scan_(struct gantry_list *list, struct gantry_kernel *sum,
                                           struct gantry_kernel *scan, gantry_ptr from,
                                           gantry_ptr to, uint64_t n, enum gantry_scan_kind kind,
                                           gantry_ptr temporary)
{
    struct gantry_scan_args levels[8]; /* 4096^6 is more than 2^64 */
    uint32_t count = 1, id = 0;

    levels[0].from = from;
    levels[0].to = to;
    levels[0].offsets = 0;
    levels[0].n = n;
    levels[0].exclusive = kind;
    for (uint64_t tiles = gantry_tiles_(n); tiles > 1; tiles = gantry_tiles_(tiles), count++) {
        gantry_record_sum_(list, sum, levels[count - 1].from, temporary, levels[count - 1].n,
                           GANTRY_TILE_, tiles);
        levels[count - 1].offsets = levels[count].from = levels[count].to = temporary;
        levels[count].offsets = 0;
        levels[count].n = tiles;
        levels[count].exclusive = GANTRY_SCAN_EXCLUSIVE;
        temporary += gantry_words_(tiles);
    }
    while (count-- > 0)
        id = gantry_list_launch_blocks(list, scan, gantry_along_x_(gantry_tiles_(levels[count].n)),
                                       &levels[count], sizeof(levels[count]));
    return id;
}

/* Prefix sums of n floats. `to` may be `from`. */
static inline uint32_t gantry_list_scan(struct gantry_list *list, const struct gantry_algorithms *a,
                                        gantry_ptr from, gantry_ptr to, uint64_t n,
                                        enum gantry_scan_kind kind, gantry_ptr temporary)
{
    return gantry_record_scan_(list, a->sum, a->scan, from, to, n, kind, temporary);
}

/* The same for 32-bit integers; wraps. */
static inline uint32_t gantry_list_scan_uint(struct gantry_list *list,
                                             const struct gantry_algorithms *a, gantry_ptr from,
                                             gantry_ptr to, uint64_t n, enum gantry_scan_kind kind,
                                             gantry_ptr temporary)
{
    return gantry_record_scan_(list, a->sum_uint, a->scan_uint, from, to, n, kind, temporary);
}

/* ---- Histogram ------------------------------------------------------------------------------ */

/* bins[b] = how many of the n values have b in the eight bits from `shift` (0 to 31) on; 256 bins.
 */
static inline uint32_t gantry_list_histogram(struct gantry_list *list,
                                             const struct gantry_algorithms *a, gantry_ptr x,
                                             gantry_ptr bins, uint64_t n, uint32_t shift)
{
    /* More blocks than any device holds at a time would only add their counts more often. */
    const uint64_t most = 2048 * 256, threads = n / 16 + (n % 16 != 0);
    struct gantry_fill_args zero = {bins, 256, 0};
    struct gantry_histogram_args args = {x, bins, n, shift};

    gantry_fill_launch(list, a->fill, gantry_threads_by_16(256), &zero);
    return gantry_histogram_launch(list, a->histogram,
                                   gantry_along_x_(threads < most ? threads : most), &args);
}

/* ---- Sorting -------------------------------------------------------------------------------- */

/* About n * 4.3 bytes, with values n * 8.3. */
static inline uint64_t gantry_sort_temporary(uint32_t n, bool values)
{
    uint64_t counts = 256 * gantry_tiles_(n);

    return gantry_words_(n) * (values ? 2 : 1) + gantry_words_(counts) +
           gantry_scan_temporary(counts);
}

static inline uint32_t gantry_record_sort_pass_(struct gantry_list *list,
                                                const struct gantry_algorithms *a,
                                                const struct gantry_sort_scatter_args *pass)
{
    struct gantry_sort_count_args count = {pass->keys, pass->offsets, pass->n, pass->tiles,
                                           pass->shift};
    struct gantry_size blocks = gantry_along_x_(pass->tiles);
    uint64_t counts = UINT64_C(256) * pass->tiles;

    gantry_list_launch_blocks(list, a->sort_count, blocks, &count, sizeof(count));
    gantry_list_scan_uint(list, a, pass->offsets, pass->offsets, counts, GANTRY_SCAN_EXCLUSIVE,
                          pass->offsets + gantry_words_(counts));
    return gantry_list_launch_blocks(list, a->sort_scatter, blocks, pass, sizeof(*pass));
}

/* Sorts n unsigned keys, the smallest first, in place; keys that are equal keep their order. Each
 * of the n 32-bit values goes with its key; values 0: there are none. */
static inline uint32_t gantry_list_sort(struct gantry_list *list, const struct gantry_algorithms *a,
                                        gantry_ptr keys, gantry_ptr values, uint32_t n,
                                        gantry_ptr temporary)
{
    gantry_ptr other_values = values ? temporary + gantry_words_(n) : 0;
    gantry_ptr counts = temporary + gantry_words_(n) * (values ? 2 : 1);
    uint32_t tiles = (uint32_t)gantry_tiles_(n), id = 0;

    for (uint32_t shift = 0; shift < 32; shift += 16) {
        struct gantry_sort_scatter_args there = {keys,   values, temporary, other_values,
                                                 counts, n,      tiles,     shift};
        struct gantry_sort_scatter_args back = {temporary, other_values, keys,     values, counts,
                                                n,         tiles,        shift + 8};

        gantry_record_sort_pass_(list, a, &there);
        id = gantry_record_sort_pass_(list, a, &back);
    }
    return id;
}

#endif /* GANTRY_KERNELS_ALGORITHMS_H */
