/* gantry bench copy: what its parts share. */
#ifndef GANTRY_BENCH_COPY_H
#define GANTRY_BENCH_COPY_H

#include "rates.h"
#include "raw.h"

enum { MOST_COPY_CASES = 32, MOST_SIZES = 16 };

struct copy_options {
    const char *device, *backend, *svg;
    bool json, quick;
    bool transfer; /* through a transfer queue */
    const char *cases[MOST_COPY_CASES];
    size_t case_count; /* 0: all */
};

struct copy_bench {
    struct copy_options options;
    uint64_t sizes[MOST_SIZES];
    size_t size_count;
    struct gantry_side side;
    struct raw *raw; /* NULL: there is none, and why */
    char raw_missing[REASON_SIZE];
    struct gantry_buffer *device[2];
    struct gantry_buffer *readback; /* for looking at what was copied up */
    uint32_t *host[2];              /* plain memory; the second is for memcpy */
    double host_gbps[MOST_SIZES];   /* memcpy from one to the other; 0: not measured yet */
    uint32_t seed;                  /* of contents: each copy has others */
    struct rates rates;
};

/* ---- Shapes --------------------------------------------------------------------------------- */

/* Rows of bytes: `pitch` apart in device memory, except in what is copied to from there, and one
 * behind the other elsewhere. */
struct copy_shape {
    uint64_t width, rows, pitch;
};

/* A plain range of bytes, or some that are a frame. */
struct copy_shape copy_shape(uint64_t size, bool rows);

/* Bytes from the first to the last in device memory, for the largest size. */
uint64_t copy_room(uint64_t size);

/* ---- Cases ---------------------------------------------------------------------------------- */

/* Where the bytes are on the host, and by which calls they go. */
enum kind {
    PAGEABLE,   /* plain memory, gantry_queue_upload and gantry_queue_download */
    REGISTERED, /* plain memory that gantry_host_register took, gantry_queue_copy */
    BUFFER,     /* upload and readback buffers, gantry_queue_copy */
    LIST,       /* plain memory, a finished list */
    DEVICE,     /* nowhere: both sides are device memory */
};

struct copy_case {
    const char *name;
    enum raw_route route;
    enum kind kind;
    bool rows;
};

/* NULL past the end. */
const struct copy_case *copy_case_at(size_t index);

/* Runs it in the size of that index and adds its rate. False: something failed or a byte is wrong,
 * and that was said. */
bool copy_case_run(struct copy_bench *bench, const struct copy_case *test, size_t size);

/* ---- A copy --------------------------------------------------------------------------------- */

struct copy {
    struct copy_bench *bench;
    const struct copy_case *test;
    struct copy_shape shape;
    uint64_t size;
    uint32_t *host;             /* where its bytes are on the host */
    struct gantry_buffer *made; /* over them, unless they are plain memory */
    struct gantry_list *list;
};

/* Waits, where the status is that of a submission that gave the point: by address, because the
 * arguments of a call may be read before the submission is made. False, and why was said, when
 * either failed. */
bool copy_wait(enum gantry_status status, const struct gantry_point *point);

/* Writes what is copied, on the host or from there to the device, and other bytes where it goes to.
 * False: why was said. */
bool copy_prepare(const struct copy *copy);
/* Whether every byte came; says which did not. */
bool copy_check(const struct copy *copy);

#endif
