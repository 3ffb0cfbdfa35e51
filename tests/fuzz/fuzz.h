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

/* For targets of code that complains on stderr: its sentences go nowhere, those below don't. */
static inline void be_quiet(void)
{
    static FILE *nowhere;

    if (!nowhere)
        stderr = nowhere = fopen("/dev/null", "w");
}

#define HOLDS(property)                                                                   \
    do {                                                                                  \
        if (!(property)) {                                                                \
            dprintf(2, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #property); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

#endif
