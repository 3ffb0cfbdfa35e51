/* A randomised test of the API beside a model in plain C.
 *
 * A world is some queues, buffers and lists, and the model of each: what every buffer holds once
 * all that was submitted has run, in the order of submission. That order is real: work that shares
 * a buffer with work of another queue gets the waits that it needs, and no more, so a dependency
 * that gantry loses changes what is found. Steps are drawn from the seed and their own number, so
 * that a run can begin at any of them. */
#ifndef GANTRY_TESTS_MODEL_MODEL_H
#define GANTRY_TESTS_MODEL_MODEL_H

#include <gantry/gantry.h>

#include "launch.h"

enum {
    QUEUES = 3, /* the first one is never destroyed and runs kernels */
    BUFFERS = 8,
    LISTS = 5,
    COMMANDS = 40, /* of a list, at most */
    BYTES = 1536,  /* of a buffer, at most */
};

/* ---- Numbers: world.c ------------------------------------------------------------------------ */

struct world;

uint32_t draw(struct world *world);                  /* 32 random bits */
uint32_t below(struct world *world, uint32_t limit); /* 0 … limit - 1 */
bool one_in(struct world *world, uint32_t times);
void draw_bytes(struct world *world, uint8_t *bytes, uint64_t size);

/* ---- Commands -------------------------------------------------------------------------------- */

enum command_kind { STEP, HOP, COPY, FILL, UPLOAD, DOWNLOAD, COMMAND_KINDS };

/* A buffer as a command knows it: when the buffer's age is another, it is another buffer. */
struct place {
    uint32_t buffer, age;
    uint64_t offset;
};

/* One command, of whatever kind. Launches: STEP changes the first n words at `to`; HOP writes the
 * first n words at `to` from those at `from`, n being a power of two. */
struct command {
    enum command_kind kind;
    uint32_t id; /* in its list */
    bool patchable, rectangle;
    bool concurrent;          /* recorded in a section */
    uint32_t section, strand; /* commands of one strand of a section wait for each other */
    struct place to, from;    /* `to` is written, `from` is read; STEP has no `from` */
    struct gantry_rect rect;  /* its pitches are never 0, its rows are 1 unless it is one */
    uint32_t n, add, threads, max_threads, block;
    uint8_t *host; /* of UPLOAD and DOWNLOAD, from the host's heap */
    uint64_t host_size;
};

/* ---- The model's objects --------------------------------------------------------------------- */

struct buffer {
    struct gantry_buffer *handle; /* NULL: there is none */
    uint32_t age;
    enum gantry_memory memory;
    uint32_t size;
    uint8_t bytes[BYTES];     /* once all that was submitted has run */
    uint64_t written[QUEUES]; /* the latest value of each queue that writes it */
    uint64_t used[QUEUES];    /* or reads it */
};

struct list {
    struct gantry_list *handle; /* NULL: there is none */
    bool finished;
    enum gantry_status failure; /* of recording */
    bool concurrent, ordered;
    uint32_t ids, section, strand;
    struct command commands[COMMANDS];
    uint32_t count;
    struct gantry_point latest; /* submission */
};

struct queue {
    struct gantry_queue *handle; /* NULL: there is none */
    bool transfer;
    uint64_t given, reached; /* values that the library has told */
    uint64_t known[QUEUES];  /* its later work runs after these values of other queues */
};

/* Host memory that a download is to write, and what it is to hold then. */
struct delivery {
    struct delivery *next;
    uint32_t queue;
    uint64_t value, size;
    uint8_t *host, *expected;
};

/* Host memory that may still be read or written: it is freed when nothing runs. */
struct litter {
    struct litter *next;
    void *memory;
};

struct world {
    struct gantry_device *device, *foreign; /* two of one card, which must not be mixed */
    struct gantry_module *module;
    struct gantry_kernel *step, *hop;
    uint32_t step_block, hop_block;
    struct queue queues[QUEUES];
    struct buffer buffers[BUFFERS];
    struct list lists[LISTS];
    struct delivery *deliveries;
    struct litter *litter;

    struct gantry_buffer *foreign_buffer;
    struct gantry_list *foreign_list;
    struct gantry_queue *foreign_queue;

