/* A fuzz target is one program file with this function. It is linked with libFuzzer, which makes up
 * inputs, and with replay.c, which reads them from files. */
#ifndef GANTRY_TESTS_FUZZ_FUZZ_H
#define GANTRY_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Always 0. A property that does not hold ends the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(property)                                                                        \
    do {                                                                                       \
        if (!(property)) {                                                                     \
            fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #property); \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

#endif
