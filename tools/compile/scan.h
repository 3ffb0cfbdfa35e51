/* Reads a file's declarations from its tokens: records, kernels and their attributes, functions. */
#ifndef GANTRY_COMPILE_SCAN_H
#define GANTRY_COMPILE_SCAN_H

#include "unit.h"

/* Mistakes are counted in unit->mistakes. */
void scan(struct unit *unit);

/* scan_record.c: the inside of ARGS or STRUCT, up to its closing brace. Returns the token behind
 * it. */
size_t scan_fields(struct unit *unit, struct record *record, size_t at);

/* scan_kernel.c: the attributes between KERNEL() and its body. Returns the index of the brace. */
size_t scan_attributes(struct unit *unit, struct kernel *kernel, size_t at);

/* scan_pointer.c: MAY_BE_NULL(text) and REACH(text). */
void scan_may_be_null(struct unit *unit, struct kernel *kernel, struct place place,
                      const char *text);
void scan_reach(struct unit *unit, struct kernel *kernel, struct place place, const char *text);

/* The index behind the closing partner of the opening mark at `at`; the end when there is none. */
size_t scan_behind(const struct unit *unit, size_t at);

/* "( … )" at `at` as one text without blanks; *behind gets the index behind it. NULL, with a
 * mistake, when it is not there. */
const char *scan_argument(struct unit *unit, size_t at, size_t *behind);

/* A decimal number of 1 … most. False with a mistake. */
bool scan_number(struct unit *unit, struct place place, const char *what, const char *text,
                 uint32_t most, uint32_t *number);

#endif