    uint64_t seed, random;
    uint64_t at;          /* the step that runs */
    char difference[512]; /* the first one; "": none */
    bool trace;           /* print the steps */
};

/* ---- Differences ----------------------------------------------------------------------------- */

/* Notes the first difference between the library and the model; the world is over then. */
void differ(struct world *world, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define DIFFER(world, ...) differ((world), __FILE__, __LINE__, __VA_ARGS__)

#define EXPECT(world, status, call)                                                          \
    do {                                                                                     \
        enum gantry_status answer = (call);                                                  \
        if (answer != (status))                                                              \
            DIFFER((world), "%s is %s instead of %s: %s", #call, gantry_status_name(answer), \
                   gantry_status_name(status), gantry_last_error());                         \
    } while (0)

/* ---- memory.c: what commands do -------------------------------------------------------------- */

/* A place's bytes: how far the command reaches from it. */
uint64_t reach_of_to(const struct command *command);
uint64_t reach_of_from(const struct command *command);

bool is_alive(const struct world *world, const struct place *place);

/* Whether both touch a byte that one of them writes. */
bool conflict(const struct command *a, const struct command *b);

/* Runs the command on the model. A download writes `host`, an upload reads it. */
void run_command(struct world *world, const struct command *command, uint8_t *host);

/* ---- draw.c: commands at random -------------------------------------------------------------- */

/* Draws a command; one of a transfer queue launches nothing. False when it came to nothing. */
bool draw_command(struct world *world, bool launches, struct command *command);

/* Frees what a command has on the heap, now or when nothing runs. */
void drop_host(struct world *world, struct command *command);
void litter_host(struct world *world, void *memory);

/* ---- order.c: who has run before whom -------------------------------------------------------- */

/* The points of other queues that the commands have to wait for on the queue. Returns how many. */
uint32_t find_waits(struct world *world, uint32_t queue, const struct command *commands,
                    uint32_t count, struct gantry_point waits[QUEUES]);

/* Work was submitted as the queue's value: runs it on the model, notes who uses which buffers, and
 * which downloads are to come. */
void submitted(struct world *world, uint32_t queue, uint64_t value, const struct command *commands,
               uint32_t count);

/* The library has said that the value is reached: checks the downloads up to it. */
void reached(struct world *world, uint32_t queue, uint64_t value);

/* Waits for everything, compares every buffer, and frees what was kept for running work. */
void settle(struct world *world);

/* ---- Steps, each of which does something if it can ------------------------------------------- */

void step_buffer(struct world *world); /* objects.c */
void step_queue(struct world *world);
void step_kernel(struct world *world);
void step_write_host(struct world *world);
void step_look(struct world *world);
void step_record(struct world *world); /* lists.c */
void step_section(struct world *world);
void step_finish(struct world *world);
void step_submit(struct world *world);
void step_patch(struct world *world);
void step_list(struct world *world);
void step_stream(struct world *world); /* streams.c */
void step_flush(struct world *world);
void step_wrong_record(struct world *world); /* wrong.c */
void step_wrong_stream(struct world *world);
void step_wrong_object(struct world *world);
void step_wrong_patch(struct world *world);
void step_wrong_submit(struct world *world);

/* Gives the command to the queue, after what it has to wait for. Takes its host memory. */
void stream_command(struct world *world, uint32_t queue, struct command *command);

/* Forgets a list's commands; its host memory goes when nothing runs. */
void forget_commands(struct world *world, struct list *list);

/* The arguments of a launch as they are now. Returns their size. */
union arguments {
    struct step_args step;
    struct hop_args hop;
};
size_t arguments_of(const struct world *world, const struct command *command,
                    union arguments *arguments);

/* A random number of a queue, or of a list, that there is; -1: none. */
int any_queue(struct world *world);
int any_list(struct world *world);

/* ---- world.c --------------------------------------------------------------------------------- */

void world_open(struct world *world, struct gantry_device *device, struct gantry_device *foreign,
                const char *package, uint64_t seed);

/* Runs steps first … last - 1, stopping at a difference. */
void world_run(struct world *world, uint64_t first, uint64_t last);

/* Destroys everything, with work pending or not. */
void world_close(struct world *world);

#endif
