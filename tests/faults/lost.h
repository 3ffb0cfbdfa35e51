/* Losing a device for real, or because the driver says so. */
#ifndef GANTRY_TESTS_FAULTS_LOST_H
#define GANTRY_TESTS_FAULTS_LOST_H

#include <stdio.h>
#include <stdlib.h>

#include <gantry/gantry.h>

#define CHECK(condition, ...)                                                 \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: FAILED: ", __FILE__, __LINE__);           \
            fprintf(stderr, __VA_ARGS__);                                     \
            fprintf(stderr, "\n  %s: %s\n", #condition, gantry_last_error()); \
            exit(EXIT_FAILURE);                                               \
        }                                                                     \
    } while (0)

#define CHECK_OK(call) CHECK((call) == GANTRY_OK, "the call failed")

enum {
    CELLS = 256,
    LAUNCHES = 100,
    GUILTY = 57,         /* the launch that writes where nothing is */
    GUILTY_VALUE = 1057, /* its argument `value`, which no other has */
    BAD_ADDRESS = 8,
};

struct rig {
    const char *selector;
    bool injected; /* no launch is guilty: the driver is made to fail */
    struct gantry *g;
    struct gantry_device *twin; /* opened before the one that is lost, of the same card */
    struct gantry_device *device;
    struct gantry_queue *queue;
    struct gantry_buffer *cells;
    struct gantry_module *module;
    struct gantry_kernel *mark;
    struct gantry_list *list; /* of the scenario, if it has one */
    unsigned reported;        /* messages that a device was lost */
};

/* A way of launching. Goes on until something fails with GANTRY_E_DEVICE_LOST, which it must within
 * its time, and leaves that call's sentence. */
struct scenario {
    const char *name;
    bool fold;         /* the policy's */
    const char *named; /* what the sentence must name beside the queue */
    void (*run)(struct rig *rig);
};

/* Ends with one without a name. */
extern const struct scenario scenarios[];

/* Marks every cell on any device and reads them back; GANTRY_OK, or what failed. */
enum gantry_status mark_all(struct gantry_device *device, struct gantry_kernel *mark);

#endif
