/* The names of a benchmark's cases: in its usage, and as arguments of --case. */
#ifndef GANTRY_BENCH_CASE_NAMES_H
#define GANTRY_BENCH_CASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a case, NULL past the last. */
typedef const char *case_name_at(size_t index);

/* The usage text with the names behind it, to be freed. NULL, said: out of memory. */
char *case_names_usage(const char *usage, case_name_at *name_at);

/* That each of the chosen is a case; said which one of `gantry bench BENCH` is not. */
bool case_names_check(const char *bench, const char *const *chosen, size_t count,
                      case_name_at *name_at);

#endif
