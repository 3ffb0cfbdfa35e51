/* A kernel of a package with arguments that were made up for it, so that it can be launched without
 * the program that it belongs to. */
#ifndef GANTRY_TUNE_JOB_H
#define GANTRY_TUNE_JOB_H

#include <gantry/gantry.h>

#include "../bench/gantry_side.h"

enum { JOB_BUFFERS = 16, JOB_WHY_SIZE = 320, JOB_NAME_SIZE = 128 };

/* What a pointer argument points to. */
struct job_buffer {
    const char *name;
    uint32_t offset; /* of the pointer in the argument struct */
    uint64_t size;   /* bytes */
    bool floats;     /* of 32 bits */
    void *initial;   /* what it holds at first; NULL: zeros */
};

struct job_params {
    const char *file;   /* the package */
    const char *kernel; /* NULL: its only one */
    struct gantry_size threads;
    uint32_t per_thread; /* elements that a thread works on; 0: one */

    /* "NAME=VALUE" for a scalar, "NAME=V,V,…" for an array; for a pointer
     * "NAME=ELEMENTS:BELOW": so many elements (none given: what the threads work on) of random
     * numbers from 0 to below that (no ":BELOW": zeros), or "NAME=SIZEB" for a size in bytes. */
    const char *const *args;
    size_t arg_count;
};

struct job {
    struct gantry_package *package;
    struct gantry_kernel_source source; /* of the package */
    const char *file;
    char name[JOB_NAME_SIZE]; /* "PACKAGE/KERNEL" */
    struct gantry_size threads;
    unsigned char *args; /* pointers in it are 0 */
    struct job_buffer buffers[JOB_BUFFERS];
    unsigned buffer_count;
    unsigned repeats; /* launches in a run; 1 until someone sets it */
};

/* False: the kernel can't be launched so, and `why` says what is missing. The params' strings must
 * live as long as the job. Close it in either case. */
bool job_open(struct job *job, const struct job_params *params, char why[JOB_WHY_SIZE]);
void job_close(struct job *job);

/* Fills the arguments and describes the buffers; part of job_open(). */
bool job_read_args(struct job *job, const struct job_params *params, char why[JOB_WHY_SIZE]);

/* How the elements of a type are laid out; NULL: not one of the kernel language's own. */
const struct job_element *job_element_find(const char *type);
uint32_t job_element_size(const struct job_element *element);
bool job_element_is_float(const struct job_element *element);

/* `size` bytes of random elements below a bound, the same for the same seed. NULL: no memory. */
void *job_fill(const struct job_element *element, uint64_t size, double below, uint32_t seed);

/* The bits of the nearest half; denormals become 0, what is too large infinity. */
uint16_t job_half(float value);

/* "256", "16x16": as many axes as the kernel has; and read. */
enum { JOB_BLOCK_SIZE = 36 };
void job_block_text(const struct job *job, struct gantry_size block, char text[JOB_BLOCK_SIZE]);
struct gantry_size job_block_read(const char *text);

/* ---- On a device ---------------------------------------------------------------------------- */

/* The block that the kernel has when nobody demands one. */
struct job_kernel {
    struct gantry_size block;
    bool automatic; /* the device's choice, or no rule's */
    char origin[512];
};

/* False: the kernel can't be made; gantry_last_error() says why. */
bool job_kernel_now(struct gantry_side *side, const struct job *job, struct job_kernel *now);

/* Whether the library lets the kernel be made with that block. */
bool job_takes_block(struct gantry_side *side, const struct job *job, struct gantry_size block);

/* A way of running the job's launches one behind the other, in blocks of that size ({0, 0, 0}: what
 * the policy says). NULL: it can't be made, and gantry_last_error() says why. */
struct way *job_way(struct gantry_side *side, const struct job *job, struct gantry_size block);

/* Runs one launch on the initial buffers, and fetches what all buffers hold then, one behind the
 * other: job_result_size() bytes. False: that failed, and why was said. */
bool job_way_result(struct way *way, void *result);
uint64_t job_result_size(const struct job *job);

/* Whether two results are the same: bit by bit, or, where they come from two backends, within the
 * kernel's tolerance, in which case only buffers of floats are looked at. If not, `why` says where.
 */
bool job_same(const struct job *job, const void *a, const void *b, bool two_backends,
              char why[JOB_WHY_SIZE]);

#endif
