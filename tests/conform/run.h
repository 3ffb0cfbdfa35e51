/* Running cases: opening the device, catching what ends a case, counting. */
#ifndef GANTRY_TESTS_CONFORM_RUN_H
#define GANTRY_TESTS_CONFORM_RUN_H

#include <setjmp.h>

#include "conform.h"

enum object_kind {
    OBJECT_WORDS,
    OBJECT_BUFFER,
    OBJECT_LIST,
    OBJECT_KERNEL,
    OBJECT_QUEUE,
    OBJECT_GANTRY,
};

struct made {
    enum object_kind kind;
    void *object;
};

#define MAX_PACKAGES 8
#define MESSAGE_SIZE 2048

struct run {
    jmp_buf end; /* of the running case */
    enum { PASSED, FAILED, SKIPPED } outcome;
    char message[MESSAGE_SIZE]; /* why it failed or was skipped */
    unsigned counts[3];         /* by outcome */

    struct made *made; /* oldest first */
    size_t made_count, made_capacity;

    struct {
        char name[32];
        struct gantry_module *module;
    } packages[MAX_PACKAGES];
    unsigned package_count;

    unsigned errors;          /* messages of level error that nobody allowed */
    char error[MESSAGE_SIZE]; /* the first of them */
    bool errors_allowed;
};

/* A program of cases: its command line, and its exit status. `tables` ends with NULL. */
int run_program(int argc, char **argv, const char *packages,
                const struct conform_case *const *tables);

/* 0, or the exit status after a sentence was printed. */
int open_device(struct conform *c);

/* Opens gantry again, with a policy as INI text that is stronger than all else, or NULL; its
 * device. */
enum gantry_status open_again(struct conform *c, const char *policy, struct gantry **g,
                              struct gantry_device **device);
void close_device(struct conform *c);

void run_case(struct conform *c, const struct conform_case *one);
int print_summary(const struct conform *c);

/* Destroys what the case has made, the latest first. */
void destroy_made(struct conform *c);

#endif
