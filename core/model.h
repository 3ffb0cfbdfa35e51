/* Names of GPU models, as drivers and people write them. */
#ifndef GANTRY_CORE_MODEL_H
#define GANTRY_CORE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Puts a name or pattern into lower case with single blanks, without (R), (TM) and the like,
 * without drivers in parentheses at its end, and without "Graphics" there. What is normalised stays
 * as it is. False when nothing is left, or when the size does not do. */
bool model_normalise(const char *name, char *text, size_t size);

/* What stands behind a vendor's word at the front of a normalised name; NULL when none does, or
 * nothing is left. */
const char *model_behind_vendor(const char *text);

/* The name without the vendor's words at its front, except one that only wildcards follow: "nvidia
 * *" means something, "*" would not. */
const char *model_without_vendor(const char *text);

/* '*' or '?' */
bool model_wildcard(char c);

/* Whether the pattern takes the whole text. Only '*' and '?' are special. */
bool model_glob(const char *pattern, const char *text);

#endif
