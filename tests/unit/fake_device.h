/* An open device over a plugin that does nothing by itself: the test says when a submission has
 * completed, which entry fails next, and sees what reached the plugin. */
#ifndef GANTRY_TESTS_UNIT_FAKE_DEVICE_H
#define GANTRY_TESTS_UNIT_FAKE_DEVICE_H

#include "core/context.h"
#include "core/device.h"
#include "core/module.h"

#define FAKE_MAX_WAITS   32
#define FAKE_MAX_PENDING 128
#define FAKE_MAX_KEPT    64

/* What a submission asks for. Its copies and fills run when it completes. */
struct fake_work {
    uint64_t value;
    uint32_t op_count;
    struct gantry_op *ops;
};

struct gantry_drv_queue {
    uint64_t completed, submitted;
    struct fake_work pending[FAKE_MAX_PENDING]; /* oldest first */
    uint32_t pending_count;
};

struct gantry_drv_plan {
    uint32_t op_count;
    struct gantry_op *ops;
};

/* A submission that succeeded. */
struct fake_submission {
    struct gantry_drv_queue *queue;
    uint64_t value;
    uint32_t op_count, launches;
};

struct fake_device {
    struct gantry g;
    struct gantry_device device;
    struct gantry_kernel kernel; /* takes 4 bytes of arguments, in blocks of 32 */
    struct gantry_kernel_source source;

    /* The next call of an entry returns this instead; then it works again. */
    enum gantry_status fail_build, fail_submit, fail_allocate, fail_completed, fail_register;
    bool lost;   /* every call fails */
    bool direct; /* the host can write device memory that is allocated from now on */

    uint64_t memory_size, memory_used; /* bytes, of all kinds of memory; size 0: endless */
    unsigned memory_asked;             /* calls of memory_allocate */

    unsigned builds, submits, submits_once, sleeps; /* calls that succeeded */
    atomic_uint looks;                              /* calls of queue_completed */
    int memories, plans, queues;                    /* alive */
    bool complete_in_submit;                        /* as on a device that is never busy */
    unsigned complete_after_looks;                  /* of queue_completed; 0: never by itself */
    bool complete_in_wait;  /* queue_wait completes what it waits for; otherwise it times out */
    uint64_t timeout_asked; /* of the latest queue_wait */

    /* The latest submission. */
    struct gantry_backend_wait waits[FAKE_MAX_WAITS];
    uint32_t wait_count;
    uint64_t value;
    uint32_t op_count;

    /* The first ones, of all queues. */
    struct fake_submission kept[FAKE_MAX_KEPT];
    uint32_t submissions; /* how many there were */
};

/* Setup and teardown of a cmocka test; *state is the fake device. Teardown checks that nothing of
 * the plugin's is left. */
int fake_open(void **state);
int fake_close(void **state);

/* Runs and completes a queue's submissions up to a value. */
void fake_complete(struct gantry_queue *queue, uint64_t value);

/* Objects with default parameters. */
struct gantry_queue *fake_queue(struct fake_device *fake);
struct gantry_list *fake_list(struct fake_device *fake);
struct gantry_buffer *fake_buffer(struct fake_device *fake, uint64_t size);

/* Records a launch of the kernel over so many threads. */
uint32_t fake_launch(struct fake_device *fake, struct gantry_list *list, uint32_t threads);

#endif
