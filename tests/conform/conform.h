/* What the cases of the conformance suite share: one open device, the checks, and makers of objects
 * that are destroyed when the case is over.
 *
 * A case is a function that uses nothing but gantry.h. It ends by returning, by a failed check, or
 * by skip(). Checks and makers do not return when they fail, so a case needs no clean-up of its
 * own; they must only be called from the thread that runs the case. All macros expect a variable
 * `c`. */
#ifndef GANTRY_TESTS_CONFORM_H
#define GANTRY_TESTS_CONFORM_H

#include <stdnoreturn.h>

#include <gantry/gantry.h>

struct options {
    const char *device;   /* selector, "cuda:0"; NULL: what the configuration says */
    const char *packages; /* folder of the .gpk files */
    const char *except;   /* a case that is left out, or the beginning of several; NULL: none */
    bool big;             /* also what needs gigabytes or minutes */
    bool gpu;             /* not on a CPU device */
    bool list;            /* only names */
    char **cases;         /* names or beginnings; none: all */
    int case_count;
};

struct conform {
    const struct options *options;
    struct gantry *g;
    struct gantry_device *device;
    struct gantry_device_info info;
    struct gantry_queue *queue;
    struct run *run; /* the runner's own */
};

struct conform_case {
    const char *name;  /* "copy/offsets" */
    const char *field; /* the failures from the field that it retells, "C16 C21"; NULL: none */
    void (*run)(struct conform *c);
};

/* One table a file, ended by a case without a name. */
extern const struct conform_case device_cases[], memory_cases[], pool_cases[], copy_cases[],
    rect_cases[], transfer_cases[], launch_cases[], kernel_cases[], language_cases[], list_cases[],
    order_cases[], mixed_cases[], fold_cases[], patch_cases[], stream_cases[], wait_cases[],
    limit_cases[], error_cases[], thread_cases[], process_cases[], validate_cases[];

/* ---- Checks --------------------------------------------------------------------------------- */

/* End the case. */
noreturn void fail_at(struct conform *c, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
noreturn void skip(struct conform *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define FAIL(...) fail_at(c, __FILE__, __LINE__, __VA_ARGS__)

/* A condition; the text says what was found. */
#define CHECK(condition, ...)  \
    do {                       \
        if (!(condition))      \
            FAIL(__VA_ARGS__); \
    } while (0)

/* A call that must return a status. Where that is a failure, it must also leave a sentence. */
#define EXPECT(status, call) expect_at(c, __FILE__, __LINE__, #call, status, call)
#define OK(call)             EXPECT(GANTRY_OK, call)
void expect_at(struct conform *c, const char *file, int line, const char *call,
               enum gantry_status expected, enum gantry_status found);

/* A recording call that must return an id. */
#define RECORD(call) record_at(c, __FILE__, __LINE__, #call, call)
uint32_t record_at(struct conform *c, const char *file, int line, const char *call, uint32_t id);

/* Arrays of words that must be equal. */
#define EQUAL(found, expected, count) \
    equal_at(c, __FILE__, __LINE__, #found, found, expected, count)
void equal_at(struct conform *c, const char *file, int line, const char *what,
              const uint32_t *found, const uint32_t *expected, size_t count);

/* ---- Objects, destroyed after the case ------------------------------------------------------ */

struct gantry_buffer *make_buffer(struct conform *c, uint64_t size); /* device memory, zeros */
struct gantry_buffer *make_memory(struct conform *c, enum gantry_memory kind, uint64_t size);
struct gantry_list *make_list(struct conform *c);
struct gantry_queue *make_queue(struct conform *c);

/* The same device opened once more, with a policy of its own: this batch_size, a second for
 * batch_max_ms, 1 for staging_mib. What is made of it goes with it. */
struct gantry_device *make_device(struct conform *c, const char *batch_size);

/* The same with any policy, as INI text. */
struct gantry_device *make_device_with(struct conform *c, const char *policy);

/* A kernel of a package with the default block. Skips the case when the device lacks a feature that
 * the kernel needs. */
struct gantry_kernel *make_kernel(struct conform *c, const char *package, const char *name);
struct gantry_kernel *make_kernel_with(struct conform *c, const char *package, const char *name,
                                       const struct gantry_kernel_params *params);
struct gantry_kernel *keep_kernel(struct conform *c, struct gantry_kernel *kernel);
struct gantry_module *load_module(struct conform *c,
                                  const char *package); /* kept for the whole run */

/* Host memory. */
void *make_words(struct conform *c, size_t size); /* zeros */

/* Destroy earlier than the end of the case. */
void drop_buffer(struct conform *c, struct gantry_buffer *buffer);
void drop_list(struct conform *c, struct gantry_list *list);
void drop_kernel(struct conform *c, struct gantry_kernel *kernel);
void drop_queue(struct conform *c, struct gantry_queue *queue);

/* ---- Steps that most cases take ------------------------------------------------------------- */

/* Records a launch of so many threads along x. */
#define LAUNCH(list, kernel, threads, args)                                             \
    RECORD(gantry_list_launch(list, kernel, (struct gantry_size){.x = (threads)}, args, \
                              sizeof(*(args))))
#define LAUNCH_GRID(list, kernel, x, y, z, args) \
    RECORD(gantry_list_launch(list, kernel, (struct gantry_size){x, y, z}, args, sizeof(*(args))))

/* Submits to the case's queue. */
struct gantry_point submit(struct conform *c, struct gantry_list *list);
void submit_and_wait(struct conform *c, struct gantry_list *list);
void finish(struct conform *c, struct gantry_list *list);

/* Through an upload or a download of their own, complete when they return. */
void write_buffer(struct conform *c, struct gantry_buffer *buffer, uint64_t offset,
                  const void *data, uint64_t size);
void read_buffer(struct conform *c, struct gantry_buffer *buffer, uint64_t offset, void *data,
                 uint64_t size);

struct gantry_queue_stats stats_of(struct conform *c, struct gantry_queue *queue);

/* The case provokes what gantry may report as an error to the log. */
void allow_error_messages(struct conform *c);

uint32_t next_random(uint32_t *state); /* never 0 while *state is not 0 */
uint64_t now_ns(void);

#endif
