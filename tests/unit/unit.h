/* What every unit test includes. */
#ifndef GANTRY_TESTS_UNIT_UNIT_H
#define GANTRY_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#undef fail /* cmocka's macro; core/status.h has a function of that name */

/* Fails with both texts when `text` does not hold `part`. */
#define assert_contains(text, part)                                          \
    do {                                                                     \
        if (!strstr((text), (part))) {                                       \
            print_error("\"%s\" does not contain \"%s\"\n", (text), (part)); \
            _fail(__FILE__, __LINE__);                                       \
        }                                                                    \
    } while (0)

#endif
