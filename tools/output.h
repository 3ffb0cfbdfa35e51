/* What the subcommands say, and how they end. */
#ifndef GANTRY_TOOLS_OUTPUT_H
#define GANTRY_TOOLS_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

#include <gantry/gantry.h>

/* Names the subcommand that runs from now on; for the messages of what several of them share. The
 * name must stay. */
void output_begin(const char *subcommand);
const char *output_subcommand(void);

/* "gantry: " and the text on a line of stderr. */
void output_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "gantry: WHAT: " and the library's sentence for its latest failure. Returns TOOL_FAILED. */
int output_failure(const char *what);

/* Prints an object and gives it back. NULL stands for one that could not be made for want of
 * memory. Returns the exit status: `status`, or TOOL_FAILED after saying that it could not be
 * printed. */
int output_json(json_t *object, int status);

/* Call it last: TOOL_FAILED when what was printed did not all get out, else `status`. */
int output_finish(int status);

/* The list with one item more, which it takes. NULL when either is NULL or memory runs out: then
 * both are freed, so that a list can be built in a loop and looked at once. */
json_t *json_list_add(json_t *list, json_t *item);

json_t *json_size(struct gantry_size size);

/* The configuration files that were read, weakest first. */
json_t *json_config_files(struct gantry *g);
void print_config_files(struct gantry *g);

/* The names of feature bits, as "HALF"; in text separated by ", ", "none" for none. */
json_t *json_features(uint32_t features);
void print_features(uint32_t features);

/* "direct", "folded", "both". */
const char *entry_name(enum gantry_entry entry);

/* "16x16": as many axes as `dimensions` says. */
void print_size(struct gantry_size size, uint32_t dimensions);

#endif
