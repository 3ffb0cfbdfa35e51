/* Whether bytes are UTF-8, and making them so. */
#ifndef GANTRY_CORE_UTF8_H
#define GANTRY_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Neither overlong forms nor surrogates nor anything beyond U+10FFFF. */
bool utf8_valid(const char *text);

/* Puts '?' in the place of bytes that are no UTF-8 and of control characters, so that a text can be
 * shown on a terminal and be part of a JSON object. */
void utf8_mend(char *text);

#endif
